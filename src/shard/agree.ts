// Before ranks compute together they compare what they have: one that has other data, options or arithmetic would spoil the
// result without a word.

import { createHash } from 'node:crypto';
import type { Communicator } from '../comm/communicator.js';
import type { Engine } from '../engine/engine.js';
import { InputError } from '../errors.js';
import { VERSION } from '../version.js';
import type { Parts } from './parts.js';
import { probe } from './probe.js';

/** What must be the same on every rank, and what to do where it is not. */
interface Same {
  readonly text: string;
  readonly otherwise: string;
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
      throw new InputError(`rank ${r} ${otherwise}`);
    }
  }
}

/** Throws on every rank where one has another program, other data, other options or another arithmetic than rank 0. */
export async function requireAgreement(
  communicator: Communicator,
  local: Engine,
  parts: Parts,
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
