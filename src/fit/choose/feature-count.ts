// Chooses the number of features with the highest evidence lower bound: needless features lower it. A (p,q)-sample is a graph of
// the same model with smaller sizes, so a coarse sample finds about the right number cheaply. A search on all data, which can
// tell more features apart, decides. The compared fits are short: after SWEEPS sweeps the order of their bounds is that of
// converged fits, to within one candidate.

import { type BipartiteGraph, bySide } from '../../graph/graph.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { pqSample } from '../../sample/pq.js';
import { trialModel } from '../ascent/ascent.js';
import type { AscentOptions } from '../options.js';

/** Candidate numbers of features; coarse samples compare every second one. */
const CANDIDATES = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 512] as const;
const FIRST = CANDIDATES.indexOf(5);
/** The coarse sample keeps this fraction of each side, so it has about a quarter of the edges. */
const KEPT = 0.5;
/** Data with fewer edges are not sampled. */
const FEWEST_EDGES = 4000;
const SWEEPS = 30;

/** One tried number of features; bounds are per edge. */
export interface FeatureTrial {
  readonly features: number;
  /** Bound on the coarse sample; null if it was not computed. */
  readonly coarse: number | null;
  /** Bound on all data; null if it was not computed. */
  readonly whole: number | null;
}

/** The chosen number of features, and the comparison. */
export interface FeatureChoice {
  readonly chosen: number;
  /** Edges of the coarse sample; null if the data are small and there was none. */
  readonly sample: number | null;
  /** In order of the number of features. */
  readonly trials: readonly FeatureTrial[];
}

/** Chooses by the bound, on a coarse sample and then on all data. */
export async function chooseFeatures(
  graph: BipartiteGraph,
  options: Omit<AscentOptions, 'features'>,
): Promise<FeatureChoice> {
  const sample = graph.edges < FEWEST_EDGES ? undefined : coarseSample(graph, options.seed ?? 1);
  const coarse = new Map<number, number>();
  const whole = new Map<number, number>();
  const on = (part: BipartiteGraph, kept: number) => (candidate: number) =>
    boundPerEdge(part, CANDIDATES[candidate], options, kept);
  // All data can tell more features apart than a sample, so the search starts one candidate higher.
  const near = sample ? 1 + (await climb(FIRST, 2, coarse, on(sample, KEPT))) : FIRST;
  const best = await climb(Math.min(near, CANDIDATES.length - 1), 1, whole, on(graph, 1));
  const trials = CANDIDATES.flatMap((features, candidate) =>
    coarse.has(candidate) || whole.has(candidate)
      ? [{ features, coarse: coarse.get(candidate) ?? null, whole: whole.get(candidate) ?? null }]
      : [],
  );
  return Object.freeze({ chosen: CANDIDATES[best], sample: sample?.edges ?? null, trials });
}

/** A coarse (p,q)-sample; undefined if it has no edge. */
function coarseSample(graph: BipartiteGraph, seed: number): BipartiteGraph | undefined {
  const sample = pqSample(graph, { users: KEPT, items: KEPT }, randomStream(seed, STREAMS.coarse));
  return sample.edges > 0 ? sample : undefined;
}

/** Moves from a candidate upwards while the value rises; if it does not rise, downwards. */
async function climb(
  from: number,
  step: number,
  values: Map<number, number>,
  valueAt: (candidate: number) => Promise<number>,
): Promise<number> {
  const at = async (candidate: number) => {
    if (candidate < 0 || candidate >= CANDIDATES.length) return -Infinity;
    const value = values.get(candidate) ?? (await valueAt(candidate));
    values.set(candidate, value);
    return value;
  };
  let best = from;
  for (const direction of [step, -step]) {
    while ((await at(best + direction)) > (await at(best))) best += direction;
    if (best !== from) break;
  }
  return best;
}

/** The bound of a short fit. Given sizes are those of all data; a sample gets its fraction of them. */
async function boundPerEdge(
  graph: BipartiteGraph,
  features: number,
  options: Omit<AscentOptions, 'features'>,
  kept: number,
): Promise<number> {
  const sides = bySide((side) => {
    const size = options[side]?.size;
    return { ...options[side], ...(size !== undefined && { size: size * kept }) };
  });
  const short = { ...options, ...sides, features, iterations: SWEEPS };
  const model = await trialModel(graph, short, `choosing the number of features: ${features}`);
  return model.bound! / graph.edges;
}
