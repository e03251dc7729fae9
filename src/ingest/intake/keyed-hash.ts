// Hashes with a secret, so that nobody can craft a file whose ids all fall into one slot of a table. Every process draws its own secret.
// Only slots in tables depend on it; codes, orders and results do not.

const secret = globalThis.crypto.getRandomValues(new Uint32Array(2));

/** The hash of three words: HalfSipHash with one round per word and three at the end. */
export function hashWords(a: number, b: number, c: number): number {
  // Unrolled over four variables, because this runs once for every id of every row.
  let v0 = secret[0];
  let v1 = secret[1];
  let v2 = 0x6c796765 ^ v0;
  let v3 = 0x74656462 ^ v1;
  for (let word = 0; word < 6; word++) {
    const message = word === 0 ? a : word === 1 ? b : word === 2 ? c : 0;
    v3 ^= message;
    if (word === 3) v2 ^= 0xff;
    v0 = (v0 + v1) | 0;
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0;
    v0 = (v0 << 16) | (v0 >>> 16);
    v2 = (v2 + v3) | 0;
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2;
    v0 = (v0 + v3) | 0;
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0;
    v2 = (v2 + v1) | 0;
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2;
    v2 = (v2 << 16) | (v2 >>> 16);
    v0 ^= message;
  }
  return (v1 ^ v3) >>> 0;
}

/** The hash of bytes start … stop−1: eight at a time, with their number at the end. */
export function hashBytes(bytes: Uint8Array, start: number, stop: number): number {
  let hash = 0;
  let pos = start;
  for (; pos + 8 <= stop; pos += 8) {
    hash = hashWords(hash, wordAt(bytes, pos), wordAt(bytes, pos + 4));
  }
  let low = 0;
  let high = 0;
  for (let i = 0; pos + i < stop; i++) {
    if (i < 4) low |= bytes[pos + i] << (8 * i);
    else high |= bytes[pos + i] << (8 * i - 32);
  }
  return hashWords(hash, low, hashWords(high, stop - start, 1));
}

function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
}
