// The two halves of a half-step over shards: which tables and indexes go together, what is local and what is exchanged.

import type { Communicator } from '../../comm/communicator.js';
import { FitError, located } from '../../errors.js';
import { unseenMass } from '../../math/quadrature.js';
import {
  COUNT_LIMIT,
  type CountAllOptions,
  type CountOptions,
  type EdgeIndex,
  type EdgeTerm,
  type Engine,
  type ExpectedCounts,
  type FinishOptions,
  type OtherEdges,
  type OwnEdges,
  type RowRange,
  type Table,
  type TableTotals,
  tooLarge,
  type UpdateOptions,
} from '../engine.js';
import type { Exchange } from './exchange.js';
import {
  partOf,
  rowsWithin,
  type ShardedCounts,
  type ShardedIndex,
  type ShardedTable,
  type SplitIndex,
  type SplitTable,
  type WholeTable,
} from './tables.js';

/** Counts that are copied at a time. */
const PIECE = 1 << 20;

export type HalfSteps = ReturnType<typeof createHalfSteps>;

export function createHalfSteps(local: Engine, communicator: Communicator, { sumShards }: Exchange) {
  const { size } = communicator;
  /** Counts of whole tables, kept from one half-step to the next. */
  const scratch = new Map<WholeTable, ShardedCounts>();

  /** Work on each part of a split table; what fails says in which shard. */
  function onParts<T>(
    { layout, parts }: SplitTable,
    work: (part: Table, p: number) => Promise<T>,
  ): Promise<T[]> {
    return Promise.all(
      parts.map((part, p) =>
        work(part, p).catch((error) => Promise.reject(located(error, `shard ${layout.first + p}`))),
      ),
    );
  }

  async function sumOfParts(table: SplitTable, one: (part: Table) => Promise<number>): Promise<number> {
    const [sum] = await sumShards(table.layout, 1, async () => (await onParts(table, one)).map((x) => [x]));
    return sum;
  }

  const massOfParts = (table: SplitTable) =>
    sumShards(table.layout, table.features, () =>
      onParts(table, async (part) => (await local.totals(part)).mass),
    );

  async function totalsOf(table: ShardedTable): Promise<TableTotals> {
    return table.kind === 'split' ? table.totals : local.totals(table.local);
  }

  async function massOf(table: ShardedTable): Promise<Float64Array> {
    const { mass, unseenMass } = await totalsOf(table);
    return mass.map((m, k) => m + unseenMass[k]);
  }

  /** After the rows of a split table have changed. */
  function conclude(
    own: SplitTable,
    mass: Float64Array,
    M: Float64Array,
    { hyper }: Pick<FinishOptions, 'hyper'>,
  ) {
    const unseen = hyper.size > 0 ? unseenMass(hyper, M) : new Float64Array(own.features);
    own.totals = { mass, unseenMass: unseen, unseenMassAt: M.slice() };
  }

  async function updateSplit(
    own: SplitTable,
    index: SplitIndex,
    other: WholeTable,
    options: UpdateOptions,
  ): Promise<EdgeTerm | undefined> {
    const M = options.otherMass ?? (await massOf(other));
    const K = own.features;
    const sums = await sumShards(own.layout, K + 1, async () => {
      const walked = own.parts.flatMap((part, p) => {
        const rows = rowsWithin(partOf(own.layout.bounds, p), options.rows);
        if (!rows) return [];
        const whole = rows.first === 0 && rows.last === part.rows;
        const place = `shard ${own.layout.first + p}`;
        return [{ own: part, index: index.parts[p], rows: whole ? undefined : rows, place, p }];
      });
      const of = own.parts.map(() => new Float64Array(K + 1));
      const [terms, masses] = await Promise.all([
        updateAll(walked, other.local, { ...options, otherMass: M }),
        Promise.all(walked.map(async (one) => (await local.totals(one.own)).mass)),
      ]);
      for (const [i, { p }] of walked.entries()) of[p].set([...masses[i], terms[i] ?? 0]);
      return of;
    });
    conclude(own, sums.slice(0, K), M, options);
    return options.edgeTerm ? sums[K] : undefined;
  }

  async function updateWhole(
    own: WholeTable,
    index: SplitIndex,
    other: SplitTable,
    options: UpdateOptions,
  ): Promise<EdgeTerm | undefined> {
    const M = options.otherMass ?? (await massOf(other));
    let counts = scratch.get(own);
    if (counts?.largest !== index.largest) {
      if (counts) void local.free(counts.parts[0]);
      counts = await createCounts(own, index.largest, index.strengths);
      scratch.set(own, counts);
    }
    const finish = { ...options, otherMass: M };
    const [into] = counts.parts;
    // Alone, rows are finished while their counts are at hand.
    if (size === 1) return countWhole(own, index, other, into, { ...options, clear: true, finish });
    const term = await countWhole(own, index, other, into, { ...options, clear: true });
    await local.finish(own.local, into, finish);
    return term;
  }

  /** Half-steps of several local tables from one other. */
  async function updateAll(
    all: readonly OwnEdges[],
    other: Table,
    options: UpdateOptions,
  ): Promise<readonly (EdgeTerm | undefined)[]> {
    if (all.length === 0) return [];
    if (local.batched) return local.batched.update(all, other, options);
    return Promise.all(
      all.map(({ own, index, rows, place }) =>
        local
          .update(own, index, other, { ...options, rows })
          .catch((error) => Promise.reject(located(error, place ?? ''))),
      ),
    );
  }

  /** The counts of a local table over the edges to several others. */
  async function countAll(
    own: Table,
    from: readonly OtherEdges[],
    into: ExpectedCounts,
    options: CountAllOptions,
  ): Promise<readonly (EdgeTerm | undefined)[]> {
    if (local.batched && from.length > 0) return local.batched.count(own, from, into, options);
    const { rows, edgeTerm, clear, finish } = options;
    if (clear) void local.clearCounts(into);
    const counted = from.map(({ index, other }) => local.count(own, index, other, into, { rows, edgeTerm }));
    const [terms] = await Promise.all([Promise.all(counted), finish && local.finish(own, into, finish)]);
    return terms;
  }

  /** The counts of a whole table's rows over the shards of all ranks, into counts that are zero or cleared. */
  async function countWhole(
    own: WholeTable,
    index: SplitIndex,
    other: SplitTable,
    into: ExpectedCounts,
    options: CountAllOptions,
  ): Promise<EdgeTerm | undefined> {
    const [term] = await sumShards(other.layout, 1, async () => {
      // What fails names a row of the whole table, whichever shard it was counted over.
      const from = other.parts.map((part, p) => ({ index: index.parts[p], other: part }));
      return (await countAll(own.local, from, into, options)).map((one) => [one ?? 0]);
    });
    if (size > 1) {
      const rows = options.rows ?? { first: 0, last: own.rows };
      if (local.editCounts) await local.editCounts(into, rows, (values) => communicator.sum(values));
      else {
        await inPieces(own, rows.first, rows.last, async (piece) => {
          const values = await local.readCounts(into, piece);
          await communicator.sum(values);
          await local.writeCounts(into, values, piece.first);
        });
      }
    }
    return options.edgeTerm ? term : undefined;
  }

  async function inPieces(
    { features }: Table,
    first: number,
    last: number,
    work: (rows: RowRange) => Promise<void>,
  ): Promise<void> {
    const step = Math.max(1, Math.floor(PIECE / features));
    for (let row = first; row < last; row += step) {
      await work({ first: row, last: Math.min(last, row + step) });
    }
  }

  async function createCounts(
    own: ShardedTable,
    largest: number,
    work?: Float64Array,
  ): Promise<ShardedCounts> {
    const tables = own.kind === 'split' ? own.parts : [own.local];
    const bounds = own.kind === 'split' ? own.layout.bounds : [0, own.rows];
    const parts = await Promise.all(
      tables.map((table, p) => {
        const { first, last } = partOf(bounds, p);
        return local.createCounts(table, largest, work?.subarray(first, last));
      }),
    );
    const rows = bounds[bounds.length - 1];
    // A rank without a shard has no part to ask.
    const scale = parts[0]?.scale ?? 1;
    return { kind: 'counts', rows, features: own.features, scale, parts, largest, bounds };
  }

  /** `count` for callers who keep counts of their own: added to what these hold. */
  async function count(
    own: ShardedTable,
    index: ShardedIndex,
    other: ShardedTable,
    into: ShardedCounts,
    options: CountOptions,
  ): Promise<EdgeTerm | undefined> {
    const pairing = pair(own, index, other);
    if (pairing.kind === 'local') {
      return local.count(pairing.own, pairing.index, pairing.other, into.parts[0], options);
    }
    if (pairing.kind === 'split') {
      const sum = await sumShards(pairing.own.layout, 1, () =>
        onParts(pairing.own, async (part, p) => {
          const rows = rowsWithin(partOf(into.bounds, p), options.rows);
          if (!rows) return [0];
          const asked = { ...options, rows };
          return [
            (await local.count(part, pairing.index.parts[p], pairing.other.local, into.parts[p], asked)) ?? 0,
          ];
        }),
      );
      return options.edgeTerm ? sum[0] : undefined;
    }
    const fresh = await local.createCounts(pairing.own.local, into.largest);
    try {
      const term = await countWhole(pairing.own, pairing.index, pairing.other, fresh, options);
      await inPieces(own, 0, own.rows, async (rows) => {
        const [sum, more] = [
          await local.readCounts(into.parts[0], rows),
          await local.readCounts(fresh, rows),
        ];
        for (let i = 0; i < sum.length; i++) {
          sum[i] += more[i];
          if (sum[i] < 0n || sum[i] >= COUNT_LIMIT) {
            throw new FitError(tooLarge(rows.first + Math.floor(i / own.features), into));
          }
        }
        await local.writeCounts(into.parts[0], sum, rows.first);
      });
      return term;
    } finally {
      void local.free(fresh);
    }
  }

  async function finish(own: ShardedTable, counts: ShardedCounts, options: FinishOptions): Promise<void> {
    if (own.kind === 'whole') return local.finish(own.local, counts.parts[0], options);
    const mass = await sumShards(own.layout, own.features, () =>
      onParts(own, async (part, p) => {
        const rows = rowsWithin(partOf(counts.bounds, p), options.rows);
        if (!rows) return new Float64Array(own.features);
        await local.finish(part, counts.parts[p], { ...options, rows });
        return (await local.totals(part)).mass;
      }),
    );
    conclude(own, mass, options.otherMass, options);
  }

  /** Lets go of what is kept for a whole table. */
  function forget(table: WholeTable): void {
    for (const part of scratch.get(table)?.parts ?? []) void local.free(part);
    scratch.delete(table);
  }

  return {
    onParts,
    sumOfParts,
    massOfParts,
    totalsOf,
    updateSplit,
    updateWhole,
    createCounts,
    count,
    finish,
    forget,
  };
}

/** What a half-step is of, or why it cannot be. */
type Pairing =
  | { readonly kind: 'local'; readonly own: Table; readonly index: EdgeIndex; readonly other: Table }
  | {
      readonly kind: 'split';
      readonly own: SplitTable;
      readonly index: SplitIndex;
      readonly other: WholeTable;
    }
  | {
      readonly kind: 'whole';
      readonly own: WholeTable;
      readonly index: SplitIndex;
      readonly other: SplitTable;
    };

export function pair(own: ShardedTable, index: ShardedIndex, other: ShardedTable): Pairing {
  if (own.kind === 'whole' && other.kind === 'whole' && index.kind === 'whole index') {
    return { kind: 'local', own: own.local, index: index.local, other: other.local };
  }
  if (own.kind === 'split' && other.kind === 'whole' && index.kind === 'split index' && index.by === 'own') {
    return { kind: 'split', own, index, other };
  }
  if (
    own.kind === 'whole' &&
    other.kind === 'split' &&
    index.kind === 'split index' &&
    index.by === 'other'
  ) {
    return { kind: 'whole', own, index, other };
  }
  const by = index.kind === 'split index' ? `split by its ${index.by} side` : 'whole';
  throw new Error(`a ${own.kind} table and a ${other.kind} one do not go with an index that is ${by}`);
}
