// Seeded random streams. A seed and a path of numbers name a stream; streams of different paths are independent for
// every practical purpose. Each piece of work takes the stream of its own path, so the numbers do not depend on which
// worker does which piece.
//
// The generator is xoshiro128** (Blackman and Vigna). Its state comes from mixing the path, word by word, with the
// finalizer of MurmurHash3 in two lanes.

const TWO_POW_MINUS_53 = 2 ** -53;

function mix(h: number): number {
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/** A stream of random numbers and of draws from distributions; `randomStream` makes one. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;
  /** The mixed words of the path that names this stream, from which `derive` goes on. */
  readonly #mixed: readonly [number, number];

  constructor(path: readonly number[], from?: Random) {
    let [h1, h2] = from ? from.#mixed : [0x9e3779b9, 0x243f6a88];
    for (const part of path) {
      // Both halves of a number up to 2^53 matter, and so does its sign.
      const low = part >>> 0;
      const high = Math.floor(part / 4294967296) >>> 0;
      h1 = mix((h1 ^ low) + 0x9e3779b9);
      h2 = mix((h2 + h1) ^ high);
      h1 = mix((h1 + 0x6a09e667) ^ h2);
    }
    this.#mixed = [h1, h2];
    this.#a = mix(h1 + 0x3c6ef372);
    this.#b = mix(h2 ^ 0xa54ff53a);
    this.#c = mix(this.#a + h2);
    this.#d = mix(this.#b ^ (h1 + 0x510e527f)) | 1; // never the all-zero state
    for (let i = 0; i < 8; i++) this.uint32();
  }

  /** 32 random bits. */
  uint32(): number {
    const b = this.#b;
    const x = Math.imul(b, 5);
    const result = Math.imul((x << 7) | (x >>> 25), 9) >>> 0;
    const t = b << 9;
    this.#c ^= this.#a;
    this.#d ^= b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= t;
    this.#d = (this.#d << 11) | (this.#d >>> 21);
    return result;
  }

  /** Uniform on the open interval (0, 1): 53 bits, never 0 and never 1. */
  uniform(): number {
    const high = this.uint32() >>> 6; // 26 bits
    const low = this.uint32() >>> 6; // 26 bits
    return (high * 67108864 + low + 0.5) * (2 * TWO_POW_MINUS_53);
  }

  /** A uniform whole number in 0 … n−1, n ≤ 2^32; the bias is below n/2^52. */
  below(n: number): number {
    return Math.floor(this.uniform() * n);
  }

  /** The independent stream of a longer path. This stream does not advance. */
  derive(...path: readonly number[]): Random {
    return new Random(path, this);
  }
}

/**
 * The stream of a seed and an optional path.
 * @example
 * import { randomStream } from 'graphex';
 * const random = randomStream(1, 7);
 * console.log(random.uniform(), random.derive(2).uniform());
 */
export function randomStream(seed: number, ...path: readonly number[]): Random {
  return new Random([seed, ...path]);
}

/** Two words for the path of a stream that depend only on the characters of the text. */
export function textHash(text: string): [number, number] {
  let h1 = 0x9e3779b9;
  let h2 = 0x243f6a88;
  for (let i = 0; i < text.length; i++) {
    h1 = mix((h1 ^ text.charCodeAt(i)) + 0x9e3779b9);
    h2 = mix((h2 + h1) ^ i);
  }
  return [mix(h1 ^ text.length), mix(h2 + h1)];
}

export function shuffle<T extends number[] | Uint32Array>(values: T, random: Random): T {
  for (let i = values.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [values[i], values[j]] = [values[j], values[i]];
  }
  return values;
}
