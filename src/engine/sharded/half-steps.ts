// The two halves of a half-step over shards: what is local and what is exchanged.

import type { Communicator } from '../../comm/communicator.js';
import { located } from '../../errors.js';
import type {
  BatchCountOptions,
  CountingEngine,
  EdgeTerm,
  ExpectedCounts,
  OtherEdges,
  OwnEdges,
  Table,
  TableTotals,
  UpdateOptions,
} from '../engine.js';
import { totalsAfter } from '../totals.js';
import type { Exchange } from './exchange.js';
import { isSplit, partOf, rowsWithin, type SplitIndex, type SplitTable } from './tables.js';

/** Counts copied at a time. */
const PIECE = 1 << 20;

export function createHalfSteps(local: CountingEngine, communicator: Communicator, { sumShards }: Exchange) {
  const { size } = communicator;
  /** Counts of whole tables, kept between half-steps, and the largest sum, which sets their scale. */
  const scratch = new Map<object, { readonly largest: number; readonly counts: ExpectedCounts }>();

  /** Runs `work` on each part of a split table. An error names the shard. */
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

  async function sumOfParts(
    table: SplitTable,
    one: (part: Table, p: number) => Promise<number>,
  ): Promise<number> {
    const [sum] = await sumShards(table.layout, 1, async () => (await onParts(table, one)).map((x) => [x]));
    return sum;
  }

  const massOfParts = (table: SplitTable) =>
    sumShards(table.layout, table.features, () =>
      onParts(table, async (part) => (await local.totals(part)).mass),
    );

  async function totalsOf(table: Table): Promise<TableTotals> {
    return isSplit(table) ? table.totals : local.totals(table);
  }

  async function massOf(table: Table): Promise<Float64Array> {
    const { mass, unseenMass } = await totalsOf(table);
    return mass.map((m, k) => m + unseenMass[k]);
  }

  async function updateSplit(
    own: SplitTable,
    index: SplitIndex,
    other: Table,
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
        updateAll(walked, other, { ...options, otherMass: M }),
        Promise.all(walked.map(async (one) => (await local.totals(one.own)).mass)),
      ]);
      for (const [i, { p }] of walked.entries()) of[p].set([...masses[i], terms[i] ?? 0]);
      return of;
    });
    own.totals = totalsAfter(options.hyper, sums.slice(0, K), M);
    return options.edgeTerm ? sums[K] : undefined;
  }

  async function updateWhole(
    own: Table,
    index: SplitIndex,
    other: SplitTable,
    options: UpdateOptions,
  ): Promise<EdgeTerm | undefined> {
    const M = options.otherMass ?? (await massOf(other));
    const into = await countsOf(own, index);
    const finish = { ...options, otherMass: M };
    // A single rank finishes rows while their counts are in cache.
    if (size === 1) return countWhole(own, index, other, into, { ...options, clear: true, finish });
    const term = await countWhole(own, index, other, into, { ...options, clear: true });
    await local.finish(own, into, finish);
    return term;
  }

  async function countsOf(own: Table, { largest, strengths }: SplitIndex): Promise<ExpectedCounts> {
    const kept = scratch.get(own);
    if (kept?.largest === largest) return kept.counts;
    if (kept) void local.free(kept.counts);
    const counts = await local.createCounts(own, largest, strengths);
    scratch.set(own, { largest, counts });
    return counts;
  }

  /** Half-steps of several local tables from one other table. */
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

  /** The counts of a local table over the edges to several other tables. */
  async function countAll(
    own: Table,
    from: readonly OtherEdges[],
    into: ExpectedCounts,
    options: BatchCountOptions,
  ): Promise<readonly (EdgeTerm | undefined)[]> {
    if (local.batched && from.length > 0) return local.batched.count(own, from, into, options);
    const { rows, edgeTerm, clear, finish } = options;
    if (clear) void local.clearCounts(into);
    const counted = from.map(({ index, other }) => local.count(own, index, other, into, { rows, edgeTerm }));
    const [terms] = await Promise.all([Promise.all(counted), finish && local.finish(own, into, finish)]);
    return terms;
  }

  /** Counts a whole table's rows over the shards of all ranks. `into` must be zero, or cleared by the options. */
  async function countWhole(
    own: Table,
    index: SplitIndex,
    other: SplitTable,
    into: ExpectedCounts,
    options: BatchCountOptions,
  ): Promise<EdgeTerm | undefined> {
    const [term] = await sumShards(other.layout, 1, async () => {
      // An error names a row of the whole table, whichever shard was being counted.
      const from = other.parts.map((part, p) => ({ index: index.parts[p], other: part }));
      return (await countAll(own, from, into, options)).map((one) => [one ?? 0]);
    });
    if (size > 1) {
      const rows = options.rows ?? { first: 0, last: own.rows };
      if (local.editCounts) await local.editCounts(into, rows, (values) => communicator.sum(values));
      else {
        const step = Math.max(1, Math.floor(PIECE / own.features));
        for (let { first } = rows; first < rows.last; first += step) {
          const values = await local.readCounts(into, { first, last: Math.min(rows.last, first + step) });
          await communicator.sum(values);
          await local.writeCounts(into, values, first);
        }
      }
    }
    return options.edgeTerm ? term : undefined;
  }

  /** Frees what is kept for a whole table. */
  function forget(table: object): void {
    const kept = scratch.get(table);
    if (kept) void local.free(kept.counts);
    scratch.delete(table);
  }

  return {
    onParts,
    sumOfParts,
    massOfParts,
    totalsOf,
    updateSplit,
    updateWhole,
    forget,
  };
}
