// Damages files, by a seeded stream, as disks, networks, editors, careless exports and attackers with a hex editor do. Only the
// two helpers at the end know a format.

import { createHash } from 'node:crypto';

/** The part of a random stream that damage needs. */
export interface Dice {
  below(n: number): number;
  uniform(): number;
}

const NUMBERS = [
  '0',
  '-1',
  '-0',
  '1e308',
  '1e999',
  '-1e999',
  'NaN',
  'Infinity',
  '4294967295',
  '4294967296',
  '2147483648',
  '9007199254740993',
  '1125899906842624',
  '18446744073709551616',
  '0.1',
  '1e-320',
  '0x10',
  '00012',
  '9'.repeat(400),
];

const TEXTS = [
  '\0',
  '"',
  '""',
  '"""',
  "'",
  ',',
  '\t',
  '::',
  ';',
  '|',
  ' ',
  '\n',
  '\r',
  '\r\n',
  '\n\n\n',
  '\ufeff',
  '\u2028',
  '\u202e',
  'e\u0301\u0301\u0301',
  '👩‍👩‍👧',
  '\ud800',
  '\\',
  '\\u0000',
  '{',
  '}',
  '[',
  ']',
  ':',
  'null',
  'true',
  '{"toString":1,"valueOf":1}',
  '{"__proto__":{"user":1}}',
  '__proto__',
  'constructor',
  'toString',
  '[[[[[[[[',
  ' = ',
  '= =',
  '12:',
];

const WORDS = [0n, 1n, 0xffn, 0xffffn, 0xffffffffn, 1n << 31n, 1n << 50n, 1n << 63n, (1n << 64n) - 1n];

type Damage = (bytes: Uint8Array, dice: Dice, other: Uint8Array) => Uint8Array;

const DAMAGES: Readonly<Record<string, Damage>> = {
  bit(bytes, dice) {
    const result = bytes.slice();
    const flips = 1 + dice.below(4);
    for (let i = 0; i < flips && result.length > 0; i++) result[place(result, dice)] ^= 1 << dice.below(8);
    return result;
  },
  byte(bytes, dice) {
    const result = bytes.slice();
    if (result.length > 0) result[place(result, dice)] = dice.below(256);
    return result;
  },
  cut: (bytes, dice) => bytes.slice(0, dice.below(bytes.length + 1)),
  behead: (bytes, dice) => bytes.slice(dice.below(Math.min(bytes.length, 200) + 1)),
  remove(bytes, dice) {
    const [from, to] = range(bytes, dice);
    return joined(bytes.subarray(0, from), bytes.subarray(to));
  },
  repeat(bytes, dice) {
    const [from, to] = range(bytes, dice);
    const times = 1 + dice.below(20);
    return joined(bytes.subarray(0, to), ...Array(times).fill(bytes.subarray(from, to)), bytes.subarray(to));
  },
  swap(bytes, dice) {
    const [a, b] = range(bytes, dice);
    const [c, d] = range(bytes, dice);
    return joined(bytes.subarray(0, a), bytes.subarray(c, d), bytes.subarray(b));
  },
  splice(bytes, dice, other) {
    const at = place(bytes, dice);
    const [from, to] = range(other, dice);
    return joined(
      bytes.subarray(0, at),
      other.subarray(from, to),
      bytes.subarray(at + dice.below(2) * (to - from)),
    );
  },
  number(bytes, dice) {
    // Replaces a number, if there is one.
    const text = Buffer.from(bytes).toString('latin1');
    const at = place(bytes, dice);
    const found = /\d+/g;
    found.lastIndex = at;
    const match = found.exec(text);
    const [from, to] = match ? [match.index, match.index + match[0].length] : [at, at];
    return joined(bytes.subarray(0, from), Buffer.from(pick(NUMBERS, dice)), bytes.subarray(to));
  },
  text(bytes, dice) {
    const at = place(bytes, dice);
    return joined(bytes.subarray(0, at), Buffer.from(pick(TEXTS, dice)), bytes.subarray(at));
  },
  word(bytes, dice) {
    const result = bytes.slice();
    const width = pick([4, 8], dice);
    if (result.length < width) return result;
    let word = pick(WORDS, dice);
    const at =
      dice.below(2) === 0 ? dice.below(result.length - width + 1) : dice.below(2) * (result.length - width);
    for (let i = 0; i < width; i++, word >>= 8n) result[at + i] = Number(word & 0xffn);
    return result;
  },
  run(bytes, dice) {
    // A long run of one short text: long lines, deep nesting, many columns.
    const length = 10 ** (1 + 4.2 * dice.uniform());
    const unit = pick([...TEXTS, 'x', '1', ',1', '"a",', '\t"', '\n"', '1,', '\n1,2', ' a'], dice);
    const at = place(bytes, dice);
    return joined(
      bytes.subarray(0, at),
      Buffer.from(unit.repeat(Math.ceil(length / unit.length))),
      bytes.subarray(at),
    );
  },
  noise(bytes, dice) {
    const [from, to] = range(bytes, dice);
    const result = bytes.slice();
    const length = Math.min(to - from, 40);
    for (let i = from; i < from + length; i++) result[i] = dice.below(256);
    return result;
  },
};

/** Damages that leave every other byte in its place, so that a reader of a format with offsets gets further. */
const IN_PLACE = ['bit', 'byte', 'word', 'noise'];

/** One to three damages; `other` is a second file to splice from. `binary`: most in place, half of them near the end. */
export function mutate(bytes: Uint8Array, dice: Dice, other: Uint8Array, binary = false): Uint8Array {
  let result: Uint8Array = new Uint8Array(bytes);
  const times = 1 + dice.below(3);
  const names = binary && dice.below(4) > 0 ? IN_PLACE : Object.keys(DAMAGES);
  for (let i = 0; i < times; i++) {
    const damage = DAMAGES[pick(names, dice)];
    if (binary && dice.below(2) === 0 && result.length > 1024) {
      const from = result.length - 1024;
      result = joined(result.subarray(0, from), damage(result.subarray(from), dice, other));
    } else result = damage(result, dice, other);
  }
  return result;
}

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The document with one or two of its values, at any depth, replaced, removed, doubled or renamed. */
export function mutateJson(document: Json, dice: Dice): Json {
  const copy = structuredClone(document);
  const times = 1 + dice.below(2);
  for (let i = 0; i < times; i++) {
    let at = copy;
    for (;;) {
      if (typeof at !== 'object' || at === null) break;
      const keys = Object.keys(at);
      if (keys.length === 0) break;
      const key = pick(keys, dice);
      const inside = (at as Record<string, Json>)[key];
      if (typeof inside === 'object' && inside !== null && dice.below(8) > 0) {
        at = inside;
        continue;
      }
      change(at as Record<string, Json>, key, dice);
      break;
    }
  }
  return copy;
}

const VALUES: readonly Json[] = [
  null,
  true,
  -1,
  0,
  1.5,
  2 ** 31,
  2 ** 32,
  2 ** 50,
  1e300,
  '',
  'x',
  '1',
  'NaN',
  'null',
  '[]',
  '{}',
  '[1,2,3]',
  [],
  [0, 2 ** 50],
  [2 ** 50, 0],
  [4, 0],
  [-1],
  [-1, -4],
  [0],
  [null],
  [[]],
  {},
  { toString: 1 },
  { length: 2 ** 31 },
];

function change(parent: Record<string, Json>, key: string, dice: Dice): void {
  const value = parent[key];
  const how = dice.below(5);
  if (how === 0) delete parent[key];
  else if (how === 1) {
    const names = ['__proto__', 'constructor', 'toString', 'length', `${key}x`, '0'];
    // A list has a length of its own.
    parent[pick(Array.isArray(parent) ? ['0', `${key}x`] : names, dice)] = value;
  } else if (how === 2 && typeof value === 'number')
    parent[key] = value + pick([-1, 1, 4, -value * 2, value], dice);
  else if (how === 3 && typeof value === 'string') {
    parent[key] = Buffer.from(mutate(Buffer.from(value), dice, Buffer.from(value))).toString();
  } else parent[key] = pick(VALUES, dice);
}

/** A safetensors file in its two parts. */
export function openTensors(bytes: Uint8Array): { header: Record<string, Json>; data: Uint8Array } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = 8 + Number(view.getBigUint64(0, true));
  return {
    header: JSON.parse(Buffer.from(bytes.subarray(8, end)).toString()),
    data: new Uint8Array(bytes.subarray(end)),
  };
}

/** The file made of the two parts. With `seal` its checksum is right, so that a reader continues past the checksum. */
export function closeTensors(header: Record<string, Json>, data: Uint8Array, seal: boolean): Uint8Array {
  const metadata = header.__metadata__;
  if (seal && typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata)) {
    const { checksum: _, ...rest } = metadata;
    const hash = createHash('sha256').update(
      JSON.stringify({ ...header, __metadata__: { ...rest, checksum: '' } }),
    );
    for (const [name, entry] of Object.entries(header)) {
      const offsets = (entry as { data_offsets?: [number, number] } | null)?.data_offsets;
      if (name === '__metadata__' || !Array.isArray(offsets)) continue;
      if (offsets.every((offset) => typeof offset === 'number')) hash.update(data.subarray(...offsets));
    }
    header.__metadata__ = { ...rest, checksum: hash.digest('hex') };
  }
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return joined(length, json, data);
}

/** A place in the file; the first and the last bytes more often than others. */
function place(bytes: Uint8Array, dice: Dice): number {
  const near = Math.min(bytes.length, 64);
  const where = dice.below(6);
  if (where === 0) return dice.below(near + 1);
  if (where === 1) return bytes.length - dice.below(near + 1);
  return dice.below(bytes.length + 1);
}

function range(bytes: Uint8Array, dice: Dice): [number, number] {
  const from = place(bytes, dice);
  const length = Math.floor(10 ** (4 * dice.uniform()));
  return [from, Math.min(bytes.length, from + length)];
}

function pick<T>(list: readonly T[], dice: Dice): T {
  return list[dice.below(list.length)];
}

function joined(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts)); // a plain array: slice() of a Buffer does not copy
}
