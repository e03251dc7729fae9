// SHA-256 of bytes that arrive in pieces, for browsers: their own digest needs all bytes in one call.

export interface Sha256 {
  update(bytes: Uint8Array): void;
  /** 64 hex digits; the hash accepts no more bytes afterwards. */
  digest(): string;
}

const BLOCK = 64;

/** Fractional parts of the cube roots of the first 64 primes, and of the square roots of the first 8. */
const { rounds: ROUNDS, start: START } = constants();

export function createSha256(): Sha256 {
  const state = START.slice();
  const schedule = new Int32Array(64);
  const rest = new Uint8Array(BLOCK);
  let held = 0;
  let length = 0;
  return {
    update(bytes) {
      length += bytes.length;
      let at = 0;
      if (held > 0) {
        at = Math.min(BLOCK - held, bytes.length);
        rest.set(bytes.subarray(0, at), held);
        held += at;
        if (held < BLOCK) return;
        compress(state, schedule, rest, 0);
        held = 0;
      }
      for (; at + BLOCK <= bytes.length; at += BLOCK) compress(state, schedule, bytes, at);
      rest.set(bytes.subarray(at));
      held = bytes.length - at;
    },
    digest() {
      const padded = new Uint8Array(held + 9 <= BLOCK ? BLOCK : 2 * BLOCK);
      padded.set(rest.subarray(0, held));
      padded[held] = 0x80;
      const view = new DataView(padded.buffer);
      view.setUint32(padded.length - 8, Math.floor(length / 2 ** 29));
      view.setUint32(padded.length - 4, (length * 8) >>> 0);
      for (let at = 0; at < padded.length; at += BLOCK) compress(state, schedule, padded, at);
      return Array.from(state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
    },
  };
}

function compress(state: Int32Array, w: Int32Array, bytes: Uint8Array, at: number): void {
  for (let i = 0; i < 16; i++, at += 4) {
    w[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  }
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15];
    const y = w[i - 2];
    const low = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const high = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[i] = (w[i - 16] + low + w[i - 7] + high) | 0;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const se = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + se + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
    const sa = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (sa + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

function constants(): { rounds: Int32Array; start: Int32Array } {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
  return {
    rounds: Int32Array.from(primes, (p) => rootBits(p, 3n)),
    start: Int32Array.from(primes.slice(0, 8), (p) => rootBits(p, 2n)),
  };
}

/** The first 32 bits after the point of the nth root of a prime, exactly. */
function rootBits(prime: number, n: bigint): number {
  const target = BigInt(prime) << (32n * n);
  let root = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) if ((root + bit) ** n <= target) root += bit;
  return Number(BigInt.asIntN(32, root));
}
