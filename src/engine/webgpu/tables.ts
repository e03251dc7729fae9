// Tables on the GPU: rows × quads of four features, padded with zeros, copied in pieces of bounded size.

import { DeviceError, InputError } from '../../errors.js';
import { allocate as inShared } from '../../math/memory.js';
import { isUniform, type RowRange, type TableValues, type UniformValues } from '../engine.js';
import { allocate, type GpuDevice, megabytes } from './device.js';
import { type Commands, USAGE } from './kernel-queue.js';
import { MAX_FEATURES } from './wgsl/params.js';

export type GpuTable = Awaited<ReturnType<typeof allocateGpuTable>>;
export type GpuCounts = Awaited<ReturnType<typeof createGpuCounts>>;

const PIECE_BYTES = 2 ** 24;
const PIECES_UNDER_WAY = 8;

/** A storage buffer of at least `bytes`. If it is too large, throws an error that names the limit. */
export function storageBuffer(gpu: GpuDevice, what: string, bytes: number): GPUBuffer {
  if (bytes > gpu.maxBinding) {
    throw new DeviceError(
      `${what} takes ${megabytes(bytes)}, but this GPU (${gpu.description}) binds at most ${megabytes(gpu.maxBinding)} ` +
        'per buffer (maxStorageBufferBindingSize); use the cpu engine or fewer features',
    );
  }
  const size = Math.max(16, 4 * Math.ceil(bytes / 4));
  return gpu.device.createBuffer({
    label: what,
    size,
    usage: USAGE.storage | USAGE.copySource | USAGE.copyTarget,
  });
}

/** A table without values. */
export async function allocateGpuTable(gpu: GpuDevice, rows: number, features: number) {
  if (!Number.isInteger(features) || features < 1 || features > MAX_FEATURES) {
    throw new InputError(`${features} features: the GPU engine takes 1 to ${MAX_FEATURES}`);
  }
  const quads = Math.ceil(features / 4);
  const bytes = rows * quads * 16;
  return allocate(gpu, `a table of ${rows} rows × ${features} features`, 3 * bytes + 8 * rows, () => ({
    rows,
    features,
    quads,
    /** Shape and rate of each row's weight. */
    weights: storageBuffer(gpu, `the weights of ${rows} rows`, 8 * rows),
    shapes: storageBuffer(gpu, `a table of ${rows} rows × ${features} features`, bytes),
    rates: storageBuffer(gpu, `a table of ${rows} rows × ${features} features`, bytes),
    /** What the edge pass of the other side reads. */
    activity: storageBuffer(gpu, `a table of ${rows} rows × ${features} features`, bytes),
    /** Mass, unseen mass, and the mass at which the unseen mass was computed: quads each. */
    totals: storageBuffer(gpu, 'totals', 3 * quads * 16),
  }));
}

/** Uploads the values that are arrays. Flush earlier commands first. */
export async function writeGpuTable(
  gpu: GpuDevice,
  table: GpuTable,
  values: TableValues | UniformValues,
): Promise<void> {
  const { weightShape, weightRate } = values;
  if (typeof weightShape !== 'number') {
    const weights = new Float32Array(2 * table.rows);
    for (let i = 0; i < table.rows; i++) {
      weights[2 * i] = weightShape[i];
      weights[2 * i + 1] = typeof weightRate === 'number' ? weightRate : weightRate[i];
    }
    await upload(gpu, table.weights, weights);
  }
  if (isUniform(values)) return;
  await writePadded(gpu, table, table.shapes, values.featureShape, 0);
  await writePadded(gpu, table, table.rates, values.featureRate, 1);
}

export async function createGpuCounts(gpu: GpuDevice, { rows, features, quads }: GpuTable, scale: number) {
  const what = `counts of ${rows} rows × ${features} features`;
  const bytes = 32 * rows * quads;
  const values = await allocate(gpu, what, bytes, () => storageBuffer(gpu, what, bytes));
  // rows × quads × 4 counts of two words each, low word first.
  return { rows, features, scale, quads, values };
}

export async function readGpuCounts(
  commands: Commands,
  { features, quads, values }: GpuCounts,
  { first, last }: RowRange,
): Promise<BigInt64Array> {
  const stride = 4 * quads;
  const result = new BigInt64Array((last - first) * features);
  if (result.length === 0) return result;
  const bytes = await commands.read(values, 8 * first * stride, 8 * (last - first) * stride);
  const padded = new BigInt64Array(bytes);
  for (let i = 0; i < last - first; i++) {
    result.set(padded.subarray(i * stride, i * stride + features), i * features);
  }
  return result;
}

/** Uploads the counts. Flush earlier commands first. */
export async function writeGpuCounts(
  gpu: GpuDevice,
  { features, quads, values }: GpuCounts,
  counts: BigInt64Array,
  first: number,
): Promise<void> {
  const stride = 4 * quads;
  const block = Math.max(1, Math.floor(PIECE_BYTES / (8 * stride)));
  const rows = counts.length / features;
  for (let from = 0; from < rows; from += block) {
    const to = Math.min(rows, from + block);
    const piece = new BigInt64Array((to - from) * stride);
    for (let i = from; i < to; i++) {
      piece.set(counts.subarray(i * features, (i + 1) * features), (i - from) * stride);
    }
    gpu.device.queue.writeBuffer(values, 8 * (first + from) * stride, piece);
    await settle(gpu, from / block);
  }
}

export function readGpuMeans(commands: Commands, table: GpuTable): Promise<Float32Array> {
  return readPadded(commands, table, table.activity, inShared(Float32Array, table.rows * table.features));
}

export async function readGpuTable(commands: Commands, table: GpuTable): Promise<TableValues> {
  const { rows, features } = table;
  const weights = new Float32Array(await commands.read(table.weights, 0, 8 * rows));
  const weightShape = new Float32Array(rows);
  const weightRate = new Float32Array(rows);
  for (let i = 0; i < rows; i++) {
    weightShape[i] = weights[2 * i];
    weightRate[i] = weights[2 * i + 1];
  }
  return {
    weightShape,
    weightRate,
    featureShape: await readPadded(commands, table, table.shapes, new Float32Array(rows * features)),
    featureRate: await readPadded(commands, table, table.rates, new Float32Array(rows * features)),
  };
}

export function destroyTable({ weights, shapes, rates, activity, totals }: GpuTable): void {
  for (const buffer of [weights, shapes, rates, activity, totals]) buffer.destroy();
}

/** Writes an array piece by piece and waits now and then, because each write keeps a copy until the GPU has taken it. */
export async function upload(
  gpu: GpuDevice,
  buffer: GPUBuffer,
  values: Float32Array | Uint32Array,
): Promise<void> {
  const piece = PIECE_BYTES / 4;
  for (let from = 0; from < values.length; from += piece) {
    const part = values.subarray(from, Math.min(from + piece, values.length));
    const plain = part.buffer instanceof ArrayBuffer ? part : copied(gpu, part);
    gpu.device.queue.writeBuffer(buffer, 4 * from, plain as Float32Array<ArrayBuffer>);
    await settle(gpu, from / piece);
  }
}

const copies = new WeakMap<GpuDevice, ArrayBuffer>();

/** Not every GPU binding accepts views of shared memory. A write makes its own copy, so one staging array serves all writes. */
function copied(gpu: GpuDevice, part: Float32Array | Uint32Array): Float32Array | Uint32Array {
  let copy = copies.get(gpu);
  if (!copy || copy.byteLength < part.byteLength) {
    copy = new ArrayBuffer(part.byteLength);
    copies.set(gpu, copy);
  }
  const plain =
    part instanceof Float32Array
      ? new Float32Array(copy, 0, part.length)
      : new Uint32Array(copy, 0, part.length);
  plain.set(part);
  return plain;
}

async function settle(gpu: GpuDevice, piece: number): Promise<void> {
  if (piece % PIECES_UNDER_WAY !== PIECES_UNDER_WAY - 1) return;
  await gpu.device.queue.onSubmittedWorkDone().catch((error) => Promise.reject(gpu.explain(error)));
  gpu.check();
}

async function writePadded(
  gpu: GpuDevice,
  { rows, features, quads }: GpuTable,
  buffer: GPUBuffer,
  values: Float32Array | Float64Array,
  padding: number,
): Promise<void> {
  const stride = 4 * quads;
  const block = Math.max(1, Math.floor(PIECE_BYTES / (4 * stride)));
  for (let first = 0; first < rows; first += block) {
    const last = Math.min(rows, first + block);
    const piece = new Float32Array((last - first) * stride);
    if (stride === features) piece.set(values.subarray(first * features, last * features));
    else {
      if (padding !== 0) piece.fill(padding);
      // Value by value: for rows this short creating a view takes longer than copying.
      for (let i = first, to = 0; i < last; i++, to += stride) {
        const from = i * features;
        for (let k = 0; k < features; k++) piece[to + k] = values[from + k];
      }
    }
    gpu.device.queue.writeBuffer(buffer, 4 * first * stride, piece);
    await settle(gpu, first / block);
  }
}

async function readPadded(
  commands: Commands,
  { rows, features, quads }: GpuTable,
  buffer: GPUBuffer,
  into: Float32Array,
): Promise<Float32Array> {
  const stride = 4 * quads;
  const block = Math.max(1, Math.floor((4 * PIECE_BYTES) / (4 * stride)));
  for (let first = 0; first < rows; first += block) {
    const last = Math.min(rows, first + block);
    await commands.read(buffer, 4 * first * stride, 4 * (last - first) * stride, (bytes) => {
      const piece = new Float32Array(bytes);
      if (stride === features) return into.set(piece, first * features);
      for (let i = first, from = 0; i < last; i++, from += stride) {
        const to = i * features;
        for (let k = 0; k < features; k++) into[to + k] = piece[from + k];
      }
    });
  }
  return into;
}
