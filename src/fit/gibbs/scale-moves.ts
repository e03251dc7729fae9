// Metropolis-Hastings moves along the flat directions of the posterior. Multiplying all weights of one side by c and those of
// the other by 1/c changes no rate between seen vertices. The same holds for one feature of both sides. Only the priors and the
// unseen atoms depend on c, so a sampler that draws one row at a time moves slowly in these directions.
//
// The unseen atoms of one side, `own`, are integrated out. Let S and O be the masses of the seen vertices of own and other, and
// R the mass of the other side's unseen atoms. Up to a constant, the density of weights and features is
//   Π w^(−1−σ) e^(−τw) Π θ^(a−1) e^(−bθ) (both sides) · exp(−S·(O + R)) · exp(−size · E[ψ(O + R)]).
// After a move the caller must redraw own's unseen atoms before it uses them.

import type { SideHyper } from '../../engine/engine.js';
import { type BipartiteGraph, type BySide, otherSide, type SideName } from '../../graph/graph.js';
import { normal } from '../../math/distributions.js';
import { expectedLaplace } from '../../math/quadrature.js';
import type { Random } from '../../math/random.js';
import { logExpm1 } from '../../math/special.js';
import { type GibbsSide, type GibbsState, pairRate, seenMass } from './chain-state.js';

/** Standard deviations of the step in log c. Each move draws one of them, because the best one differs between graphs. */
const STEPS = [0.03, 0.15, 0.6] as const;
/** Moves of the common scale per sweep; each feature's scale has one. */
const TRIES = 3;

/** Moves the common scale, then each feature's. The unseen atoms of `own` are invalid afterwards. */
export function moveScales(
  state: GibbsState,
  own: SideName,
  hyper: BySide<SideHyper>,
  K: number,
  random: Random,
): void {
  const sides = { own: state[own], other: state[otherSide(own)] };
  const prior = { own: hyper[own], other: hyper[otherSide(own)] };
  const mass = { own: seenMass(sides.own, K), other: seenMass(sides.other, K) };
  const unseen = sides.other.unseen;
  /** −size · E[ψ(O + R)], the term of own's unseen atoms, at another O. */
  const unseenTerm = (other: Float64Array) =>
    prior.own.size === 0 ? 0 : -prior.own.size * expectedLaplace(prior.own, add(other, unseen));
  let term = unseenTerm(mass.other);

  /** One move: S_k → c S_k and O_k → O_k/c for the given features. `change` is the priors' part of the log ratio. */
  const attempt = (from: number, to: number, change: (c: number) => number, apply: (c: number) => void) => {
    const c = Math.exp(STEPS[random.below(STEPS.length)] * normal(random));
    const moved = mass.other.map((m, k) => (k >= from && k < to ? m / c : m));
    const termThere = unseenTerm(moved);
    let ratio = change(c) + termThere - term;
    for (let k = from; k < to; k++) ratio -= (c - 1) * mass.own[k] * unseen[k];
    if (Math.log(random.uniform()) >= ratio) return;
    apply(c);
    mass.other = moved;
    for (let k = from; k < to; k++) mass.own[k] *= c;
    term = termThere;
  };

  // Log ratio of w → cw: for each vertex c^(−1−σ) e^(−τ(c−1)w) from the density and c from the volume.
  const weightChange = (side: GibbsSide, { sigma, tau }: SideHyper, c: number) =>
    -sigma * side.weights.length * Math.log(c) - tau * (c - 1) * sum(side.weights);
  for (let t = 0; t < TRIES; t++) {
    attempt(
      0,
      K,
      (c) => weightChange(sides.own, prior.own, c) + weightChange(sides.other, prior.other, 1 / c),
      (c) => {
        scale(sides.own.weights, 0, 1, c);
        scale(sides.other.weights, 0, 1, 1 / c);
      },
    );
  }
  // Log ratio of θ → cθ: c^(a−1) e^(−b(c−1)θ) from the density and c from the volume.
  const featureChange = (side: GibbsSide, { shape, rate }: SideHyper, k: number, c: number) =>
    shape * side.weights.length * Math.log(c) - rate * (c - 1) * sum(side.features, k, K);
  for (let k = 0; k < K; k++) {
    attempt(
      k,
      k + 1,
      (c) => featureChange(sides.own, prior.own, k, c) + featureChange(sides.other, prior.other, k, 1 / c),
      (c) => {
        scale(sides.own.features, k, K, c);
        scale(sides.other.features, k, K, 1 / c);
      },
    );
  }
}

/**
 * Moves each weight of a side of a simple graph, with the latent counts integrated out. An edge only says "at least one", so a
 * weight with large rates can move far; given drawn counts it could not. The counts are invalid afterwards.
 */
export function moveWeights(
  graph: BipartiteGraph,
  state: GibbsState,
  side: SideName,
  { sigma, tau }: SideHyper,
  otherMass: Float64Array,
  random: Random,
): void {
  const own = state[side];
  const K = otherMass.length;
  const { offsets, neighbors } = graph[side];
  for (let i = 0; i < own.weights.length; i++) {
    const weight = own.weights[i];
    const c = Math.exp(STEPS[random.below(STEPS.length)] * normal(random));
    let met = tau;
    for (let k = 0; k < K; k++) met += own.features[i * K + k] * otherMass[k];
    let ratio = -sigma * Math.log(c) - (c - 1) * weight * met;
    for (let e = offsets[i]; e < offsets[i + 1]; e++) {
      const j = neighbors[e];
      const rate = side === 'users' ? pairRate(state, i, j, K) : pairRate(state, j, i, K);
      ratio += logExpm1(c * rate) - logExpm1(rate);
    }
    if (Math.log(random.uniform()) < ratio) own.weights[i] = c * weight;
  }
}

function add(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((x, k) => x + b[k]);
}

/** Sum of every `step`-th value, starting with `first`. */
function sum(values: Float64Array, first = 0, step = 1): number {
  let total = 0;
  for (let at = first; at < values.length; at += step) total += values[at];
  return total;
}

function scale(values: Float64Array, first: number, step: number, factor: number): void {
  for (let at = first; at < values.length; at += step) values[at] *= factor;
}
