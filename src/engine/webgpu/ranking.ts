// Full rankings on the GPU: the same answers as cpu/ranking.ts, up to scores that tie in float32. Scores of a block
// of rows exist at a time; only ranks and what was shown come back.

import { throwIfAborted } from '../../errors.js';
import type { RowLists } from '../../math/csr.js';
import type { TaskOptions } from '../../progress.js';
import { emptyLists, type TopLists } from '../../topn/lists.js';
import {
  emptyAnswer,
  type FactorTables,
  type RankAnswer,
  type RankQuery,
  rowsToRank,
  towardsCandidates,
} from '../../topn/query.js';
import type { Commands } from './commands.js';
import { allocate, type GpuDevice } from './device.js';
import { whole } from './passes.js';
import { storageBuffer, upload } from './tables.js';
import {
  itemWeightShader,
  leaveOutShader,
  listShader,
  type RankShape,
  rankShader,
  scoreShader,
  shownShader,
  TILE,
} from './wgsl/scores.js';

export interface GpuRankOptions extends TaskOptions {
  /** Most bytes of scores that exist at a time. Default 256 MiB. */
  readonly scoreBytes?: number | undefined;
}

const SCORE_BYTES = 2 ** 28;

/** Ranks on a device that is open. */
export async function rankOnGpu(
  gpu: GpuDevice,
  commands: Commands,
  tables: FactorTables,
  candidates: Uint32Array,
  query: RankQuery,
  { signal, onProgress, scoreBytes }: GpuRankOptions = {},
): Promise<RankAnswer> {
  throwIfAborted(signal);
  const answer = emptyAnswer(query);
  const rows = rowsToRank(query);
  if (rows.length === 0) return answer;
  const owned: GPUBuffer[] = [];
  try {
    const ranking = await prepare(
      gpu,
      commands,
      tables,
      candidates,
      query,
      rows,
      scoreBytes,
      ownRoom(gpu, owned),
    );
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

/** What stays on the GPU from one question for lists to the next: the candidates, and room for the rest. */
export interface KeptForLists {
  items?: Float32Array | undefined;
  candidates?: Uint32Array | undefined;
  weights?: Float32Array | undefined;
  buffers?: CandidateBuffers | undefined;
  /** By what they are for. */
  readonly room: Map<string, GPUBuffer>;
}

/** The candidates as kernels see them. */
interface CandidateBuffers {
  readonly items: GPUBuffer;
  /** Weights from items to the candidates. */
  readonly itemWeights: Readonly<Record<'offsets' | 'targets' | 'weights', GPUBuffer>> | undefined;
}

/**
 * Lists of the best: made on the GPU, block by block; only the lists come back. All is recorded when this resolves, and
 * what is recorded next may use the same room again: the GPU keeps the order.
 */
export async function topOnGpu(
  gpu: GpuDevice,
  commands: Commands,
  kept: KeptForLists,
  tables: FactorTables,
  candidates: Uint32Array,
  rows: Uint32Array,
  n: number,
  excluded: RowLists | undefined,
  { signal, scoreBytes }: GpuRankOptions = {},
): Promise<{ readonly answer: Promise<TopLists> }> {
  throwIfAborted(signal);
  const lists = emptyLists(rows.length, Math.min(n, candidates.length));
  const { listed } = lists;
  if (rows.length === 0 || listed === 0) return { answer: Promise.resolve(lists) };
  const query = { candidates: candidates.length, views: [], excluded, depth: listed, top: listed };
  const room = keptRoom(gpu, commands, kept);
  const ranking = await prepare(gpu, commands, tables, candidates, query, rows, scoreBytes, room, kept);
  const bytes = 8 * rows.length * listed;
  const found = await room('lists', `lists of ${rows.length} users`, bytes);
  commands.clear(found); // a list that is too short ends with zeros
  for (let first = 0; first < rows.length; first += ranking.blockRows) {
    throwIfAborted(signal);
    ranking.rankBlock(first, Math.min(rows.length, first + ranking.blockRows), found);
    await commands.pace(ranking.blockRows * candidates.length);
  }
  const answer = commands.read(found, 0, bytes).then((pairs) => {
    for (let row = 0; row < rows.length; row++) inOrderOfScores(pairs, row, lists);
    return lists;
  });
  answer.catch(() => {}); // whoever waits for it hears of it
  return { answer };
}

/** A list as the GPU has found it, best first, ties to the smaller position. */
function inOrderOfScores(
  pairs: ArrayBuffer,
  row: number,
  { listed, positions, scores, counts }: TopLists,
): void {
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

/** A buffer of at least so many bytes; `what` is for people. */
type Room = (use: string, what: string, bytes: number) => Promise<GPUBuffer>;

/** Room that lasts as long as its question. */
function ownRoom(gpu: GpuDevice, owned: GPUBuffer[]): Room {
  return async (_use, what, bytes) => {
    const buffer = await allocate(gpu, what, bytes, () => storageBuffer(gpu, what, bytes));
    owned.push(buffer);
    return buffer;
  };
}

/** Room that the next question uses again, made larger where it has to be. */
function keptRoom(gpu: GpuDevice, commands: Commands, { room }: KeptForLists): Room {
  return async (use, what, bytes) => {
    const before = room.get(use);
    if (before && before.size >= bytes) return before;
    if (before) release(commands, [before]);
    room.delete(use);
    // With room to grow where it grows: lists are of any length.
    const size = before ? Math.max(bytes, Math.min(2 * before.size, gpu.maxBinding)) : bytes;
    const buffer = await allocate(gpu, what, size, () => storageBuffer(gpu, what, size));
    room.set(use, buffer);
    return buffer;
  };
}

function release(commands: Commands, owned: readonly GPUBuffer[]): void {
  commands.forget();
  for (const buffer of owned) buffer.destroy();
}

/** Lets go of everything that was kept. */
export function forgetLists(commands: Commands, kept: KeptForLists): void {
  kept.buffers = undefined;
  release(commands, [...kept.room.values()]);
  kept.room.clear();
}

interface GpuLists {
  readonly offsets: GPUBuffer;
  readonly values: GPUBuffer;
}

interface PreparedView {
  readonly without: GpuLists | undefined;
  readonly relevant: GpuLists;
  readonly ranks: GPUBuffer;
  readonly shown: GPUBuffer;
}

/** Everything on the GPU that a ranking needs, and how a block of rows is ranked with it. */
async function prepare(
  gpu: GpuDevice,
  commands: Commands,
  { users, items, features, itemWeights }: FactorTables,
  candidates: Uint32Array,
  { views, excluded, depth, top }: RankQuery,
  rows: Uint32Array,
  mostBytes: number | undefined,
  room: Room,
  kept?: KeptForLists,
) {
  const shape: RankShape = { quads: Math.ceil(features / 4), candidates: candidates.length, depth, top };
  const most = Math.floor(Math.min(mostBytes ?? SCORE_BYTES, gpu.maxBinding) / (4 * candidates.length));
  // Whole tiles of rows, but never less than a row: a longer one is refused with the limit.
  const blockRows = Math.min(rows.length, Math.max(1, most - (most > TILE.rows ? most % TILE.rows : 0)));
  const make = async (use: string, what: string, values: Uint32Array | Float32Array) => {
    const buffer = await room(use, what, values.byteLength);
    await upload(gpu, buffer, values);
    return buffer;
  };
  const lists = async (what: string, { offsets, values }: RowLists): Promise<GpuLists> => ({
    offsets: await make(`rows of ${what}`, `the rows of ${what}`, offsets),
    values: await make(what, what, values),
  });
  async function candidateBuffers() {
    const weights = itemWeights?.weights;
    const there =
      kept?.buffers && kept.items === items && kept.candidates === candidates && kept.weights === weights;
    if (kept?.buffers && there) return kept.buffers;
    if (kept) kept.buffers = undefined;
    const what = `the features of ${candidates.length} items`;
    const narrow = itemWeights && towardsCandidates(itemWeights, candidates, items.length / features);
    const buffers: CandidateBuffers = {
      items: await make('items', what, padded(items, candidates, features)),
      itemWeights: narrow && {
        offsets: await make('offsets', 'the rows of weights between items', narrow.offsets),
        targets: await make('targets', 'the targets of weights between items', narrow.targets),
        weights: await make('weights', 'weights between items', narrow.weights),
      },
    };
    if (kept) Object.assign(kept, { items, candidates, weights, buffers });
    return buffers;
  }
  const rowsBuffer = await make('rows', 'the list of rows', rows);
  const what = `the features of ${rows.length} users`;
  const usersBuffer = await make('users', what, padded(users, rows, features));
  const { items: itemsBuffer, itemWeights: between } = await candidateBuffers();
  const histories = itemWeights && (await lists('what users have', itemWeights.history));
  const scores = await room('scores', `the scores of ${blockRows} users`, 4 * blockRows * candidates.length);
  const seen = excluded && (await lists('items that are left out', excluded));
  const prepared: PreparedView[] = [];
  for (const { without, relevant } of views) {
    const all = { offsets: Uint32Array.of(0, without.length), values: without };
    prepared.push({
      without: without.length > 0 ? await lists('items that nobody is shown', all) : undefined,
      relevant: await lists('relevant items', relevant),
      ranks: await make('ranks', 'ranks', new Uint32Array(relevant.values.length)),
      shown: await make('shown items', 'shown items', new Uint32Array(candidates.length)),
    });
  }
  const reads = (n: number) => ['params', ...Array<'read'>(n).fill('read'), 'write'] as const;
  const score = await commands.kernel('scores', scoreShader(shape), reads(2));
  const addBeside = await commands.kernel('itemWeights', itemWeightShader(shape), reads(6));
  const leaveOut = await commands.kernel('left out', leaveOutShader(shape, true), reads(3));
  const leaveOutForAll = await commands.kernel('left out for all', leaveOutShader(shape, false), reads(3));
  const rank = await commands.kernel('ranks', rankShader(shape), reads(4));
  const show = await commands.kernel('shown', shownShader(shape), reads(3));
  const list = await commands.kernel('lists', listShader(shape), reads(2));

  function rankBlock(first: number, last: number, found?: GPUBuffer): void {
    commands.reserve(1);
    const at = commands.params({ first, last });
    const count = last - first;
    const tiles = Math.ceil(count / TILE.rows) * Math.ceil(candidates.length / TILE.candidates);
    commands.run(score, at, [usersBuffer, itemsBuffer, scores].map(whole), tiles);
    if (between && histories) {
      const { offsets, targets, weights } = between;
      const buffers = [rowsBuffer, histories.offsets, histories.values, offsets, targets, weights, scores];
      commands.run(addBeside, at, buffers.map(whole), count);
    }
    if (seen) {
      commands.run(leaveOut, at, [rowsBuffer, seen.offsets, seen.values, scores].map(whole), count);
    }
    if (found) commands.run(list, at, [rowsBuffer, scores, found].map(whole), count);
    for (const { without, relevant, ranks, shown } of prepared) {
      if (without) {
        const buffers = [rowsBuffer, without.offsets, without.values, scores];
        commands.run(leaveOutForAll, at, buffers.map(whole), count);
      }
      const { offsets, values } = relevant;
      commands.run(rank, at, [rowsBuffer, offsets, values, scores, ranks].map(whole), count);
      commands.run(show, at, [rowsBuffer, offsets, scores, shown].map(whole), count);
    }
  }
  return { blockRows, views: prepared, rankBlock };
}

/** The picked rows of a table, each padded with zeros to whole vectors of four. */
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
