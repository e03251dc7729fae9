// How well the sizes are known. Given the mass of the other side, a size is Gamma(vertices, E[ψ]). That mass is
// uncertain: multiplying all user weights by c and all item weights by 1/c changes no rate. Only the degrees determine
// c, by the scale at which their distribution ends. Both sizes follow c, in opposite directions. The curvature of the
// bound along c is too sharp, since it treats the features of every vertex as known. Here their totals are integrated
// out.

import type { SideHyper } from '../../engine/engine.js';
import { type BySide, bySide, otherSide, SIDES, type SideName } from '../../graph/graph.js';
import { expectedLaplace } from '../../math/quadrature.js';
import { countDegrees, type DegreeCounts } from '../../sparsity/degree-counts.js';
import { eligibleMass } from '../fold-in/fold-in.js';
import type { ModelSide, PosteriorModel } from '../model.js';

/** A 90 % interval of a size. */
export interface SizeInterval {
  readonly low: number;
  readonly high: number;
}

/** The uncertainty of a fitted size. */
export interface SizePosterior {
  readonly interval: SizeInterval;
  /** The size times the standard error of its logarithm. */
  readonly standardError: number;
}

/** 90 % of a normal distribution lies within this many standard deviations. */
const REACH = 1.6449;
/** Step of the finite differences, in log c. */
const STEP = 0.2;
/** Prior standard deviation of log c: that of log τ, which moves the same scale. */
const PRIOR_SPREAD = 1.5;

/** Sums over the vertices of a side from which it is described; shards can be added up. */
interface SideFacts {
  readonly count: number;
  readonly degrees: DegreeCounts;
  /** M_k of the side, with its unseen mass. */
  readonly mass: Float64Array;
  /** Mass of the other side that a vertex meets for each unit of its features, averaged over the edges. */
  readonly met: number;
}
export type SizeFacts = BySide<SideFacts>;

export function sideFacts(model: PosteriorModel, name: SideName): SideFacts {
  const side = model[name];
  const { sum, edges } = metMass(side, model.features);
  const [degrees, mass] = [countDegrees(side.degree), eligibleMass(model, name)];
  return { count: side.count, degrees, mass, met: sum / edges };
}

/** The sums of both sides of a model. */
export function sizeFacts(model: PosteriorModel): SizeFacts {
  return bySide((side) => sideFacts(model, side));
}

/** The uncertainty of each fitted size; undefined if the side has no size, the size was given, or the degrees do not determine it. */
export function sizePosteriors(
  model: PosteriorModel,
  facts: SizeFacts = sizeFacts(model),
): Readonly<Partial<Record<SideName, SizePosterior>>> {
  const given = model.provenance.options as Partial<Record<SideName, Partial<SideHyper>>>;
  const found = (side: SideName) => model[side].hyper.size > 0 && given[side]?.size === undefined;
  const wanted = SIDES.filter(found);
  if (wanted.length === 0) return {};
  const posteriors: Partial<Record<SideName, SizePosterior>> = {};
  const profiles = bySide((side) => scaleProfile(model, facts, side));
  const information = Math.max(0, curvature(profiles.users) + curvature(profiles.items));
  const variance = 1 / (information + 1 / PRIOR_SPREAD ** 2);
  for (const side of wanted) {
    const { size } = model[side].hyper;
    const { count } = facts[side];
    const slope = (profiles[side].logSize(STEP) - profiles[side].logSize(-STEP)) / (2 * STEP);
    const error = Math.sqrt(1 / count + slope ** 2 * variance);
    if (!Number.isFinite(error)) continue;
    const interval = { low: size * Math.exp(-REACH * error), high: size * Math.exp(REACH * error) };
    posteriors[side] = { interval, standardError: size * error };
  }
  return posteriors;
}

function curvature({ logLikelihood }: ReturnType<typeof scaleProfile>): number {
  return -(logLikelihood(STEP) - 2 * logLikelihood(0) + logLikelihood(-STEP)) / STEP ** 2;
}

/** The likelihood of a side's degrees if the mass of the other side is multiplied by e^shift, and the best size there up to a constant. */
function scaleProfile(model: PosteriorModel, facts: SizeFacts, name: SideName) {
  const { hyper } = model[name];
  const { count, degrees, met } = facts[name];
  const { mass } = facts[otherSide(name)];
  const totals = featureTotals(hyper, model.features);
  const logSize = (shift: number) =>
    -Math.log(
      expectedLaplace(
        hyper,
        mass.map((m) => m * Math.exp(shift)),
      ),
    );
  return {
    logSize,
    logLikelihood: (shift: number) =>
      degreeLikelihood(degrees, hyper, Math.log(met) + shift, totals) + count * logSize(shift),
  };
}

/** Numerator and denominator of `met`, over some vertices. */
export function metMass(
  { count, hyper, weightRate, featureShape, featureRate, degree }: ModelSide,
  K: number,
): { readonly sum: number; readonly edges: number } {
  let sum = 0;
  let edges = 0;
  for (let v = 0; v < count; v++) {
    let total = 0;
    for (let k = v * K; k < (v + 1) * K; k++) total += featureShape[k] / featureRate[k];
    sum += (degree[v] * (weightRate[v] - hyper.tau)) / total;
    edges += degree[v];
  }
  return { sum, edges };
}

/** Grid for the logarithm of a vertex's total of features, which is Gamma(K·a, b). */
const POINTS = 200;
const RANGE = 25;

function featureTotals({ shape, rate }: SideHyper, features: number) {
  const all = shape * features;
  const highest = Math.log((all + 10 * Math.sqrt(all) + 20) / rate);
  const logs = Float64Array.from({ length: POINTS }, (_, p) => highest - (RANGE * (p + 0.5)) / POINTS);
  return { logs, logDensity: logs.map((t) => all * t - rate * Math.exp(t)) };
}

/** Σ log E[x^d (τ + x)^(σ−d)] over the degrees d, with x = e^logMass times the total of the features; up to a constant. */
function degreeLikelihood(
  counts: DegreeCounts,
  { sigma, tau }: SideHyper,
  logMass: number,
  { logs, logDensity }: ReturnType<typeof featureTotals>,
): number {
  const logEnd = logs.map((t) => Math.log(tau + Math.exp(t + logMass)));
  let value = 0;
  for (let n = 0; n < counts.degree.length; n++) {
    const d = counts.degree[n];
    const term = (p: number) => logDensity[p] + d * (logs[p] + logMass) - (d - sigma) * logEnd[p];
    let largest = -Infinity;
    for (let p = 0; p < POINTS; p++) largest = Math.max(largest, term(p));
    let sum = 0;
    for (let p = 0; p < POINTS; p++) sum += Math.exp(term(p) - largest);
    value += counts.vertices[n] * (largest + Math.log(sum));
  }
  return value;
}
