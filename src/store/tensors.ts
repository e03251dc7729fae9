// The safetensors format: 8 bytes of header length, a JSON header with the position of every tensor, then the tensors
// without gaps. Programs in Python or Rust can open such a file. Those of graphex have a checksum over header and tensors.
// This file reads and writes bytes only, so that a page can use it.

import { InputError } from '../errors.js';
import { createSha256, type Sha256 } from '../files/sha256.js';
import { allocateBytes } from '../math/memory.js';
import { shown } from '../text/untrusted.js';

/** Numbers of half precision are stored as their bits. */
export type TensorData = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array;

export interface Tensor {
  readonly shape: readonly number[];
  readonly data: TensorData;
}

export interface TensorFile {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Something of known length that can be read anywhere: a file, bytes, a Blob. */
export interface ByteSource {
  /** What messages call it. */
  readonly name: string;
  readonly size: number;
  read(position: number, length: number): Promise<Uint8Array>;
}

const TYPES = {
  F16: Uint16Array,
  F32: Float32Array,
  F64: Float64Array,
  I32: Int32Array,
  I64: BigInt64Array,
  U8: Uint8Array,
} as const;
type TypeName = keyof typeof TYPES;

/** The start of a file's header, after the eight bytes of its length. */
const startOf = (format: string) => `{"__metadata__":{"format":"${format}"`;
export const MODEL_START = startOf('graphex-model');

const CHECKSUM = 'checksum';
/** A model's header has tens of entries; a header of megabytes is not a model's, and is not parsed. */
const MAX_HEADER = 1 << 23;
const PIECE_BYTES = 1 << 28;

interface Entry {
  dtype: TypeName;
  shape: number[];
  data_offsets: [number, number];
}

/** The file as consecutive pieces. Adds the checksum to the metadata. */
export function encodeTensors(file: TensorFile, hash: Sha256 = createSha256()): Uint8Array[] {
  // Wider numbers first, so that every tensor is aligned to its width.
  const tensors = [...file.tensors].sort(
    ([, a], [, b]) => b.data.BYTES_PER_ELEMENT - a.data.BYTES_PER_ELEMENT,
  );
  const header: Record<string, unknown> = { __metadata__: { ...file.metadata, [CHECKSUM]: '' } };
  let end = 0;
  for (const [name, { shape, data }] of tensors) {
    const dtype = (Object.keys(TYPES) as TypeName[]).find((type) => data instanceof TYPES[type]);
    header[name] = { dtype, shape, data_offsets: [end, end + data.byteLength] };
    end += data.byteLength;
  }
  const text = new TextEncoder();
  hash.update(text.encode(JSON.stringify(header)));
  for (const [, { data }] of tensors) updateInPieces(hash, bytesOf(data));
  (header.__metadata__ as Record<string, string>)[CHECKSUM] = hash.digest();
  const json = text.encode(JSON.stringify(header));
  const padded = new Uint8Array(json.length + (-json.length & 7)).fill(0x20);
  padded.set(json);
  if (padded.length > MAX_HEADER) {
    throw new InputError(
      `the description of the model takes ${padded.length} bytes, and a file holds at most ${MAX_HEADER} of it`,
    );
  }
  const length = new Uint8Array(8);
  new DataView(length.buffer).setBigUint64(0, BigInt(padded.length), true);
  return [length, padded, ...tensors.map(([, { data }]) => bytesOf(data))];
}

/** What a reader expects to find. */
export interface Expected {
  readonly format: string;
  readonly version: number;
  /** The oldest version that is read. Default: the current one alone. */
  readonly oldest?: number;
  /** What messages call it. */
  readonly what: string;
}

export interface ExpectedTensors extends Expected {
  /** What to do again to get a sound file. */
  readonly again: string;
}

/** Reads what `encodeTensors` made; refuses a file that is cut, changed, foreign or of another version. */
export async function decodeTensors(
  source: ByteSource,
  expected: ExpectedTensors,
  hash: Sha256 = createSha256(),
): Promise<TensorFile> {
  const { name: path, size } = source;
  const { header, metadata, start } = await readHeader(source, expected);
  const { what, again } = expected;
  const damaged = `${path}: the ${what} is damaged: its contents do not match its checksum; copy it again or ${again} again`;
  const entries = Object.entries(header).filter(([name]) => name !== '__metadata__') as [string, Entry][];
  const total = endOfTensors(entries.map(([, entry]) => entry));
  if (total === undefined) throw new InputError(damaged);
  if (size < start + total) throw new InputError(cutShort(path, expected));
  if (size > start + total) throw new InputError(damaged);
  const { [CHECKSUM]: checksum = '', ...rest } = metadata;
  hash.update(
    new TextEncoder().encode(JSON.stringify({ ...header, __metadata__: { ...rest, [CHECKSUM]: '' } })),
  );
  const tensors = new Map<string, Tensor>();
  for (const [name, entry] of entries) {
    const [first, last] = entry.data_offsets;
    const buffer = allocateBytes(last - first);
    const bytes = new Uint8Array(buffer);
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const length = Math.min(PIECE_BYTES, bytes.length - at);
      const piece = await source.read(start + first + at, length);
      if (piece.length < length) throw new InputError(cutShort(path, expected));
      hash.update(piece);
      bytes.set(piece, at);
    }
    const type = TYPES[entry.dtype] as new (buffer: ArrayBufferLike) => TensorData;
    tensors.set(name, { shape: entry.shape, data: new type(buffer) });
  }
  if (hash.digest() !== checksum) throw new InputError(damaged);
  return { tensors, metadata: rest };
}

const cutShort = (path: string, { what, again }: ExpectedTensors) =>
  `${path}: the ${what} is cut short; copy it again or ${again} again`;

export async function readHeader(
  source: ByteSource,
  expected: ExpectedTensors,
): Promise<{ header: Record<string, unknown>; metadata: Record<string, string>; start: number }> {
  const { name: path, size } = source;
  const { what, again } = expected;
  const remedy = `give a ${what} that graphex wrote`;
  const foreign = `${path}: this is not a ${what} of graphex; ${remedy}`;
  if (size < 8) throw new InputError(foreign);
  const first = await source.read(0, 8);
  const length = Number(new DataView(first.buffer, first.byteOffset, 8).getBigUint64(0, true));
  if (length < 2) throw new InputError(foreign);
  if (8 + length > size) {
    // A header that starts like that of the format but does not fit was cut; any other is foreign.
    const begin = new TextDecoder('latin1').decode(await source.read(8, Math.min(16, size - 8)));
    const ours = length <= MAX_HEADER && startOf(expected.format).startsWith(begin);
    throw new InputError(ours ? cutShort(path, expected) : foreign);
  }
  if (length > MAX_HEADER) {
    throw new InputError(
      `${path}: its header has ${length} bytes, and that of a ${what} at most ${MAX_HEADER}; ${remedy}`,
    );
  }
  let header: Record<string, unknown>;
  try {
    header = JSON.parse(new TextDecoder().decode(await source.read(8, length)));
  } catch {
    throw new InputError(foreign);
  }
  const metadata = header?.__metadata__ as Record<string, string> | undefined;
  if (metadata?.format !== expected.format) throw new InputError(foreign);
  if (Object.values(metadata).some((value) => typeof value !== 'string')) throw new InputError(foreign);
  requireVersion(`${path}: the ${what}`, metadata.format_version, expected, `${again} again`);
  return { header, metadata, start: 8 + length };
}

/** What to do about a file of a newer version. */
export const UPDATE = 'update graphex';

/** Refuses a version that this graphex does not read, and names both. */
export function requireVersion(
  what: string,
  found: unknown,
  { version, oldest = version }: { readonly version: number; readonly oldest?: number | undefined },
  remedy: string,
): void {
  const number = typeof found === 'string' && /^\d{1,9}$/.test(found) ? Number(found) : found;
  if (Number.isInteger(number) && (number as number) >= oldest && (number as number) <= version) return;
  const said = typeof found === 'number' || typeof found === 'string' ? shown(String(found)) : 'unknown';
  const reads = oldest === version ? `version ${version} only` : `versions ${oldest} to ${version}`;
  throw new InputError(
    `${what} has format version ${said}, and this graphex reads ${reads}; ${Number(said) > version ? UPDATE : remedy}`,
  );
}

/** Where the last tensor ends, if there are no gaps: then no header makes the reader allocate more than the file holds. */
function endOfTensors(entries: readonly unknown[]): number | undefined {
  if (!entries.every(isSound)) return undefined;
  const places = entries.map((entry) => entry.data_offsets).sort(([a, b], [c, d]) => a - c || b - d);
  let end = 0;
  for (const [start, stop] of places) {
    if (start !== end) return undefined;
    end = stop;
  }
  return end;
}

function isSound(entry: unknown): entry is Entry {
  const { dtype, shape, data_offsets } = (entry ?? {}) as Partial<Entry>;
  if (typeof dtype !== 'string' || !Object.hasOwn(TYPES, dtype)) return false;
  if (!areSizes(shape) || !areSizes(data_offsets) || data_offsets.length !== 2) return false;
  const elements = shape.reduce((product, n) => product * n, 1);
  return data_offsets[1] - data_offsets[0] === elements * TYPES[dtype].BYTES_PER_ELEMENT;
}

function areSizes(values: unknown): values is readonly number[] {
  return Array.isArray(values) && values.every((value) => Number.isSafeInteger(value) && value >= 0);
}

function bytesOf(data: TensorData): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function updateInPieces(hash: Sha256, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) hash.update(bytes.subarray(at, at + PIECE_BYTES));
}
