// For `node --import`: the GPU is lost soon after a state of at least four large arrays was copied from it.

import { create } from 'webgpu';

const MAP_READ = 0x1;
const inner = create([]);
const requestAdapter = async () => {
  const adapter = await inner.requestAdapter();
  const requestDevice = async (wanted) => {
    const device = await adapter.requestDevice(wanted);
    const createBuffer = device.createBuffer.bind(device);
    let copies = 0;
    device.createBuffer = (descriptor) => {
      if (descriptor.usage & MAP_READ && descriptor.size > 4096 && ++copies === 4)
        setTimeout(() => device.destroy(), 300);
      return createBuffer(descriptor);
    };
    return device;
  };
  const { info, limits, features } = adapter;
  return { info, limits, features, requestDevice };
};
Object.defineProperty(globalThis, 'navigator', {
  configurable: true,
  value: { gpu: { inner, requestAdapter } },
});
