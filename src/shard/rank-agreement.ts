// Before ranks compute together they compare program, data, options and arithmetic. A rank that differs would spoil the
// result without an error.

import { createHash } from 'node:crypto';
import type { Communicator } from '../comm/communicator.js';
import { byField, type Engine, TABLE_FIELDS } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { option, optionError } from '../options/error.js';
import { VERSION } from '../version.js';
import type { PartitionedData } from './partition-folder.js';

/** Errors that every rank has at the same moment: rank 0 may report them for all. */
const commonErrors = new WeakSet<Error>();

function commonError(error: Error): Error {
  commonErrors.add(error);
  return error;
}

/** Whether all ranks have this error and know it, so that none waits for another. */
export function isCommonError(error: unknown): error is Error {
  return error instanceof Error && commonErrors.has(error);
}

/** Another rank has failed and reports why. */
export class OtherRankError extends Error {
  override readonly name = 'OtherRankError';
}

/**
 * Runs what each rank prepares alone. If it fails on one rank it fails on all, at the same moment: with one error of all
 * (`isCommonError`), with each rank's own error, or with an `OtherRankError` on ranks that succeeded.
 */
export async function prepareAllRanks<T>(communicator: Communicator, prepare: () => Promise<T>): Promise<T> {
  const { rank, size } = communicator;
  if (size === 1) return prepare();
  const [outcome] = await Promise.allSettled([(async () => prepare())()]);
  const errors = new Float64Array(size);
  if (outcome.status === 'rejected') errors[rank] = 1 + hashNumber(asError(outcome.reason).message);
  await communicator.sum(errors);
  if (outcome.status === 'rejected') {
    const error = asError(outcome.reason);
    throw errors.every((hash) => hash === errors[0]) ? commonError(error) : error;
  }
  if (errors.some((hash) => hash !== 0)) throw new OtherRankError('another rank has failed');
  return outcome.value;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}

/** Throws on every rank if one has another program, other data, other options or another arithmetic than rank 0. */
export async function requireAgreement(
  communicator: Communicator,
  arithmetic: string,
  { fingerprint, shards, itemsHash }: PartitionedData,
  settings: unknown,
): Promise<void> {
  const { rank, size } = communicator;
  if (size === 1) return;
  const differs = (what: string, remedy: string) => (r: number) =>
    new InputError(`rank ${r} has ${what} than rank 0; ${remedy}`);
  const checks: (readonly [text: string, error: (rank: number) => Error])[] = [
    [VERSION, differs('another version of graphex', 'install the same version everywhere')],
    [
      JSON.stringify([fingerprint, shards, itemsHash]),
      differs('other shards', 'give all ranks the same folder'),
    ],
    [JSON.stringify(settings), differs('other options', 'give all ranks the same options')],
    [
      arithmetic,
      (r) =>
        optionError`rank ${r} computes other numbers than rank 0: another version of Node, another kind of processor, or a GPU on one of them; use the same everywhere, or ${option('engine')} cpu`,
    ],
  ];
  const hashes = new Float64Array(size * checks.length);
  for (const [at, [text]] of checks.entries()) hashes[rank * checks.length + at] = hashNumber(text);
  await communicator.sum(hashes);
  for (const [at, [, error]] of checks.entries()) {
    for (let r = 1; r < size; r++) {
      if (hashes[r * checks.length + at] !== hashes[at]) throw commonError(error(r));
    }
  }
}

/** 48 bits of a hash, which a number holds exactly. */
function hashNumber(text: string): number {
  return Number.parseInt(createHash('sha256').update(text).digest('hex').slice(0, 12), 16);
}

/** The result of a small computation with kernels and quadrature: it tells apart processors and versions that differ. */
export async function arithmeticHash(engine: Engine): Promise<string> {
  const features = 6;
  const values = (length: number, from: number) =>
    Float64Array.from({ length }, (_, i) => 0.3 + (((i + from) * 7919) % 101) / 47);
  const table = (rows: number) =>
    byField(features, (field, width) => values(rows * width, 1 + TABLE_FIELDS.indexOf(field)));
  const own = await engine.createTable(features, table(4), 'geometric');
  const other = await engine.createTable(features, table(5), 'geometric');
  const index = await engine.createIndex({
    offsets: Uint32Array.of(0, 2, 3, 6, 8),
    neighbors: Uint32Array.of(0, 3, 1, 0, 2, 4, 1, 4),
    counts: undefined,
  });
  const hyper = { sigma: 0.3, tau: 1.1, shape: 0.2, rate: 0.3, size: 7 };
  await engine.update(own, index, other, { hyper, activity: 'geometric', relaxation: 0.5 });
  const { mass, unseenMass } = await engine.totals(own);
  const result = await engine.read(own);
  for (const handle of [own, other, index]) void engine.free(handle);
  const hash = createHash('sha256');
  for (const field of TABLE_FIELDS) {
    const { buffer, byteOffset, byteLength } = result[field];
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return `${hash.digest('hex')} ${mass.join(' ')} ${unseenMass.join(' ')}`;
}
