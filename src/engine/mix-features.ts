// Tables with fewer features, each a weighted sum of features of the table before. Rows do not depend on each other, so the bits do not
// depend on threads or ranks.

import type { Activity, Engine, Table, TableValues } from './engine.js';

/** Where each feature of a table goes, and with which weight its mean is added there. */
export interface FeatureMix {
  /** The number of features after it. */
  readonly features: number;
  /** For each feature of the table before, the index of the feature that it becomes part of. */
  readonly into: Uint16Array;
  readonly weights: Float64Array;
  /** The rate of every new feature. Its shape follows from its mean. */
  readonly rate: number;
}

/** A mean that is 0 could never grow again. */
const LEAST_SHAPE = 1e-6;

/** The sums of the vectors of the features that are joined. */
export function mixedVector({ features, into, weights }: FeatureMix, vector: Float64Array): Float64Array {
  const mixed = new Float64Array(features);
  for (let f = 0; f < into.length; f++) mixed[into[f]] += weights[f] * vector[f];
  return mixed;
}

/** The values of a mixed table, of the same number type. Weights stay as they are. */
export function mixedValues(values: TableValues, mix: FeatureMix): TableValues {
  const { features, into, weights, rate } = mix;
  const { weightShape, weightRate, featureShape, featureRate } = values;
  const rows = weightShape.length;
  const Numbers = weightShape instanceof Float64Array ? Float64Array : Float32Array;
  const shapes = new Numbers(rows * features);
  const means = new Float64Array(features);
  for (let i = 0, from = 0; i < rows; i++) {
    means.fill(0);
    for (let f = 0; f < into.length; f++, from++) {
      means[into[f]] += (weights[f] * featureShape[from]) / featureRate[from];
    }
    for (let k = 0; k < features; k++) shapes[i * features + k] = Math.max(means[k] * rate, LEAST_SHAPE);
  }
  return {
    ...{ weightShape, weightRate, featureShape: shapes },
    featureRate: new Numbers(rows * features).fill(rate),
  };
}

/** Replaces a table by its mixture. Its handle must not be used in later calls. */
export async function mixTable(
  engine: Pick<Engine, 'mixFeatures' | 'read' | 'free' | 'createTable'>,
  table: Table,
  mix: FeatureMix,
  activity: Activity,
): Promise<Table> {
  if (engine.mixFeatures) return engine.mixFeatures(table, mix, activity);
  const values = mixedValues(await engine.read(table), mix);
  void engine.free(table);
  return engine.createTable(mix.features, values, activity);
}
