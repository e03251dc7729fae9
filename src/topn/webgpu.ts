// Full rankings on the GPU: the same answers as cpu.ts, up to scores that tie in float32. Only a block of rows has its scores in memory
// at a time. Only ranks, lists and the marks of shown candidates are copied back.

import { allocate, type GpuDevice, openDevice } from '../engine/webgpu/device.js';
import { type Commands, createCommands } from '../engine/webgpu/kernel-queue.js';
import { storageBuffer, upload } from '../engine/webgpu/tables.js';
import { throwIfAborted } from '../errors.js';
import type { RowLists } from '../math/csr.js';
import { createQueue } from '../math/queue.js';
import type { TaskOptions } from '../progress.js';
import {
  emptyAnswer,
  emptyLists,
  type FactorTables,
  type RankAnswer,
  type RankQuery,
  type RankView,
  rowsToRank,
  type TopLists,
  type TopN,
  towardsCandidates,
} from './query.js';
import {
  itemWeightShader,
  leaveOutShader,
  listShader,
  type RankShape,
  rankShader,
  scoreShader,
  shownShader,
  TILE,
} from './webgpu-shaders.js';

export interface WebgpuTopNOptions {
  /** Most bytes of scores in memory at a time. Default 256 MiB. */
  readonly scoreBytes?: number | undefined;
  /** Called with the GPU time of every kernel run. Kernels then do not overlap. Needs timestamp queries. */
  readonly onKernelTime?: ((kernel: string, milliseconds: number) => void) | undefined;
}

const SCORE_BYTES = 2 ** 28;

/** An open GPU, its queue, and the most bytes of scores in its memory. */
interface OpenGpu {
  readonly gpu: GpuDevice;
  readonly commands: Commands;
  readonly scoreBytes: number;
}

/** Opens the GPU until `close`. The candidates of the last lists stay on it for the next query. */
export async function createWebgpuTopN({
  scoreBytes = SCORE_BYTES,
  onKernelTime,
}: WebgpuTopNOptions = {}): Promise<Required<TopN>> {
  const gpu = await openDevice();
  const commands = createCommands(gpu, onKernelTime);
  const open = { gpu, commands, scoreBytes };
  const kept: KeptForLists = { room: new Map() };
  const { inOrder, idle } = createQueue(() => gpu.check());
  return {
    name: 'gpu',
    rank: (tables, candidates, query, task = {}) =>
      inOrder(() => rankOnGpu(open, tables, candidates, query, task)),
    async top(tables, candidates, rows, n, excluded, task = {}) {
      // The next operation is recorded before this answer arrives.
      const lists = emptyLists(rows.length, Math.min(n, candidates.length));
      const { answer } = await inOrder(() =>
        topOnGpu(open, kept, tables, candidates, rows, lists, excluded, task),
      );
      return answer;
    },
    async close() {
      await idle();
      release(commands, [...kept.room.values()]);
      commands.flush();
      await gpu.device.queue.onSubmittedWorkDone().catch(() => {});
      gpu.close();
    },
  };
}

async function rankOnGpu(
  open: OpenGpu,
  tables: FactorTables,
  candidates: Uint32Array,
  query: RankQuery,
  { signal, onProgress }: TaskOptions,
): Promise<RankAnswer> {
  throwIfAborted(signal);
  const { commands } = open;
  const answer = emptyAnswer(query);
  const rows = rowsToRank(query);
  if (rows.length === 0) return answer;
  const owned: GPUBuffer[] = [];
  try {
    const ranking = await prepare(open, tables, candidates, query, rows, ownRoom(open, owned));
    for (let first = 0; first < rows.length; first += ranking.blockRows) {
      throwIfAborted(signal);
      onProgress?.({ stage: 'ranking', done: first, total: rows.length, unit: 'users' });
      ranking.rankBlock(first, Math.min(rows.length, first + ranking.blockRows));
      await commands.pace(ranking.blockRows * candidates.length);
    }
    for (const [v, { ranks, shown }] of ranking.views.entries()) {
      const found = await commands.read(ranks, 0, 4 * answer.ranks[v].length);
      answer.ranks[v].set(new Uint32Array(found));
      answer.shown[v].set(new Uint32Array(await commands.read(shown, 0, 4 * candidates.length)));
    }
    onProgress?.({ stage: 'ranking', done: rows.length, total: rows.length, unit: 'users' });
    return answer;
  } finally {
    release(commands, owned);
  }
}

/** What stays on the GPU between queries for lists: the candidates, and reusable buffers. */
interface KeptForLists {
  candidates?: KeptCandidates | undefined;
  /** Keyed by use. */
  readonly room: Map<string, GPUBuffer>;
}

/** Candidates in the layout of the kernels, and the arrays from which they were made. */
interface KeptCandidates {
  readonly of: readonly [items: Float32Array, candidates: Uint32Array, weights: Float32Array | undefined];
  readonly items: GPUBuffer;
  /** Weights from items to the candidates. */
  readonly itemWeights: Readonly<Record<'offsets' | 'targets' | 'weights', GPUBuffer>> | undefined;
}

/**
 * Fills lists of the best candidates, block by block. Resolves when all commands are recorded. The next query may reuse the same
 * buffers, because the GPU keeps the order.
 */
async function topOnGpu(
  open: OpenGpu,
  kept: KeptForLists,
  tables: FactorTables,
  candidates: Uint32Array,
  rows: Uint32Array,
  lists: TopLists,
  excluded: RowLists | undefined,
  { signal }: TaskOptions,
): Promise<{ readonly answer: Promise<TopLists> }> {
  throwIfAborted(signal);
  const { commands } = open;
  const { listed } = lists;
  if (rows.length === 0 || listed === 0) return { answer: Promise.resolve(lists) };
  const query = { candidates: candidates.length, views: [], excluded, depth: listed, top: listed };
  const room = keptRoom(open, kept);
  const ranking = await prepare(open, tables, candidates, query, rows, room, kept);
  const bytes = 8 * rows.length * listed;
  const found = await room('lists', `lists of ${rows.length} users`, bytes);
  commands.clear(found); // a short list ends with zeros
  for (let first = 0; first < rows.length; first += ranking.blockRows) {
    throwIfAborted(signal);
    ranking.rankBlock(first, Math.min(rows.length, first + ranking.blockRows), found);
    await commands.pace(ranking.blockRows * candidates.length);
  }
  const answer = commands.read(found, 0, bytes).then((pairs) => {
    for (let row = 0; row < rows.length; row++) sortList(pairs, row, lists);
    return lists;
  });
  answer.catch(() => {}); // the caller of `top` handles it
  return { answer };
}

/** Sorts a row's list as the GPU wrote it: best first, ties to the smaller position. */
function sortList(pairs: ArrayBuffer, row: number, { listed, positions, scores, counts }: TopLists): void {
  const found = new Uint32Array(pairs, 8 * row * listed, 2 * listed);
  const values = new Float32Array(pairs, 8 * row * listed, 2 * listed);
  const first = row * listed;
  let count = 0;
  for (let i = 0; i < listed; i++) {
    if (found[2 * i] === 0) continue;
    const [position, score] = [found[2 * i] - 1, values[2 * i + 1]];
    let at = first + count++;
    for (; at > first; at--) {
      const better = scores[at - 1] > score || (scores[at - 1] === score && positions[at - 1] < position);
      if (better) break;
      positions[at] = positions[at - 1];
      scores[at] = scores[at - 1];
    }
    positions[at] = position;
    scores[at] = score;
  }
  counts[row] = count;
}

/** A buffer of at least `bytes` bytes; `what` names it in error messages. */
type Room = (use: string, what: string, bytes: number) => Promise<GPUBuffer>;

function newBuffer(gpu: GpuDevice, what: string, bytes: number): Promise<GPUBuffer> {
  return allocate(gpu, what, bytes, () => storageBuffer(gpu, what, bytes));
}

/** Buffers that live as long as their query. */
function ownRoom({ gpu }: OpenGpu, owned: GPUBuffer[]): Room {
  return async (_use, what, bytes) => {
    const buffer = await newBuffer(gpu, what, bytes);
    owned.push(buffer);
    return buffer;
  };
}

/** Buffers that the next query reuses. They grow when needed. */
function keptRoom({ gpu, commands }: OpenGpu, { room }: KeptForLists): Room {
  return async (use, what, bytes) => {
    const before = room.get(use);
    if (before && before.size >= bytes) return before;
    if (before) release(commands, [before]);
    room.delete(use);
    // Grows by doubling: the next list may be longer.
    const size = before ? Math.max(bytes, Math.min(2 * before.size, gpu.maxBinding)) : bytes;
    const buffer = await newBuffer(gpu, what, size);
    room.set(use, buffer);
    return buffer;
  };
}

function release(commands: Commands, owned: readonly GPUBuffer[]): void {
  commands.forget();
  for (const buffer of owned) buffer.destroy();
}

/** Uploads what a ranking needs. `rankBlock` then ranks a block of rows. */
async function prepare(
  { gpu, commands, scoreBytes }: OpenGpu,
  { users, items, features, itemWeights }: FactorTables,
  candidates: Uint32Array,
  { views, excluded, depth, top }: RankQuery,
  rows: Uint32Array,
  room: Room,
  kept?: KeptForLists,
) {
  const shape: RankShape = { quads: Math.ceil(features / 4), candidates: candidates.length, depth, top };
  const most = Math.floor(Math.min(scoreBytes, gpu.maxBinding) / (4 * candidates.length));
  // Whole tiles of rows, but at least one row. If that does not fit, the allocation fails and names the limit.
  const blockRows = Math.min(rows.length, Math.max(1, most - (most > TILE.rows ? most % TILE.rows : 0)));
  const make = async (use: string, what: string, values: Uint32Array | Float32Array) => {
    const buffer = await room(use, what, values.byteLength);
    await upload(gpu, buffer, values);
    return buffer;
  };
  const lists = async (what: string, { offsets, values }: RowLists) => ({
    offsets: await make(`rows of ${what}`, `the rows of ${what}`, offsets),
    values: await make(what, what, values),
  });
  async function candidateBuffers(): Promise<KeptCandidates> {
    const of = [items, candidates, itemWeights?.weights] as const;
    const before = kept?.candidates;
    if (before?.of.every((array, i) => array === of[i])) return before;
    if (kept) kept.candidates = undefined;
    const what = `the features of ${candidates.length} items`;
    const narrow = itemWeights && towardsCandidates(itemWeights, candidates, items.length / features);
    const made: KeptCandidates = {
      of,
      items: await make('items', what, padded(items, candidates, features)),
      itemWeights: narrow && {
        offsets: await make('offsets', 'the rows of weights between items', narrow.offsets),
        targets: await make('targets', 'the targets of weights between items', narrow.targets),
        weights: await make('weights', 'weights between items', narrow.weights),
      },
    };
    if (kept) kept.candidates = made;
    return made;
  }
  const rowsBuffer = await make('rows', 'the list of rows', rows);
  const what = `the features of ${rows.length} users`;
  const usersBuffer = await make('users', what, padded(users, rows, features));
  const { items: itemsBuffer, itemWeights: between } = await candidateBuffers();
  const histories = itemWeights && (await lists('what users have', itemWeights.history));
  const own = itemWeights?.history.weights;
  const factors = own && (await make('factors', 'the weights of what users have', own));
  const scores = await room('scores', `the scores of ${blockRows} users`, 4 * blockRows * candidates.length);
  const seen = excluded && (await lists('items that are left out', excluded));
  const prepareView = async ({ without, relevant }: RankView) => {
    const all = { offsets: Uint32Array.of(0, without.length), values: without };
    return {
      without: without.length > 0 ? await lists('items that nobody is shown', all) : undefined,
      relevant: await lists('relevant items', relevant),
      ranks: await make('ranks', 'ranks', new Uint32Array(relevant.values.length)),
      shown: await make('shown items', 'shown items', new Uint32Array(candidates.length)),
    };
  };
  const prepared: Awaited<ReturnType<typeof prepareView>>[] = [];
  for (const view of views) prepared.push(await prepareView(view));
  const score = await commands.kernel('scores', scoreShader(shape));
  const addItemWeights = await commands.kernel(
    factors ? 'weighed itemWeights' : 'itemWeights',
    itemWeightShader(shape, factors !== undefined),
  );
  const leaveOut = await commands.kernel('left out', leaveOutShader(shape, true));
  const leaveOutForAll = await commands.kernel('left out for all', leaveOutShader(shape, false));
  const rank = await commands.kernel('ranks', rankShader(shape));
  const show = await commands.kernel('shown', shownShader(shape));
  const list = await commands.kernel('lists', listShader(shape));

  function rankBlock(first: number, last: number, found?: GPUBuffer): void {
    const at = commands.params({ first, last });
    const count = last - first;
    const tiles = Math.ceil(count / TILE.rows) * Math.ceil(candidates.length / TILE.candidates);
    commands.run(score, at, [usersBuffer, itemsBuffer, scores], tiles);
    if (between && histories) {
      const { offsets, targets, weights } = between;
      const lists = [rowsBuffer, histories.offsets, histories.values, offsets, targets, weights];
      const buffers = [...lists, ...(factors ? [factors] : []), scores];
      commands.run(addItemWeights, at, buffers, count);
    }
    if (seen) {
      commands.run(leaveOut, at, [rowsBuffer, seen.offsets, seen.values, scores], count);
    }
    if (found) commands.run(list, at, [rowsBuffer, scores, found], count);
    for (const { without, relevant, ranks, shown } of prepared) {
      if (without) {
        const buffers = [rowsBuffer, without.offsets, without.values, scores];
        commands.run(leaveOutForAll, at, buffers, count);
      }
      const { offsets, values } = relevant;
      commands.run(rank, at, [rowsBuffer, offsets, values, scores, ranks], count);
      commands.run(show, at, [rowsBuffer, offsets, scores, shown], count);
    }
  }
  return { blockRows, views: prepared, rankBlock };
}

/** Selected rows of a table, each padded with zeros to whole vectors of four. */
function padded(table: Float32Array, picked: Uint32Array, features: number): Float32Array {
  const stride = 4 * Math.ceil(features / 4);
  const asItIs = stride === features && picked.length * features === table.length;
  if (asItIs && picked.every((row, r) => row === r)) return table;
  const values = new Float32Array(picked.length * stride);
  for (let r = 0; r < picked.length; r++) {
    const from = picked[r] * features;
    values.set(table.subarray(from, from + features), r * stride);
  }
  return values;
}
