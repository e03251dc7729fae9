// The reference engine: float64, one thread, slow on purpose. Every line stands beside a line of section 6 of the
// model; the other engines are held to it.

import { FitError } from '../errors.js';
import { leftoverMass } from '../math/quadrature.js';
import { digamma, lgamma, logExpm1 } from '../math/special.js';
import type {
  Activity,
  EdgeIndex,
  EdgeRows,
  Engine,
  SideHyper,
  Table,
  TableValues,
  UpdateOptions,
} from './engine.js';
import { RELAXATION_FLOOR, WEIGHT_SHAPE_FLOOR } from './engine.js';

interface ReferenceTable extends Table {
  readonly weightShape: Float64Array;
  readonly weightRate: Float64Array;
  readonly featureShape: Float64Array;
  readonly featureRate: Float64Array;
  /** A_ik: what the edge pass of the other side sees. */
  readonly activity: Float64Array;
  readonly mass: Float64Array;
  leftover: Float64Array;
  leftoverAt: Float64Array;
}

type ReferenceIndex = EdgeIndex & EdgeRows;

export function createReferenceEngine(): Engine {
  let edgeTermOfLastUpdate = 0;

  return {
    name: 'reference',
    description: 'reference (float64, one thread)',
    tolerance: 1e-9,
    threads: 1,

    async createTable(features: number, values: TableValues, activity: Activity): Promise<Table> {
      const table: ReferenceTable = {
        rows: values.weightShape.length,
        features,
        weightShape: Float64Array.from(values.weightShape),
        weightRate: Float64Array.from(values.weightRate),
        featureShape: Float64Array.from(values.featureShape),
        featureRate: Float64Array.from(values.featureRate),
        activity: new Float64Array(values.featureShape.length),
        mass: new Float64Array(features),
        leftover: new Float64Array(features),
        leftoverAt: new Float64Array(features),
      };
      showActivity(table, activity, 0, table.rows);
      sumMass(table, 0, table.rows);
      return table;
    },

    async createIndex(rows: EdgeRows): Promise<EdgeIndex> {
      return { rows: rows.offsets.length - 1, edges: rows.neighbors.length, ...rows } as ReferenceIndex;
    },

    async update(own, index, other, options: UpdateOptions): Promise<void> {
      edgeTermOfLastUpdate = halfStep(
        own as ReferenceTable,
        index as ReferenceIndex,
        other as ReferenceTable,
        options,
      );
    },

    lastEdgeTerm: async () => edgeTermOfLastUpdate,

    async edgeTerm(own, index, other): Promise<number> {
      let sum = 0;
      const { activity } = own as ReferenceTable;
      for (let i = 0; i < own.rows; i++) {
        sum += passRow(i, activity, index as ReferenceIndex, other as ReferenceTable, undefined);
      }
      return sum;
    },

    rowTerms: async (table, hyper) => rowTerms(table as ReferenceTable, hyper),

    async totals(table) {
      const { mass, leftover, leftoverAt } = table as ReferenceTable;
      return { mass: mass.slice(), leftover: leftover.slice(), leftoverAt: leftoverAt.slice() };
    },

    async weightSum(table) {
      const { weightShape, weightRate } = table as ReferenceTable;
      return weightShape.reduce((sum, shape, i) => sum + shape / weightRate[i], 0);
    },

    setMass(table, mass) {
      (table as ReferenceTable).mass.set(mass);
    },

    setLeftover(table, leftover, at) {
      (table as ReferenceTable).leftover = leftover.slice();
      (table as ReferenceTable).leftoverAt = at.slice();
    },

    async scale(table, factor, activity) {
      const scaled = table as ReferenceTable;
      for (let i = 0; i < table.rows; i++) scaled.weightRate[i] /= factor;
      for (let k = 0; k < table.features; k++) scaled.mass[k] *= factor;
      showActivity(scaled, activity, 0, table.rows);
    },

    async setActivity(table, activity) {
      showActivity(table as ReferenceTable, activity, 0, table.rows);
    },

    async read(table) {
      const { weightShape, weightRate, featureShape, featureRate } = table as ReferenceTable;
      return {
        weightShape: weightShape.slice(),
        weightRate: weightRate.slice(),
        featureShape: featureShape.slice(),
        featureRate: featureRate.slice(),
      };
    },

    free() {},
    async close() {},
  };
}

/** One half-step of section 6; returns the edge term of the state before it. */
function halfStep(
  own: ReferenceTable,
  index: ReferenceIndex,
  other: ReferenceTable,
  options: UpdateOptions,
): number {
  const { hyper } = options;
  const K = own.features;
  const M = options.otherMass ?? other.mass.map((m, k) => m + other.leftover[k]);
  const { first, last } = options.rows ?? { first: 0, last: own.rows };
  const sum = new Float64Array(K); // Σ_j w_ij B_jk
  let edgeTerm = 0;
  for (let i = first; i < last; i++) {
    edgeTerm += passRow(i, own.activity, index, other, sum);
    // e_ik = A_ik Σ_j w_ij B_jk
    let expectedCount = 0;
    let rate = hyper.tau;
    for (let k = 0; k < K; k++) {
      const ik = i * K + k;
      sum[k] *= own.activity[ik];
      expectedCount += sum[k];
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
      own.featureShape[i * K + k] = hyper.shape + overRelaxed(sum[k], before, options.relaxation ?? 0);
      own.featureRate[i * K + k] = hyper.rate + (shape / rate) * M[k];
    }
  }
  showActivity(own, options.activity, first, last);
  sumMass(own, first, last);
  own.leftoverAt = M.slice();
  own.leftover = hyper.size > 0 ? leftoverMass(hyper, M) : new Float64Array(K);
  return edgeTerm;
}

/** The count, moved on in the direction it went. */
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

function sumMass(table: ReferenceTable, first: number, last: number): void {
  const K = table.features;
  table.mass.fill(0);
  for (let i = first; i < last; i++) {
    const weight = table.weightShape[i] / table.weightRate[i];
    for (let k = 0; k < K; k++) {
      table.mass[k] += (weight * table.featureShape[i * K + k]) / table.featureRate[i * K + k];
    }
  }
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
