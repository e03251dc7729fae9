// Hyperparameters σ, τ, a, b and size of both sides: their first values, and their maximization by the bound.

import type { Activity, Engine, SideHyper, Table, TableTotals } from '../../engine/engine.js';
import {
  type BipartiteGraph,
  type BySide,
  bySide,
  degrees,
  otherSide,
  SIDES,
  type SideName,
} from '../../graph/graph.js';
import { maximize } from '../../math/maximize.js';
import { expectedLaplace, unseenMass } from '../../math/quadrature.js';
import { lgamma } from '../../math/special.js';
import type { ModelKind } from '../../options/names.js';
import { estimateSizes, type GraphSizes, sizeFromBound } from '../../process/sizes.js';
import { countDegrees, type DegreeCounts } from '../../sparsity/degree-counts.js';
import { tailIndexAt } from '../../sparsity/tail-index.js';
import type { FitSettings, Learnable } from '../options.js';
import { LARGEST_SIGMA, matchTau, SMALLEST_SIGMA, tailPrior } from '../sides/side-prior.js';
import { type BothHyper, type BothTables, totalMass, totalsOf } from './bound.js';

/** The paper's values. */
export const TAU = 1;
const SHAPE = 0.1;
const RATE = 0.1;
export const DENSE_SIGMA = -0.1;

/** What a fit must know of its data before it begins, wherever their edges lie. */
export interface DataFacts extends GraphSizes {
  readonly degreeCounts: BySide<DegreeCounts>;
}

export function dataFacts(graph: BipartiteGraph): DataFacts {
  const { edges, total, multigraph, users, items } = graph;
  const degreeCounts = bySide((side) => countDegrees(degrees(graph[side])));
  return { edges, total, multigraph, users, items, degreeCounts };
}

/** First hyperparameters: the given ones, σ̂ from the degrees, and sizes by simulation; a size that the bound learns starts at 1. */
export async function firstHyper(
  facts: DataFacts,
  settings: FitSettings,
  signal: AbortSignal | undefined,
): Promise<BothHyper> {
  const { model, given, learn, features, seed } = settings;
  const hyper = bySide((side) => ({
    sigma: firstSigma(model, facts.degreeCounts[side]),
    tau: TAU,
    shape: SHAPE,
    rate: RATE,
    size: model === 'dense' && !learn[side].includes('size') ? 0 : 1,
    ...given[side],
  }));
  const wanted = SIDES.filter((side) => given[side].size === undefined && hyper[side].size > 0);
  if (settings.sizes !== 'paper' || wanted.length === 0) return hyper;
  const sizes = await estimateSizes(facts, { ...hyper, features, seed, signal });
  return bySide((side) => (wanted.includes(side) ? { ...hyper[side], size: sizes[side] } : hyper[side]));
}

/** σ before anything is learned: by the degrees of the side (`auto`), fixed (`dense`), or σ̂(½) (`sparse`). */
export function firstSigma(model: ModelKind, counts: DegreeCounts): number {
  if (model === 'dense') return DENSE_SIGMA;
  return model === 'auto' ? tailPrior(counts).sigma : Math.min(tailIndexAt(counts, 0.5), LARGEST_SIGMA);
}

/** The σ̂(½) of each side whose τ is matched to its degrees. The model must agree with it. */
export type MatchedTaus = BySide<number | undefined>;

export function tausToMatch(
  { degreeCounts }: DataFacts,
  settings: FitSettings,
  hyper: BothHyper,
): MatchedTaus {
  return bySide((side) =>
    matchesTau(settings, hyper, side) ? tailIndexAt(degreeCounts[side], 0.5) : undefined,
  );
}

/** Whether a fit matches the τ of a side: the side is dense, and τ is neither given nor learned nor fixed by a given size. */
export function matchesTau(
  { model, sizes, given, learn }: Pick<FitSettings, 'model' | 'sizes' | 'given' | 'learn'>,
  hyper: BothHyper,
  side: SideName,
): boolean {
  if (model !== 'auto' || sizes !== 'bound' || hyper[side].sigma >= 0) return false;
  const { tau, size } = given[side];
  const learned = learn[side].includes('tau') || learn[side].includes('sigma');
  return tau === undefined && size === undefined && !learned;
}

/** The hyperparameters with every matched τ computed again from the present mass of the other side. */
export async function matchTaus(
  engine: Engine,
  tables: BothTables,
  hyper: BothHyper,
  matchedTaus: MatchedTaus,
): Promise<BothHyper> {
  if (SIDES.every((side) => matchedTaus[side] === undefined)) return hyper;
  const totals = await totalsOf(engine, tables);
  return bySide((side) => {
    const half = matchedTaus[side];
    if (half === undefined) return hyper[side];
    return { ...hyper[side], tau: matchTau(hyper[side], half, totalMass(totals[otherSide(side)])) };
  });
}

/** The hyperparameters that the bound is maximized over: those in `learn`, and the sizes that were not given. */
export function learnedHyper(
  { learn, given, sizes }: FitSettings,
  hyper: BothHyper,
): BySide<readonly Learnable[]> {
  return bySide((side) => {
    const sizeIsFree = hyper[side].size > 0 && given[side].size === undefined && sizes === 'bound';
    return sizeIsFree ? [...new Set([...learn[side], 'size' as const])] : learn[side];
  });
}

/** Sums over a table's rows that the bound is linear in. */
interface RowSums {
  readonly logWeights: number;
  readonly weights: number;
  readonly logFeatures: number;
  readonly features: number;
}

/**
 * One round of maximization, one side after the other: each learned hyperparameter in turn, with the unseen atoms at their
 * optimum. The maximum over the size is then closed, s = rows / E[ψ]. The bound never falls. The unseen masses are
 * computed again, since they depend on what was learned.
 */
export async function maximizeHyper(
  engine: Engine,
  tables: BothTables,
  hyper: BothHyper,
  learn: BySide<readonly Learnable[]>,
  activity: BySide<Activity>,
): Promise<BothHyper> {
  if (SIDES.every((side) => learn[side].length === 0)) return hyper;
  const bothSizes = SIDES.every((side) => learn[side].includes('size'));
  const result = { ...hyper };
  // Read once and updated here: on a GPU every read is a wait.
  const [totals, users, items] = await Promise.all([
    totalsOf(engine, tables),
    bothSizes ? engine.weightSum(tables.users) : 0,
    bothSizes ? engine.weightSum(tables.items) : 0,
  ]);
  const masses: Record<SideName, Masses> = { ...totals };
  for (const side of SIDES) {
    if (learn[side].length === 0) continue;
    const mass = totalMass(masses[otherSide(side)]);
    const inner = learn[side].filter((name) => name !== 'size');
    const sums = inner.length > 0 ? await rowSums(engine, tables[side], hyper[side]) : undefined;
    const free = learn[side].includes('size');
    let best = hyper[side];
    for (const name of inner) best = maximizeOne(name, best, tables[side], sums!, mass, free);
    if (free) best = { ...best, size: sizeFromBound(best, tables[side].rows, mass) };
    result[side] = best;
    if (best.size > 0) {
      const unseen = unseenMass(best, mass);
      void engine.setUnseenMass(tables[side], unseen, mass);
      masses[side] = { ...masses[side], unseenMass: unseen };
    }
  }
  return bothSizes ? rebalance(engine, tables, masses, { users, items }, result, activity) : result;
}

/** Masses per feature of one side. */
type Masses = Pick<TableTotals, 'mass' | 'unseenMass'>;

/** Replaces the unseen masses, each at the present mass of the other side. A side without unseen atoms keeps none. */
export async function setUnseenMasses(
  engine: Engine,
  tables: BothTables,
  unseen: BySide<Float64Array>,
  hyper: BothHyper,
): Promise<void> {
  const totals = await totalsOf(engine, tables);
  for (const side of SIDES) {
    if (hyper[side].size === 0) continue;
    const other = otherSide(side);
    const { mass } = totals[other];
    const at = hyper[other].size > 0 ? totalMass({ mass, unseenMass: unseen[other] }) : mass;
    void engine.setUnseenMass(tables[side], unseen[side], at);
  }
}

/**
 * Moves along the flattest direction of the bound in one step. Multiplying all user weights by c and all item weights
 * by 1/c changes no rate. Only the priors and the sizes depend on c, so coordinate ascent moves slowly along it, over hundreds
 * of sweeps. The bound as a function of c needs K-vectors alone.
 */
async function rebalance(
  engine: Engine,
  tables: BothTables,
  masses: BySide<Masses>,
  weights: BySide<number>,
  hyper: BothHyper,
  activity: BySide<Activity>,
): Promise<BothHyper> {
  const rows = { users: tables.users.rows, items: tables.items.rows };
  const at = (logFactor: number) => {
    const c = Math.exp(logFactor);
    const userMassAt = totalMass(masses.users).map((m) => m * c);
    const items = optimalSize(hyper.items, rows.items, userMassAt);
    const itemMassAt = masses.items.mass.map((m, k) => m / c + items.unseen[k]);
    const users = optimalSize(hyper.users, rows.users, itemMassAt);
    let value =
      users.value +
      items.value -
      hyper.users.sigma * rows.users * logFactor -
      hyper.users.tau * weights.users * c +
      hyper.items.sigma * rows.items * logFactor -
      (hyper.items.tau * weights.items) / c;
    for (let k = 0; k < itemMassAt.length; k++) {
      value -= (masses.users.mass[k] * c + users.unseen[k]) * itemMassAt[k];
    }
    return { value, users, items, userMassAt, itemMassAt };
  };
  // The vertex of the parabola through three points; the next rounds refine it.
  const [low, here, high] = [at(-REBALANCE_STEP).value, at(0).value, at(REBALANCE_STEP).value];
  const curvature = low - 2 * here + high;
  const vertex = (REBALANCE_STEP * (low - high)) / (2 * curvature);
  const uphill = Math.sign(high - low) * REBALANCE_REACH;
  const logFactor = curvature < 0 && Math.abs(vertex) < REBALANCE_REACH ? vertex : uphill;
  const best = at(logFactor);
  if (!(best.value > here)) return hyper;
  await Promise.all([
    engine.scale(tables.users, Math.exp(logFactor), activity.users),
    engine.scale(tables.items, Math.exp(-logFactor), activity.items),
  ]);
  void engine.setUnseenMass(tables.items, best.items.unseen, best.userMassAt);
  void engine.setUnseenMass(tables.users, best.users.unseen, best.itemMassAt);
  return {
    users: { ...hyper.users, size: best.users.size },
    items: { ...hyper.items, size: best.items.size },
  };
}

/** Farthest that one round multiplies weights, as a logarithm. */
const REBALANCE_REACH = 0.4;
/** Half-width of the parabola. */
const REBALANCE_STEP = 0.1;

/** The best size for a given mass of the other side, the unseen mass at that size, and what both add to the bound. */
function optimalSize(hyper: SideHyper, rows: number, mass: Float64Array) {
  const size = sizeFromBound(hyper, rows, mass);
  const unseen = unseenMass({ ...hyper, size }, mass);
  let value = rows * Math.log(size) - rows;
  for (let k = 0; k < mass.length; k++) value += unseen[k] * mass[k];
  return { size, unseen, value };
}

/** rowTerms is linear in σ, a and b, except for the prior's constant. So differences give the sums. */
async function rowSums(engine: Engine, table: Table, hyper: SideHyper): Promise<RowSums> {
  const step = 64; // large, so that a float32 engine's rounding does not show in the difference
  const at = (change: Partial<SideHyper>) => engine.rowTerms(table, { ...hyper, ...change });
  const constant = (a: number, b: number) => table.rows * table.features * (a * Math.log(b) - lgamma(a));
  const { sigma, shape, rate } = hyper;
  const base = await at({});
  return {
    logWeights: ((await at({ sigma: sigma - step })) - base) / step,
    weights: await engine.weightSum(table),
    logFeatures:
      ((await at({ shape: shape + step })) - constant(shape + step, rate) - (base - constant(shape, rate))) /
      step,
    features:
      -((await at({ rate: rate + step })) - constant(shape, rate + step) - (base - constant(shape, rate))) /
      step,
  };
}

/**
 * Weak priors of what is learned, as standard deviations of log(1 − σ), and of log τ, log a and log b around the paper's
 * values. They cost a few nats if the data are informative, and stop σ and τ where the bound is flat: Gamma weights of ever
 * larger −σ and τ hardly differ.
 */
const PRIOR_SPREAD = { sigma: 0.35, tau: 1.5, shape: 1.5, rate: 1.5 } as const;

/** The log density of a side's hyperparameters under these priors, up to a constant. */
export function logPrior({ sigma, tau, shape, rate }: SideHyper): number {
  const deviations = [
    Math.log(1 - sigma) / PRIOR_SPREAD.sigma,
    Math.log(tau / TAU) / PRIOR_SPREAD.tau,
    Math.log(shape / SHAPE) / PRIOR_SPREAD.shape,
    Math.log(rate / RATE) / PRIOR_SPREAD.rate,
  ];
  return -0.5 * deviations.reduce((sum, z) => sum + z ** 2, 0);
}

/** The terms of the bound that depend on a side's hyperparameters, with its unseen atoms at their optimum. */
function sideObjective(
  h: SideHyper,
  table: Table,
  sums: RowSums,
  mass: Float64Array,
  sizeIsFree: boolean,
): number {
  const rows = table.rows;
  let value =
    -rows * lgamma(1 - h.sigma) -
    h.sigma * sums.logWeights -
    h.tau * sums.weights +
    rows * table.features * (h.shape * Math.log(h.rate) - lgamma(h.shape)) +
    h.shape * sums.logFeatures -
    h.rate * sums.features;
  if (h.size > 0) {
    const laplace = expectedLaplace(h, mass);
    const size = sizeIsFree ? rows / laplace : h.size;
    value += rows * Math.log(size) - size * laplace;
  }
  return value;
}

/** How far one round may move a hyperparameter, as an interval around its value. */
const REACH: Record<Exclude<Learnable, 'size'>, (x: number) => [number, number]> = {
  sigma: (x) => [
    Math.max(SMALLEST_SIGMA, x - 0.1 - 0.5 * Math.abs(x)),
    Math.min(0.98, x + 0.1 + 0.5 * Math.abs(x)),
  ],
  tau: (x) => [x / 2, x * 2],
  shape: (x) => [Math.max(1e-3, x / 1.5), x * 1.5],
  rate: (x) => [Math.max(1e-6, x / 2), x * 2],
};

function maximizeOne(
  name: Exclude<Learnable, 'size'>,
  hyper: SideHyper,
  table: Table,
  sums: RowSums,
  mass: Float64Array,
  sizeIsFree: boolean,
): SideHyper {
  const objective = (x: number) => {
    const at = { ...hyper, [name]: x };
    return sideObjective(at, table, sums, mass, sizeIsFree) + logPrior(at);
  };
  const [low, high] = REACH[name](hyper[name]);
  const best = maximize(objective, low, high, { tolerance: 0, steps: 30 });
  return objective(best) > objective(hyper[name]) ? { ...hyper, [name]: best } : hyper;
}
