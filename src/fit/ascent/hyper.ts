// Hyperparameters σ, τ, a, b and size of both sides: their first values, and their maximization by the bound.

import type { Activity, Engine, SideHyper, Table, TableTotals } from '../../engine/engine.js';
import { otherSide, SIDES, type SideName } from '../../graph/graph.js';
import { maximize } from '../../math/maximize.js';
import { expectedLaplace, unseenMass } from '../../math/quadrature.js';
import { lgamma } from '../../math/special.js';
import type { ModelKind } from '../../options/names.js';
import { estimateSizes, sizeFromBound } from '../../process/sizes.js';
import type { DegreeCounts } from '../../sparsity/degree-counts.js';
import { tailIndexAt } from '../../sparsity/tail-index.js';
import type { FitSettings, Learnable } from '../options.js';
import { LARGEST_SIGMA, matchTau, SMALLEST_SIGMA, tailPrior } from '../sides/side-prior.js';
import type { BothHyper, BothTables } from './bound.js';
import type { DataFacts } from './data-facts.js';

/** The paper's values. */
export const TAU = 1;
const SHAPE = 0.1;
const RATE = 0.1;
export const DENSE_SIGMA = -0.1;

/** First hyperparameters: the given ones, σ̂ from the degrees, and sizes by simulation; a size that the bound learns starts at 1. */
export async function firstHyper(
  facts: DataFacts,
  settings: FitSettings,
  signal: AbortSignal | undefined,
): Promise<BothHyper> {
  const hyper = {} as Record<SideName, SideHyper>;
  for (const side of SIDES) {
    const given = settings.given[side];
    hyper[side] = {
      sigma: given.sigma ?? firstSigma(settings.model, facts.degreeCounts[side]),
      tau: given.tau ?? TAU,
      shape: given.shape ?? SHAPE,
      rate: given.rate ?? RATE,
      size: given.size ?? (settings.model === 'dense' && !settings.learn[side].includes('size') ? 0 : 1),
    };
  }
  const wanted = SIDES.filter((side) => settings.given[side].size === undefined && hyper[side].size > 0);
  if (settings.sizes === 'paper' && wanted.length > 0) {
    const sizes = await estimateSizes(facts, {
      ...hyper,
      features: settings.features,
      seed: settings.seed,
      signal,
    });
    for (const side of wanted) hyper[side] = { ...hyper[side], size: sizes[side] };
  }
  return hyper;
}

/** σ before anything is learned: by the degrees of the side (`auto`), fixed (`dense`), or σ̂(½) (`sparse`). */
export function firstSigma(model: ModelKind, counts: DegreeCounts): number {
  if (model === 'dense') return DENSE_SIGMA;
  return model === 'auto' ? tailPrior(counts).sigma : Math.min(tailIndexAt(counts, 0.5), LARGEST_SIGMA);
}

/** The sides whose τ is matched to their degrees, each with the σ̂(½) that the model must agree with. */
export type MatchedTaus = Readonly<Partial<Record<SideName, number>>>;

export function tausToMatch(
  { degreeCounts }: DataFacts,
  settings: FitSettings,
  hyper: BothHyper,
): MatchedTaus {
  const sides = SIDES.filter((side) => matchesTau(settings, hyper, side));
  return Object.fromEntries(sides.map((side) => [side, tailIndexAt(degreeCounts[side], 0.5)]));
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
  const sides = SIDES.filter((side) => matchedTaus[side] !== undefined);
  const result = { ...hyper };
  const others = await Promise.all(sides.map((side) => engine.totals(tables[otherSide(side)])));
  for (const [at, side] of sides.entries()) {
    const tau = matchTau(hyper[side], matchedTaus[side]!, totalMass(others[at]));
    result[side] = { ...hyper[side], tau };
  }
  return result;
}

/** The hyperparameters that the bound is maximized over: those in `learn`, and the sizes that were not given. */
export function learnedHyper(
  settings: FitSettings,
  hyper: BothHyper,
): Record<SideName, readonly Learnable[]> {
  const lists = {} as Record<SideName, readonly Learnable[]>;
  for (const side of SIDES) {
    const asked = new Set(settings.learn[side]);
    const sizeIsFree = settings.given[side].size === undefined && settings.sizes === 'bound';
    if (hyper[side].size > 0 && sizeIsFree) asked.add('size');
    lists[side] = [...asked];
  }
  return lists;
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
  learn: Readonly<Record<SideName, readonly Learnable[]>>,
  activity: Readonly<Record<SideName, Activity>>,
): Promise<BothHyper> {
  if (SIDES.every((side) => learn[side].length === 0)) return hyper;
  const bothSizes = SIDES.every((side) => learn[side].includes('size'));
  const result = { ...hyper };
  // Read once and updated here: on a GPU every read is a wait.
  const [users, items, ...weights] = await Promise.all([
    engine.totals(tables.users),
    engine.totals(tables.items),
    ...(bothSizes ? SIDES.map((side) => engine.weightSum(tables[side])) : []),
  ]);
  const totals = { users, items };
  for (const side of SIDES) {
    if (learn[side].length === 0) continue;
    const mass = totalMass(totals[otherSide(side)]);
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
      totals[side] = { ...totals[side], unseenMass: unseen };
    }
  }
  if (!bothSizes) return result;
  return rebalance(engine, tables, totals, { users: weights[0], items: weights[1] }, result, activity);
}

/** Replaces the unseen masses, each at the present mass of the other side. A side without unseen atoms keeps none. */
export async function setUnseenMasses(
  engine: Engine,
  tables: BothTables,
  unseen: Readonly<Record<SideName, Float64Array>>,
  hyper: BothHyper,
): Promise<void> {
  const [users, items] = await Promise.all([engine.totals(tables.users), engine.totals(tables.items)]);
  const totals = { users, items };
  for (const side of SIDES) {
    if (hyper[side].size === 0) continue;
    const other = otherSide(side);
    const left = hyper[other].size > 0 ? unseen[other] : undefined;
    const at = totals[other].mass.map((m, k) => m + (left?.[k] ?? 0));
    void engine.setUnseenMass(tables[side], unseen[side], at);
  }
}

function totalMass(totals: Pick<TableTotals, 'mass' | 'unseenMass'>): Float64Array {
  return totals.mass.map((m, k) => m + totals.unseenMass[k]);
}

/**
 * Moves along the flattest direction of the bound in one step. Multiplying all user weights by c and all item weights
 * by 1/c changes no rate. Only the priors and the sizes depend on c, so coordinate ascent moves slowly along it, over hundreds
 * of sweeps. The bound as a function of c needs K-vectors alone.
 */
async function rebalance(
  engine: Engine,
  tables: BothTables,
  totals: Readonly<Record<SideName, Pick<TableTotals, 'mass' | 'unseenMass'>>>,
  weights: Readonly<Record<SideName, number>>,
  hyper: BothHyper,
  activity: Readonly<Record<SideName, Activity>>,
): Promise<BothHyper> {
  const rows = { users: tables.users.rows, items: tables.items.rows };
  const at = (logFactor: number) => {
    const c = Math.exp(logFactor);
    const userMassAt = totalMass(totals.users).map((m) => m * c);
    const items = optimalSize(hyper.items, rows.items, userMassAt);
    const itemMassAt = totals.items.mass.map((m, k) => m / c + items.unseen[k]);
    const users = optimalSize(hyper.users, rows.users, itemMassAt);
    let value =
      users.value +
      items.value -
      hyper.users.sigma * rows.users * logFactor -
      hyper.users.tau * weights.users * c +
      hyper.items.sigma * rows.items * logFactor -
      (hyper.items.tau * weights.items) / c;
    for (let k = 0; k < itemMassAt.length; k++) {
      value -= (totals.users.mass[k] * c + users.unseen[k]) * itemMassAt[k];
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
  const logs = {
    sigma: Math.log(1 - sigma),
    tau: Math.log(tau / TAU),
    shape: Math.log(shape / SHAPE),
    rate: Math.log(rate / RATE),
  };
  return (
    -0.5 *
    sum(Object.entries(PRIOR_SPREAD).map(([name, spread]) => (logs[name as keyof typeof logs] / spread) ** 2))
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
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
