// The pieces of a simulation that run on worker threads. Each depends on its input alone and has its own random stream,
// so the graph does not depend on the number of threads.

import { AliasTable } from '../math/alias.js';
import { multinomial, poisson } from '../math/count-samplers.js';
import { gamma, logGamma } from '../math/distributions.js';
import { allocate, grown } from '../math/memory.js';
import { type Random, randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { serveTasks } from '../parallel/worker.js';
import type { SidePrior } from './unseen.js';

/** A piece of the atoms of a side: first … last−1. */
interface AtomPiece {
  readonly seed: number;
  readonly piece: number;
  readonly first: number;
  readonly last: number;
  readonly prior: SidePrior;
  /** Of all atoms of the side. */
  readonly weights: Float64Array;
}

export interface FeaturePiece extends AtomPiece {
  /** Features × atoms: weight times feature, feature-major. Shared memory; this piece writes its own atoms. */
  readonly activity: Float64Array;
}

/** Draws the features of some item atoms; returns their mass per feature. */
export function drawFeatures({
  seed,
  piece,
  first,
  last,
  prior,
  weights,
  activity,
}: FeaturePiece): Float64Array {
  const random = randomStream(seed, STREAMS.features, piece);
  const atoms = weights.length;
  const mass = new Float64Array(activity.length / atoms);
  for (let i = first; i < last; i++) {
    const log = Math.log(weights[i] / prior.rate);
    for (let k = 0; k < mass.length; k++) {
      const value = Math.exp(log + logGamma(random, prior.shape));
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
  /** Expected mass below the cut, which gets the last box. */
  readonly belowCut: number;
}

/** An alias table, which is a plain object once it comes from another thread. */
export type TableArrays = Pick<AliasTable, 'borders' | 'aliases'>;

/** The alias table of one feature over the item atoms and, last, the mass below the cut; undefined if there is no mass. */
export function buildTable({ feature, atoms, activity, belowCut }: TablePiece): TableArrays | undefined {
  const weights = new Float64Array(atoms + 1);
  weights.set(activity.subarray(feature * atoms, (feature + 1) * atoms));
  weights[atoms] = belowCut;
  if (!weights.some((w) => w > 0)) return undefined;
  return AliasTable.of(weights);
}

export interface RowPiece extends AtomPiece {
  /** Number of item atoms; this index stands for an item below the cut. */
  readonly atoms: number;
  readonly tables: readonly (TableArrays | undefined)[];
  /** Mass of the items per feature, mass below the cut included. */
  readonly itemMass: Float64Array;
  readonly multigraph: boolean;
  /** Also return the features of the users, and the feature of every edge to an item below the cut. */
  readonly truth: boolean;
}

/** Edges of some users, distinct and ascending. Edges to items below the cut are counted in `belowCut`, not listed. */
export type RowEdges = ReturnType<typeof drawRows>;

/**
 * Draws the edges of some users. Given the items, a user's edges by feature are Poisson with rate w θ_k M_k. First the
 * total number is drawn, then its division among features, then an item for each edge from the feature's table. Edges
 * are thus grouped by user, and a bitmap of the items that fits the cache finds repeated ones.
 */
export function drawRows(input: RowPiece) {
  const { seed, piece, first, last, prior, weights, atoms, itemMass, multigraph, truth } = input;
  const random = randomStream(seed, STREAMS.rows, piece);
  const tables = input.tables.map((t) => t && new AliasTable(t.borders, t.aliases));
  const features = itemMass.length;
  const rows = last - first;
  const degrees = allocate(Uint32Array, rows);
  const belowCut = allocate(Uint32Array, rows);
  const kept = truth ? allocate(Float64Array, rows * features) : undefined;
  const belowCutFeature: number[] = [];
  const out = new RowBuffer(atoms, multigraph);
  const rates = new Float64Array(features);
  const edges = new Uint32Array(features);

  for (let row = 0; row < rows; row++) {
    let total = 0;
    const log = Math.log(weights[first + row] / prior.rate);
    for (let k = 0; k < features; k++) {
      const activity = Math.exp(log + logGamma(random, prior.shape));
      if (kept) kept[row * features + k] = activity / weights[first + row];
      rates[k] = activity * itemMass[k];
      total += rates[k];
    }
    const drawn = poisson(random, total);
    if (drawn === 0) continue;
    multinomial(random, drawn, rates, edges);
    for (let k = 0; k < features; k++) {
      if (edges[k] === 0) continue;
      const toBelowCut = out.draw(random, tables[k]!, edges[k]);
      belowCut[row] += toBelowCut;
      if (truth) for (let i = 0; i < toBelowCut; i++) belowCutFeature.push(k);
    }
    degrees[row] = out.finishRow();
  }
  return {
    /** Number of distinct item atoms of each user. */
    degrees,
    /** Each user's number of edges to items below the cut; each edge has an item of its own. */
    belowCut,
    /** Users × features, if the truth was requested. */
    features: kept,
    /** Feature of each edge to an item below the cut, in the order of users, if the truth was requested. */
    belowCutFeature: truth ? Uint16Array.from(belowCutFeature) : undefined,
    ...out.take(),
  };
}

/** Collects the items of one user after another: distinct, sorted, and with counts if wanted. */
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

  /** Draws n edges from a table; returns how many go to items below the cut. */
  draw(random: Random, table: AliasTable, n: number): number {
    const seen = this.#seen;
    const times = this.#times;
    const atoms = this.#atoms;
    let belowCut = 0;
    for (let done = 0; done < n; ) {
      // Reserve space for a stretch of new items, so that the inner loop needs no check.
      const stretch = Math.min(n, done + (1 << 12));
      this.#reserve(1 << 12);
      const items = this.#items;
      let length = this.#length;
      for (; done < stretch; done++) {
        const item = table.sample(random);
        if (item === atoms) {
          belowCut++;
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
    return belowCut;
  }

  /** Sorts the row, clears the bitmap, and returns the number of distinct items. */
  finishRow(): number {
    const seen = this.#seen;
    const start = this.#rowStart;
    const end = this.#length;
    const items = this.#items;
    if (end - start > seen.length >>> 2) {
      // For a long row, reading the bitmap in order is cheaper than sorting.
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
    this.#items = grown(this.#items, needed);
    if (this.#counts) this.#counts = grown(this.#counts, needed);
  }
}

/** Draws weight and features of an atom below the cut, given an edge of feature k to it (size-biased). */
export function drawAtomBelowCut(
  random: Random,
  prior: SidePrior,
  cut: number,
  k: number,
  features: Float64Array,
): number {
  for (let l = 0; l < features.length; l++)
    features[l] = gamma(random, prior.shape + (l === k ? 1 : 0)) / prior.rate;
  for (;;) {
    const w = cut * random.uniform() ** (1 / (1 - prior.sigma));
    if (random.uniform() < Math.exp(-prior.tau * w)) return w;
  }
}

serveTasks('rows', { drawFeatures, buildTable, drawRows });
