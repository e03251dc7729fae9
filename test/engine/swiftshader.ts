// A GPU for tests on machines without one: SwiftShader, the Vulkan driver in software that comes with Chromium. It is
// used when no driver was named and Chromium is installed; elsewhere tests of the gpu engine skip themselves.

import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { type Availability, webgpuAvailability } from '../../src/engine/webgpu/device.js';

const PLACES = [
  '/usr/lib/chromium/vk_swiftshader_icd.json',
  '/usr/lib/chromium-browser/vk_swiftshader_icd.json',
  '/opt/google/chrome/vk_swiftshader_icd.json',
];

/** Finds an adapter, with SwiftShader if needed. Must run before anything else asks for a GPU. */
export async function findTestGpu(): Promise<Availability> {
  if (!process.env.VK_ICD_FILENAMES) {
    const found = PLACES.find((place) => existsSync(place));
    if (found) process.env.VK_ICD_FILENAMES = found;
  }
  // The Vulkan loader complains without it; nothing is written there.
  process.env.XDG_RUNTIME_DIR ??= tmpdir();
  return webgpuAvailability();
}

/** What to say when there is none. */
export function skipReason({ reason }: Availability): string {
  return `no GPU to test on (${reason}); Debian's chromium and libvulkan1 would give a software one`;
}
