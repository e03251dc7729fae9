// An engine over the shards of the data, some of which may be on other ranks. It wraps a local engine. One side of the data is split
// into shards, each with its own table and indexes; the other side is whole on every rank.
// - The split side's half-step is local: each shard's rows from the whole table.
// - The whole side's half-step counts shard by shard in fixed point. The ranks add up the counts, and each finishes all rows.
// - K-vectors and scalars are added in shard order, each from the one rank that has the shard.
// So the bits depend on how the data are cut into shards, not on the number of ranks or threads.

import type { Communicator } from '../../comm/communicator.js';
import { createQueue } from '../../math/queue.js';
import {
  type CountingEngine,
  captured,
  type EdgeIndex,
  type Engine,
  type Table,
  type TableValues,
} from '../engine.js';
import { withFoldFresh } from '../fold-fresh.js';
import { mixTable } from '../mix-features.js';
import { copyTotals, noTotals } from '../totals.js';
import { createExchange } from './exchange.js';
import { createHalfSteps } from './half-steps.js';
import {
  checkMatch,
  edgesByNeighbor,
  edgesWithin,
  isSplit,
  joinedValues,
  partOf,
  type ShardLayout,
  type SplitIndex,
  type SplitTable,
  strengths,
  valuesWithin,
} from './tables.js';

/** Tables and indexes of the shards, created one by one because the data of all shards do not fit in memory. */
interface ReadyShards {
  readonly tables: readonly Table[];
  readonly indexes: Readonly<Record<'own' | 'other', readonly EdgeIndex[]>>;
  /** The sum of counts of each row of the whole side, over all of the data. */
  readonly strengths: Float64Array;
}

export interface ShardedEngine extends Engine {
  /** The values of one of this rank's shards. */
  readPart(table: Table, part: number): Promise<TableValues>;
}

/**
 * `layoutOf` cuts the rows of a split side that this rank has into shards. If shards are `ready`, the engine ignores the values and
 * edges given for a split side.
 */
export function createShardedEngine(
  local: CountingEngine,
  communicator: Communicator,
  layoutOf: (rows: number) => ShardLayout,
  ready?: ReadyShards,
): ShardedEngine {
  const { size } = communicator;
  const exchange = createExchange(communicator);
  const { onAllRanks } = exchange;
  const steps = createHalfSteps(local, communicator, exchange);
  const { onParts, sumOfParts, massOfParts, totalsOf } = steps;
  const { inOrder, inPassing, idle } = createQueue();

  /** A split table whose parts were just created. */
  async function splitTable(rows: number, features: number, layout: ShardLayout, parts: readonly Table[]) {
    const table: SplitTable = { rows, features, layout, parts, totals: noTotals(features) };
    table.totals = { ...table.totals, mass: await massOfParts(table) };
    return table;
  }

  return withFoldFresh({
    name: local.name,
    description: `${local.description}, in shards${size > 1 ? `, ${communicator.description}` : ''}`,
    tolerance: local.tolerance,
    threads: local.threads,

    createTable: (features, values, activity, split = false) =>
      inOrder(async () => {
        if (!split) return onAllRanks(() => local.createTable(features, values, activity));
        const layout = layoutOf(values.weightShape.length);
        const rows = Float64Array.of(layout.bounds[layout.bounds.length - 1]);
        await communicator.sum(rows);
        const parts = await onAllRanks(
          async () =>
            ready?.tables ??
            Promise.all(
              layout.bounds.slice(1).map((_, p) => {
                const part = valuesWithin(values, features, partOf(layout.bounds, p));
                return local.createTable(features, part, activity);
              }),
            ),
        );
        return splitTable(rows[0], features, layout, parts);
      }),

    write: (table, values, activity) =>
      inOrder(async () => {
        if (!isSplit(table)) return local.write(table, values, activity);
        const { layout, features } = table;
        await onAllRanks(() =>
          onParts(table, (part, p) =>
            local.write(part, valuesWithin(values, features, partOf(layout.bounds, p)), activity),
          ),
        );
        table.totals = { ...noTotals(features), mass: await massOfParts(table) };
      }),

    read: (table) =>
      inOrder(async () =>
        isSplit(table) ? joinedValues(await onParts(table, (part) => local.read(part))) : local.read(table),
      ),

    readPart: (table, part) => inOrder(() => local.read((table as SplitTable).parts[part])),

    createIndex: (rows, split) =>
      inOrder(async () => {
        if (split === undefined) return onAllRanks(() => local.createIndex(rows));
        const sums = ready?.strengths ?? (split.side === 'other' ? strengths(rows) : new Float64Array(0));
        if (!ready) await communicator.sum(sums);
        const largest = sums.reduce((most, sum) => Math.max(most, sum), 0);
        const index = (parts: readonly EdgeIndex[]): SplitIndex => ({
          rows: rows.offsets.length - 1,
          edges: rows.neighbors.length,
          by: split.side,
          parts,
          strengths: sums,
          largest,
        });
        if (ready) return index(ready.indexes[split.side]);
        const { bounds } = layoutOf(split.rows);
        const parts = await onAllRanks(() => {
          const edges =
            split.side === 'own'
              ? bounds.slice(1).map((_, p) => edgesWithin(rows, partOf(bounds, p)))
              : edgesByNeighbor(rows, bounds);
          return Promise.all(edges.map((part) => local.createIndex(part)));
        });
        return index(parts);
      }),

    update(own, index, other, given) {
      const options = captured(given);
      return inOrder(async () => {
        checkMatch(own, index, other);
        if (isSplit(own)) return steps.updateSplit(own, index as SplitIndex, other, options);
        if (isSplit(other)) return steps.updateWhole(own, index as SplitIndex, other, options);
        return onAllRanks(() => local.update(own, index, other, options));
      });
    },

    edgeTerm: (own, index, other) =>
      inOrder(async () => {
        checkMatch(own, index, other);
        const { parts } = index as SplitIndex;
        if (isSplit(own)) return sumOfParts(own, (part, p) => local.edgeTerm(part, parts[p], other));
        if (isSplit(other)) return sumOfParts(other, (part, p) => local.edgeTerm(own, parts[p], part));
        return local.edgeTerm(own, index, other);
      }),

    rowTerms: (table, hyper) =>
      inOrder(async () =>
        isSplit(table)
          ? sumOfParts(table, (part) => local.rowTerms(part, hyper))
          : local.rowTerms(table, hyper),
      ),

    totals: (table) => inOrder(async () => copyTotals(await totalsOf(table))),

    weightSum: (table) =>
      inOrder(async () =>
        isSplit(table) ? sumOfParts(table, (part) => local.weightSum(part)) : local.weightSum(table),
      ),

    setMass(table, given) {
      const mass = given.slice();
      return inPassing(async () => {
        if (isSplit(table)) table.totals = { ...table.totals, mass };
        else await local.setMass(table, mass);
      });
    },

    setUnseenMass(table, given, at) {
      const [unseenMass, unseenMassAt] = [given.slice(), at.slice()];
      return inPassing(async () => {
        if (isSplit(table)) table.totals = { ...table.totals, unseenMass, unseenMassAt };
        else await local.setUnseenMass(table, unseenMass, unseenMassAt);
      });
    },

    scale: (table, factor, activity) =>
      inOrder(async () => {
        if (!isSplit(table)) return local.scale(table, factor, activity);
        await onAllRanks(() => onParts(table, (part) => local.scale(part, factor, activity)));
        table.totals = { ...table.totals, mass: await massOfParts(table) };
      }),

    mixFeatures: (table, mix, activity) =>
      inOrder(async () => {
        if (!isSplit(table)) {
          steps.forget(table);
          return onAllRanks(() => mixTable(local, table, mix, activity));
        }
        const mixed = await onAllRanks(() => onParts(table, (part) => mixTable(local, part, mix, activity)));
        return splitTable(table.rows, mix.features, table.layout, mixed);
      }),

    setActivity: (table, activity) =>
      inOrder(async () => {
        if (!isSplit(table)) return local.setActivity(table, activity);
        await onAllRanks(() => onParts(table, (part) => local.setActivity(part, activity)));
      }),

    free: (handle) =>
      inPassing(async () => {
        steps.forget(handle);
        const owned = 'parts' in handle ? (handle as SplitTable | SplitIndex).parts : [handle];
        for (const part of owned) void local.free(part);
      }),

    async close() {
      await idle();
      await local.close();
    },
  } satisfies Omit<ShardedEngine, 'foldFresh'>);
}
