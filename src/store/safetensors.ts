// The safetensors format: 8 bytes of header length, a JSON header naming every tensor and its place, then the tensors
// without gaps. Any Python or Rust user can open such a file. Ours carry a checksum over header and tensors.

import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { InputError } from '../errors.js';
import { readError } from '../ingest/source.js';
import { allocateBytes } from '../math/memory.js';
import { writeAtomic, writePieces } from './atomic.js';

export type TensorData = Float32Array | Float64Array | Int32Array | BigInt64Array | Uint8Array;

export interface Tensor {
  readonly shape: readonly number[];
  readonly data: TensorData;
}

export interface TensorFile {
  readonly tensors: ReadonlyMap<string, Tensor>;
  readonly metadata: Readonly<Record<string, string>>;
}

const TYPES = {
  F32: Float32Array,
  F64: Float64Array,
  I32: Int32Array,
  I64: BigInt64Array,
  U8: Uint8Array,
} as const;
type TypeName = keyof typeof TYPES;

/** How the header of a model file begins, after the eight bytes of its length. */
export const MODEL_START = '{"__metadata__":{"format":"graphex-model"';

const CHECKSUM = 'checksum';
const MAX_HEADER = 1e8;
const READ_BYTES = 1 << 28;

interface Entry {
  dtype: TypeName;
  shape: number[];
  data_offsets: [number, number];
}

/** Writes the file beside and renames it. The checksum is added to the metadata. */
export async function writeTensors(path: string, file: TensorFile): Promise<void> {
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
  const hash = createHash('sha256').update(JSON.stringify(header));
  for (const [, { data }] of tensors) update(hash, bytesOf(data));
  (header.__metadata__ as Record<string, string>)[CHECKSUM] = hash.digest('hex');
  const json = Buffer.from(JSON.stringify(header));
  const padded = Buffer.concat([json, Buffer.alloc(-json.length & 7, ' ')]);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  const pieces = [length, padded, ...tensors.map(([, { data }]) => bytesOf(data))];
  await writeAtomic(path, (beside) => writePieces(beside, pieces));
}

/** Reads a file that `writeTensors` wrote; refuses one that is cut, changed or foreign, with a sentence. */
export async function readTensors(
  path: string,
  expected: { format: string; version: number },
): Promise<TensorFile> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (cause) {
    throw readError(path, cause);
  }
  try {
    return await readFrom(path, file, expected);
  } catch (cause) {
    throw readError(path, cause);
  } finally {
    await file.close();
  }
}

async function readFrom(
  path: string,
  file: FileHandle,
  expected: { format: string; version: number },
): Promise<TensorFile> {
  const { size } = await file.stat();
  const foreign = `${path}: this is not a model file of graphex; give a file that "graphex fit" wrote`;
  if (size < 8) throw new InputError(foreign);
  const length = Number((await readBytes(file, 0, 8)).readBigUInt64LE());
  if (length > MAX_HEADER || length < 2) throw new InputError(foreign);
  const cut = `${path}: the model file is cut short; copy it again or fit again`;
  if (8 + length > size) {
    // A header that starts as ours but does not fit was cut; anything else is foreign.
    const first = await readBytes(file, 8, Math.min(16, size - 8));
    throw new InputError(MODEL_START.startsWith(first.toString('latin1')) ? cut : foreign);
  }
  let header: Record<string, unknown>;
  try {
    header = JSON.parse((await readBytes(file, 8, length)).toString('utf8'));
  } catch {
    throw new InputError(foreign);
  }
  const metadata = header?.__metadata__ as Record<string, string> | undefined;
  if (metadata?.format !== expected.format) throw new InputError(foreign);
  if (Object.values(metadata).some((value) => typeof value !== 'string')) throw new InputError(foreign);
  const version = Number(metadata.format_version);
  if (!(version <= expected.version)) {
    throw new InputError(
      `${path}: the model file has format version ${metadata.format_version}, and this graphex reads up to ${expected.version}; update graphex`,
    );
  }
  const damaged = `${path}: the model file is damaged: its contents do not match its checksum; copy it again or fit again`;
  const entries = Object.entries(header).filter(([name]) => name !== '__metadata__') as [string, Entry][];
  const total = endOfTensors(entries.map(([, entry]) => entry));
  if (total === undefined) throw new InputError(damaged);
  if (size < 8 + length + total) throw new InputError(cut);
  if (size > 8 + length + total) throw new InputError(damaged);
  const { [CHECKSUM]: checksum = '', ...rest } = metadata;
  const hash = createHash('sha256').update(
    JSON.stringify({ ...header, __metadata__: { ...rest, [CHECKSUM]: '' } }),
  );
  const tensors = new Map<string, Tensor>();
  for (const [name, entry] of entries) {
    const [start, end] = entry.data_offsets;
    const buffer = allocateBytes(end - start);
    const bytes = new Uint8Array(buffer);
    for (let at = 0; at < bytes.length; at += READ_BYTES) {
      const piece = await readBytes(file, 8 + length + start + at, Math.min(READ_BYTES, bytes.length - at));
      update(hash, piece);
      bytes.set(piece, at);
    }
    tensors.set(name, {
      shape: entry.shape,
      data: new (TYPES[entry.dtype] as new (buffer: ArrayBufferLike) => TensorData)(buffer),
    });
  }
  if (hash.digest('hex') !== checksum) throw new InputError(damaged);
  return { tensors, metadata: rest };
}

/** Where the last tensor ends, if they lie one after the other: then no header makes the reader take more than the file holds. */
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

async function readBytes(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

function bytesOf(data: TensorData): Uint8Array {
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

function update(hash: Hash, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; at += READ_BYTES) hash.update(bytes.subarray(at, at + READ_BYTES));
}
