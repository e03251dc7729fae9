// The names of all items in two arrays: a hundred thousand strings would block the page while they arrive.

export interface PackedNames {
  readonly bytes: Uint8Array;
  /** Where each name begins, and where the last one ends. */
  readonly offsets: Uint32Array;
}

export function packNames(count: number, name: (index: number) => string): PackedNames {
  const encoder = new TextEncoder();
  const offsets = new Uint32Array(count + 1);
  let bytes = new Uint8Array(16 * count + 64);
  for (let j = 0; j < count; j++) {
    const text = name(j);
    const from = offsets[j];
    // UTF-8 takes at most three bytes per UTF-16 unit.
    if (from + 3 * text.length > bytes.length) {
      const larger = new Uint8Array(2 * bytes.length + 3 * text.length);
      larger.set(bytes);
      bytes = larger;
    }
    offsets[j + 1] = from + encoder.encodeInto(text, bytes.subarray(from)).written;
  }
  return { bytes: bytes.slice(0, offsets[count]), offsets };
}

const decoder = new TextDecoder();

export function nameAt({ bytes, offsets }: PackedNames, index: number): string {
  return decoder.decode(bytes.subarray(offsets[index], offsets[index + 1]));
}
