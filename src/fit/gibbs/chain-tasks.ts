// One chain of the exact sampler, as a worker task.

import type { TableValues } from '../../engine/engine.js';
import { type BySide, bySide, SIDES } from '../../graph/graph.js';
import { gamma } from '../../math/distributions.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { serveTasks } from '../../parallel/worker.js';
import type { GibbsSide, GibbsState } from './chain-state.js';
import {
  createGibbsSampler,
  GIBBS_SCALARS,
  type GibbsProblem,
  type GibbsScalar,
  gibbsScalars,
} from './sampler.js';

export interface ChainTask {
  readonly problem: GibbsProblem;
  /** Gamma distributions of the chain's first state. */
  readonly start: BySide<TableValues>;
  readonly seed: number;
  readonly chain: number;
  /** The state to continue from, and how often the chain was continued; by default it is not continued. */
  readonly from?: { readonly state: GibbsState; readonly round: number } | undefined;
  readonly warmup: number;
  readonly draws: number;
  /** The number of draws to keep, evenly spaced. Default 0. */
  readonly keep?: number;
}

export type ChainResult = ReturnType<typeof runChain>;

export function runChain(task: ChainTask) {
  const { problem, draws } = task;
  const K = problem.features;
  const { seed, chain, from, keep = 0 } = task;
  const random = randomStream(seed, STREAMS.chains, chain, ...(from ? [from.round] : []));
  const state = from?.state ?? firstState(task, random.derive(0));
  const sampler = createGibbsSampler(problem);
  for (let t = 0; t < task.warmup; t++) sampler.sweep(state, random);
  const scalars = {} as Record<GibbsScalar, Float64Array>;
  for (const name of GIBBS_SCALARS) scalars[name] = new Float64Array(draws);
  const moments = bySide((side) => zeroMoments(state[side], K));
  /** Weight × feature of the kept draws: rows × features each. */
  const kept: BySide<Float32Array>[] = [];
  for (let t = 0; t < draws; t++) {
    sampler.sweep(state, random);
    const values = gibbsScalars(problem, state);
    for (const name of GIBBS_SCALARS) scalars[name][t] = values[name];
    if (kept.length < Math.floor(((t + 1) * keep) / draws)) {
      kept.push(bySide((side) => activities(state[side], K)));
    }
    for (const side of SIDES) addMoments(moments[side], state[side], sampler.counts[side], K);
  }
  return { scalars, moments, kept, state };
}

function activities({ weights, features }: GibbsSide, K: number): Float32Array {
  return Float32Array.from(features, (feature, ik) => weights[Math.floor(ik / K)] * feature);
}

/** A state drawn from the Gamma distributions of `start`. */
export function firstState(
  task: Pick<ChainTask, 'problem' | 'start'>,
  random: ReturnType<typeof randomStream>,
): GibbsState {
  return bySide((side) => {
    const { weightShape, weightRate, featureShape, featureRate } = task.start[side];
    return {
      weights: Float64Array.from(weightShape, (shape, i) => gamma(random, shape) / weightRate[i]),
      features: Float64Array.from(featureShape, (shape, i) => gamma(random, shape) / featureRate[i]),
      unseen: new Float64Array(task.problem.features),
      unseenAtoms: undefined,
    };
  });
}

type Moments = ReturnType<typeof zeroMoments>;

function zeroMoments(side: GibbsSide, K: number) {
  const n = side.weights.length;
  return {
    weights: new Float64Array(n),
    weightSquares: new Float64Array(n),
    /** rows × features: weight × feature. */
    activities: new Float64Array(n * K),
    /** rows × features: latent counts. */
    counts: new Float64Array(n * K),
    unseen: new Float64Array(K),
  };
}

function addMoments(moments: Moments, side: GibbsSide, counts: Float64Array, K: number): void {
  for (let i = 0; i < side.weights.length; i++) {
    const weight = side.weights[i];
    moments.weights[i] += weight;
    moments.weightSquares[i] += weight * weight;
    for (let ik = i * K; ik < (i + 1) * K; ik++) {
      moments.activities[ik] += weight * side.features[ik];
      moments.counts[ik] += counts[ik];
    }
  }
  for (let k = 0; k < K; k++) moments.unseen[k] += side.unseen[k];
}

serveTasks('chain-tasks', { runChain });
