// The pieces of a simulation that run on worker threads. Each is a function of its input alone, with the random stream
// of its own number, so that the graph does not depend on how many threads there are.

import { AliasTable } from '../math/alias.js';
import { multinomial, poisson } from '../math/counts.js';
import { gamma, logGamma } from '../math/distributions.js';
import { allocate } from '../math/memory.js';
import { type Random, randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { serveTasks } from '../parallel/worker.js';
import type { SidePrior } from './unseen.js';

export interface FeaturePiece {
  readonly seed: number;
  readonly piece: number;
  /** Atoms first … last−1. */
  readonly first: number;
  readonly last: number;
  readonly law: SidePrior;
  readonly weights: Float64Array;
  /** Features × atoms: weight times feature, one feature after the other. Shared; this piece writes its atoms. */
  readonly activity: Float64Array;
}

/** Draws the features of some item atoms; returns their mass per feature. */
export function drawFeatures({
  seed,
  piece,
  first,
  last,
  law,
  weights,
  activity,
}: FeaturePiece): Float64Array {
  const random = randomStream(seed, STREAMS.features, piece);
  const atoms = weights.length;
  const mass = new Float64Array(activity.length / atoms);
  for (let i = first; i < last; i++) {
    const log = Math.log(weights[i] / law.rate);
    for (let k = 0; k < mass.length; k++) {
      const value = Math.exp(log + logGamma(random, law.shape));
      activity[k * atoms + i] = value;
      mass[k] += value;
    }
  }
  return mass;
}

export interface TablePiece {
  readonly feature: number;
  readonly atoms: number;
  readonly activity: Float64Array;
  /** Expected mass of the dust, which gets a last box of its own. */
  readonly dust: number;
}

export interface TableArrays {
  readonly borders: Float64Array;
  readonly aliases: Uint32Array;
}

/** The alias table of one feature over the item atoms and, last, their dust; undefined where there is no mass at all. */
export function buildTable({ feature, atoms, activity, dust }: TablePiece): TableArrays | undefined {
  const weights = new Float64Array(atoms + 1);
  weights.set(activity.subarray(feature * atoms, (feature + 1) * atoms));
  weights[atoms] = dust;
  if (!weights.some((w) => w > 0)) return undefined;
  const { borders, aliases } = AliasTable.of(weights);
  return { borders, aliases };
}

export interface RowPiece {
  readonly seed: number;
  readonly piece: number;
  readonly first: number;
  readonly last: number;
  readonly law: SidePrior;
  readonly weights: Float64Array;
  /** Item atoms; the number after them stands for dust. */
  readonly atoms: number;
  readonly tables: readonly (TableArrays | undefined)[];
  /** Mass of the items per feature, dust included. */
  readonly itemMass: Float64Array;
  readonly multigraph: boolean;
  /** Also return the features of the users, and the feature of every edge to dust. */
  readonly truth: boolean;
}

/** Edges of some users, distinct and ascending, edges to dust left out of `items` and counted in `dust`. */
export interface RowEdges {
  /** Number of distinct item atoms of each user. */
  readonly degrees: Uint32Array;
  readonly items: Uint32Array;
  readonly counts: Uint32Array | undefined;
  /** Number of edges of each user to dust, each to an item of its own. */
  readonly dust: Uint32Array;
  /** Users × features, where the truth was asked for. */
  readonly features: Float64Array | undefined;
  /** Feature of each edge to dust, in the order of the users, where the truth was asked for. */
  readonly dustFeature: Uint16Array | undefined;
}

/**
 * Draws the edges of some users. Given the items, a user's edges by feature are Poisson with rate w θ_k M_k: their
 * number is drawn for all features at once, then dealt out to the features, then each edge picks its item from the
 * feature's table. So edges come grouped by user, and equal ones meet in a bitmap of the items that fits the cache.
 */
export function drawRows(input: RowPiece): RowEdges {
  const { seed, piece, first, last, law, weights, atoms, itemMass, multigraph, truth } = input;
  const random = randomStream(seed, STREAMS.rows, piece);
  const tables = input.tables.map((t) => t && new AliasTable(t.borders, t.aliases));
  const features = itemMass.length;
  const rows = last - first;
  const degrees = allocate(Uint32Array, rows);
  const dust = allocate(Uint32Array, rows);
  const kept = truth ? allocate(Float64Array, rows * features) : undefined;
  const dustFeature: number[] = [];
  const out = new RowBuffer(atoms, multigraph);
  const rates = new Float64Array(features);
  const edges = new Uint32Array(features);

  for (let row = 0; row < rows; row++) {
    let total = 0;
    const log = Math.log(weights[first + row] / law.rate);
    for (let k = 0; k < features; k++) {
      const activity = Math.exp(log + logGamma(random, law.shape));
      if (kept) kept[row * features + k] = activity / weights[first + row];
      rates[k] = activity * itemMass[k];
      total += rates[k];
    }
    const drawn = poisson(random, total);
    if (drawn === 0) continue;
    multinomial(random, drawn, rates, edges);
    for (let k = 0; k < features; k++) {
      if (edges[k] === 0) continue;
      const toDust = out.draw(random, tables[k]!, edges[k]);
      dust[row] += toDust;
      if (truth) for (let i = 0; i < toDust; i++) dustFeature.push(k);
    }
    degrees[row] = out.finishRow();
  }
  return {
    degrees,
    dust,
    features: kept,
    dustFeature: truth ? Uint16Array.from(dustFeature) : undefined,
    ...out.take(),
  };
}

/** Collects the items of one user after the other: distinct, sorted, with their counts if wanted. */
class RowBuffer {
  readonly #atoms: number;
  readonly #seen: Uint32Array;
  readonly #times: Uint32Array | undefined;
  #items = new Uint32Array(1 << 14);
  #counts: Uint32Array<ArrayBuffer> | undefined;
  #rowStart = 0;
  #length = 0;

  constructor(atoms: number, multigraph: boolean) {
    this.#atoms = atoms;
    this.#seen = new Uint32Array((atoms >>> 5) + 1);
    if (multigraph) {
      this.#times = new Uint32Array(atoms);
      this.#counts = new Uint32Array(this.#items.length);
    }
  }

  /** Draws n edges from a table; returns how many went to dust. */
  draw(random: Random, table: AliasTable, n: number): number {
    const seen = this.#seen;
    const times = this.#times;
    const atoms = this.#atoms;
    let dust = 0;
    for (let done = 0; done < n; ) {
      // Room for a stretch of new items, so that the inner loop need not look.
      const stretch = Math.min(n, done + (1 << 12));
      this.#reserve(1 << 12);
      const items = this.#items;
      let length = this.#length;
      for (; done < stretch; done++) {
        const item = table.sample(random);
        if (item === atoms) {
          dust++;
          continue;
        }
        if (times) times[item]++;
        const word = item >>> 5;
        const bit = 1 << (item & 31);
        if ((seen[word] & bit) === 0) {
          seen[word] |= bit;
          items[length++] = item;
        }
      }
      this.#length = length;
    }
    return dust;
  }

  /** Sorts the row, forgets what was seen, and returns its number of distinct items. */
  finishRow(): number {
    const seen = this.#seen;
    const start = this.#rowStart;
    const end = this.#length;
    const items = this.#items;
    if (end - start > seen.length >>> 2) {
      // A long row: reading the bitmap in order is cheaper than sorting.
      let at = start;
      for (let word = 0; word < seen.length; word++) {
        for (let bits = seen[word]; bits !== 0; bits &= bits - 1) {
          items[at++] = (word << 5) | (31 - Math.clz32(bits & -bits));
        }
      }
      seen.fill(0);
    } else {
      const row = items.subarray(start, end).sort();
      for (let i = 0; i < row.length; i++) seen[row[i] >>> 5] = 0;
    }
    const times = this.#times;
    if (times) {
      for (let i = start; i < end; i++) {
        this.#counts![i] = times[items[i]];
        times[items[i]] = 0;
      }
    }
    this.#rowStart = end;
    return end - start;
  }

  take(): { items: Uint32Array; counts: Uint32Array | undefined } {
    const items = allocate(Uint32Array, this.#length);
    items.set(this.#items.subarray(0, this.#length));
    const counts = this.#counts && allocate(Uint32Array, this.#length);
    counts?.set(this.#counts!.subarray(0, this.#length));
    return { items, counts };
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#items.length) return;
    const size = Math.max(needed, 2 * this.#items.length);
    this.#items = grown(this.#items, size);
    if (this.#counts) this.#counts = grown(this.#counts, size);
  }
}

/** The parameters of one dust atom that an edge of feature k has met: its weight and features, size-biased by the edge. */
export function drawDustAtom(
  random: Random,
  law: SidePrior,
  cut: number,
  k: number,
  features: Float64Array,
): number {
  for (let l = 0; l < features.length; l++)
    features[l] = gamma(random, law.shape + (l === k ? 1 : 0)) / law.rate;
  for (;;) {
    const w = cut * random.uniform() ** (1 / (1 - law.sigma));
    if (random.uniform() < Math.exp(-law.tau * w)) return w;
  }
}

function grown(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  const result = new Uint32Array(length);
  result.set(array);
  return result;
}

serveTasks('rows', { drawFeatures, buildTable, drawRows });
