// Kernels and their queue. A half-step only records work. The GPU gets it in batches, and nothing is read back unless a caller
// asks.

import { DeviceError } from '../../errors.js';
import type { GpuDevice } from './device.js';
import { PARAMS_BYTES, type Params, writeParams } from './wgsl/params.js';

/** WebGPU's usage flags. Node lacks the global objects that hold them. */
export const USAGE = {
  mapRead: 0x1,
  copySource: 0x4,
  copyTarget: 0x8,
  uniform: 0x40,
  storage: 0x80,
  query: 0x200,
} as const;
const MAP_READ = 0x1;
const COMPUTE_STAGE = 0x4;

/** Parameter blocks of a batch. */
const SLOTS = 64;
/** Most submitted batches that are not done yet. */
const MOST_IN_FLIGHT = 4;
const TIMED = 512;

const BINDING = /@binding\((\d+)\) var<(uniform|storage, read|storage, read_write)>/g;
const TYPES: Readonly<Record<string, GPUBufferBindingType>> = {
  uniform: 'uniform',
  'storage, read': 'read-only-storage',
  'storage, read_write': 'storage',
};

/** The numbers that the code binds, in order, each to the parameter block, a read-only or a writable buffer. */
function bindingsOf(code: string) {
  const found = Array.from(code.matchAll(BINDING), ([, binding, kind]) => ({
    binding: Number(binding),
    type: TYPES[kind],
  }));
  return found.sort((a, b) => a.binding - b.binding);
}

export type Kernel = Awaited<ReturnType<typeof compile>>;

async function compile({ device, description }: GpuDevice, label: string, code: string) {
  const bindings = bindingsOf(code);
  const layout = device.createBindGroupLayout({
    entries: bindings.map(({ binding, type }) => ({
      binding,
      visibility: COMPUTE_STAGE,
      buffer: { type, hasDynamicOffset: type === 'uniform' },
    })),
  });
  try {
    const pipeline = await device.createComputePipelineAsync({
      label,
      layout: device.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module: device.createShaderModule({ label, code }) },
    });
    return { label, pipeline, layout, bindings, groups: new Map<string, GPUBindGroup>() };
  } catch (error) {
    throw new DeviceError(
      `the GPU (${description}) refused the kernel "${label}": ${(error as Error).message}; use the cpu engine`,
    );
  }
}

/** A buffer, or its first `size` bytes. */
export type Part = GPUBuffer | { readonly buffer: GPUBuffer; readonly size: number };

const BATCH_EDGES = 2 ** 24;
const BATCH_UPDATES = 16;

export type Commands = ReturnType<typeof createCommands>;

export function createCommands(
  gpu: GpuDevice,
  onKernelTime?: (kernel: string, milliseconds: number) => void,
) {
  const { device } = gpu;
  const kernels = new Map<string, Promise<Kernel>>();
  const names = new WeakMap<GPUBuffer, number>();
  let nextName = 0;
  const blocks = new ArrayBuffer(SLOTS * PARAMS_BYTES);
  const blockBuffer = device.createBuffer({
    size: blocks.byteLength,
    usage: USAGE.uniform | USAGE.copyTarget,
  });
  let used = 0;
  let encoder: GPUCommandEncoder | undefined;
  let pass: GPUComputePassEncoder | undefined;
  let edgesWaiting = 0;
  let updatesWaiting = 0;
  const underWay: Promise<void>[] = [];

  const timing = onKernelTime && gpu.timestamps ? createTiming(device, onKernelTime) : undefined;

  function passFor(label: string): GPUComputePassEncoder {
    encoder ??= device.createCommandEncoder();
    if (timing) {
      if (timing.full()) {
        flush();
        encoder = device.createCommandEncoder();
      }
      pass?.end();
      pass = encoder.beginComputePass({ timestampWrites: timing.next(label) });
    }
    pass ??= encoder.beginComputePass();
    return pass;
  }

  function flush(): void {
    if (!encoder) return;
    pass?.end();
    timing?.resolve(encoder);
    if (used > 0) device.queue.writeBuffer(blockBuffer, 0, blocks, 0, used * PARAMS_BYTES);
    device.queue.submit([encoder.finish()]);
    timing?.collect();
    encoder = undefined;
    pass = undefined;
    used = 0;
    edgesWaiting = 0;
    updatesWaiting = 0;
  }

  function bindGroup(kernel: Kernel, parts: readonly Part[]): GPUBindGroup {
    let key = '';
    const resources = parts.map((part): GPUBufferBinding => ('buffer' in part ? part : { buffer: part }));
    for (const { buffer, size } of resources) {
      let name = names.get(buffer);
      if (name === undefined) names.set(buffer, (name = nextName++));
      key += `${name}:${size ?? ''},`;
    }
    let group = kernel.groups.get(key);
    if (!group) {
      let part = 0;
      const entries = kernel.bindings.map(({ binding, type }) => ({
        binding,
        resource: type === 'uniform' ? { buffer: blockBuffer, size: PARAMS_BYTES } : resources[part++],
      }));
      group = device.createBindGroup({ layout: kernel.layout, entries });
      kernel.groups.set(key, group);
    }
    return group;
  }

  return {
    /** The kernel of this code, compiled once. */
    kernel(label: string, code: string): Promise<Kernel> {
      let kernel = kernels.get(code);
      if (!kernel) kernels.set(code, (kernel = compile(gpu, label, code)));
      return kernel;
    },

    /** Adds a parameter block for the next runs, up to the next block. Returns its offset. */
    params(values: Params): number {
      if (used === SLOTS) flush();
      const at = used++ * PARAMS_BYTES;
      new Uint8Array(blocks, at, PARAMS_BYTES).fill(0);
      writeParams(new DataView(blocks, at, PARAMS_BYTES), values);
      return at;
    },

    /** Records one run. `parts` follow the kernel's bindings, without the parameters. */
    run(kernel: Kernel, params: number, parts: readonly Part[], workgroups: number): void {
      if (workgroups === 0) return;
      const to = passFor(kernel.label);
      to.setPipeline(kernel.pipeline);
      to.setBindGroup(0, bindGroup(kernel, parts), kernel.bindings[0].type === 'uniform' ? [params] : []);
      const most = device.limits.maxComputeWorkgroupsPerDimension;
      // Two dimensions, the second as small as possible. The kernels ignore invocations beyond the end.
      const y = Math.ceil(workgroups / most);
      to.dispatchWorkgroups(Math.ceil(workgroups / y), y);
    },

    /** Counts work and submits the batch when it is large enough. Waits while too many batches are in flight. */
    async pace(edges: number): Promise<void> {
      edgesWaiting += edges;
      if (++updatesWaiting < BATCH_UPDATES && edgesWaiting < BATCH_EDGES) return;
      flush();
      const done = device.queue.onSubmittedWorkDone();
      done.catch(() => {}); // the caller that awaits it gets the error
      underWay.push(done);
      if (underWay.length > MOST_IN_FLIGHT)
        await underWay.shift()!.catch((error) => Promise.reject(gpu.explain(error)));
      gpu.check();
    },

    flush,

    /** Records that a buffer is set to zero. */
    clear(buffer: GPUBuffer): void {
      encoder ??= device.createCommandEncoder();
      pass?.end();
      pass = undefined;
      encoder.clearBuffer(buffer);
    },

    /** Returns what `take` makes of the bytes, which it must not keep; by default a copy of them. */
    async read<T = ArrayBuffer>(
      buffer: GPUBuffer,
      offset: number,
      bytes: number,
      take: (bytes: ArrayBuffer) => T = (mapped) => mapped.slice(0) as T,
    ): Promise<T> {
      gpu.check();
      const staging = device.createBuffer({ size: bytes, usage: USAGE.mapRead | USAGE.copyTarget });
      encoder ??= device.createCommandEncoder();
      pass?.end();
      pass = undefined;
      encoder.copyBufferToBuffer(buffer, offset, staging, 0, bytes);
      flush();
      try {
        await staging.mapAsync(MAP_READ);
        const taken = take(staging.getMappedRange());
        gpu.check();
        return taken;
      } catch (error) {
        throw gpu.explain(error);
      } finally {
        staging.destroy();
      }
    },

    /** Drops cached references to buffers that are about to be destroyed. */
    forget(): void {
      flush();
      for (const kernel of kernels.values())
        void kernel.then(
          ({ groups }) => groups.clear(),
          () => {},
        );
    },
  };
}

/** Time stamps around every kernel of a batch. */
function createTiming(device: GPUDevice, onKernelTime: (kernel: string, milliseconds: number) => void) {
  const querySet = device.createQuerySet({ type: 'timestamp', count: 2 * TIMED });
  const resolved = device.createBuffer({ size: 16 * TIMED, usage: USAGE.query | USAGE.copySource });
  let labels: string[] = [];
  let staging: GPUBuffer | undefined;
  return {
    full: () => labels.length === TIMED,
    next(label: string): GPUComputePassTimestampWrites {
      const at = 2 * labels.length;
      labels.push(label);
      return { querySet, beginningOfPassWriteIndex: at, endOfPassWriteIndex: at + 1 };
    },
    resolve(encoder: GPUCommandEncoder) {
      if (labels.length === 0) return;
      const bytes = 16 * labels.length;
      staging = device.createBuffer({ size: bytes, usage: USAGE.mapRead | USAGE.copyTarget });
      encoder.resolveQuerySet(querySet, 0, 2 * labels.length, resolved, 0);
      encoder.copyBufferToBuffer(resolved, 0, staging, 0, bytes);
    },
    collect() {
      const buffer = staging;
      const names = labels;
      if (!buffer) return;
      staging = undefined;
      labels = [];
      void buffer.mapAsync(MAP_READ).then(
        () => {
          const stamps = new BigUint64Array(buffer.getMappedRange());
          for (const [i, name] of names.entries())
            onKernelTime(name, Number(stamps[2 * i + 1] - stamps[2 * i]) / 1e6);
          buffer.destroy();
        },
        () => {},
      );
    },
  };
}
