// Sums over ranks between the steps of a sharded engine. If one rank fails, all fail.

import type { Communicator } from '../../comm/communicator.js';
import { FitError } from '../../errors.js';
import type { ShardLayout } from './tables.js';

export type Exchange = ReturnType<typeof createExchange>;

export function createExchange(communicator: Communicator) {
  const { rank, size } = communicator;

  /** How the work ended, also if it threw before it returned a promise. */
  async function outcomeOf<T>(work: () => Promise<T>): Promise<PromiseSettledResult<T>> {
    const [outcome] = await Promise.allSettled([(async () => work())()]);
    return outcome;
  }

  /** `failures`: the sum over ranks, with one entry per rank. */
  function unwrap<T>(outcome: PromiseSettledResult<T>, failures: Float64Array): T {
    if (outcome.status === 'rejected') throw outcome.reason;
    const failed = failures.findIndex((said) => said !== 0);
    if (failed >= 0) throw new FitError(`rank ${failed} could not go on`);
    return outcome.value;
  }

  return {
    /** Runs `work` on every rank. If it fails on one, it fails on all, so that no rank waits for another for ever. */
    async onAllRanks<T>(work: () => Promise<T>): Promise<T> {
      if (size === 1) return work();
      const outcome = await outcomeOf(work);
      const failures = new Float64Array(size);
      if (outcome.status === 'rejected') failures[rank] = 1;
      await communicator.sum(failures);
      return unwrap(outcome, failures);
    },

    /** Sums the vectors of all ranks' shards, in shard order. */
    async sumShards(
      layout: Pick<ShardLayout, 'shards' | 'first'>,
      width: number,
      ofShards: () => Promise<readonly ArrayLike<number>[]>,
    ): Promise<Float64Array> {
      const outcome = await outcomeOf(ofShards);
      // Each entry comes from one rank, so the sum over ranks is exact. The same sum carries the failures.
      const places = layout.shards * width;
      const all = new Float64Array(places + size);
      if (outcome.status === 'rejected') all[places + rank] = 1;
      else for (const [p, values] of outcome.value.entries()) all.set(values, (layout.first + p) * width);
      await communicator.sum(all);
      unwrap(outcome, all.subarray(places));
      const sum = new Float64Array(width);
      for (let at = 0; at < places; at++) sum[at % width] += all[at];
      return sum;
    },
  };
}
