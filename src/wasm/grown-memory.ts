// A memory that another thread has grown.

/**
 * The buffer, of at least so many bytes. A thread that gets a shared memory while another grows it may miss that, and go on with
 * the shorter buffer until the next time; growing by nothing has it look again.
 */
export function grownBuffer(memory: WebAssembly.Memory, bytes: number): ArrayBuffer {
  if (memory.buffer.byteLength < bytes) memory.grow(0);
  return memory.buffer;
}
