// How many features? The bound says, since it bounds the evidence: features that the data do not need cost more than they
// explain. (p,q)-samples are graphs of the same law with smaller sizes, so a coarse one finds about the right number for
// little; the whole data, which can tell more features apart, have the last word. The fits that are compared are short: after
// so many sweeps the order of the bounds is that of settled ones, to within a rung.

import { type BipartiteGraph, SIDES, type SideName } from '../../graph/graph.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { pqSample } from '../../sample/pq.js';
import { ascend } from '../ascent/ascent.js';
import type { AscentOptions, Counted } from '../options.js';
import { withoutFit } from '../unfinished.js';

/** Numbers of features that are tried; coarse samples tell apart every second of them. */
const RUNGS = [1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 60, 80, 120, 160, 240, 320, 512] as const;
const FIRST = RUNGS.indexOf(5);
/** Each side of the coarse sample keeps this share of its vertices, so the sample has about a quarter of the edges. */
const KEPT = 0.5;
/** Data of fewer edges than this are no coarser than they should be. */
const FEWEST_EDGES = 4000;
/** Sweeps of the fits that are compared. */
const SWEEPS = 30;

/** One number of features that was tried; bounds are per edge. */
export interface FeatureTrial {
  readonly features: number;
  /** On the coarse sample; null where it was not asked. */
  readonly coarse: number | null;
  /** On all of the data; null where they were not asked. */
  readonly whole: number | null;
}

/** The number of features that the evidence speaks for, and what was compared. */
export interface FeatureChoice {
  readonly chosen: number;
  /** Edges of the coarse sample; null where the data are small and there was none. */
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
  const on = (part: BipartiteGraph, kept: number) => (rung: number) =>
    boundPerEdge(part, RUNGS[rung], options, kept);
  // The whole can tell more features apart than a part, so it is asked from the next rung on.
  const near = sample ? 1 + (await climb(FIRST, 2, coarse, on(sample, KEPT))) : FIRST;
  const best = await climb(Math.min(near, RUNGS.length - 1), 1, whole, on(graph, 1));
  const trials = RUNGS.flatMap((features, rung) =>
    coarse.has(rung) || whole.has(rung)
      ? [{ features, coarse: coarse.get(rung) ?? null, whole: whole.get(rung) ?? null }]
      : [],
  );
  return Object.freeze({ chosen: RUNGS[best], sample: sample?.edges ?? null, trials });
}

/** A sample without an edge, of a few vertices that have them all, has nothing to say. */
function coarseSample(graph: BipartiteGraph, seed: number): BipartiteGraph | undefined {
  const sample = pqSample(graph, { users: KEPT, items: KEPT }, randomStream(seed, STREAMS.coarse));
  return sample.edges > 0 ? sample : undefined;
}

/** From a rung upwards as long as the value rises; where it does not, downwards. */
async function climb(
  from: number,
  step: number,
  values: Map<number, number>,
  valueAt: (rung: number) => Promise<number>,
): Promise<number> {
  const at = async (rung: number) => {
    if (rung < 0 || rung >= RUNGS.length) return -Infinity;
    const value = values.get(rung) ?? (await valueAt(rung));
    values.set(rung, value);
    return value;
  };
  let best = from;
  for (const direction of [step, -step]) {
    while ((await at(best + direction)) > (await at(best))) best += direction;
    if (best !== from) break;
  }
  return best;
}

/** The bound of a short fit. Sizes that were given are those of the whole, and a sample has its share of them. */
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
  // What an interrupted trial leaves is no state of the fit that was asked for.
  const { model } = await ascend(graph, short).catch((error) => Promise.reject(withoutFit(error)));
  return model.bound! / graph.edges;
}
