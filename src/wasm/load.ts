// Loads the kernels: the build with relaxed SIMD (fused multiply-add) if the runtime supports it, else the plain one. Each build
// exists twice, for shared and for plain memory.

import { canShareMemory } from '../math/memory.js';

export type KernelModule = Awaited<ReturnType<typeof load>>;

/** Keyed by whether memory is shared. */
const loaded = new Map<boolean, Promise<KernelModule>>();

/** The compiled kernels, loaded once per process. */
export function loadKernels(): Promise<KernelModule> {
  const shared = canShareMemory();
  let kernels = loaded.get(shared);
  if (!kernels) {
    kernels = load(shared);
    loaded.set(shared, kernels);
    kernels.catch(() => loaded.delete(shared)); // a page may be online again at the next call
  }
  return kernels;
}

const inNode = typeof process !== 'undefined' && process.versions?.node !== undefined;

async function load(shared: boolean) {
  const relaxed = hasRelaxedSimd();
  // The paths are literals, so that bundlers find the files and emit them.
  const url = relaxed
    ? new URL('./kernels-relaxed.wasm', import.meta.url)
    : new URL('./kernels.wasm', import.meta.url);
  const bytes = await read(url);
  return { module: await WebAssembly.compile(shared ? bytes : withPlainMemory(bytes)), relaxed };
}

async function read(url: URL): Promise<Uint8Array<ArrayBuffer>> {
  if (inNode) {
    // Tests import the sources; the kernels are only in dist/.
    const built = new URL(url.href.replace(/\/src\/(?=wasm\/[^/]*$)/, '/dist/'));
    const file = await process.getBuiltinModule('node:fs/promises').readFile(built);
    return new Uint8Array(file);
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url.href}: ${response.status} ${response.statusText}`);
  return new Uint8Array(await response.arrayBuffer());
}

/** (module (func (param v128 v128 v128) (result v128) local.get 0 local.get 1 local.get 2 f32x4.relaxed_madd)) */
const RELAXED_MADD = Uint8Array.of(
  ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  ...[0x01, 0x08, 0x01, 0x60, 0x03, 0x7b, 0x7b, 0x7b, 0x01, 0x7b],
  ...[0x03, 0x02, 0x01, 0x00],
  ...[0x0a, 0x0d, 0x01, 0x0b, 0x00, 0x20, 0x00, 0x20, 0x01, 0x20, 0x02, 0xfd, 0x85, 0x02, 0x0b],
);

function hasRelaxedSimd(): boolean {
  if (WebAssembly.validate(RELAXED_MADD)) return true;
  if (!inNode) return false;
  // Node 20 needs a flag for relaxed SIMD. Later versions need none and warn about it.
  process.getBuiltinModule('node:v8').setFlagsFromString('--experimental-wasm-relaxed-simd');
  return WebAssembly.validate(RELAXED_MADD);
}

/** How a module imports its memory, byte by byte: the names `env` and `memory`, each after its length, then the kind. Limits follow. */
const IMPORTED_MEMORY = '\x03env\x06memory\x02';
/** The bit in a memory's limits that marks it as shared. */
const SHARED = 2;

/** The same module for memory that is not shared. Kernels use no atomic operations, so the two differ in one bit. */
function withPlainMemory(module: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = module.slice();
  const at = new TextDecoder('latin1').decode(bytes).indexOf(IMPORTED_MEMORY);
  if (at < 0) throw new Error('the kernels import no memory');
  bytes[at + IMPORTED_MEMORY.length] &= ~SHARED;
  return bytes;
}
