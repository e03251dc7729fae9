// Finds the GPU: the browser's navigator.gpu; in Node the optional package `webgpu`; or, on a machine without node_modules, Dawn's
// binding at the path in the environment variable DAWN_NODE.

import { DeviceError } from '../../errors.js';

interface Binding {
  create(flags: string[]): GPU;
}

export type Availability = Awaited<ReturnType<typeof webgpuAvailability>>;

/** No kernel reads workgroup memory before writing it. Clearing that memory costs time, above all to compile. */
const FLAGS = ['enable-dawn-features=disable_workgroup_init'];
const KEPT = Symbol.for('graphex.webgpu');
const LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxStorageBuffersPerShaderStage',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
  'maxComputeWorkgroupStorageSize',
] as const;

/** Whether a GPU is available, without creating an engine. Never throws. */
export async function webgpuAvailability() {
  // Looking for adapters makes Dawn and the Vulkan loader write to stderr. Without a device there is no need to look.
  if (noDeviceFile()) return unavailable('this machine has no GPU device');
  try {
    const adapter = await findAdapter(FLAGS);
    const description = describe(adapter.info);
    /** True for an adapter that computes on the CPU: correct, but slower than the cpu engine. */
    const software = isSoftware(adapter.info);
    /** Why no GPU is available, or which one was found: one sentence without a full stop. */
    const reason = software ? `only a software adapter was found: ${description}` : `found ${description}`;
    return { available: true, reason, software, description };
  } catch (error) {
    return unavailable((error as Error).message);
  }
}

function unavailable(reason: string) {
  return { available: false, reason, software: false, description: 'none' };
}

/** True on Linux if there is neither a graphics device nor a driver named by the environment. */
function noDeviceFile(): boolean {
  if (typeof process === 'undefined' || process.platform !== 'linux') return false;
  if (process.env.VK_ICD_FILENAMES || process.env.VK_DRIVER_FILES || process.env.DAWN_NODE) return false;
  const { existsSync } = process.getBuiltinModule('node:fs');
  return !['/dev/dri', '/dev/nvidia0', '/dev/dxg', '/dev/kgsl-3d0', '/dev/mali0'].some((path) =>
    existsSync(path),
  );
}

export type GpuDevice = Awaited<ReturnType<typeof openDevice>>;

/** Opens the device with all features of the adapter. `flags` replace our flags for Dawn, in Node only. */
export async function openDevice(flags: readonly string[] = FLAGS) {
  const adapter = await findAdapter(flags);
  const requiredLimits: Record<string, number> = {};
  for (const name of LIMITS) requiredLimits[name] = adapter.limits[name];
  const wanted: GPUFeatureName[] = ['subgroups', 'timestamp-query'];
  const requiredFeatures = wanted.filter((feature) => adapter.features.has(feature));
  const description = describe(adapter.info);
  const lost = (why: string) =>
    new DeviceError(`the GPU (${description}) was lost (${why}); try again, or use the cpu engine`);
  const device = await adapter.requestDevice({ requiredLimits, requiredFeatures }).catch((error: Error) => {
    throw new DeviceError(`the GPU (${description}) could not be opened: ${firstLine(error)}`);
  });

  let failure: DeviceError | undefined;
  let closed = false;
  void device.lost.then((info) => {
    if (!closed) failure ??= lost(firstLine(info));
  });
  device.onuncapturederror = ({ error }) => {
    failure ??= new DeviceError(
      `the GPU (${description}) reported an error: ${firstLine(error)}; try the cpu engine`,
    );
  };
  return {
    device,
    description,
    software: isSoftware(adapter.info),
    /** Least number of lanes of a subgroup; 0: no subgroups. */
    subgroupSize: device.features.has('subgroups') ? await linearSubgroups(device, adapter.info) : 0,
    timestamps: device.features.has('timestamp-query'),
    /** Most bytes of a buffer that a shader can bind. */
    maxBinding: Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize),
    /** Throws the first error of the device, if there was one. */
    check(): void {
      if (failure) throw failure;
    },
    /** Turns a rejected promise into the device error that caused it. */
    explain: (error: unknown): DeviceError =>
      failure ?? lost(error instanceof Error ? firstLine(error) : String(error)),
    /** Releases the device. Later losses are not errors. */
    close(): void {
      closed = true;
      device.destroy();
    },
  };
}

/** Runs `make`. If the allocation fails, throws an error that names what did not fit. */
export async function allocate<T>(gpu: GpuDevice, what: string, bytes: number, make: () => T): Promise<T> {
  gpu.check();
  gpu.device.pushErrorScope('out-of-memory');
  let made: T;
  let error: Promise<GPUError | null>;
  try {
    made = make();
  } finally {
    error = gpu.device.popErrorScope();
    error.catch(() => {});
  }
  if (await error.catch((cause) => Promise.reject(gpu.explain(cause)))) {
    throw new DeviceError(
      `the GPU (${gpu.description}) has no room for ${what} (${megabytes(bytes)}); use the cpu engine or fewer features`,
    );
  }
  gpu.check();
  return made;
}

export function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 2 ** 20)} MiB`;
}

function firstLine({ message }: { readonly message: string }): string {
  return message.split('\n')[0] || 'no reason was given';
}

async function findAdapter(flags: readonly string[]): Promise<GPUAdapter> {
  const gpu = await findGpu(flags);
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter)
    throw new DeviceError(
      'no GPU adapter was found; is a driver (on Linux: of Vulkan) installed? The cpu engine needs none',
    );
  return adapter;
}

async function findGpu(flags: readonly string[]): Promise<GPU> {
  const browser = (globalThis.navigator as Navigator | undefined)?.gpu;
  if (browser) return browser;
  if (typeof process === 'undefined') throw new DeviceError('this browser has no WebGPU; use the cpu engine');
  // If the instance were collected, its adapters would crash the process. So keep one per set of flags for ever.
  const store = globalThis as unknown as Record<symbol, Map<string, GPU> | undefined>;
  const kept = (store[KEPT] ??= new Map());
  const key = flags.join(' ');
  let gpu = kept.get(key);
  if (!gpu) {
    gpu = (await loadBinding()).create([...flags]);
    kept.set(key, gpu);
  }
  return gpu;
}

async function loadBinding(): Promise<Binding> {
  const path = process.env.DAWN_NODE;
  if (path) {
    const binding = { exports: {} as Binding };
    try {
      process.dlopen(binding, path);
    } catch (error) {
      throw new DeviceError(`DAWN_NODE=${path} could not be loaded: ${(error as Error).message}`);
    }
    return binding.exports;
  }
  const name = 'webgpu'; // not a literal: the package is optional, and bundlers for browsers must not look for it
  try {
    return (await import(/* @vite-ignore */ name)) as Binding;
  } catch {
    throw new DeviceError('the package "webgpu" is not installed: npm install webgpu, or use the cpu engine');
  }
}

function describe({ vendor, architecture, device, description }: GPUAdapterInfo): string {
  const parts = [description || device || vendor, architecture];
  return parts.filter((part) => part !== '').join(', ') || 'an unnamed GPU';
}

function isSoftware(info: GPUAdapterInfo): boolean {
  const name = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`;
  return info.isFallbackAdapter || /swiftshader|llvmpipe|lavapipe|softpipe|basic render/i.test(name);
}

/**
 * The kernels need adjacent invocations to be adjacent lanes of a subgroup. Every known driver does that for one-dimensional
 * workgroups, but no standard promises it. So test it once, and do without subgroups if it does not hold.
 */
async function linearSubgroups(device: GPUDevice, info: GPUAdapterInfo): Promise<number> {
  const least = info.subgroupMinSize ?? 0;
  if (least < 2) return 0;
  const invocations = 128;
  const code = `enable subgroups;
    @group(0) @binding(0) var<storage, read_write> lanes: array<vec2u>;
    @compute @workgroup_size(${invocations})
    fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_invocation_id) lane: u32,
            @builtin(subgroup_size) size: u32) { lanes[i] = vec2u(lane, size); }`;
  const bytes = 8 * invocations;
  const lanes = device.createBuffer({ size: bytes, usage: 0x84 });
  const staging = device.createBuffer({ size: bytes, usage: 0x09 });
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }) },
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(pipeline);
  pass.setBindGroup(
    0,
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: [{ binding: 0, resource: { buffer: lanes } }],
    }),
  );
  pass.dispatchWorkgroups(1);
  pass.end();
  encoder.copyBufferToBuffer(lanes, 0, staging, 0, bytes);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(0x01);
  const seen = new Uint32Array(staging.getMappedRange().slice(0));
  lanes.destroy();
  staging.destroy();
  for (let i = 0; i < invocations; i++) {
    if (seen[2 * i + 1] < least || seen[2 * i] !== i % seen[2 * i + 1]) return 0;
  }
  return least;
}
