// Before ranks compute together they compare what they have: one that has other data, options or arithmetic would spoil the
// result without a word.

import { createHash } from 'node:crypto';
import type { Communicator } from '../comm/communicator.js';
import type { Engine } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { VERSION } from '../version.js';
import { probe } from './arithmetic-probe.js';
import type { PartitionedData } from './partition-folder.js';

/** What must be the same on every rank, and what to do where it is not. */
interface Same {
  readonly text: string;
  readonly otherwise: string;
}

/** Errors that every rank has, and has at the same moment: one of them may speak for all. */
const ofAll = new WeakSet<Error>();

function commonError(error: Error): Error {
  ofAll.add(error);
  return error;
}

/** Whether all ranks have this error, and know it: none waits for another any more. */
export function isCommonError(error: unknown): error is Error {
  return error instanceof Error && ofAll.has(error);
}

/** Another rank has failed, and says why. */
export class OtherRankError extends Error {
  override readonly name = 'OtherRankError';
}

/**
 * Does what each rank does by itself before all compute together. Where it fails on one it fails on all, at the same moment:
 * with one error of all (`isCommonError`), with each rank's own, or with an `OtherRankError` where nothing is wrong.
 */
export async function prepareAllRanks<T>(communicator: Communicator, prepare: () => Promise<T>): Promise<T> {
  const { rank, size } = communicator;
  if (size === 1) return prepare();
  const outcome = await prepare().then(
    (value) => ({ value, error: undefined }),
    (error: unknown) => ({
      value: undefined,
      error: error instanceof Error ? error : new Error(String(error)),
    }),
  );
  const said = new Float64Array(size);
  if (outcome.error) said[rank] = 1 + numberOf(outcome.error.message);
  await communicator.sum(said);
  if (outcome.error) throw said.every((one) => one === said[0]) ? commonError(outcome.error) : outcome.error;
  if (said.some((one) => one !== 0)) throw new OtherRankError('another rank has failed');
  return outcome.value as T;
}

/** Throws on every rank where one differs from rank 0. */
async function requireSame(communicator: Communicator, all: readonly Same[]): Promise<void> {
  const { rank, size } = communicator;
  if (size === 1) return;
  const hashes = new Float64Array(size * all.length);
  for (const [at, { text }] of all.entries()) hashes[rank * all.length + at] = numberOf(text);
  await communicator.sum(hashes);
  for (const [at, { otherwise }] of all.entries()) {
    for (let r = 1; r < size; r++) {
      if (hashes[r * all.length + at] === hashes[at]) continue;
      throw commonError(new InputError(`rank ${r} ${otherwise}`));
    }
  }
}

/** Throws on every rank where one has another program, other data, other options or another arithmetic than rank 0. */
export async function requireAgreement(
  communicator: Communicator,
  local: Engine,
  parts: PartitionedData,
  settled: unknown,
): Promise<void> {
  await requireSame(communicator, [
    { text: VERSION, otherwise: 'has another version of graphex than rank 0; install the same everywhere' },
    {
      text: JSON.stringify([parts.fingerprint, parts.shards, parts.itemsHash]),
      otherwise: 'has other parts than rank 0; give all the same folder',
    },
    {
      text: JSON.stringify(settled),
      otherwise: 'was started with other options than rank 0; give all the same',
    },
    {
      text: await probe(local),
      otherwise:
        'computes otherwise than rank 0: another version of Node, another kind of processor, or a GPU on one of them; use the same everywhere, or --engine cpu',
    },
  ]);
}

/** 48 bits of a hash, exact as a number. */
function numberOf(text: string): number {
  return Number.parseInt(hashOfText(text).slice(0, 12), 16);
}

function hashOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
