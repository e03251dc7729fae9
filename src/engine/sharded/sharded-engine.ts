// An engine over the shards of the data, some of which may be on other ranks. It wraps a local engine. One side of the data is split
// into shards, each with its own table and indexes; the other side is whole on every rank.
// - The split side's half-step is local: each shard's rows from the whole table.
// - The whole side's half-step counts shard by shard in fixed point. The ranks add up the counts, and each finishes all rows.
// - K-vectors and scalars are added in shard order, each from the one rank that has the shard.
// So the bits depend on how the data are cut into shards, not on the number of ranks or threads.

import type { Communicator } from '../../comm/communicator.js';
import type { CountingEngine, EdgeIndex, Engine, Table, TableValues } from '../engine.js';
import { withFoldFresh } from '../fold-fresh.js';
import { mixTable } from '../mix-features.js';
import { createQueue } from '../queue.js';
import { createExchange } from './exchange.js';
import { createHalfSteps, pair } from './half-steps.js';
import {
  edgesByNeighbor,
  edgesWithin,
  joinedValues,
  partOf,
  type ShardedIndex,
  type ShardedTable,
  type ShardLayout,
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
  const { onAllRanks, sumShards } = exchange;
  const steps = createHalfSteps(local, communicator, exchange);
  const { onParts, sumOfParts, massOfParts, totalsOf } = steps;
  const { inOrder, inPassing, idle } = createQueue();

  const copied = <O extends { readonly otherMass?: Float64Array | undefined }>(given: O): O =>
    given.otherMass ? { ...given, otherMass: given.otherMass.slice() } : given;

  /** A split table whose parts were just created. */
  async function splitTable(rows: number, features: number, layout: ShardLayout, parts: readonly Table[]) {
    const nothing = () => new Float64Array(features);
    const totals = { mass: nothing(), unseenMass: nothing(), unseenMassAt: nothing() };
    const table: SplitTable = { kind: 'split', rows, features, layout, parts, totals };
    table.totals = { ...totals, mass: await massOfParts(table) };
    return table;
  }

  return withFoldFresh({
    name: local.name,
    description: `${local.description}, in shards${size > 1 ? `, ${communicator.description}` : ''}`,
    tolerance: local.tolerance,
    threads: local.threads,

    createTable: (features, values, activity, split = false) =>
      inOrder(async (): Promise<ShardedTable> => {
        if (!split) {
          const table = await onAllRanks(() => local.createTable(features, values, activity));
          return { kind: 'whole', rows: table.rows, features, local: table };
        }
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

    write: (handle, values, activity) =>
      inOrder(async () => {
        const table = handle as ShardedTable;
        if (table.kind === 'whole') return local.write(table.local, values, activity);
        const { layout, features } = table;
        await onAllRanks(() =>
          onParts(table, (part, p) => {
            const own =
              typeof values.weightShape === 'number'
                ? values
                : valuesWithin(
                    values as Parameters<typeof valuesWithin>[0],
                    features,
                    partOf(layout.bounds, p),
                  );
            return local.write(part, own, activity);
          }),
        );
        const nothing = () => new Float64Array(features);
        table.totals = { mass: await massOfParts(table), unseenMass: nothing(), unseenMassAt: nothing() };
      }),

    read: (handle) =>
      inOrder(async () => {
        const table = handle as ShardedTable;
        return table.kind === 'whole'
          ? local.read(table.local)
          : joinedValues(await onParts(table, (part) => local.read(part)));
      }),

    readPart: (table, part) => inOrder(() => local.read((table as SplitTable).parts[part])),

    createIndex: (rows, split) =>
      inOrder(async (): Promise<ShardedIndex> => {
        const shape = { rows: rows.offsets.length - 1, edges: rows.neighbors.length };
        if (split === undefined) {
          return { kind: 'whole index', ...shape, local: await onAllRanks(() => local.createIndex(rows)) };
        }
        const sums = ready?.strengths ?? (split.side === 'other' ? strengths(rows) : new Float64Array(0));
        if (!ready) await communicator.sum(sums);
        const largest = sums.reduce((most, sum) => Math.max(most, sum), 0);
        const index = { kind: 'split index', by: split.side, ...shape, strengths: sums, largest } as const;
        if (ready) return { ...index, parts: ready.indexes[split.side] };
        const { bounds } = layoutOf(split.rows);
        const parts = await onAllRanks(() => {
          const edges =
            split.side === 'own'
              ? bounds.slice(1).map((_, p) => edgesWithin(rows, partOf(bounds, p)))
              : edgesByNeighbor(rows, bounds);
          return Promise.all(edges.map((part) => local.createIndex(part)));
        });
        return { ...index, parts };
      }),

    update(own, index, other, given) {
      const options = copied(given);
      return inOrder(async () => {
        const pairing = pair(own as ShardedTable, index as ShardedIndex, other as ShardedTable);
        if (pairing.kind === 'local') {
          return onAllRanks(() => local.update(pairing.own, pairing.index, pairing.other, options));
        }
        return pairing.kind === 'split'
          ? steps.updateSplit(pairing.own, pairing.index, pairing.other, options)
          : steps.updateWhole(pairing.own, pairing.index, pairing.other, options);
      });
    },

    edgeTerm: (own, index, other) =>
      inOrder(async () => {
        const pairing = pair(own as ShardedTable, index as ShardedIndex, other as ShardedTable);
        if (pairing.kind === 'local') return local.edgeTerm(pairing.own, pairing.index, pairing.other);
        const { parts } = pairing.index;
        const [table, whole] =
          pairing.kind === 'split' ? [pairing.own, pairing.other] : [pairing.other, pairing.own];
        const [sum] = await sumShards(table.layout, 1, () =>
          onParts(table, async (part, p) => [
            pairing.kind === 'split'
              ? await local.edgeTerm(part, parts[p], whole.local)
              : await local.edgeTerm(whole.local, parts[p], part),
          ]),
        );
        return sum;
      }),

    rowTerms: (handle, hyper) =>
      inOrder(async () => {
        const table = handle as ShardedTable;
        return table.kind === 'whole'
          ? local.rowTerms(table.local, hyper)
          : sumOfParts(table, (part) => local.rowTerms(part, hyper));
      }),

    totals: (table) =>
      inOrder(async () => {
        const { mass, unseenMass, unseenMassAt } = await totalsOf(table as ShardedTable);
        return { mass: mass.slice(), unseenMass: unseenMass.slice(), unseenMassAt: unseenMassAt.slice() };
      }),

    weightSum: (handle) =>
      inOrder(async () => {
        const table = handle as ShardedTable;
        return table.kind === 'whole'
          ? local.weightSum(table.local)
          : sumOfParts(table, (part) => local.weightSum(part));
      }),

    setMass(handle, given) {
      const mass = given.slice();
      return inPassing(async () => {
        const table = handle as ShardedTable;
        if (table.kind === 'split') table.totals = { ...table.totals, mass };
        else await local.setMass(table.local, mass);
      });
    },

    setUnseenMass(handle, given, at) {
      const [unseenMass, unseenMassAt] = [given.slice(), at.slice()];
      return inPassing(async () => {
        const table = handle as ShardedTable;
        if (table.kind === 'split') table.totals = { ...table.totals, unseenMass, unseenMassAt };
        else await local.setUnseenMass(table.local, unseenMass, unseenMassAt);
      });
    },

    scale: (handle, factor, activity) =>
      inOrder(async () => {
        const table = handle as ShardedTable;
        if (table.kind === 'whole') return local.scale(table.local, factor, activity);
        await onAllRanks(() => onParts(table, (part) => local.scale(part, factor, activity)));
        table.totals = { ...table.totals, mass: await massOfParts(table) };
      }),

    mixFeatures: (handle, mix, activity) =>
      inOrder(async (): Promise<ShardedTable> => {
        const table = handle as ShardedTable;
        const { rows } = table;
        if (table.kind === 'whole') {
          steps.forget(table);
          const mixed = await onAllRanks(() => mixTable(local, table.local, mix, activity));
          return { kind: 'whole', rows, features: mix.features, local: mixed };
        }
        const mixed = await onAllRanks(() => onParts(table, (part) => mixTable(local, part, mix, activity)));
        return splitTable(rows, mix.features, table.layout, mixed);
      }),

    setActivity: (handle, activity) =>
      inOrder(async () => {
        const table = handle as ShardedTable;
        if (table.kind === 'whole') return local.setActivity(table.local, activity);
        await onAllRanks(() => onParts(table, (part) => local.setActivity(part, activity)));
      }),

    free: (handle) =>
      inPassing(async () => {
        const owned = handle as ShardedTable | ShardedIndex;
        if (owned.kind === 'whole') steps.forget(owned);
        for (const part of 'parts' in owned ? owned.parts : [owned.local]) void local.free(part);
      }),

    async close() {
      await idle();
      await local.close();
    },
  } satisfies Omit<ShardedEngine, 'foldFresh'>);
}
