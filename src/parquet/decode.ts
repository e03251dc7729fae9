// The encodings of Parquet pages. Each decoder knows how many values it must find and throws if the bytes hold fewer,
// so it trusts no count in a damaged file.

import type { Physical } from './footer.js';
import { DamagedError } from './thrift.js';

/** Decoded values of one page or dictionary. */
export type Values =
  | { readonly kind: 'numbers'; readonly numbers: Int32Array | Float32Array | Float64Array | Uint8Array }
  /** `per` 32-bit words for each value, the lowest first. */
  | { readonly kind: 'words'; readonly words: Int32Array; readonly per: 2 | 3 }
  | Bytes;

interface Bytes {
  readonly kind: 'bytes';
  readonly data: Uint8Array;
  readonly starts: Uint32Array;
  readonly stops: Uint32Array;
}

/** Runs of equal numbers and bit-packed groups of eight: the encoding of levels, dictionary indexes and booleans. */
export function decodeRuns(bytes: Uint8Array, width: number, count: number): Uint32Array {
  if (width > 32) throw new DamagedError(`numbers of ${width} bits`);
  const result = new Uint32Array(count);
  if (width === 0) return result;
  let pos = 0;
  let done = 0;
  while (done < count) {
    const header = varint(bytes, pos);
    pos = header.next;
    const runs = Math.floor(header.value / 2);
    if (header.value % 2 === 0) {
      const size = (width + 7) >> 3;
      if (pos + size > bytes.length) throw short();
      let value = 0;
      for (let i = size - 1; i >= 0; i--) value = value * 256 + bytes[pos + i];
      pos += size;
      const stop = Math.min(count, done + runs);
      if (stop === done) throw new DamagedError('a run is empty');
      result.fill(value, done, stop);
      done = stop;
    } else {
      const stop = Math.min(count, done + 8 * runs);
      // The end of the page may cut the last group.
      if (stop === done || pos + Math.ceil(((stop - done) * width) / 8) > bytes.length) throw short();
      unpackBits(bytes, pos, width, result, done, stop);
      pos += runs * width;
      done = stop;
    }
  }
  return result;
}

function unpackBits(
  bytes: Uint8Array,
  start: number,
  width: number,
  into: Uint32Array,
  from: number,
  to: number,
): void {
  let pos = start;
  const mask = 2 ** width - 1;
  let held = 0;
  let bits = 0;
  if (width <= 24) {
    for (let i = from; i < to; i++) {
      for (; bits < width; bits += 8) held |= bytes[pos++] << bits;
      into[i] = held & mask;
      held >>>= width;
      bits -= width;
    }
    return;
  }
  // Up to 39 bits are held, so multiply instead of shifting: shifts are limited to 32 bits.
  for (let i = from; i < to; i++) {
    for (; bits < width; bits += 8) held += bytes[pos++] * 2 ** bits;
    into[i] = held % 2 ** width;
    held = Math.floor(held / 2 ** width);
    bits -= width;
  }
}

/** Values as they are in memory, one after another. */
export function decodePlain(bytes: Uint8Array, physical: Physical, width: number, count: number): Values {
  switch (physical) {
    case 'boolean': {
      if (count > 8 * bytes.length) throw short();
      const numbers = new Uint8Array(count);
      for (let i = 0; i < count; i++) numbers[i] = (bytes[i >> 3] >> (i & 7)) & 1;
      return { kind: 'numbers', numbers };
    }
    case 'int32':
      return { kind: 'numbers', numbers: new Int32Array(aligned(bytes, 4 * count)) };
    case 'float':
      return { kind: 'numbers', numbers: new Float32Array(aligned(bytes, 4 * count)) };
    case 'double':
      return { kind: 'numbers', numbers: new Float64Array(aligned(bytes, 8 * count)) };
    case 'int64':
      return { kind: 'words', words: new Int32Array(aligned(bytes, 8 * count)), per: 2 };
    case 'int96':
      return { kind: 'words', words: new Int32Array(aligned(bytes, 12 * count)), per: 3 };
    case 'fixed':
      return fixed(bytes, width, count);
    case 'bytes': {
      if (4 * count > bytes.length) throw short();
      const starts = new Uint32Array(count);
      const stops = new Uint32Array(count);
      let pos = 0;
      for (let i = 0; i < count; i++) {
        if (pos + 4 > bytes.length) throw short();
        const length = bytes[pos] + 256 * bytes[pos + 1] + 65536 * bytes[pos + 2] + 16777216 * bytes[pos + 3];
        starts[i] = pos + 4;
        pos += 4 + length;
        if (pos > bytes.length) throw short();
        stops[i] = pos;
      }
      return { kind: 'bytes', data: bytes, starts, stops };
    }
  }
}

function fixed(bytes: Uint8Array, width: number, count: number): Values {
  if (!(width >= 1) || count * width > bytes.length) throw short();
  return adjacent(
    bytes,
    Uint32Array.from({ length: count + 1 }, (_, i) => i * width),
  );
}

/** Values that follow each other: the start of each, and the end of the last. */
function adjacent(data: Uint8Array, bounds: Uint32Array): Bytes {
  return { kind: 'bytes', data, starts: bounds.subarray(0, -1), stops: bounds.subarray(1) };
}

/** Byte k of all values, then byte k + 1: floating-point numbers compress well this way. */
export function decodeByteStreams(
  bytes: Uint8Array,
  physical: Physical,
  width: number,
  count: number,
): Values {
  const size = { int32: 4, float: 4, int64: 8, double: 8, fixed: width }[physical as string] ?? 0;
  if (size < 1 || size * count > bytes.length) throw short();
  const plain = new Uint8Array(size * count);
  for (let i = 0; i < count; i++) for (let k = 0; k < size; k++) plain[size * i + k] = bytes[k * count + i];
  return decodePlain(plain, physical, width, count);
}

/** Whole numbers by their differences. */
export function decodeDeltas(bytes: Uint8Array, physical: Physical, count: number): Values {
  const { values } = deltas(bytes, count);
  if (physical === 'int32') {
    return { kind: 'numbers', numbers: Int32Array.from(values, (value) => Number(BigInt.asIntN(32, value))) };
  }
  if (physical !== 'int64') throw new DamagedError('differences encode values that are not whole numbers');
  return { kind: 'words', words: new Int32Array(values.buffer), per: 2 };
}

function deltas(bytes: Uint8Array, count: number): { values: BigInt64Array; next: number } {
  const block = varint(bytes, 0);
  const minis = varint(bytes, block.next);
  const total = varint(bytes, minis.next);
  const first = varint64(bytes, total.next);
  const perMini = block.value / minis.value;
  if (total.value !== count || !Number.isInteger(perMini) || perMini % 8 !== 0 || perMini < 8) {
    throw new DamagedError('a block of differences is inconsistent');
  }
  const values = new BigInt64Array(count);
  let pos = first.next;
  let last = unzigzag(first.value);
  if (count > 0) values[0] = last;
  for (let done = 1; done < count; ) {
    const least = varint64(bytes, pos);
    const minimum = unzigzag(least.value);
    const widths = least.next;
    pos = widths + minis.value;
    if (pos > bytes.length) throw short();
    for (let m = 0; m < minis.value && done < count; m++) {
      const width = bytes[widths + m];
      if (width > 64 || pos + (width * perMini) / 8 > bytes.length) throw short();
      const stop = Math.min(count, done + perMini);
      let held = 0n;
      let bits = 0;
      let at = pos;
      for (; done < stop; done++) {
        while (bits < width) {
          held |= BigInt(bytes[at++]) << BigInt(bits);
          bits += 8;
        }
        const step = BigInt.asUintN(width, held);
        held >>= BigInt(width);
        bits -= width;
        last = BigInt.asIntN(64, last + minimum + step);
        values[done] = last;
      }
      pos += (width * perMini) / 8;
    }
  }
  return { values, next: pos };
}

/** Texts: all lengths, then all characters. */
export function decodeDeltaLengths(bytes: Uint8Array, count: number): Bytes {
  const { values, next } = deltas(bytes, count);
  const bounds = new Uint32Array(count + 1);
  bounds[0] = next;
  for (let i = 0; i < count; i++) {
    const length = Number(values[i]);
    if (!(length >= 0) || bounds[i] + length > bytes.length) throw short();
    bounds[i + 1] = bounds[i] + length;
  }
  return adjacent(bytes, bounds);
}

/** Texts that share a prefix with the previous one: prefix lengths, then suffixes. `most`: bytes of all texts. */
export function decodeDeltaTexts(bytes: Uint8Array, count: number, most: number): Values {
  const shared = deltas(bytes, count);
  const rests = decodeDeltaLengths(bytes.subarray(shared.next), count);
  let total = 0;
  for (let i = 0; i < count; i++) {
    total += Number(shared.values[i]) + rests.stops[i] - rests.starts[i];
    if (!(total <= most)) throw new DamagedError(`a page has more than ${most} bytes`);
  }
  const data = new Uint8Array(total);
  const bounds = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    const same = Number(shared.values[i]);
    const [before, start] = [i === 0 ? 0 : bounds[i - 1], bounds[i]];
    if (same < 0 || same > start - before) throw short();
    data.copyWithin(start, before, before + same);
    data.set(rests.data.subarray(rests.starts[i], rests.stops[i]), start + same);
    bounds[i + 1] = start + same + rests.stops[i] - rests.starts[i];
  }
  return adjacent(data, bounds);
}

/** A copy of the first `length` bytes, aligned for wider numbers. Parquet and all Node platforms are little-endian. */
function aligned(bytes: Uint8Array, length: number): ArrayBuffer {
  if (length > bytes.length) throw short();
  return bytes.slice(0, length).buffer as ArrayBuffer;
}

function short(): DamagedError {
  return new DamagedError('a page holds fewer values than its header states');
}

function varint(bytes: Uint8Array, start: number): { value: number; next: number } {
  let value = 0;
  let scale = 1;
  for (let pos = start; pos < Math.min(bytes.length, start + 5); pos++) {
    value += (bytes[pos] & 127) * scale;
    if (bytes[pos] < 128) return { value, next: pos + 1 };
    scale *= 128;
  }
  throw short();
}

function varint64(bytes: Uint8Array, start: number): { value: bigint; next: number } {
  let value = 0n;
  for (let pos = start, shift = 0n; pos < Math.min(bytes.length, start + 10); pos++, shift += 7n) {
    value |= BigInt(bytes[pos] & 127) << shift;
    if (bytes[pos] < 128) return { value: BigInt.asUintN(64, value), next: pos + 1 };
  }
  throw short();
}

function unzigzag(value: bigint): bigint {
  return BigInt.asIntN(64, (value >> 1n) ^ -(value & 1n));
}
