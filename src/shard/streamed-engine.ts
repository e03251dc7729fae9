// An engine whose shards need not all be in memory: a local engine beside a file. Of the tables and indexes that it streams
// one each is in memory, and the next that was asked for is read while that one is computed with. What changed is written
// when another takes its place. Values come back as they went, so the bits are those of a fit that holds all.

import {
  type Activity,
  type CountingEngine,
  type EdgeIndex,
  TABLE_FIELDS,
  type Table,
  type TableTotals,
  type TableValues,
} from '../engine/engine.js';
import { withFoldFresh } from '../engine/fold-fresh.js';
import { createQueue } from '../engine/queue.js';
import type { EdgeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import type { PageFile } from './scratch-file.js';

/** A table that may be on disk. */
class StreamedTable implements Table {
  here: Table | undefined;
  /** Whether the file does not have it is. */
  changed = true;
  place: number | undefined;
  double = false;
  totals: TableTotals;
  constructor(
    readonly rows: number,
    readonly features: number,
    public activity: Activity,
  ) {
    const nothing = () => new Float64Array(features);
    this.totals = { mass: nothing(), unseenMass: nothing(), unseenMassAt: nothing() };
  }
}

/** An index whose edges are on disk. */
class StreamedIndex implements EdgeIndex {
  here: EdgeIndex | undefined;
  constructor(
    readonly rows: number,
    readonly edges: number,
    readonly counted: boolean,
    readonly place: number,
  ) {}

  get words(): number {
    return this.rows + 1 + (this.counted ? 2 : 1) * this.edges;
  }
}

type Handle = Parameters<CountingEngine['free']>[0];
type Streamed = StreamedTable | StreamedIndex;

export interface StreamedEngine extends CountingEngine {
  streamTable(features: number, values: TableValues, activity: Activity): Promise<Table>;
  streamIndex(rows: EdgeRows): Promise<EdgeIndex>;
  /** Puts tables on disk, whether they are streamed or not: what comes back gives their values, and needs no engine. */
  settle(tables: readonly Table[]): Promise<readonly (() => Promise<TableValues>)[]>;
}

/** `indexWords`: of the largest index, which there is room for twice. */
export function createStreamedEngine(
  local: CountingEngine,
  file: PageFile,
  indexWords: number,
): StreamedEngine {
  const { inOrder, idle } = createQueue();
  /** What the operations that wait will need, in their order. */
  const waiting: (readonly Streamed[])[] = [];
  const slots = [allocate(Uint32Array, indexWords), allocate(Uint32Array, indexWords)];
  let slot = 0;
  let table: StreamedTable | undefined;
  let index: StreamedIndex | undefined;
  let nextTable: { readonly of: StreamedTable; readonly values: Promise<TableValues> } | undefined;
  let nextIndex: { readonly of: StreamedIndex; readonly read: Promise<void> } | undefined;
  let writing: Promise<void> = Promise.resolve();

  function inTurn<T>(handles: readonly Handle[], work: () => T | Promise<T>): Promise<T> {
    const needs = handles.filter((one) => one instanceof StreamedTable || one instanceof StreamedIndex);
    waiting.push(needs);
    return inOrder(async () => {
      waiting.shift();
      for (const one of needs) await (one instanceof StreamedTable ? bringTable(one) : bringIndex(one));
      readAhead();
      return work();
    });
  }

  function readAhead(): void {
    const needs = waiting.find((some) => some.length > 0) ?? [];
    for (const one of needs) {
      if (one.here) continue;
      if (one instanceof StreamedTable && !nextTable) {
        nextTable = { of: one, values: load(one) };
        nextTable.values.catch(() => undefined); // said when it is needed
      } else if (one instanceof StreamedIndex && !nextIndex) {
        nextIndex = { of: one, read: fill(one) };
        nextIndex.read.catch(() => undefined);
      }
    }
  }

  /** The slot that is not in use. */
  const fill = (one: StreamedIndex) => file.read(one.place, bytesOf(slots[1 - slot].subarray(0, one.words)));

  async function load(one: StreamedTable): Promise<TableValues> {
    await writing;
    return readValues(file, one);
  }

  async function bringTable(one: StreamedTable): Promise<void> {
    if (one.here) return;
    const ahead = nextTable;
    nextTable = undefined;
    await leaveTable();
    const values = ahead?.of === one ? await ahead.values : await load(one);
    one.here = await local.createTable(one.features, values, one.activity);
    table = one;
    // What a new table has is summed otherwise than what an update left.
    void local.setMass(one.here, one.totals.mass);
    void local.setUnseenMass(one.here, one.totals.unseenMass, one.totals.unseenMassAt);
  }

  async function leaveTable(): Promise<void> {
    const left = table;
    if (!left?.here) return;
    const { here } = left;
    left.totals = await local.totals(here);
    if (left.changed) {
      const values = await local.read(here);
      await writing;
      left.double = values.weightShape instanceof Float64Array;
      left.place ??= file.place(tableBytes(left));
      writing = writeValues(file, left.place, values);
      writing.catch(() => undefined); // said at the next that waits for it
      left.changed = false;
    }
    void local.free(here);
    left.here = undefined;
    table = undefined;
  }

  async function setDown(whole: Table): Promise<StreamedTable> {
    const one = new StreamedTable(whole.rows, whole.features, 'geometric');
    const values = await local.read(whole);
    one.double = values.weightShape instanceof Float64Array;
    one.place = file.place(tableBytes(one));
    await writeValues(file, one.place, values);
    return one;
  }

  async function bringIndex(one: StreamedIndex): Promise<void> {
    if (one.here) return;
    if (nextIndex?.of === one) await nextIndex.read;
    else {
      await nextIndex?.read.catch(() => undefined);
      await fill(one);
    }
    nextIndex = undefined;
    await leaveIndex();
    slot = 1 - slot;
    const words = slots[slot];
    const [first, second] = [one.rows + 1, one.rows + 1 + one.edges];
    one.here = await local.createIndex({
      offsets: words.subarray(0, first),
      neighbors: words.subarray(first, second),
      counts: one.counted ? words.subarray(second, second + one.edges) : undefined,
    });
    index = one;
  }

  async function leaveIndex(): Promise<void> {
    if (index?.here) await local.free(index.here);
    if (index) index.here = undefined;
    index = undefined;
  }

  const at = <H extends Handle>(handle: H): H =>
    handle instanceof StreamedTable || handle instanceof StreamedIndex ? (handle.here as H) : handle;

  function changes(handle: Table, activity: Activity): void {
    if (!(handle instanceof StreamedTable)) return;
    handle.changed = true;
    handle.activity = activity;
  }

  return withFoldFresh({
    name: local.name,
    description: local.description,
    tolerance: local.tolerance,
    threads: local.threads,

    streamTable: (features, values, activity) => {
      const one = new StreamedTable(values.weightShape.length, features, activity);
      return inTurn([], async () => {
        await leaveTable();
        one.here = await local.createTable(features, values, activity);
        table = one;
        return one;
      });
    },
    streamIndex: ({ offsets, neighbors, counts }) =>
      inTurn([], async () => {
        const arrays = counts ? [offsets, neighbors, counts] : [offsets, neighbors];
        const one = new StreamedIndex(
          offsets.length - 1,
          neighbors.length,
          counts !== undefined,
          file.place(arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)),
        );
        let place = one.place;
        for (const array of arrays) {
          await file.write(place, bytesOf(array));
          place += array.byteLength;
        }
        return one;
      }),
    settle: (tables) =>
      inTurn([], async () => {
        await leaveTable();
        await writing;
        const settled: StreamedTable[] = [];
        for (const one of tables) {
          settled.push(one instanceof StreamedTable ? one : await setDown(one));
        }
        return settled.map((one) => () => readValues(file, one));
      }),

    createTable: (...given) => inTurn([], () => local.createTable(...given)),
    createIndex: (...given) => inTurn([], () => local.createIndex(...given)),
    write: (own, values, activity) =>
      inTurn([own], () => {
        changes(own, activity);
        return local.write(at(own), values, activity);
      }),
    read: (own) => inTurn([own], () => local.read(at(own))),
    update: (own, edges, other, options) =>
      inTurn([own, edges, other], () => {
        changes(own, options.activity);
        return local.update(at(own), at(edges), at(other), options);
      }),
    createCounts: (own, ...given) => inTurn([own], () => local.createCounts(at(own), ...given)),
    count: (own, edges, other, into, options) =>
      inTurn([own, edges, other], () => local.count(at(own), at(edges), at(other), into, options)),
    finish: (own, counts, options) =>
      inTurn([own], () => {
        changes(own, options.activity);
        return local.finish(at(own), counts, options);
      }),
    readCounts: (...given) => inTurn([], () => local.readCounts(...given)),
    writeCounts: (...given) => inTurn([], () => local.writeCounts(...given)),
    clearCounts: (...given) => inTurn([], () => local.clearCounts(...given)),
    edgeTerm: (own, edges, other) =>
      inTurn([own, edges, other], () => local.edgeTerm(at(own), at(edges), at(other))),
    rowTerms: (own, hyper) => inTurn([own], () => local.rowTerms(at(own), hyper)),
    totals: (own) =>
      inTurn([], () => (own instanceof StreamedTable && !own.here ? own.totals : local.totals(at(own)))),
    weightSum: (own) => inTurn([own], () => local.weightSum(at(own))),
    setMass: (own, mass) => inTurn([own], () => local.setMass(at(own), mass)),
    setUnseenMass: (own, leftover, leftoverAt) =>
      inTurn([own], () => local.setUnseenMass(at(own), leftover, leftoverAt)),
    scale: (own, factor, activity) =>
      inTurn([own], () => {
        changes(own, activity);
        return local.scale(at(own), factor, activity);
      }),
    setActivity: (own, activity) =>
      inTurn([own], () => {
        if (own instanceof StreamedTable) own.activity = activity;
        return local.setActivity(at(own), activity);
      }),
    free: (handle) =>
      inTurn([], async () => {
        if (handle instanceof StreamedIndex) {
          if (handle === index) await leaveIndex();
        } else if (handle instanceof StreamedTable) {
          if (handle.here) void local.free(handle.here);
          if (handle === table) table = undefined;
        } else await local.free(handle);
      }),
    async close() {
      await idle();
      await writing.catch(() => undefined);
      await local.close();
    },
  } satisfies Omit<StreamedEngine, 'foldFresh'>);
}

const bytesOf = ({ buffer, byteOffset, byteLength }: ArrayBufferView) =>
  new Uint8Array(buffer, byteOffset, byteLength);

function tableBytes({ rows, features, double }: StreamedTable): number {
  return (double ? 8 : 4) * rows * (2 + 2 * features);
}

async function writeValues(file: PageFile, place: number, values: TableValues): Promise<void> {
  let to = place;
  for (const field of TABLE_FIELDS) {
    await file.write(to, bytesOf(values[field]));
    to += values[field].byteLength;
  }
}

async function readValues(file: PageFile, one: StreamedTable): Promise<TableValues> {
  const { rows, features, double } = one;
  const lengths = { weightShape: rows, weightRate: rows, featureShape: rows * features };
  const values: Record<string, Float32Array | Float64Array> = {};
  let from = one.place ?? 0;
  for (const field of TABLE_FIELDS) {
    const length = field === 'featureRate' ? lengths.featureShape : lengths[field];
    values[field] = double ? new Float64Array(length) : new Float32Array(length);
    await file.read(from, bytesOf(values[field]));
    from += values[field].byteLength;
  }
  return values as unknown as TableValues;
}
