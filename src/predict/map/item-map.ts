// A map of the items in two dimensions: items with the same users lie together. Coordinates start from the logarithms of each
// item's mean features, less their mean (an item's popularity must not decide its place), rotated to principal components.
// A neighbour embedding with UMAP's cost then keeps neighbours together, which two components alone do not. It is written here
// so that it runs on typed arrays from a named random stream, with progress and a signal: the same model gives the same map.

import { throwIfAborted } from '../../errors.js';
import type { PosteriorModel } from '../../fit/model.js';
import { type Random, randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { createTurns, type Turn } from '../../parallel/turns.js';
import type { TaskOptions } from '../../progress.js';
import { mainFeatures } from '../features.js';
import { type Neighbours, nearestNeighbours } from './nearest-points.js';
import { principalComponents } from './principal.js';

const NEIGHBOURS = 15;
const COMPONENTS = 16;
/** UMAP's curve 1/(1 + a d^2b) for a least distance of 0.1. */
const A = 1.577;
const B = 0.8951;
/** Random points that push an item away, for each neighbour that pulls it. */
const NEGATIVES = 5;
/** Limits on all pulls and pushes, which bound the time, and on the number of rounds. */
const WORK = 4e7;
const MOST_ROUNDS = 300;
const LEAST_ROUNDS = 30;

/** The places of all items of a model, both coordinates from −1 to 1, and the main feature of each (features.ts). */
export async function mapItems(
  model: PosteriorModel,
  { seed, signal, onProgress }: TaskOptions & { readonly seed: number },
): Promise<Record<'x' | 'y', Float32Array> & { readonly feature: Uint16Array }> {
  const { items, features } = model;
  const { count } = items;
  const random = randomStream(seed, STREAMS.map);
  const rows = logFeatures(items, features);
  const width = Math.min(COMPONENTS, features);
  const components = principalComponents(rows, count, features, width);
  const turn = createTurns(signal);
  onProgress?.({ stage: 'finding neighbours', done: 0, total: 1 });
  const neighbours = await nearestNeighbours(components, count, width, {
    neighbours: Math.min(NEIGHBOURS, count - 1),
    random: random.derive(0),
    turn,
  });
  const places = started(components, count, width);
  await embed(places, count, neighbours, random.derive(1), turn, (done, total) =>
    onProgress?.({ stage: 'drawing the map', done, total, unit: 'rounds' }),
  );
  throwIfAborted(signal);
  return { ...scaled(places, count), feature: mainFeatures(model) };
}

/** Items × features: log means less the item's own mean. */
function logFeatures(items: PosteriorModel['items'], features: number): Float32Array {
  const { count, featureShape, featureRate } = items;
  const rows = new Float32Array(count * features);
  for (let j = 0; j < count; j++) {
    let sum = 0;
    for (let k = 0; k < features; k++) {
      const at = j * features + k;
      // Differences far below one edge are noise of the fit.
      rows[at] = Math.log(featureShape[at] / featureRate[at] + 1e-3);
      sum += rows[at];
    }
    for (let k = 0; k < features; k++) rows[j * features + k] -= sum / features;
  }
  return rows;
}

/** The first two components, scaled so that the embedding can still move them. */
function started(components: Float32Array, count: number, width: number): Float32Array {
  const places = new Float32Array(2 * count);
  let most = 1e-12;
  for (let j = 0; j < count; j++) {
    for (let d = 0; d < 2; d++) {
      const value = d < width ? components[j * width + d] : 0;
      places[2 * j + d] = value;
      most = Math.max(most, Math.abs(value));
    }
  }
  for (let i = 0; i < places.length; i++) places[i] *= 10 / most;
  return places;
}

async function embed(
  places: Float32Array,
  count: number,
  { index, weight, each }: Neighbours,
  random: Random,
  turn: Turn,
  report: (done: number, total: number) => void,
): Promise<void> {
  const links = index.length;
  if (links === 0) return;
  const rounds = Math.max(LEAST_ROUNDS, Math.min(MOST_ROUNDS, Math.floor(WORK / (links * (1 + NEGATIVES)))));
  for (let round = 0; round < rounds; round++) {
    const rate = 1 - round / rounds;
    for (let l = 0; l < links; l++) {
      if ((l & 4095) === 0) await turn();
      // A link of weight w is used in that share of the rounds.
      if (random.uniform() >= weight[l]) continue;
      const from = Math.floor(l / each);
      pull(places, from, index[l], rate);
      for (let s = 0; s < NEGATIVES; s++) push(places, from, Math.floor(random.uniform() * count), rate);
    }
    report(round + 1, rounds);
  }
}

function pull(places: Float32Array, a: number, b: number, rate: number): void {
  const dx = places[2 * a] - places[2 * b];
  const dy = places[2 * a + 1] - places[2 * b + 1];
  const d2 = dx * dx + dy * dy;
  if (d2 === 0) return;
  const force = (-2 * A * B * d2 ** (B - 1)) / (1 + A * d2 ** B);
  const [mx, my] = [rate * clip(force * dx), rate * clip(force * dy)];
  places[2 * a] += mx;
  places[2 * a + 1] += my;
  places[2 * b] -= mx;
  places[2 * b + 1] -= my;
}

function push(places: Float32Array, a: number, b: number, rate: number): void {
  if (a === b) return;
  const dx = places[2 * a] - places[2 * b];
  const dy = places[2 * a + 1] - places[2 * b + 1];
  const d2 = dx * dx + dy * dy;
  const force = (2 * B) / ((0.001 + d2) * (1 + A * d2 ** B));
  places[2 * a] += rate * clip(force * dx);
  places[2 * a + 1] += rate * clip(force * dy);
}

const clip = (value: number) => (value > 4 ? 4 : value < -4 ? -4 : value);

/** Scales places to −1 … 1; the outermost 1 % are moved to the edge. */
function scaled(places: Float32Array, count: number): { x: Float32Array; y: Float32Array } {
  const axis = (d: number) => {
    const values = Float32Array.from({ length: count }, (_, j) => places[2 * j + d]);
    const sorted = values.slice().sort();
    return { values, low: sorted[Math.floor(0.005 * count)], high: sorted[Math.ceil(0.995 * count) - 1] };
  };
  const [x, y] = [axis(0), axis(1)];
  const half = Math.max(x.high - x.low, y.high - y.low, 1e-9) / 1.9;
  const fit = ({ values, low, high }: typeof x) =>
    values.map((value) => Math.max(-1, Math.min(1, (value - (low + high) / 2) / half)));
  return { x: fit(x), y: fit(y) };
}
