// Reads a memory that another thread may have grown.

/**
 * The memory's buffer, at least `bytes` long. A thread that receives a shared memory while another thread grows it may keep the
 * shorter buffer. Growing by 0 pages refreshes it.
 */
export function grownBuffer(memory: WebAssembly.Memory, bytes: number): ArrayBuffer {
  if (memory.buffer.byteLength < bytes) memory.grow(0);
  return memory.buffer;
}
