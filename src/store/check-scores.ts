// Tables of finite numbers can still have means or products beyond float32. Such a model would give infinite scores and
// lose items without an error, so it is refused when it is loaded.

import type { Model, Posterior } from '../fit/model.js';

/** The largest number of float32. */
const LARGEST = (2 - 2 ** -23) * 2 ** 127;

/** Throws unless all scores of the model are within float32: those of single pairs and those of all pairs together. */
export function checkScores(model: Model): void {
  if (model.type === 'posterior') {
    const { users, items, features } = model;
    checkProducts(
      addTo(meanSums('users', users, features), users.unseenMass),
      addTo(meanSums('items', items, features), items.unseenMass),
    );
    return;
  }
  const { scores } = model;
  if (scores.kind === 'factors') {
    for (const [m, { features, users, items, userMass, share = 1 }] of scores.members.entries()) {
      const own = (name: string, table: Float32Array) =>
        absoluteSums(`members.${m}.${name}`, table, features);
      checkProducts(users ? own('users', users) : userMass.map(Math.abs), own('items', items), share);
    }
    if (scores.itemWeights) absoluteSums('blend.values', scores.itemWeights.weights, 1);
  } else if (scores.kind === 'items') absoluteSums('weights.values', scores.weights, 1);
}

/** Σ of the posterior means E[weight]·E[feature] of a side, for each feature. */
function meanSums(side: string, table: Posterior, features: number): Float64Array {
  const { weightShape, weightRate, featureShape, featureRate } = table;
  const sums = new Float64Array(features);
  for (let v = 0; v < table.count; v++) {
    const weight = weightShape[v] / weightRate[v];
    for (let k = 0; k < features; k++) {
      const at = v * features + k;
      const mean = (weight * featureShape[at]) / featureRate[at];
      // Both orders of the division occur.
      if (!(mean <= LARGEST && weight * (featureShape[at] / featureRate[at]) <= LARGEST)) {
        throw new Error(`the mean of feature ${k} of row ${v} of the ${side} is beyond float32`);
      }
      sums[k] += mean;
    }
  }
  return sums;
}

function addTo(sums: Float64Array, more: Float64Array): Float64Array {
  for (let k = 0; k < sums.length; k++) sums[k] += more[k];
  return sums;
}

/** Σ of the absolute values of each column. */
function absoluteSums(name: string, table: Float32Array, columns: number): Float64Array {
  const sums = new Float64Array(columns);
  for (let at = 0; at < table.length; ) for (let k = 0; k < columns; k++) sums[k] += Math.abs(table[at++]);
  if (sums.some((sum) => sum > LARGEST)) throw new Error(`the sum of tensor ${name} is beyond float32`);
  return sums;
}

function checkProducts(users: Float64Array, items: Float64Array, factor = 1): void {
  let total = 0;
  for (let k = 0; k < users.length; k++) total += users[k] * items[k] * factor;
  if (!(total <= LARGEST))
    throw new Error('scores, which are products of users and items, are beyond float32');
}
