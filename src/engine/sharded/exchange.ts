// What ranks add up between the steps of a sharded engine, and how one that fails takes the others along.

import type { Communicator } from '../../comm/communicator.js';
import { FitError } from '../../errors.js';
import type { ShardLayout } from './tables.js';

export interface Exchange {
  /** Runs what one rank may fail at; then all fail, so that none waits for another for ever. */
  together<T>(work: () => Promise<T>): Promise<T>;
  /** Vectors of this rank's shards → the sum over the shards of all ranks, in their order. */
  sumShards(
    layout: ShardLayout,
    width: number,
    ofShards: () => Promise<readonly ArrayLike<number>[]>,
  ): Promise<Float64Array>;
}

export function createExchange(communicator: Communicator): Exchange {
  const { rank, size } = communicator;

  async function settled<T>(work: () => Promise<T>): Promise<{ value: T } | { error: unknown }> {
    try {
      return { value: await work() };
    } catch (error) {
      return { error };
    }
  }

  /** `failures` has a place for each rank, after it was added up. */
  function unwrap<T>(outcome: { value: T } | { error: unknown }, failures: Float64Array): T {
    if ('error' in outcome) throw outcome.error;
    const failed = failures.findIndex((said) => said !== 0);
    if (failed >= 0) throw new FitError(`rank ${failed} could not go on`);
    return outcome.value;
  }

  return {
    async together(work) {
      if (size === 1) return work();
      const outcome = await settled(work);
      const failures = new Float64Array(size);
      if ('error' in outcome) failures[rank] = 1;
      await communicator.sum(failures);
      return unwrap(outcome, failures);
    },

    async sumShards(layout, width, ofShards) {
      const outcome = await settled(ofShards);
      // Each place has one giver, so the sum over ranks is exact; what failed travels along.
      const places = layout.shards * width;
      const all = new Float64Array(places + size);
      if ('error' in outcome) all[places + rank] = 1;
      else for (const [p, values] of outcome.value.entries()) all.set(values, (layout.first + p) * width);
      await communicator.sum(all);
      unwrap(outcome, all.subarray(places));
      const sum = new Float64Array(width);
      for (let at = 0; at < places; at++) sum[at % width] += all[at];
      return sum;
    },
  };
}
