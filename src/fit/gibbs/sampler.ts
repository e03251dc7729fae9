// One sweep of the exact sampler draws from every complete conditional of the model in turn. Coordinate ascent has expectations
// instead of draws; comparing both shows the error of that approximation.

import type { SideHyper } from '../../engine/engine.js';
import { FitError } from '../../errors.js';
import {
  type BipartiteGraph,
  type BySide,
  bySide,
  otherSide,
  SIDES,
  type SideName,
} from '../../graph/graph.js';
import { multinomial, truncatedPoisson } from '../../math/count-samplers.js';
import { gamma } from '../../math/distributions.js';
import type { Random } from '../../math/random.js';
import { logExpm1 } from '../../math/special.js';
import { chooseCut, reachOfMass, sampleTiltedAtoms } from '../../process/unseen.js';
import { type GibbsSide, type GibbsState, pairRate, totalMass } from './chain-state.js';
import { moveScales, moveWeights } from './scale-moves.js';

export interface GibbsProblem {
  readonly graph: BipartiteGraph;
  readonly features: number;
  readonly hyper: BySide<SideHyper>;
  /**
   * The smallest weights: no atom, seen or unseen, lies below. By default the cut follows from CUT_TOLERANCE, and atoms below
   * it contribute their expected mass.
   */
  readonly cuts?: BySide<number> | undefined;
}

/** Largest expected fraction of the unseen vertices that the cut may misplace. */
const CUT_TOLERANCE = 1e-4;
/** The most draws of a weight until one lies above the cut; with sensible hyperparameters nearly every draw does. */
const MOST_TRIES = 100_000;

/** Sums of latent counts: rows × features for both sides. Each sweep overwrites them. */
type SplitCounts = BySide<Float64Array>;

/** `sweep` redraws every block of a state in turn; `counts` are the latent counts of the last sweep. */
export function createGibbsSampler(problem: GibbsProblem) {
  const { graph, features: K, hyper } = problem;
  const counts = bySide((side) => new Float64Array(graph[side].count * K));
  // The scale and weight moves are valid only for the model without cuts.
  const whole = SIDES.every((side) => (problem.cuts?.[side] ?? 0) === 0);
  const sweep = (state: GibbsState, random: Random) => {
    const otherMass = (side: SideName) => totalMass(state[otherSide(side)], K);
    if (whole && !graph.multigraph) {
      for (const side of SIDES) moveWeights(graph, state, side, hyper[side], otherMass(side), random);
    }
    drawCounts(problem, state, counts, random);
    for (const side of SIDES) {
      const cut = problem.cuts?.[side];
      drawRows(state[side], counts[side], hyper[side], otherMass(side), K, random, cut ?? 0);
      if (whole) moveScales(state, side, hyper, K, random);
      drawUnseen(state[side], hyper[side], otherMass(side), random, cut);
    }
  };
  return { sweep, counts };
}

/** Latent counts of every edge: their total is truncated Poisson (simple graph) or given (multigraph); features share it multinomially. */
function drawCounts(problem: GibbsProblem, state: GibbsState, counts: SplitCounts, random: Random): void {
  const { graph, features: K } = problem;
  const { users, items } = state;
  counts.users.fill(0);
  counts.items.fill(0);
  const shares = new Float64Array(K);
  const split = new Float64Array(K);
  const { offsets, neighbors, counts: edgeCounts } = graph.users;
  for (let i = 0; i < graph.users.count; i++) {
    for (let e = offsets[i]; e < offsets[i + 1]; e++) {
      const j = neighbors[e];
      const weight = users.weights[i] * items.weights[j];
      let rate = 0;
      for (let k = 0; k < K; k++) {
        const share = weight * users.features[i * K + k] * items.features[j * K + k];
        shares[k] = share;
        rate += share;
      }
      const total = edgeCounts ? edgeCounts[e] : truncatedPoisson(random, rate);
      if (total === 1) {
        const k = pick(shares, rate, random);
        counts.users[i * K + k]++;
        counts.items[j * K + k]++;
        continue;
      }
      multinomial(random, total, shares, split);
      for (let k = 0; k < K; k++) {
        counts.users[i * K + k] += split[k];
        counts.items[j * K + k] += split[k];
      }
    }
  }
}

/** Draws a feature with probability proportional to its share: the common case of an edge with one latent count. */
function pick(shares: Float64Array, total: number, random: Random): number {
  let left = random.uniform() * total;
  let last = 0;
  for (let k = 0; k < shares.length; k++) {
    if (shares[k] === 0) continue;
    last = k;
    left -= shares[k];
    if (left < 0) return k;
  }
  return last;
}

/** γ_i ~ Gamma(Σ_k e_ik − σ, τ + θ_i·M) above the cut, then θ_ik ~ Gamma(a + e_ik, b + γ_i M_k). */
function drawRows(
  side: GibbsSide,
  counts: Float64Array,
  hyper: SideHyper,
  mass: Float64Array,
  K: number,
  random: Random,
  cut: number,
): void {
  for (let i = 0; i < side.weights.length; i++) {
    let total = 0;
    let rate = hyper.tau;
    for (let k = i * K; k < (i + 1) * K; k++) {
      total += counts[k];
      rate += side.features[k] * mass[k - i * K];
    }
    let weight = 0;
    for (let tries = 0; weight < cut || tries === 0; tries++) {
      if (tries === MOST_TRIES) {
        throw new FitError(
          `row ${i}: none of ${tries} drawn weights exceeds the cut ${cut}; give less extreme hyperparameters`,
        );
      }
      weight = gamma(random, total - hyper.sigma) / rate;
    }
    side.weights[i] = weight;
    for (let k = 0; k < K; k++) {
      side.features[i * K + k] =
        gamma(random, hyper.shape + counts[i * K + k]) / (hyper.rate + weight * mass[k]);
    }
  }
}

/** Draws the unseen atoms from the GGP with features, tilted by "no edge". Atoms below the cut contribute their expected mass. */
function drawUnseen(
  side: GibbsSide,
  hyper: SideHyper,
  mass: Float64Array,
  random: Random,
  givenCut: number | undefined,
): void {
  side.unseen.fill(0);
  side.unseenAtoms = undefined;
  if (hyper.size === 0) return;
  const K = mass.length;
  const cut = givenCut ?? chooseCut(hyper, reachOfMass(mass), CUT_TOLERANCE);
  const atoms = sampleTiltedAtoms(random, { hyper, otherMass: mass, cut });
  // With a given cut there are no atoms below it.
  if (givenCut === undefined) side.unseen.set(atoms.missing);
  side.unseenAtoms = atoms;
  for (let i = 0; i < atoms.weights.length; i++) {
    for (let k = 0; k < K; k++) side.unseen[k] += atoms.weights[i] * atoms.features[i * K + k];
  }
}

/** Scalars by which chains are compared: they do not depend on the numbering of the features. */
export const GIBBS_SCALARS = [
  'logLikelihood',
  'rate',
  'userWeights',
  'itemWeights',
  'unseenUserRate',
  'unseenItemRate',
] as const;
/** The name of a recorded scalar. */
export type GibbsScalar = (typeof GIBBS_SCALARS)[number];

export function gibbsScalars(problem: GibbsProblem, state: GibbsState): Record<GibbsScalar, number> {
  const K = problem.features;
  const mass = bySide((side) => totalMass(state[side], K));
  let rate = 0;
  let unseenUserRate = 0;
  let unseenItemRate = 0;
  for (let k = 0; k < K; k++) {
    rate += mass.users[k] * mass.items[k];
    unseenUserRate += state.users.unseen[k] * mass.items[k];
    unseenItemRate += state.items.unseen[k] * mass.users[k];
  }
  return {
    logLikelihood: edgeLikelihood(problem, state) - rate,
    rate,
    userWeights: state.users.weights.reduce((a, b) => a + b, 0),
    itemWeights: state.items.weights.reduce((a, b) => a + b, 0),
    unseenUserRate,
    unseenItemRate,
  };
}

function edgeLikelihood({ graph, features: K }: GibbsProblem, state: GibbsState): number {
  const { offsets, neighbors, counts } = graph.users;
  let sum = 0;
  for (let i = 0; i < graph.users.count; i++) {
    for (let e = offsets[i]; e < offsets[i + 1]; e++) {
      const rate = pairRate(state, i, neighbors[e], K);
      sum += counts ? counts[e] * Math.log(rate) : logExpm1(rate);
    }
  }
  return sum;
}
