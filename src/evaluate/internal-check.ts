// Corrects predictive draws by their error on known data, without replicas. There are two ways:
// - Training users are folded in as held-out users are, on their fit items alone. They are drawn in groups of the size of the
//   held-out group. Their edges to the test items are known. This way has the same items as the test.
// - Held-out users are folded in without a part of their fit items. These items are then drawn as if they were test items. This
//   way has the same users as the test.
// The positions of the known edges among these draws are a sample of the position of the test graph among its own draws.
// docs/predictive.md compares the two ways.

import type { PosteriorModel } from '../fit/model.js';
import type { BipartiteGraph } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import { selectVertices } from '../graph/subgraph.js';
import { meanAndSpread } from '../math/moments.js';
import { type Random, randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import type { DrawsGiven, EngineName, SizeMode } from '../options/names.js';
import { drawPlans } from '../predict/draw/draw.js';
import { type GraphStatistics, graphStatistics } from '../predict/draw/draw-graph.js';
import { blockPlan, type DrawPlan, fitItems, rowsWhere, testItems } from '../predict/draw/draw-plan.js';
import type { TaskOptions } from '../progress.js';
import type { Split } from '../sample/split-types.js';
import { reasonAgainstCalibration } from './calibrate.js';
import { foldByMeans, knownFoldIn } from './held-out.js';
import {
  byStatistic,
  drawsOf,
  forCompared,
  type InternalStatistic,
  type PredictiveCheck,
  type Shift,
  type Statistic,
  type StatisticCheck,
  shiftedCheck,
} from './predictive.js';

interface InternalCheckOptions extends TaskOptions {
  /** Number of draws of the check. The parts of each way have about as many in all, or fewer if the parts are large. */
  readonly draws: number;
  readonly seed: number;
  readonly sizes: SizeMode;
  readonly engine: EngineName;
}

/** The weight of the first way; the second way has the rest. It is large if a statistic depends on which items are test. */
const WEIGHT: Readonly<Record<Statistic, number>> = {
  users: 0.75,
  edges: 0.75,
  total: 0.75,
  tail: 0.75,
  sigmaUsers: 0.75,
  items: 0.25,
  sigmaItems: 0.25,
};

const MOST_PARTS = 8;
/** Enough draws of a part to estimate its spread. */
const ENOUGH_DRAWS = 24;
/**
 * If the draws of all parts of a way would have more edges than this, each part has fewer draws, but at least `FEWEST_DRAWS`. An
 * error of a third of a standard deviation in a part's mean matters little, since parts differ by about one. The spread is nearly
 * the same for all parts, so all draws estimate it.
 */
const MOST_EDGES = 1e7;
const FEWEST_DRAWS = 8;

/** Whether intervals are corrected by default. Those of the paper's models are not. */
export function correctsByItself(model: PosteriorModel, drawsGiven: DrawsGiven): boolean {
  return model.kind === 'auto' && reasonAgainstCalibration(model, drawsGiven) === undefined;
}

/** Corrects the means, intervals and p-values of a check by the error of draws on known data. */
export async function correctInternally(
  model: PosteriorModel,
  split: Split,
  check: PredictiveCheck,
  draws: readonly GraphStatistics[],
  options: InternalCheckOptions,
): Promise<PredictiveCheck> {
  const { onProgress } = options;
  const task: InternalCheckOptions = {
    ...options,
    onProgress: onProgress && ((progress) => onProgress({ ...progress, stage: 'checking on known data' })),
  };
  const places = {
    users: await placesOf(await trainingUsers(model, split, task), task),
    items: await placesOf(await leftOutItems(model, split, task), task),
  };
  const corrected: Partial<Record<Statistic, StatisticCheck>> = {};
  const statistics: Partial<Record<Statistic, InternalStatistic>> = {};
  forCompared(check, draws, (name, values, observed) => {
    const shift = blend(
      posteriorShift(places.users.map((place) => place[name])),
      posteriorShift(places.items.map((place) => place[name])),
      WEIGHT[name],
    );
    corrected[name] = shiftedCheck(values, observed, shift);
    statistics[name] = { drawn: drawsOf(check, name), shift: shift.mean, scale: shift.scale };
  });
  const parts = { users: places.users.length, items: places.items.length };
  return Object.freeze({ ...check, draws: corrected, internal: { parts, statistics } });
}

/** A plan, and the graph that its draws should resemble. */
interface Known {
  readonly plan: DrawPlan;
  readonly graph: BipartiteGraph;
}

/** By statistic: the observed value minus the mean of the draws, in their standard deviations. */
type Place = Readonly<Record<Statistic, number>>;

/**
 * Training users on the test items. The draws include unseen items, to avoid a bias: the known items are known only because
 * these users met them, and the unseen ones balance that.
 */
async function trainingUsers(
  model: PosteriorModel,
  split: Split,
  task: InternalCheckOptions,
): Promise<Known[]> {
  const { train, testItems: q } = split;
  const groups = partCount(split.testUsers);
  const label = labels(train.users.count, groups, randomStream(task.seed, STREAMS.internalCheck, 0));
  const fitted = fitItems(model, split);
  const isTest = testItems(model, split);
  const known = (marked: Uint8Array, users: Uint8Array) =>
    selectVertices(train, users, marksById(train.items.ids, model.items.ids, marked));
  const everyone = new Uint8Array(train.users.count).fill(1);
  const folded = await foldByMeans(model, known(fitted, everyone), fitted, task);
  const items = rowsWhere(model.items, (j) => isTest[j] === 1);
  const group = Uint8Array.from(train.users.ids.findAll(folded.ids), (at) => label[at]);
  const plans = Array.from({ length: groups }, (_, g) =>
    blockPlan(model, folded, {
      users: rowsWhere(folded, (i) => group[i] === g),
      ...{ items, fitted, shares: { users: 1 / groups, items: q } },
    }),
  );
  return plans.map((plan, g) => ({
    // All plans share the items, so that their envelopes are made once.
    plan: { ...plan, items: plans[0].items },
    graph: known(
      isTest,
      label.map((l) => (l === g ? 1 : 0)),
    ),
  }));
}

/** Held-out users on parts of the fit items that were left out of their fold-in. */
async function leftOutItems(
  model: PosteriorModel,
  split: Split,
  task: InternalCheckOptions,
): Promise<Known[]> {
  const { testUsers: p, testItems: q, foldIn: all } = split;
  const { ids, drawn } = split.assignment.items;
  const folds = Math.max(2, partCount(q));
  const label = labels(ids.length, folds, randomStream(task.seed, STREAMS.internalCheck, 1));
  const graph = knownFoldIn(model, split).graph;
  const everyone = (part: BipartiteGraph) => new Uint8Array(part.users.count).fill(1);
  const result: Known[] = [];
  for (let f = 0; f < folds; f++) {
    const left = label.map((l, j) => (!drawn[j] && l === f ? 1 : 0));
    const shown = label.map((l, j) => (!drawn[j] && l !== f ? 1 : 0));
    const fitted = marksById(model.items.ids, ids, shown);
    const isLeft = marksById(model.items.ids, ids, left);
    const seen = selectVertices(graph, everyone(graph), marksById(graph.items.ids, ids, shown));
    const folded = await foldByMeans(model, seen, fitted, task);
    result.push({
      plan: blockPlan(model, folded, {
        users: rowsWhere(folded, () => true),
        items: rowsWhere(model.items, (j) => isLeft[j] === 1),
        ...{ fitted, shares: { users: p / (1 - p), items: (1 - q) / folds } },
      }),
      graph: selectVertices(all, everyone(all), marksById(all.items.ids, ids, left)),
    });
  }
  return result;
}

/** The number of parts with which a part is about as large as the held-out share. */
function partCount(heldOut: number): number {
  return Math.max(1, Math.min(MOST_PARTS, Math.round((1 - heldOut) / heldOut)));
}

function labels(count: number, parts: number, random: Random): Uint8Array {
  return Uint8Array.from({ length: count }, () => Math.floor(random.uniform() * parts));
}

/** The marks of `marked`, in the order of `ids`; 0 for ids without a mark. */
function marksById(ids: VertexIds, marked: VertexIds, marks: Uint8Array): Uint8Array {
  return Uint8Array.from(marked.findAll(ids), (at) => marks[at] ?? 0);
}

async function placesOf(known: readonly Known[], task: InternalCheckOptions): Promise<Place[]> {
  const edges = known.reduce((sum, { graph }) => sum + graph.edges, 0);
  const draws = drawsOfPart(known.length, edges, task.draws);
  const plans = known.map(({ plan }) => plan);
  const drawn = await drawPlans(plans, draws, { ...task, seed: task.seed + 1, keep: false });
  const observed = known.map(({ graph }) => graphStatistics(graph));
  const places = byStatistic((name) =>
    deviations(
      drawn.map((part) => part.map(({ statistics }) => statistics[name])),
      observed.map((graph) => graph[name]),
    ),
  );
  return known.map((_, part) => byStatistic((name) => places[name][part]));
}

/** The number of draws of each part; `edges` is the number of edges of all parts. */
export function drawsOfPart(parts: number, edges: number, draws: number): number {
  const wanted = Math.max(ENOUGH_DRAWS, Math.round(draws / parts));
  return Math.min(wanted, Math.max(FEWEST_DRAWS, Math.floor(MOST_EDGES / Math.max(1, edges))));
}

/**
 * The deviation of each part's observed value from the mean of its draws, in their standard deviations. With few draws the
 * standard deviation is pooled over all parts. If all draws are equal, any other value deviates by one.
 */
export function deviations(drawn: readonly (readonly number[])[], observed: readonly number[]): number[] {
  const moments = drawn.map(meanAndSpread);
  const pooled = Math.sqrt(moments.reduce((sum, { spread }) => sum + spread ** 2, 0) / moments.length);
  return moments.map(({ mean, spread }, part) => {
    const unit = drawn[part].length < ENOUGH_DRAWS ? pooled : spread;
    return unit > 0 ? (observed[part] - mean) / unit : Math.sign(observed[part] - mean);
  });
}

/**
 * The prior of the deviations, in standard deviations of the draws: a part's deviation is normal around a bias. The bias has mean
 * 0 and variance BIAS. The standard deviation around it is SPREAD, a guess that counts as much as BELIEF parts. The values predict
 * best on splits of training parts (docs/predictive.md).
 */
const BIAS = 4;
const SPREAD = 1.1;
const BELIEF = 8;

/** The posterior predictive of one more deviation. */
export function posteriorShift(deviations: readonly number[]): Shift {
  const n = deviations.length;
  const average = deviations.reduce((sum, z) => sum + z, 0) / n;
  const within = deviations.reduce((sum, z) => sum + (z - average) ** 2, 0);
  let variance = SPREAD ** 2;
  let weight = n;
  // Alternates between bias and spread until both converge.
  for (let step = 0; step < 50; step++) {
    weight = n + variance / BIAS;
    const shrunk = ((average ** 2 * n) / weight) * (variance / BIAS);
    variance = (BELIEF * SPREAD ** 2 + within + shrunk) / (BELIEF + n);
  }
  return {
    mean: (average * n) / weight,
    scale: Math.sqrt(variance * (1 + 1 / weight)),
    degrees: BELIEF + n,
  };
}

function blend(a: Shift, b: Shift, weight: number): Shift {
  const mixed = (x: number, y: number) => weight * x + (1 - weight) * y;
  return {
    mean: mixed(a.mean, b.mean),
    scale: mixed(a.scale, b.scale),
    degrees: Math.min(a.degrees, b.degrees),
  };
}
