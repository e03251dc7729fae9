// Are counts Poisson? Held-out users decide. A wrong Poisson model adapts its rates to uneven counts, so neither its bound nor
// its training data show the error. But it expects too many pairs of held-out users, because it spreads a few large counts over
// many pairs. A short fit to a coarse sample shows that.

import { InputError } from '../../errors.js';
import { type BipartiteGraph, bySide } from '../../graph/graph.js';
import type { VertexIds } from '../../graph/ids.js';
import { selectVertices } from '../../graph/subgraph.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { pqSample } from '../../sample/pq.js';
import { split } from '../../sample/split.js';
import type { Split } from '../../sample/split-types.js';
import { trialModel } from '../ascent/ascent.js';
import { foldIn } from '../fold-in/fold-in.js';
import { meanTable, type PosteriorModel, seenItems } from '../model.js';
import type { AscentOptions } from '../options.js';
import { fitCounts } from '../sides/count-prior.js';

/** A sample of this many edges is enough; fewer test edges than this are too few to decide. */
const MOST_EDGES = 40_000;
const FEWEST_TEST_EDGES = 20;
/** Largest log ratio of expected to observed pairs of a Poisson model, beyond two standard errors. */
const TOO_MANY = 0.07;
/** Sweeps of the fit, and features it has at most. */
const SWEEPS = 40;
const MOST_FEATURES = 30;
/** Fraction of the users and of the items that is held out. */
const HELD_BACK = 0.2;

/** How the counts of a multigraph are fitted, and why. */
export interface CountChoice {
  /** poisson: the rates are those of counts; hurdle: the simple model fits the edges, and a separate prior fits the counts. */
  readonly model: 'poisson' | 'hurdle';
  /** The comparison; null if the choice was given, or if there are too few data. */
  readonly evidence: {
    /** Pairs of held-out users and test items. */
    readonly edges: number;
    /** Pairs that the Poisson model expects, over those observed. */
    readonly pairs: number;
    /** A larger ratio means that counts are not Poisson. */
    readonly limit: number;
  } | null;
}

/** Chooses by the number of pairs that a Poisson model expects for held-out users. */
export async function chooseCounts(graph: BipartiteGraph, options: AscentOptions): Promise<CountChoice> {
  const seed = options.seed ?? 1;
  const nothing: CountChoice = { model: 'poisson', evidence: null };
  const parts = holdBack(coarseSample(graph, seed), seed);
  if (!parts || parts.test.edges < FEWEST_TEST_EDGES || parts.foldIn.edges === 0) return nothing;
  const { onProgress, signal, threads, engine, model: kind } = options;
  const task = { signal, threads, engine };
  const asked = typeof options.features === 'number' ? options.features : MOST_FEATURES;
  const features = Math.min(MOST_FEATURES, asked);
  const short = { ...task, onProgress, seed, model: kind, iterations: SWEEPS, features };
  const model = await trialModel(parts.train, short, 'looking at the counts');
  const { edges, expected } = await expectedPairs(model, parts, task);
  if (edges < FEWEST_TEST_EDGES) return nothing;
  const pairs = expected / edges;
  const limit = Math.exp(TOO_MANY + 2 / Math.sqrt(edges));
  return Object.freeze({
    model: pairs > limit ? 'hurdle' : 'poisson',
    evidence: Object.freeze({ edges, pairs, limit }),
  });
}

/** A model of the edges, with a prior of their counts. */
export function withCountPrior(model: PosteriorModel, graph: BipartiteGraph): PosteriorModel {
  const { prior, effects } = fitCounts(graph);
  return Object.freeze({
    ...model,
    counts: prior,
    ...bySide((side) => Object.freeze({ ...model[side], counts: effects[side] })),
    seen: seenItems(graph.users),
  });
}

/** A (p,q)-sample of about MOST_EDGES edges; the graph itself if it is smaller or the sample is empty. */
function coarseSample(graph: BipartiteGraph, seed: number): BipartiteGraph {
  if (graph.edges <= MOST_EDGES) return graph;
  const kept = Math.sqrt(MOST_EDGES / graph.edges);
  const sample = pqSample(graph, { users: kept, items: kept }, randomStream(seed, STREAMS.counts));
  return sample.edges > 0 ? sample : graph;
}

/** Undefined if the graph is too small for each part of the split to have an edge. */
function holdBack(graph: BipartiteGraph, seed: number): Split | undefined {
  try {
    return split(graph, { testUsers: HELD_BACK, testItems: HELD_BACK, seed });
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

/** Observed and expected pairs of held-out users with the test items that training knows. */
async function expectedPairs(
  model: PosteriorModel,
  { foldIn: shown, test, assignment }: Split,
  task: Pick<AscentOptions, 'signal' | 'threads' | 'engine'>,
): Promise<{ readonly edges: number; readonly expected: number }> {
  const everyone = new Uint8Array(shown.users.count).fill(1);
  const known = selectVertices(
    shown,
    everyone,
    marks(shown.items.ids, (id) => model.items.ids.find(id) >= 0),
  );
  if (known.edges === 0) return { edges: 0, expected: 0 };
  const isTest = marks(model.items.ids, (id) => assignment.items.drawn[assignment.items.ids.find(id)] === 1);
  const eligible = isTest.map((test) => 1 - test);
  const folded = await foldIn(model, known, { eligible, unseenShare: 0, activity: 'mean', ...task });
  const K = model.features;
  const [own, other] = [meanTable(folded, K), meanTable(model.items, K)];
  let edges = 0;
  let expected = 0;
  for (let u = 0; u < folded.count; u++) {
    for (let j = 0; j < model.items.count; j++) {
      if (!isTest[j]) continue;
      let rate = 0;
      for (let k = 0; k < K; k++) rate += own[u * K + k] * other[j * K + k];
      expected -= Math.expm1(-rate);
    }
    const row = test.users.ids.find(folded.ids.at(u));
    if (row < 0) continue;
    for (let e = test.users.offsets[row]; e < test.users.offsets[row + 1]; e++) {
      if (model.items.ids.find(test.items.ids.at(test.users.neighbors[e])) >= 0) edges++;
    }
  }
  return { edges, expected };
}

function marks(ids: VertexIds, wanted: (id: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: ids.length }, (_, v) => (wanted(ids.at(v)) ? 1 : 0));
}
