// One projection: each estimator's forecast of a side when the other side, or a drawn part of it, grows; and the uncertainty of
// that forecast. The uncertainty comes from a jackknife over groups of the growing side's vertices: each group is left out once
// and everything is estimated again. So a few vertices with very many edges widen the interval as they should. The error is the
// spread of an estimate times the root of 1 − 1/times, because the vertices that are seen today belong to the future ones, too.

import { degrees, type GraphSide } from '../graph/graph.js';
import { mean } from '../math/moments.js';
import { type Random, shuffle } from '../math/random.js';
import { countDegrees, type DegreeCounts } from '../sparsity/degree-counts.js';
import { ESTIMATOR_NAMES, ESTIMATORS, type EstimatorName, servesAt } from './estimators.js';

/** A value with its 90 % interval. */
export interface Foreseen {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
}

export function exactly(value: number): Foreseen {
  return { mean: value, low: value, high: value };
}

/** A value and the standard deviation of its error. */
export interface Uncertain {
  readonly value: number;
  readonly error: number;
}

/** The side that grows, and the side whose vertices are counted as it does. */
export interface GrowingSide {
  readonly own: GraphSide;
  readonly other: GraphSide;
}

export interface Projection {
  /** The growing side as a multiple of its present size. */
  readonly times: number;
  /** Vertices of the other side; undefined if an estimator is not valid for this growth. */
  readonly vertices: Readonly<Record<EstimatorName, Uncertain | undefined>>;
  readonly edges: Uncertain;
  /** Edges over pairs, by the default estimator. */
  readonly density: Uncertain;
}

const GROUPS = 20;
/** Half the width of a 90 % interval in standard deviations, as for a normal distribution; measured in docs/forecast.md. */
export const REACH = 1.645;

/** Degrees of the counted side, over the edges of the kept vertices of the growing side. */
function degreesAmong({ own, other }: GrowingSide, kept: Uint8Array | undefined): Uint32Array {
  if (!kept) return degrees(other);
  const degree = new Uint32Array(other.count);
  for (let v = 0; v < own.count; v++) {
    if (kept[v]) for (let e = own.offsets[v]; e < own.offsets[v + 1]; e++) degree[own.neighbors[e]]++;
  }
  return degree;
}

/** Projects from the kept vertices of the growing side (default: all) to each of the given multiples of their number. */
export function project(
  side: GrowingSide,
  times: readonly number[],
  random: Random,
  kept?: Uint8Array,
): { readonly counts: DegreeCounts; readonly projections: readonly Projection[] } {
  const { own } = side;
  const degree = degreesAmong(side, kept);
  const groups = drawGroups(own.count, kept, random);
  const samples = groups.reduce((sum, group) => sum + group.length, 0);
  const counts = countDegrees(degree);
  const whole = estimate(counts, samples, times);
  const add = (group: readonly number[], change: 1 | -1) => {
    for (const v of group) {
      for (let e = own.offsets[v]; e < own.offsets[v + 1]; e++) degree[own.neighbors[e]] += change;
    }
  };
  const parts = groups.map((group) => {
    add(group, -1);
    const left = samples - group.length;
    const part = estimate(
      countDegrees(degree),
      left,
      times.map((f) => (f * samples) / left),
    );
    add(group, 1);
    return part;
  });
  const projections = times.map((f, at): Projection => {
    const uncertain = (pick: (values: Estimates) => number | undefined): Uncertain | undefined => {
      const value = pick(whole[at]);
      if (value === undefined) return undefined;
      const again = parts.map((part) => pick(part[at])).filter((v) => v !== undefined);
      return { value, error: Math.sqrt((1 - 1 / f) * jackknifeVariance(again)) };
    };
    return {
      times: f,
      vertices: Object.fromEntries(
        ESTIMATOR_NAMES.map((name) => [name, uncertain((values) => values.vertices[name])]),
      ) as Projection['vertices'],
      edges: uncertain((values) => values.edges)!,
      density: uncertain((values) => values.density)!,
    };
  });
  return { counts, projections };
}

interface Estimates {
  readonly vertices: Readonly<Partial<Record<EstimatorName, number>>>;
  readonly edges: number;
  readonly density: number;
}

function estimate(counts: DegreeCounts, samples: number, times: readonly number[]): Estimates[] {
  const curves = ESTIMATOR_NAMES.map((name) => [name, ESTIMATORS[name].curve({ counts, samples })] as const);
  return times.map((f) => {
    const t = f - 1;
    const vertices: Estimates['vertices'] = Object.fromEntries(
      curves.filter(([name]) => servesAt(name, t)).map(([name, at]) => [name, at(t)]),
    );
    return {
      vertices,
      edges: f * counts.sum,
      density: counts.sum / (samples * (vertices.lowDegrees ?? counts.count)),
    };
  });
}

/** Groups of equal size: a group's size would otherwise be one more source of spread. */
function drawGroups(count: number, kept: Uint8Array | undefined, random: Random): number[][] {
  const order: number[] = [];
  for (let v = 0; v < count; v++) if (!kept || kept[v]) order.push(v);
  shuffle(order, random);
  const groups = Array.from({ length: GROUPS }, (): number[] => []);
  for (const [i, v] of order.entries()) groups[i % GROUPS].push(v);
  return groups.filter((group) => group.length > 0 && group.length < order.length);
}

function jackknifeVariance(values: readonly number[]): number {
  const n = values.length;
  if (n < 2) return Number.POSITIVE_INFINITY;
  const center = mean(values);
  return ((n - 1) / n) * values.reduce((sum, x) => sum + (x - center) ** 2, 0);
}

/** The 90 % interval of a count: whole numbers, never below the number seen. */
export function countInterval({ value, error }: Uncertain, least: number): Foreseen {
  return {
    mean: value,
    low: Math.max(least, Math.floor(value - REACH * error)),
    high: Math.max(least, Math.ceil(value + REACH * error)),
  };
}
