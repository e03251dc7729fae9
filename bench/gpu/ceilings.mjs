// What the card can do at best, in TB/s: a plain copy, and a bare gather of whole rows along the real edge lists, with
// nothing computed but a sum. The edge pass moves the same bytes as the gather.

import { openDevice } from '../../dist/engine/webgpu/device.js';

const [storage, copySource, copyTarget] = [0x80, 0x4, 0x8];
const PER_THREAD = 64;

async function seconds(device, record, repeats) {
  const once = async (n) => {
    const start = performance.now();
    for (let r = 0; r < n; r++) {
      const encoder = device.createCommandEncoder();
      record(encoder);
      device.queue.submit([encoder.finish()]);
    }
    await device.queue.onSubmittedWorkDone();
    return (performance.now() - start) / 1000;
  };
  await once(3);
  // The difference of two run lengths excludes the time to start and to wait.
  const short = await once(repeats);
  return ((await once(3 * repeats)) - short) / (2 * repeats);
}

export async function ceilings(graph, quads) {
  const { device, software, check } = await openDevice();
  const bytes = software ? 2 ** 26 : 2 ** 30;
  const from = device.createBuffer({ size: bytes, usage: copySource | copyTarget });
  const to = device.createBuffer({ size: bytes, usage: copySource | copyTarget });
  const copy = await seconds(device, (encoder) => encoder.copyBufferToBuffer(from, 0, to, 0, bytes), 10);
  check();
  from.destroy();
  to.destroy();
  const result = { copy: (2 * bytes) / copy / 1e12 };

  const lanes = 8;
  const code = `
    @group(0) @binding(0) var<storage, read> neighbors: array<u32>;
    @group(0) @binding(1) var<storage, read> rows: array<vec4f>;
    @group(0) @binding(2) var<storage, read_write> sums: array<vec4f>;
    @compute @workgroup_size(128)
    fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
            @builtin(local_invocation_index) local: u32) {
      let thread = (group.y * groups.x + group.x) * 128u + local;
      let lane = thread % ${lanes}u;
      let first = (thread / ${lanes}u) * ${PER_THREAD}u;
      if (first + ${PER_THREAD}u > arrayLength(&neighbors)) { return; }
      var sum = vec4f(0.0);
      for (var e = 0u; e < ${PER_THREAD}u; e += 4u) {
        let a = neighbors[first + e] * ${quads}u + lane;
        let b = neighbors[first + e + 1u] * ${quads}u + lane;
        let c = neighbors[first + e + 2u] * ${quads}u + lane;
        let d = neighbors[first + e + 3u] * ${quads}u + lane;
        sum += (rows[a] + rows[b]) + (rows[c] + rows[d]);
      }
      sums[thread] = sum;
    }`;
  const pipeline = device.createComputePipeline({
    layout: 'auto',
    compute: { module: device.createShaderModule({ code }) },
  });
  for (const [name, { neighbors }, count] of [
    ['gather for users', graph.users, graph.itemCount],
    ['gather for items', graph.items, graph.userCount],
  ]) {
    const threads = Math.floor(neighbors.length / PER_THREAD) * lanes;
    const buffers = [neighbors.byteLength, 16 * quads * count, 16 * (threads + 128)].map((size) =>
      device.createBuffer({ size, usage: storage | copyTarget }),
    );
    device.queue.writeBuffer(buffers[0], 0, neighbors);
    const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
    const group = device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    const workgroups = Math.ceil(threads / 128);
    const y = Math.ceil(workgroups / 65535);
    const time = await seconds(
      device,
      (encoder) => {
        const pass = encoder.beginComputePass();
        pass.setPipeline(pipeline);
        pass.setBindGroup(0, group);
        pass.dispatchWorkgroups(Math.ceil(workgroups / y), y);
        pass.end();
      },
      10,
    );
    check();
    result[name] = (neighbors.length * (16 * lanes + 4)) / time / 1e12;
    result[`${name}, ms`] = time * 1000;
    for (const buffer of buffers) buffer.destroy();
  }
  device.destroy();
  return result;
}
