// The half-life of a ranker, searched on the last interactions of some users. They are held back, and the blend with its default
// settings predicts them from all other edges, once without weights and once with each half-life.

import { throwIfAborted } from '../../errors.js';
import type { GraphSide } from '../../graph/graph.js';
import { collectLists, lengths, pickLists, type RowLists, transposeLists } from '../../math/csr.js';
import { mean } from '../../math/moments.js';
import { randomStream, shuffle } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { concludeRanking, scoreAnswer } from '../../metrics/ranking-metrics.js';
import { queryOf, rankingTask } from '../../metrics/ranking-task.js';
import type { TaskOptions } from '../../progress.js';
import { lastEdges } from '../../sample/split.js';
import { openRanking } from '../../topn/cpu.js';
import { trialTables } from './blend/trial-tables.js';
import { agesOf, asHistory, edgeWeights, latestOf } from './recency.js';

/** How a half-life was found. */
export interface RecencyReport {
  /** Users whose last interactions were held back; 0 if there were too few to search. */
  readonly heldBack: number;
  /** The chosen half-life, in the unit of the times; absent: no weights were better. */
  readonly halfLife?: number | undefined;
  /** What each half-life adds to the score without weights, as a fraction of it, and the standard error. */
  readonly tried: readonly { readonly halfLife: number; readonly gain: number; readonly error: number }[];
}

/** Users whose last interactions are held back: at most `most`, and a fifth of all. With fewer than `least`, chance would choose. */
const HELD_BACK = { most: 2000, least: 50, share: 0.2 } as const;
/**
 * The last edges of a user that are held back: this share of all, at most `most`. Users with fewer than `fewest` edges are not
 * used, because they say little about order.
 */
const LAST = { share: 0.2, most: 5, fewest: 4 } as const;
/** Edges of the trial, and items that are ranked. */
const EDGES = 5e5;
const CANDIDATES = 4000;
const LISTS = { n: 20, depth: 100 } as const;
/** The half-lives: the median age of the edges times each of these, until two have made the lists worse. */
const RATIOS = [2, 1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64];
/**
 * A half-life is chosen if its gain is at least this fraction of the score and this many standard errors. More than one
 * standard error is needed because several half-lives are tried.
 */
const GAIN = { least: 0.005, errors: 2.5 } as const;

interface TimedEdges {
  readonly users: GraphSide;
  readonly items: Pick<GraphSide, 'count'>;
  readonly times: Float64Array;
}

/** Finds the half-life that ranks the last interactions of users best. */
export async function searchHalfLife(
  data: TimedEdges,
  options: TaskOptions & { readonly seed: number },
): Promise<RecencyReport> {
  const held = holdLastBack(data, options.seed);
  if (!held) return { heldBack: 0, tried: [] };
  const { threads, signal, onProgress } = options;
  const { train, times, rows, task } = held;
  const { candidates } = task;
  const latest = latestOf(times);
  const median = Float64Array.from(times, (time) => latest - time).sort()[times.length >> 1];
  const heldBack = rows.length;
  if (!(median > 0)) return { heldBack, tried: [] };
  const ranking = openRanking(threads);
  const query = queryOf(task, LISTS.n, LISTS.depth);
  const places = Uint32Array.from({ length: query.candidates }, (_, place) => place);
  let done = 0;
  const scores = async (halfLife: number | undefined): Promise<Float64Array> => {
    throwIfAborted(signal);
    // The lists without weights come first and are no half-life.
    const total = RATIOS.length;
    onProgress?.({ stage: 'half-life on last interactions', done: done++, total, unit: 'half-lives' });
    const weights = halfLife === undefined ? undefined : edgeWeights(agesOf(times, { halfLife, latest }));
    const users = { ...train, ...(weights && { weights }) };
    const edges = { users, items: transposeLists(users, data.items.count) };
    const history = asHistory(pickLists(users, rows));
    const tables = await trialTables(edges, history, candidates, options);
    const { all } = concludeRanking([scoreAnswer(query, await ranking.rank(tables, places, query, signal))]);
    return all.perUser.ndcg.map((ndcg, u) => (ndcg + all.perUser.recallCapped[u]) / 2);
  };
  try {
    const plain = await scores(undefined);
    const level = mean(plain);
    if (!(level > 0)) return { heldBack, tried: [] };
    const tried: RecencyReport['tried'][number][] = [];
    let worse = 0;
    for (const ratio of RATIOS) {
      const halfLife = Number((ratio * median).toPrecision(3));
      const now = await scores(halfLife);
      const difference = now.map((score, u) => (score - plain[u]) / level);
      const gain = mean(difference);
      const squares = difference.reduce((sum, d) => sum + (d - gain) ** 2, 0);
      tried.push({ halfLife, gain, error: Math.sqrt(squares) / difference.length });
      worse = tried.length > 1 && gain < tried[tried.length - 2].gain ? worse + 1 : 0;
      if (worse === 2) break;
    }
    const best = tried.reduce((a, b) => (b.gain > a.gain ? b : a));
    const gains = best.gain >= GAIN.least && best.gain >= GAIN.errors * best.error;
    return { heldBack, ...(gains && { halfLife: best.halfLife }), tried };
  } finally {
    await ranking.close();
  }
}

/** Holds back the last edges of some users; undefined if too few users have any. */
function holdLastBack({ users, items, times }: TimedEdges, seed: number) {
  const random = randomStream(seed, STREAMS.heldBackLast);
  const degree = (u: number) => users.offsets[u + 1] - users.offsets[u];
  const order = shuffle(
    Uint32Array.from({ length: users.count }, (_, u) => u),
    random,
  );
  const most = Math.min(HELD_BACK.most, Math.ceil(HELD_BACK.share * users.count));
  const able = order.filter((u) => degree(u) >= LAST.fewest);
  const chosen = able.slice(0, most).sort();
  if (chosen.length < HELD_BACK.least) return undefined;
  const late = new Uint8Array(times.length);
  for (const u of chosen) {
    const count = Math.max(1, Math.min(LAST.most, Math.floor(LAST.share * degree(u))));
    for (const edge of lastEdges(users, u, times, count)) late[edge] = 1;
  }
  // All chosen users, and others up to the number of edges of a trial.
  const isChosen = new Uint8Array(users.count);
  for (const u of chosen) isChosen[u] = 1;
  let edges = chosen.reduce((sum, u) => sum + degree(u), 0);
  for (const u of order) {
    if (isChosen[u] || edges + degree(u) > EDGES) continue;
    isChosen[u] = 2;
    edges += degree(u);
  }
  const kept = Uint32Array.from(isChosen.keys()).filter((u) => isChosen[u] > 0);
  const keptTimes: number[] = [];
  const train = collectLists(kept.length, (r, add) => {
    for (let e = users.offsets[kept[r]]; e < users.offsets[kept[r] + 1]; e++) {
      if (late[e]) continue;
      add(users.neighbors[e]);
      keptTimes.push(times[e]);
    }
  });
  const rows = Uint32Array.from(kept.keys()).filter((r) => isChosen[kept[r]] === 1);
  const known = lengths(transposeLists(train, items.count));
  const relevant = collectLists(chosen.length, (r, add) => {
    for (let e = users.offsets[chosen[r]]; e < users.offsets[chosen[r] + 1]; e++) {
      if (late[e] && known[users.neighbors[e]] > 0) add(users.neighbors[e]);
    }
  });
  if (relevant.values.length === 0) return undefined;
  const candidates = someItems(relevant, known, random);
  const task = rankingTask({
    ...{ rows: chosen.length, items: items.count, relevant, candidates },
    excluded: pickLists(train, rows),
  });
  return { train, times: Float64Array.from(keptTimes), rows, task };
}

/** The items of the lists and others that are known, up to CANDIDATES, ascending. */
function someItems(lists: RowLists, known: Uint32Array, random: Parameters<typeof shuffle>[1]): Uint32Array {
  const chosen = new Set(lists.values);
  const others = Uint32Array.from(known.keys()).filter((item) => known[item] > 0 && !chosen.has(item));
  for (const item of shuffle(others, random)) {
    if (chosen.size >= CANDIDATES) break;
    chosen.add(item);
  }
  return Uint32Array.from(chosen).sort();
}
