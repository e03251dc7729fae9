// Thrift's compact protocol, as far as Parquet uses it: structs of numbered fields, read and written. The reader checks
// every length against the remaining bytes, and bounds the depth and the number of values.

import { concat } from '../math/memory.js';

/** A file that contradicts itself or its format. */
export class DamagedError extends Error {
  override readonly name = 'DamagedError';
}

type ThriftValue = number | boolean | Uint8Array | ThriftValue[] | ThriftStruct;
/** Fields by their number. */
export type ThriftStruct = Map<number, ThriftValue>;

const MAX_DEPTH = 24;
/** More values than any sensible footer has; each takes memory. */
const MAX_VALUES = 1 << 22;

/** Reads structs from the bytes, beginning at `pos`. */
export class ThriftReader {
  pos: number;
  #values = 0;

  constructor(
    readonly bytes: Uint8Array,
    start = 0,
  ) {
    this.pos = start;
  }

  struct(depth = 0): ThriftStruct {
    if (depth > MAX_DEPTH) throw new DamagedError('its description is nested too deeply');
    const fields: ThriftStruct = new Map();
    for (let id = 0; ; ) {
      const head = this.#byte();
      if (head === 0) return fields;
      id = head >> 4 === 0 ? this.#zigzag() : id + (head >> 4);
      fields.set(id, this.#value(head & 15, depth, false));
    }
  }

  #value(type: number, depth: number, inList: boolean): ThriftValue {
    if (++this.#values > MAX_VALUES) throw new DamagedError('its description has too many values');
    switch (type) {
      case 1:
      case 2:
        // A boolean field stores its value in the type; a list uses a byte for each.
        return inList ? this.#byte() === 1 : type === 1;
      case 3:
        return (this.#byte() << 24) >> 24;
      case 4:
      case 5:
      case 6:
        return this.#zigzag();
      case 7:
        this.#take(8);
        return 0;
      case 8:
        return this.#take(this.#varint());
      case 9:
      case 10: {
        const head = this.#byte();
        const length = head >> 4 === 15 ? this.#varint() : head >> 4;
        // Every element takes at least one byte.
        if (length > this.bytes.length - this.pos) throw new DamagedError('a list is longer than the file');
        const list: ThriftValue[] = [];
        for (let i = 0; i < length; i++) list.push(this.#value(head & 15, depth + 1, true));
        return list;
      }
      case 12:
        return this.struct(depth + 1);
      default:
        throw new DamagedError(`its description has a value of unknown type ${type}`);
    }
  }

  #byte(): number {
    if (this.pos >= this.bytes.length) throw new DamagedError('its description is cut short');
    return this.bytes[this.pos++];
  }

  #take(length: number): Uint8Array {
    if (length > this.bytes.length - this.pos) throw new DamagedError('its description is cut short');
    this.pos += length;
    return this.bytes.subarray(this.pos - length, this.pos);
  }

  /** Exact up to 2^53; no size in a file is larger. */
  #varint(): number {
    let value = 0;
    let scale = 1;
    for (let i = 0; i < 10; i++) {
      const byte = this.#byte();
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
    throw new DamagedError('its description has a number that does not end');
  }

  #zigzag(): number {
    const value = this.#varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

/** The field as a whole number, or undefined if it is missing. */
export function numberOf(struct: ThriftStruct | undefined, field: number): number | undefined {
  const value = struct?.get(field);
  if (value === undefined || typeof value === 'number') return value;
  throw new DamagedError(`field ${field} of its description is not a number`);
}

export function sizeOf(struct: ThriftStruct | undefined, field: number, max: number, what: string): number {
  const value = numberOf(struct, field);
  if (value !== undefined && value >= 0 && value <= max) return value;
  throw new DamagedError(`${what} is ${value ?? 'missing'}`);
}

export function structOf(struct: ThriftStruct | undefined, field: number): ThriftStruct | undefined {
  const value = struct?.get(field);
  if (value === undefined || value instanceof Map) return value;
  throw new DamagedError(`field ${field} of its description is not a struct`);
}

export function structsOf(struct: ThriftStruct, field: number): ThriftStruct[] {
  const value = struct.get(field);
  if (Array.isArray(value) && value.every((entry) => entry instanceof Map)) return value as ThriftStruct[];
  throw new DamagedError(`field ${field} of its description is not a list`);
}

export function bytesOf(struct: ThriftStruct | undefined, field: number): Uint8Array | undefined {
  const value = struct?.get(field);
  if (value === undefined || value instanceof Uint8Array) return value;
  throw new DamagedError(`field ${field} of its description is not a text`);
}

/** A value with its type, which precedes it in a struct and appears once in a list. */
export interface Encoded {
  readonly kind: number;
  readonly bytes: Uint8Array;
}

const [TRUE, FALSE, BYTE, I32, I64, BINARY, LIST, STRUCT] = [1, 2, 3, 5, 6, 8, 9, 12];

export const boolean = (value: boolean): Encoded => ({
  kind: value ? TRUE : FALSE,
  bytes: new Uint8Array(0),
});
export const byte = (value: number): Encoded => ({ kind: BYTE, bytes: Uint8Array.of(value) });
export const i32 = (value: number): Encoded => ({ kind: I32, bytes: zigzag(value) });
export const i64 = (value: number): Encoded => ({ kind: I64, bytes: zigzag(value) });

export function text(value: string): Encoded {
  const bytes = new TextEncoder().encode(value);
  return { kind: BINARY, bytes: concat(Uint8Array, [varint(bytes.length), bytes]) };
}

/** A list of at least one value, all of one type. */
export function list(values: readonly Encoded[], kind = values[0]?.kind ?? STRUCT): Encoded {
  const many = values.length >= 15;
  const head = Uint8Array.of(((many ? 15 : values.length) << 4) | kind);
  const length = many ? [varint(values.length)] : [];
  return { kind: LIST, bytes: concat(Uint8Array, [head, ...length, ...values.map(({ bytes }) => bytes)]) };
}

/** A struct of fields in ascending order, each number at most 15 above the previous one. */
export function struct(...fields: readonly (readonly [number, Encoded])[]): Encoded {
  const parts: Uint8Array[] = [];
  let last = 0;
  for (const [id, { kind, bytes }] of fields) {
    parts.push(Uint8Array.of(((id - last) << 4) | kind), bytes);
    last = id;
  }
  parts.push(Uint8Array.of(0));
  return { kind: STRUCT, bytes: concat(Uint8Array, parts) };
}

/** A whole number in groups of seven bits, the lowest first. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function zigzag(value: number): Uint8Array {
  return varint(value < 0 ? -2 * value - 1 : 2 * value);
}
