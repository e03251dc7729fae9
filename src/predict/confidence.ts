// How sure a list is. A user's posterior is narrower than the truth, and draws from it alone get the answer backwards: for
// a user of one item they say that much of the list would change, when the list of such a user is mostly what everybody
// gets. So the history itself is drawn again: a taste from the posterior, as many other items by that taste, folded in as
// a new user. How much of the list comes out again is what is stated; docs/appendix/serving.md compares it with what is seen.

import { gamma } from '../math/distributions.js';
import { quantile } from '../math/quantile.js';
import { type Random, randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { option, optionError } from '../options/error.js';
import type { OwnItems } from './explain.js';
import type { Judge } from './judges.js';
import { rowLists } from './rank.js';
import type { Voice } from './voices.js';

/** Gammas of a user in one of the model's fits. */
export interface Taste {
  readonly weightShape: number;
  readonly weightRate: number;
  readonly featureShape: ArrayLike<number>;
  readonly featureRate: ArrayLike<number>;
}

/** How far a list of recommendations can be trusted. */
export interface ListConfidence {
  /** Items that could have been listed and were not: of 0 there was nothing to choose. */
  readonly left: number;
  /** Share of the list that is expected to come out again from another history of the same taste and length. */
  readonly overlap: number;
  /** 90 % interval of the score of each listed item. */
  readonly intervals: readonly { readonly low: number; readonly high: number }[];
}

/** Histories that are drawn. */
const HISTORIES = 12;
/** Draws behind the intervals of the scores. */
const DRAWS = 200;
/** The longest history that is drawn; a longer one changes its list little, and takes long. */
const LONGEST = 200;
/** Posteriors are this much wider than the fit says, by the histories of held-out users (docs/appendix/serving.md). */
const WIDER = 2;

export interface ListQuestion {
  /** Row of a known user; undefined for someone new. */
  readonly row: number | undefined;
  readonly own: OwnItems & { readonly items: Uint32Array };
  /** The items of the list. */
  readonly listed: readonly number[];
  /** Items that the list leaves out besides the user's own. */
  readonly exclude: readonly number[];
}

/** For one model: what samples items by taste is made on the first question. */
export function createConfidence(judge: Judge): (question: ListQuestion) => Promise<ListConfidence> {
  let samplers: readonly ItemSampler[] | undefined;
  return async ({ row, own, listed, exclude }) => {
    const seats = judge.voices?.map((voice) => ({
      voice,
      seat: row === undefined ? voice.fresh(own) : voice.known(row, own),
    }));
    const spread = seats?.flatMap(({ voice, seat }) => {
      const taste = seat.taste();
      return taste ? [{ voice, taste }] : [];
    });
    if (!seats || !spread || spread.length === 0) {
      throw optionError`this model gives scores without a spread, so nothing says how sure they are; leave ${option('confidence')} out`;
    }
    const tastes = spread.map(({ taste }) => taste);
    samplers ??= spread.map(({ voice }) => new ItemSampler(voice));
    const random = randomStream(own.items.length, STREAMS.confidence, ...own.items.subarray(0, 8));
    const asIs = judge.place(row, own);
    // Parts that have no spread of their own stay as they are.
    const fixed = (item: number) =>
      seats.reduce(
        (sum, { voice, seat }) => sum + (seat.taste() ? 0 : voice.share * seat.score(item)),
        asIs.fixedScore(item),
      );
    const intervals = listed.map((item) => scoreInterval(spread, fixed(item), item, random));
    const left = itemsLeft(judge.items, own.items, listed, exclude);
    if (listed.length === 0) return { left, overlap: 1, intervals };
    const length = Math.min(LONGEST, Math.max(1, own.items.length));
    const histories = Array.from({ length: HISTORIES }, () =>
      drawHistory(samplers as readonly ItemSampler[], tastes, length, new Set(own.items), random),
    );
    const again = histories.map((items) => judge.place(undefined, { items }));
    // Neither list may hold what one of the two histories has.
    const without = histories.map((items) => [...exclude, ...own.items, ...items]);
    const lists = await judge.lists(
      [...histories.map(() => asIs), ...again],
      { rows: 2 * HISTORIES, n: listed.length, excluded: rowLists([...without, ...without]) },
      { threads: 1 },
    );
    const list = (r: number) =>
      lists.positions.subarray(r * lists.listed, r * lists.listed + lists.counts[r]);
    let shared = 0;
    let all = 0;
    for (let h = 0; h < HISTORIES; h++) {
      const first = new Set(list(h));
      all += first.size;
      for (const item of list(HISTORIES + h)) if (first.has(item)) shared++;
    }
    return { left, overlap: all === 0 ? 1 : shared / all, intervals };
  };
}

/** Candidates that the list does not hold; what the user has is one where the list holds some of it. */
function itemsLeft(
  count: number,
  own: Uint32Array,
  listed: readonly number[],
  exclude: readonly number[],
): number {
  const had = new Set(own);
  const out = new Set([...exclude, ...listed]);
  if (!listed.some((item) => had.has(item))) for (const item of had) out.add(item);
  return count - out.size;
}

/** A row of a taste: E[weight] times a draw of each feature, spread a little wider than the fit says. */
function drawTaste({ featureShape, featureRate }: Taste, random: Random): Float64Array {
  return Float64Array.from(featureShape, (shape, k) => {
    const wide = shape / WIDER;
    return (gamma(random, wide) / wide) * (shape / featureRate[k]);
  });
}

function scoreInterval(
  spread: readonly { readonly voice: Voice; readonly taste: Taste }[],
  fixed: number,
  item: number,
  random: Random,
) {
  const scores = Float64Array.from({ length: DRAWS }, () => {
    let score = fixed;
    for (const { voice, taste } of spread) {
      const { items, features: K, share } = voice;
      const row = drawTaste(taste, random);
      let sum = 0;
      for (let k = 0; k < K; k++) sum += row[k] * items[item * K + k];
      score += share * (gamma(random, taste.weightShape) / taste.weightRate) * sum;
    }
    return score;
  }).sort();
  return { low: quantile(scores, 0.05), high: quantile(scores, 0.95) };
}

/** So many items by the taste, none of them `without`. */
function drawHistory(
  samplers: readonly ItemSampler[],
  tastes: readonly Taste[],
  length: number,
  without: ReadonlySet<number>,
  random: Random,
): Uint32Array {
  const rows = tastes.map((taste) => drawTaste(taste, random));
  // Features of all fits side by side, each by how much of it there is.
  const steps: number[] = [];
  let sum = 0;
  for (const [v, row] of rows.entries()) {
    for (const [k, value] of row.entries()) {
      sum += value * samplers[v].mass(k);
      steps.push(sum);
    }
  }
  const features = rows[0].length;
  const items = new Set<number>();
  // A taste for a handful of items may have no more to give.
  for (let tries = 0; items.size < length && tries < 20 * length; tries++) {
    const at = firstAbove(steps, random.uniform() * sum, 0, steps.length);
    let v = 0;
    let k = at;
    while (k >= rows[v].length && v < rows.length - 1) {
      k -= rows[v].length;
      v++;
    }
    const item = samplers[v].draw(Math.min(k, features - 1), random);
    if (!without.has(item)) items.add(item);
  }
  if (items.size === 0) items.add(0);
  return Uint32Array.from(items).sort();
}

const BLOCK = 256;

/** Draws items in proportion to their activity in one feature: sums of blocks, then a walk through one block. */
class ItemSampler {
  readonly #items: Float32Array;
  readonly #features: number;
  readonly #count: number;
  readonly #blocks: number;
  /** features × blocks: sums up to and including each block. */
  readonly #sums: Float64Array;

  constructor({ items, features }: Voice) {
    this.#items = items;
    this.#features = features;
    this.#count = items.length / features;
    this.#blocks = Math.ceil(this.#count / BLOCK);
    this.#sums = new Float64Array(features * this.#blocks);
    for (let item = 0; item < this.#count; item++) {
      const block = Math.floor(item / BLOCK);
      for (let k = 0; k < features; k++) this.#sums[k * this.#blocks + block] += items[item * features + k];
    }
    for (let k = 0; k < features; k++) {
      for (let b = 1; b < this.#blocks; b++)
        this.#sums[k * this.#blocks + b] += this.#sums[k * this.#blocks + b - 1];
    }
  }

  mass(k: number): number {
    return this.#sums[(k + 1) * this.#blocks - 1];
  }

  draw(k: number, random: Random): number {
    const first = k * this.#blocks;
    const wanted = random.uniform() * this.mass(k);
    const block = Math.min(
      firstAbove(this.#sums, wanted, first, first + this.#blocks) - first,
      this.#blocks - 1,
    );
    let left = wanted - (block === 0 ? 0 : this.#sums[first + block - 1]);
    const last = Math.min((block + 1) * BLOCK, this.#count) - 1;
    for (let item = block * BLOCK; item < last; item++) {
      left -= this.#items[item * this.#features + k];
      if (left < 0) return item;
    }
    return last;
  }
}

/** The first place of first … last−1 whose value is above `wanted`, in ascending values; `last` where none is. */
function firstAbove(values: ArrayLike<number>, wanted: number, first: number, last: number): number {
  let low = first;
  let high = last;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (values[middle] > wanted) high = middle;
    else low = middle + 1;
  }
  return low;
}
