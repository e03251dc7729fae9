// Several ranks of a sharded engine in one process, used as one engine: split tables are divided among the ranks, every
// call goes to all of them, and all answers must agree.

import assert from 'node:assert';
import { ALONE } from '../../src/comm/communicator.js';
import type { CountingEngine, Engine, RowRange, Table, TableValues } from '../../src/engine/engine.js';
import { withFoldFresh } from '../../src/engine/fold-fresh.js';
import { createShardedEngine } from '../../src/engine/sharded/sharded-engine.js';
import {
  edgesByNeighbor,
  edgesWithin,
  joinedValues,
  partOf,
  rowsWithin,
  type ShardLayout,
  valuesWithin,
} from '../../src/engine/sharded/tables.js';
import { createLocalRanks } from './local-ranks.js';

/** Shards of every test: fewer rows leave some of them empty. */
export const SHARDS = 5;

/** Where each shard of `rows` rows begins, and the end. */
export function shardBounds(rows: number): number[] {
  return Array.from({ length: SHARDS + 1 }, (_, s) => Math.floor((s * rows) / SHARDS));
}

/** The first shard of each rank, and the end. */
function rankShards(size: number): number[] {
  return Array.from({ length: size + 1 }, (_, r) => Math.floor((r * SHARDS) / size));
}

export async function createAlone(local: CountingEngine): Promise<Engine> {
  return createShardedEngine(local, ALONE, (rows) => ({
    shards: SHARDS,
    first: 0,
    bounds: shardBounds(rows),
  }));
}

interface Handles {
  readonly rows: number;
  readonly features: number;
  readonly edges: number;
  readonly scale: number;
  /** Of each rank. */
  readonly of: readonly object[];
  /** Where each rank's rows of a split table begin. */
  readonly bounds: readonly number[] | undefined;
}

export async function createRanks(size: number, createLocal: () => Promise<CountingEngine>): Promise<Engine> {
  const first = rankShards(size);
  /** How the last split side with this number of rows on a rank was cut. */
  const layouts = Array.from({ length: size }, () => new Map<number, ShardLayout>());
  const engines = await Promise.all(
    createLocalRanks(size).map(async (communicator, r) =>
      createShardedEngine(await createLocal(), communicator, (rows) => layouts[r].get(rows)!),
    ),
  );
  const deal = (rows: number) => {
    const shards = shardBounds(rows);
    const bounds = first.map((s) => shards[s]);
    for (let r = 0; r < size; r++) {
      const own = shards.slice(first[r], first[r + 1] + 1).map((at) => at - bounds[r]);
      layouts[r].set(bounds[r + 1] - bounds[r], { shards: SHARDS, first: first[r], bounds: own });
    }
    return bounds;
  };
  async function all<T>(work: (engine: Engine, r: number) => Promise<T>): Promise<T> {
    const outcomes = await Promise.allSettled(engines.map(work));
    const failed = outcomes.filter((o) => o.status === 'rejected');
    // The rank that failed first has the real error; the others report that a rank failed.
    const own = failed.find(({ reason }) => !/could not go on$/.test(String(reason?.message)));
    if (failed.length > 0) {
      assert.equal(failed.length, size, 'a rank went on where another failed');
      throw (own ?? failed[0]).reason;
    }
    const values = outcomes.map((o) => (o as PromiseFulfilledResult<T>).value);
    for (const value of values) assert.deepStrictEqual(value, values[0]);
    return values[0];
  }
  async function handles<T extends object>(
    bounds: Handles['bounds'],
    work: (engine: Engine, r: number) => Promise<T>,
  ): Promise<never> {
    const of = await Promise.all(engines.map(work));
    return { ...of[0], of, bounds } as never;
  }
  const at = (handle: object, r: number) => (handle as Handles).of[r] as never;
  const rowsAt = (own: Table, rows: RowRange | undefined, r: number) => {
    const { bounds } = own as unknown as Handles;
    if (!rows || !bounds) return rows;
    return rowsWithin(partOf(bounds, r), rows) ?? { first: 0, last: 0 };
  };
  const [one] = engines;
  return withFoldFresh({
    ...one,
    createTable(features, values, activity, split = false) {
      const bounds = split ? deal(values.weightShape.length) : undefined;
      return handles(bounds, (engine, r) =>
        engine.createTable(
          features,
          bounds ? valuesWithin(values, features, partOf(bounds, r)) : values,
          activity,
          split,
        ),
      );
    },
    createIndex(rows, split) {
      if (!split) return handles(undefined, (engine) => engine.createIndex(rows));
      const bounds = deal(split.rows);
      const parts =
        split.side === 'own'
          ? bounds.slice(1).map((_, r) => edgesWithin(rows, partOf(bounds, r)))
          : edgesByNeighbor(rows, bounds);
      return handles(undefined, (engine, r) =>
        engine.createIndex(parts[r], { side: split.side, rows: bounds[r + 1] - bounds[r] }),
      );
    },
    write: (table, values, activity) =>
      all((engine, r) => {
        const { bounds, features } = table as unknown as Handles;
        const own =
          bounds && typeof values.weightShape !== 'number'
            ? valuesWithin(values as TableValues, features, partOf(bounds, r))
            : values;
        return engine.write(at(table, r), own, activity);
      }),
    async read(table) {
      if (!(table as unknown as Handles).bounds) return all((engine, r) => engine.read(at(table, r)));
      return joinedValues(await Promise.all(engines.map((engine, r) => engine.read(at(table, r)))));
    },
    update: (own, index, other, options) =>
      all((engine, r) =>
        engine.update(at(own, r), at(index, r), at(other, r), {
          ...options,
          rows: rowsAt(own, options.rows, r),
        }),
      ),
    edgeTerm: (own, index, other) =>
      all((engine, r) => engine.edgeTerm(at(own, r), at(index, r), at(other, r))),
    rowTerms: (table, hyper) => all((engine, r) => engine.rowTerms(at(table, r), hyper)),
    totals: (table) => all((engine, r) => engine.totals(at(table, r))),
    weightSum: (table) => all((engine, r) => engine.weightSum(at(table, r))),
    setMass: (table, mass) => all((engine, r) => engine.setMass(at(table, r), mass)),
    setUnseenMass: (table, leftover, from) =>
      all((engine, r) => engine.setUnseenMass(at(table, r), leftover, from)),
    scale: (table, factor, activity) => all((engine, r) => engine.scale(at(table, r), factor, activity)),
    mixFeatures: (table, mix, activity) =>
      handles((table as unknown as Handles).bounds, (engine, r) =>
        engine.mixFeatures!(at(table, r), mix, activity),
      ),
    setActivity: (table, activity) => all((engine, r) => engine.setActivity(at(table, r), activity)),
    free: (handle) => all((engine, r) => engine.free(at(handle, r))),
    close: () => all((engine) => engine.close()),
  } satisfies Engine);
}
