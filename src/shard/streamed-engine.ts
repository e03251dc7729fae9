// An engine whose shards need not all be in memory: a local engine and a scratch file. One streamed table and one streamed
// index are in memory. While the engine computes with them, the next ones are read. A changed table is written when another
// takes its place. The file keeps values exactly, so the bits are those of a fit with all shards in memory.

import {
  type Activity,
  byField,
  type CountingEngine,
  type EdgeIndex,
  TABLE_FIELDS,
  type Table,
  type TableTotals,
  type TableValues,
} from '../engine/engine.js';
import { withFoldFresh } from '../engine/fold-fresh.js';
import { mixedValues, mixTable } from '../engine/mix-features.js';
import { noTotals } from '../engine/totals.js';
import type { EdgeRows } from '../math/csr.js';
import { allocate } from '../math/memory.js';
import { createQueue } from '../math/queue.js';
import type { ScratchFile } from './scratch-file.js';

/** A table that may be on disk. */
class StreamedTable implements Table {
  loaded: Table | undefined;
  /** Whether the file does not have the present values. */
  changed = true;
  position: number | undefined;
  double = false;
  totals: TableTotals;
  constructor(
    readonly rows: number,
    readonly features: number,
    public activity: Activity,
  ) {
    this.totals = noTotals(features);
  }
}

/** An index whose edges are on disk. */
class StreamedIndex implements EdgeIndex {
  loaded: EdgeIndex | undefined;
  constructor(
    readonly rows: number,
    readonly edges: number,
    readonly counted: boolean,
    readonly position: number,
  ) {}

  get words(): number {
    return this.rows + 1 + (this.counted ? 2 : 1) * this.edges;
  }
}

type Handle = Parameters<CountingEngine['free']>[0];
type Streamed = StreamedTable | StreamedIndex;

interface StreamedEngine extends CountingEngine {
  streamTable(features: number, values: TableValues, activity: Activity): Promise<Table>;
  streamIndex(rows: EdgeRows): Promise<EdgeIndex>;
  /** Writes tables to the file, streamed or not. The returned functions read their values and need no engine. */
  snapshot(tables: readonly Table[]): Promise<readonly (() => Promise<TableValues>)[]>;
}

/** `indexWords`: the size of the largest index; memory holds two. */
export function createStreamedEngine(
  local: CountingEngine,
  file: ScratchFile,
  indexWords: number,
): StreamedEngine {
  const { inOrder, idle } = createQueue();
  /** What the queued operations will need, in their order. */
  const waiting: (readonly Streamed[])[] = [];
  const slots = [allocate(Uint32Array, indexWords), allocate(Uint32Array, indexWords)];
  let slot = 0;
  let table: StreamedTable | undefined;
  let index: StreamedIndex | undefined;
  let nextTable: { readonly of: StreamedTable; readonly values: Promise<TableValues> } | undefined;
  let nextIndex: { readonly of: StreamedIndex; readonly read: Promise<void> } | undefined;
  let writing: Promise<void> = Promise.resolve();

  function queued<T>(handles: readonly Handle[], work: () => T | Promise<T>): Promise<T> {
    const needs = handles.filter((one) => one instanceof StreamedTable || one instanceof StreamedIndex);
    waiting.push(needs);
    return inOrder(async () => {
      waiting.shift();
      for (const one of needs) await (one instanceof StreamedTable ? loadTable(one) : loadIndex(one));
      prefetch();
      return work();
    });
  }

  function prefetch(): void {
    const needs = waiting.find((some) => some.length > 0) ?? [];
    for (const one of needs) {
      if (one.loaded) continue;
      if (one instanceof StreamedTable && !nextTable) {
        nextTable = { of: one, values: readTable(one) };
        nextTable.values.catch(() => undefined); // reported when the table is needed
      } else if (one instanceof StreamedIndex && !nextIndex) {
        nextIndex = { of: one, read: fill(one) };
        nextIndex.read.catch(() => undefined);
      }
    }
  }

  /** Reads an index into the slot that is not in use. */
  const fill = (one: StreamedIndex) =>
    file.read(one.position, bytesOf(slots[1 - slot].subarray(0, one.words)));

  async function readTable(one: StreamedTable): Promise<TableValues> {
    await writing;
    return readValues(file, one);
  }

  async function loadTable(one: StreamedTable): Promise<void> {
    if (one.loaded) return;
    const prefetched = nextTable;
    nextTable = undefined;
    await unloadTable();
    const values = prefetched?.of === one ? await prefetched.values : await readTable(one);
    one.loaded = await local.createTable(one.features, values, one.activity);
    table = one;
    // A new table would sum its masses in another order than the last update did.
    void local.setMass(one.loaded, one.totals.mass);
    void local.setUnseenMass(one.loaded, one.totals.unseenMass, one.totals.unseenMassAt);
  }

  async function unloadTable(): Promise<void> {
    const left = table;
    if (!left?.loaded) return;
    const { loaded } = left;
    left.totals = await local.totals(loaded);
    if (left.changed) await writeTable(left, loaded);
    void local.free(loaded);
    left.loaded = undefined;
    table = undefined;
  }

  /** Starts to write the present values of a table to its place in the file. */
  async function writeTable(one: StreamedTable, loaded: Table): Promise<void> {
    const values = await local.read(loaded);
    await writing;
    one.double = values.weightShape instanceof Float64Array;
    one.position ??= file.reserve(tableBytes(one));
    writing = writeValues(file, one.position, values);
    writing.catch(() => undefined); // reported to the next operation that waits for it
    one.changed = false;
  }

  async function loadIndex(one: StreamedIndex): Promise<void> {
    if (one.loaded) return;
    if (nextIndex?.of === one) await nextIndex.read;
    else {
      await nextIndex?.read.catch(() => undefined);
      await fill(one);
    }
    nextIndex = undefined;
    await unloadIndex();
    slot = 1 - slot;
    const words = slots[slot];
    const [first, second] = [one.rows + 1, one.rows + 1 + one.edges];
    one.loaded = await local.createIndex({
      offsets: words.subarray(0, first),
      neighbors: words.subarray(first, second),
      counts: one.counted ? words.subarray(second, second + one.edges) : undefined,
    });
    index = one;
  }

  async function unloadIndex(): Promise<void> {
    if (index?.loaded) await local.free(index.loaded);
    if (index) index.loaded = undefined;
    index = undefined;
  }

  const at = <H extends Handle>(handle: H): H =>
    handle instanceof StreamedTable || handle instanceof StreamedIndex ? (handle.loaded as H) : handle;

  /** Queues a change of `own`, which then shows `activity`. */
  function change<T>(
    own: Table,
    activity: Activity,
    reads: readonly Handle[],
    work: () => T | Promise<T>,
  ): Promise<T> {
    return queued([own, ...reads], () => {
      if (own instanceof StreamedTable) Object.assign(own, { changed: true, activity });
      return work();
    });
  }

  return withFoldFresh({
    name: local.name,
    description: local.description,
    tolerance: local.tolerance,
    threads: local.threads,

    streamTable: (features, values, activity) => {
      const one = new StreamedTable(values.weightShape.length, features, activity);
      return queued([], async () => {
        await unloadTable();
        one.loaded = await local.createTable(features, values, activity);
        table = one;
        return one;
      });
    },
    streamIndex: ({ offsets, neighbors, counts }) =>
      queued([], async () => {
        const arrays = counts ? [offsets, neighbors, counts] : [offsets, neighbors];
        const one = new StreamedIndex(
          offsets.length - 1,
          neighbors.length,
          counts !== undefined,
          file.reserve(arrays.reduce((sum, { byteLength }) => sum + byteLength, 0)),
        );
        let position = one.position;
        for (const array of arrays) {
          await file.write(position, bytesOf(array));
          position += array.byteLength;
        }
        return one;
      }),
    snapshot: (tables) =>
      queued([], async () => {
        await unloadTable();
        const written: StreamedTable[] = [];
        for (const one of tables) {
          if (one instanceof StreamedTable) written.push(one);
          else {
            const copy = new StreamedTable(one.rows, one.features, 'geometric');
            await writeTable(copy, one);
            written.push(copy);
          }
        }
        await writing;
        return written.map((one) => () => readValues(file, one));
      }),

    createTable: (...given) => queued([], () => local.createTable(...given)),
    createIndex: (...given) => queued([], () => local.createIndex(...given)),
    write: (own, values, activity) => change(own, activity, [], () => local.write(at(own), values, activity)),
    read: (own) => queued([own], () => local.read(at(own))),
    update: (own, edges, other, options) =>
      change(own, options.activity, [edges, other], () =>
        local.update(at(own), at(edges), at(other), options),
      ),
    createCounts: (own, ...given) => queued([own], () => local.createCounts(at(own), ...given)),
    count: (own, edges, other, into, options) =>
      queued([own, edges, other], () => local.count(at(own), at(edges), at(other), into, options)),
    finish: (own, counts, options) =>
      change(own, options.activity, [], () => local.finish(at(own), counts, options)),
    readCounts: (...given) => queued([], () => local.readCounts(...given)),
    writeCounts: (...given) => queued([], () => local.writeCounts(...given)),
    clearCounts: (...given) => queued([], () => local.clearCounts(...given)),
    edgeTerm: (own, edges, other) =>
      queued([own, edges, other], () => local.edgeTerm(at(own), at(edges), at(other))),
    rowTerms: (own, hyper) => queued([own], () => local.rowTerms(at(own), hyper)),
    totals: (own) =>
      queued([], () => (own instanceof StreamedTable && !own.loaded ? own.totals : local.totals(at(own)))),
    weightSum: (own) => queued([own], () => local.weightSum(at(own))),
    setMass: (own, mass) => queued([own], () => local.setMass(at(own), mass)),
    setUnseenMass: (own, mass, massAt) => queued([own], () => local.setUnseenMass(at(own), mass, massAt)),
    scale: (own, factor, activity) => change(own, activity, [], () => local.scale(at(own), factor, activity)),
    mixFeatures: (own, mix, activity) =>
      queued([own], async () => {
        if (!(own instanceof StreamedTable)) return mixTable(local, own, mix, activity);
        const { loaded, rows, position } = own;
        const values = mixedValues(await local.read(loaded!), mix);
        void local.free(loaded!);
        const mixed = new StreamedTable(rows, mix.features, activity);
        // It is smaller, and takes the place of the old table in the file.
        mixed.position = position;
        mixed.loaded = await local.createTable(mix.features, values, activity);
        table = mixed;
        return mixed;
      }),
    setActivity: (own, activity) =>
      queued([own], () => {
        if (own instanceof StreamedTable) own.activity = activity;
        return local.setActivity(at(own), activity);
      }),
    free: (handle) =>
      queued([], async () => {
        if (handle instanceof StreamedIndex) {
          if (handle === index) await unloadIndex();
        } else if (handle instanceof StreamedTable) {
          if (handle.loaded) void local.free(handle.loaded);
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

async function writeValues(file: ScratchFile, position: number, values: TableValues): Promise<void> {
  let to = position;
  for (const field of TABLE_FIELDS) {
    await file.write(to, bytesOf(values[field]));
    to += values[field].byteLength;
  }
}

async function readValues(file: ScratchFile, one: StreamedTable): Promise<TableValues> {
  const { rows, features, double } = one;
  const values = byField(features, (_, width) =>
    double ? new Float64Array(rows * width) : new Float32Array(rows * width),
  );
  let from = one.position ?? 0;
  for (const field of TABLE_FIELDS) {
    await file.read(from, bytesOf(values[field]));
    from += values[field].byteLength;
  }
  return values;
}
