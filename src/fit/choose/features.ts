// The number of features, chosen by the bound, which bounds the evidence: features that the data do not need cost more than they
// explain. A (p,q)-sample is a graph of the same model with smaller sizes, so a coarse one finds about the right number cheaply.
// The whole data can tell more features apart and decide. The compared fits are short: after SWEEPS sweeps their bounds are in
// the order of converged ones, to within one candidate.

import { type BipartiteGraph, SIDES, type SideName } from '../../graph/graph.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { pqSample } from '../../sample/pq.js';
import { ascend } from '../ascent/ascent.js';
import type { AscentOptions, Counted } from '../options.js';
import { withoutFit } from '../unfinished.js';

/** Candidate numbers of features; coarse samples compare every second one. */
const CANDIDATES = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 512] as const;
const FIRST = CANDIDATES.indexOf(5);
/** Each side of the coarse sample keeps this share of its vertices, so the sample has about a quarter of the edges. */
const KEPT = 0.5;
/** Data of fewer edges than this are not sampled. */
const FEWEST_EDGES = 4000;
/** Sweeps of the fits that are compared. */
const SWEEPS = 30;

/** One number of features that was tried; bounds are per edge. */
export interface FeatureTrial {
  readonly features: number;
  /** Bound on the coarse sample; null if it was not computed. */
  readonly coarse: number | null;
  /** Bound on all data; null if it was not computed. */
  readonly whole: number | null;
}

/** The chosen number of features, and what was compared. */
export interface FeatureChoice {
  readonly chosen: number;
  /** Edges of the coarse sample; null if the data are small and there was none. */
  readonly sample: number | null;
  /** In order of the number of features. */
  readonly trials: readonly FeatureTrial[];
}

/** Chooses by the bound, on a coarse sample and then on the whole. */
export async function chooseFeatures(
  graph: BipartiteGraph,
  options: Omit<AscentOptions, 'features'>,
): Promise<FeatureChoice> {
  const sample = graph.edges < FEWEST_EDGES ? undefined : coarseSample(graph, options.seed ?? 1);
  const coarse = new Map<number, number>();
  const whole = new Map<number, number>();
  const on = (part: BipartiteGraph, kept: number) => (candidate: number) =>
    boundPerEdge(part, CANDIDATES[candidate], options, kept);
  // The whole data can tell more features apart than a sample, so the search starts one candidate higher.
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

/** Climbs from a candidate upwards while the value rises; if it does not rise, downwards. */
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

/** The bound of a short fit. Given sizes are those of the whole data; a sample gets its share of them. */
async function boundPerEdge(
  graph: BipartiteGraph,
  features: number,
  options: Omit<AscentOptions, 'features'>,
  kept: number,
): Promise<number> {
  const { onProgress } = options;
  const side = (name: SideName) => {
    const size = options[name]?.size;
    return { ...options[name], ...(size !== undefined && { size: size * kept }) };
  };
  const short: Counted<AscentOptions> = {
    ...options,
    ...Object.fromEntries(SIDES.map((name) => [name, side(name)])),
    features,
    iterations: SWEEPS,
    restarts: 1,
    levels: 1,
    onCheckpoint: undefined,
    onProgress:
      onProgress &&
      ((progress) => onProgress({ ...progress, stage: `choosing the number of features: ${features}` })),
  };
  // An interrupted trial leaves no checkpoint of the fit that was asked for.
  const { model } = await ascend(graph, short).catch((error) => Promise.reject(withoutFit(error)));
  return model.bound! / graph.edges;
}
