// The reference engine: float64, one thread, slow on purpose. The code follows the derivation line by line, and tests compare the
// other engines with it. Every operation completes within the call, so operations need no queue.

import { FitError } from '../../errors.js';
import type { EdgeCounts, EdgeRows } from '../../math/csr.js';
import { digamma, lgamma, logExpm1 } from '../../math/special.js';
import {
  type Activity,
  byField,
  COUNT_LIMIT,
  type CountingEngine,
  type CountOptions,
  countScale,
  type EdgeIndex,
  type EdgeTerm,
  type ExpectedCounts,
  type FinishOptions,
  RELAXATION_FLOOR,
  type SideHyper,
  TABLE_FIELDS,
  type Table,
  type TableTotals,
  type TableValues,
  tooLarge,
  type UniformValues,
  type UpdateOptions,
  WEIGHT_SHAPE_FLOOR,
} from '../engine.js';
import { withFoldFresh } from '../fold-fresh.js';
import { copyTotals, noTotals, totalsAfter } from '../totals.js';

interface ReferenceTable extends Table, Readonly<Record<keyof TableValues, Float64Array>> {
  /** A_ik, which the edge pass of the other side reads. */
  readonly activity: Float64Array;
  totals: TableTotals;
}

type ReferenceIndex = EdgeIndex & EdgeRows<EdgeCounts>;

interface ReferenceCounts extends ExpectedCounts {
  readonly values: BigInt64Array;
}

export function createReferenceEngine(): CountingEngine {
  return withFoldFresh({
    name: 'reference',
    description: 'reference (float64, one thread)',
    tolerance: 1e-9,
    threads: 1,

    async createTable(features: number, values: TableValues, activity: Activity): Promise<Table> {
      const rows = values.weightShape.length;
      const table: ReferenceTable = {
        rows,
        features,
        ...byField(features, (_, width) => new Float64Array(rows * width)),
        activity: new Float64Array(rows * features),
        totals: noTotals(features),
      };
      write(table, values, activity);
      return table;
    },

    write: async (table, values, activity) => write(table as ReferenceTable, values, activity),

    read: async (table) => byField(table.features, (field) => (table as ReferenceTable)[field].slice()),

    async createIndex(rows: EdgeRows<EdgeCounts>): Promise<EdgeIndex> {
      return { rows: rows.offsets.length - 1, edges: rows.neighbors.length, ...rows } as ReferenceIndex;
    },

    update: async (own, index, other, options) =>
      halfStep(own as ReferenceTable, index as ReferenceIndex, other as ReferenceTable, options),

    async createCounts(own, largest): Promise<ExpectedCounts> {
      const { rows, features } = own;
      const values = new BigInt64Array(rows * features);
      return { rows, features, scale: countScale(largest), values } as ReferenceCounts;
    },

    count: async (own, index, other, into, options = {}) =>
      addCounts(
        own as ReferenceTable,
        index as ReferenceIndex,
        other as ReferenceTable,
        into as ReferenceCounts,
        options,
      ),

    finish: async (own, counts, options) => finish(own as ReferenceTable, counts as ReferenceCounts, options),

    async readCounts(counts, rows = { first: 0, last: counts.rows }) {
      const { values, features } = counts as ReferenceCounts;
      return values.slice(rows.first * features, rows.last * features);
    },

    async writeCounts(counts, values, first = 0) {
      (counts as ReferenceCounts).values.set(values, first * counts.features);
    },

    async clearCounts(counts) {
      (counts as ReferenceCounts).values.fill(0n);
    },

    async edgeTerm(own, index, other): Promise<number> {
      let sum = 0;
      const { activity } = own as ReferenceTable;
      for (let i = 0; i < own.rows; i++) {
        sum += passRow(i, activity, index as ReferenceIndex, other as ReferenceTable, undefined);
      }
      return sum;
    },

    rowTerms: async (table, hyper) => rowTerms(table as ReferenceTable, hyper),

    totals: async (table) => copyTotals((table as ReferenceTable).totals),

    async weightSum(table) {
      const { weightShape, weightRate } = table as ReferenceTable;
      return weightShape.reduce((sum, shape, i) => sum + shape / weightRate[i], 0);
    },

    async setMass(given, mass) {
      const table = given as ReferenceTable;
      table.totals = { ...table.totals, mass: mass.slice() };
    },

    async setUnseenMass(given, unseenMass, at) {
      const table = given as ReferenceTable;
      table.totals = { ...table.totals, unseenMass: unseenMass.slice(), unseenMassAt: at.slice() };
    },

    async scale(table, factor, activity) {
      const scaled = table as ReferenceTable;
      for (let i = 0; i < table.rows; i++) scaled.weightRate[i] /= factor;
      scaled.totals = { ...scaled.totals, mass: scaled.totals.mass.map((mass) => mass * factor) };
      showActivity(scaled, activity, 0, table.rows);
    },

    async setActivity(table, activity) {
      showActivity(table as ReferenceTable, activity, 0, table.rows);
    },

    async free() {},
    async close() {},
  } satisfies Omit<CountingEngine, 'foldFresh'>);
}

function write(table: ReferenceTable, values: TableValues | UniformValues, activity: Activity): void {
  for (const field of TABLE_FIELDS) {
    const given = values[field];
    if (typeof given === 'number') table[field].fill(given);
    else table[field].set(given);
  }
  showActivity(table, activity, 0, table.rows);
  table.totals = { ...noTotals(table.features), mass: massOf(table, 0, table.rows) };
}

/** One half-step; returns the edge term of the state before it. */
function halfStep(
  own: ReferenceTable,
  index: ReferenceIndex,
  other: ReferenceTable,
  options: UpdateOptions,
): EdgeTerm | undefined {
  const { mass, unseenMass } = other.totals;
  const M = options.otherMass ?? mass.map((m, k) => m + unseenMass[k]);
  const { first, last } = options.rows ?? { first: 0, last: own.rows };
  const counts = new Float64Array(own.features);
  let edgeTerm = 0;
  for (let i = first; i < last; i++) {
    edgeTerm += countRow(i, own, index, other, counts);
    updateRow(i, own, counts, M, options);
  }
  finishTable(own, M, options);
  return options.edgeTerm ? edgeTerm : undefined;
}

/** The first half of a half-step: adds expected counts. */
function addCounts(
  own: ReferenceTable,
  index: ReferenceIndex,
  other: ReferenceTable,
  into: ReferenceCounts,
  options: CountOptions,
): EdgeTerm | undefined {
  const K = own.features;
  const { first, last } = options.rows ?? { first: 0, last: own.rows };
  const counts = new Float64Array(K);
  let edgeTerm = 0;
  for (let i = first; i < last; i++) {
    edgeTerm += countRow(i, own, index, other, counts);
    for (let k = 0; k < K; k++) {
      const scaled = Math.round(counts[k] * into.scale);
      const sum = Number.isFinite(scaled) ? into.values[i * K + k] + BigInt(scaled) : COUNT_LIMIT;
      if (sum >= COUNT_LIMIT) throw new FitError(tooLarge(i, into));
      into.values[i * K + k] = sum;
    }
  }
  return options.edgeTerm ? edgeTerm : undefined;
}

/** The second half of a half-step: updates rows from their counts. */
function finish(own: ReferenceTable, counts: ReferenceCounts, options: FinishOptions): void {
  const K = own.features;
  const { first, last } = options.rows ?? { first: 0, last: own.rows };
  const row = new Float64Array(K);
  for (let i = first; i < last; i++) {
    for (let k = 0; k < K; k++) {
      const value = counts.values[i * K + k];
      if (value < 0n || value >= COUNT_LIMIT) throw new FitError(tooLarge(i, counts));
      row[k] = Number(value) / counts.scale;
    }
    updateRow(i, own, row, options.otherMass, options);
  }
  finishTable(own, options.otherMass, options);
}

/** e_ik = A_ik Σ_j w_ij B_jk, to `counts`; returns the row's edge term. */
function countRow(
  i: number,
  own: ReferenceTable,
  index: ReferenceIndex,
  other: ReferenceTable,
  counts: Float64Array,
): EdgeTerm {
  const term = passRow(i, own.activity, index, other, counts);
  for (let k = 0; k < own.features; k++) counts[k] *= own.activity[i * own.features + k];
  return term;
}

/** The Gammas of one row from its expected counts. */
function updateRow(
  i: number,
  own: ReferenceTable,
  counts: Float64Array,
  M: Float64Array,
  { hyper, relaxation = 0 }: Pick<FinishOptions, 'hyper' | 'relaxation'>,
): void {
  const K = own.features;
  let expectedCount = 0;
  let rate = hyper.tau;
  for (let k = 0; k < K; k++) {
    const ik = i * K + k;
    expectedCount += counts[k];
    rate += (own.featureShape[ik] / own.featureRate[ik]) * M[k];
  }
  // γ_i: shape Σ_k e_ik − σ, rate τ + Σ_k E[θ_ik] M_k
  const shape = Math.max(expectedCount - hyper.sigma, WEIGHT_SHAPE_FLOOR);
  if (!(Number.isFinite(shape) && Number.isFinite(rate))) {
    throw new FitError(`row ${i}: the weight became Gamma(${shape}, ${rate}), which is not finite`);
  }
  own.weightShape[i] = shape;
  own.weightRate[i] = rate;
  // θ_ik: shape a + e_ik, rate b + E[γ_i] M_k
  for (let k = 0; k < K; k++) {
    const before = own.featureShape[i * K + k] - hyper.shape;
    own.featureShape[i * K + k] = hyper.shape + overRelaxed(counts[k], before, relaxation);
    own.featureRate[i * K + k] = hyper.rate + (shape / rate) * M[k];
  }
}

/** Derives activity, mass and unseen mass from the rows. */
function finishTable(
  own: ReferenceTable,
  M: Float64Array,
  { hyper, activity, rows }: Pick<FinishOptions, 'hyper' | 'activity' | 'rows'>,
): void {
  const { first, last } = rows ?? { first: 0, last: own.rows };
  showActivity(own, activity, first, last);
  own.totals = totalsAfter(hyper, massOf(own, first, last), M);
}

/** Extrapolates the count from `before` by the factor `relaxation`. */
function overRelaxed(count: number, before: number, relaxation: number): number {
  return relaxation === 0 ? count : Math.max(count + relaxation * (count - before), RELAXATION_FLOOR * count);
}

/** Walks the edges of row i: fills `sum` with Σ_j w_ij B_jk and returns the row's edge term. */
function passRow(
  i: number,
  activity: Float64Array,
  index: ReferenceIndex,
  other: ReferenceTable,
  sum: Float64Array | undefined,
): number {
  const K = other.features;
  const B = other.activity;
  let term = 0;
  sum?.fill(0);
  for (let e = index.offsets[i]; e < index.offsets[i + 1]; e++) {
    const j = index.neighbors[e] * K;
    let lambda = 0;
    for (let k = 0; k < K; k++) lambda += activity[i * K + k] * B[j + k];
    const count = index.counts ? index.counts[e] : 1;
    term += index.counts ? count * Math.log(lambda) : logExpm1(lambda);
    const w = index.counts ? count / lambda : -1 / Math.expm1(-lambda);
    if (sum) for (let k = 0; k < K; k++) sum[k] += w * B[j + k];
  }
  return term;
}

/** A_ik = exp(E log γ_i + E log θ_ik), or the posterior mean during a warm start. */
function showActivity(table: ReferenceTable, activity: Activity, first: number, last: number): void {
  const K = table.features;
  for (let i = first; i < last; i++) {
    const shape = table.weightShape[i];
    const rate = table.weightRate[i];
    const logWeight = digamma(shape) - Math.log(rate);
    for (let ik = i * K; ik < (i + 1) * K; ik++) {
      const featureShape = table.featureShape[ik];
      const featureRate = table.featureRate[ik];
      table.activity[ik] =
        activity === 'mean'
          ? (shape / rate) * (featureShape / featureRate)
          : Math.exp(logWeight + digamma(featureShape) - Math.log(featureRate));
    }
  }
}

function massOf(table: ReferenceTable, first: number, last: number): Float64Array {
  const K = table.features;
  const mass = new Float64Array(K);
  for (let i = first; i < last; i++) {
    const weight = table.weightShape[i] / table.weightRate[i];
    for (let k = 0; k < K; k++) {
      mass[k] += (weight * table.featureShape[i * K + k]) / table.featureRate[i * K + k];
    }
  }
  return mass;
}

function rowTerms(table: ReferenceTable, hyper: SideHyper): number {
  const { sigma, tau, shape: a, rate: b } = hyper;
  let sum = 0;
  for (let i = 0; i < table.rows; i++) {
    const s = table.weightShape[i];
    const r = table.weightRate[i];
    sum += (-1 - sigma) * (digamma(s) - Math.log(r)) - (tau * s) / r + gammaEntropy(s, r);
  }
  const priorConstant = a * Math.log(b) - lgamma(a);
  for (let ik = 0; ik < table.featureShape.length; ik++) {
    const s = table.featureShape[ik];
    const r = table.featureRate[ik];
    sum += priorConstant + (a - 1) * (digamma(s) - Math.log(r)) - (b * s) / r + gammaEntropy(s, r);
  }
  return sum;
}

function gammaEntropy(shape: number, rate: number): number {
  return shape - Math.log(rate) + lgamma(shape) + (1 - shape) * digamma(shape);
}
