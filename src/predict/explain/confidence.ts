// How sure a list is. A user's posterior is narrower than the truth, and draws from it alone get the answer backwards: for
// a user of one item they say that much of the list would change, when the list of such a user is mostly what everybody
// gets. So the history itself is drawn again: a taste from the posterior, as many other items by that taste, folded in as
// a new user. How much of the list comes out again is what is stated; docs/appendix/serving.md compares it with what is seen.

import { upperBound } from '../../math/csr.js';
import { gamma } from '../../math/distributions.js';
import { quantile } from '../../math/quantile.js';
import { type Random, randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { option, optionError } from '../../options/error.js';
import type { MemberScorer } from '../scoring/member-scorer.js';
import type { ModelScorer, UserScorer } from '../scoring/model-scorer.js';
import { rowLists } from '../scoring/scorer.js';
import type { OwnItems } from './explain.js';

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
export function createConfidence(judge: ModelScorer): (question: ListQuestion) => Promise<ListConfidence> {
  let samplers: readonly ItemSampler[] | undefined;
  return async ({ row, own, listed, exclude }) => {
    const asIs = judge.userScorer(row, own);
    const seats = (judge.members ?? []).flatMap((voice, v) => {
      const seat = asIs.factors?.[v];
      return seat ? [{ voice, seat, taste: seat.taste() }] : [];
    });
    const spread = seats.flatMap(({ voice, taste }) => (taste ? [{ voice, taste }] : []));
    if (spread.length === 0) {
      throw optionError`this model gives scores without a spread, so nothing says how sure they are; leave ${option('confidence')} out`;
    }
    samplers ??= spread.map(({ voice }) => new ItemSampler(voice));
    const random = randomStream(own.items.length, STREAMS.confidence, ...own.items.subarray(0, 8));
    // Parts that have no spread of their own stay as they are.
    const fixed = (item: number) =>
      seats.reduce(
        (sum, { voice, seat, taste }) => sum + (taste ? 0 : voice.share * seat.score(item)),
        asIs.fixedScore(item),
      );
    const draws = drawScores(spread, random);
    const intervals = listed.map((item) => scoreInterval(draws, fixed(item), item));
    const left = itemsLeft(judge.items, own.items, listed, exclude);
    if (listed.length === 0) return { left, overlap: 1, intervals };
    const length = Math.min(LONGEST, Math.max(1, own.items.length));
    const tastes = spread.map(({ taste }, v) => ({ taste, sampler: (samplers as ItemSampler[])[v] }));
    const had = new Set(own.items);
    const histories = Array.from({ length: HISTORIES }, () => drawHistory(tastes, length, had, random));
    return { left, overlap: await overlapOf(asIs, histories), intervals };

    /** Share of the list that comes out of the histories as well. */
    async function overlapOf(asIs: UserScorer, histories: readonly Uint32Array[]): Promise<number> {
      const n = listed.length;
      const without = [...exclude, ...own.items];
      // Neither list may hold what one of the two histories has: of a list long enough for all of them, each leaves out its own.
      const longest = histories.reduce((most, { length }) => Math.max(most, length), 0);
      const [[long], again] = [
        await lists([asIs], n + longest, [without]),
        await lists(
          histories.map((items) => judge.userScorer(undefined, { items })),
          n,
          histories.map((items) => [...without, ...items]),
        ),
      ];
      let [shared, all] = [0, 0];
      for (const [h, items] of histories.entries()) {
        const drawn = new Set(items);
        const first = new Set(long.filter((item) => !drawn.has(item)).subarray(0, n));
        all += first.size;
        for (const item of again[h]) if (first.has(item)) shared++;
      }
      return all === 0 ? 1 : shared / all;
    }
  };

  async function lists(places: readonly UserScorer[], n: number, without: readonly (readonly number[])[]) {
    const query = { rows: places.length, n, excluded: rowLists(without) };
    const { listed, positions, counts } = await judge.lists(places, query, { threads: 1 });
    return places.map((_, r) => positions.subarray(r * listed, r * listed + counts[r]));
  }
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

/** Features of a drawn taste; those of which there is nothing are left out, which are most. */
interface DrawnTaste {
  readonly features: Uint32Array;
  readonly values: Float64Array;
}

/** A row of a taste: a draw of each feature, spread a little wider than the fit says. */
function drawTaste({ featureShape, featureRate }: Taste, random: Random): DrawnTaste {
  const features: number[] = [];
  const values: number[] = [];
  for (let k = 0; k < featureShape.length; k++) {
    const drawn = gammaOfMeanOne(random, featureShape[k] / WIDER);
    if (drawn === 0) continue;
    features.push(k);
    values.push(drawn * (featureShape[k] / featureRate[k]));
  }
  return { features: Uint32Array.from(features), values: Float64Array.from(values) };
}

/** What a taste is on average, where a draw has nothing of any feature. */
function meanTaste({ featureShape, featureRate }: Taste): DrawnTaste {
  return {
    features: Uint32Array.from({ length: featureShape.length }, (_, k) => k),
    values: Float64Array.from(featureShape, (shape, k) => shape / featureRate[k]),
  };
}

/** Logarithm of what is nothing beside 1. */
const NOTHING = -100;

/**
 * A draw from Gamma(shape, shape). It is G(shape + 1)·U^(1/shape) where shape is below 1, and of the small shapes that most
 * features of a user have the second factor is nearly always nothing: then the first, which costs most, is not drawn.
 */
function gammaOfMeanOne(random: Random, shape: number): number {
  if (shape >= 1) return gamma(random, shape) / shape;
  const power = Math.log(random.uniform()) / shape;
  return power < NOTHING ? 0 : (gamma(random, shape + 1) * Math.exp(power)) / shape;
}

/** Draws of what an item's features are multiplied by, of each voice. */
interface ScoreDraws {
  readonly voice: MemberScorer;
  readonly rows: readonly (DrawnTaste & { readonly weight: number })[];
}

/** The same draws for every item: they are draws of the user. */
function drawScores(
  spread: readonly { readonly voice: MemberScorer; readonly taste: Taste }[],
  random: Random,
): ScoreDraws[] {
  return spread.map(({ voice, taste }) => ({
    voice,
    rows: Array.from({ length: DRAWS }, () => ({
      ...drawTaste(taste, random),
      weight: voice.share * (gamma(random, taste.weightShape) / taste.weightRate),
    })),
  }));
}

function scoreInterval(draws: readonly ScoreDraws[], fixed: number, item: number) {
  const scores = new Float64Array(DRAWS).fill(fixed);
  for (const { voice, rows } of draws) {
    const ofItem = voice.items.subarray(item * voice.features, (item + 1) * voice.features);
    for (const [d, { features, values, weight }] of rows.entries()) {
      let sum = 0;
      for (let f = 0; f < features.length; f++) sum += values[f] * ofItem[features[f]];
      scores[d] += weight * sum;
    }
  }
  scores.sort();
  return { low: quantile(scores, 0.05), high: quantile(scores, 0.95) };
}

/** So many items by the taste, none of them `without`. */
function drawHistory(
  tastes: readonly { readonly taste: Taste; readonly sampler: ItemSampler }[],
  length: number,
  without: ReadonlySet<number>,
  random: Random,
): Uint32Array {
  // Features of all fits side by side, each by how much of it there is.
  const ways: { readonly sampler: ItemSampler; readonly feature: number }[] = [];
  const steps: number[] = [];
  let sum = 0;
  const drawn = tastes.map(({ taste }) => drawTaste(taste, random));
  const nothing = drawn.every(({ features }) => features.length === 0);
  for (const [t, { taste, sampler }] of tastes.entries()) {
    const { features, values } = nothing ? meanTaste(taste) : drawn[t];
    for (const [f, feature] of features.entries()) {
      sum += values[f] * sampler.mass(feature);
      steps.push(sum);
      ways.push({ sampler, feature });
    }
  }
  const items = new Set<number>();
  // A taste for a handful of items may have no more to give.
  for (let tries = 0; sum > 0 && items.size < length && tries < 20 * length; tries++) {
    const at = upperBound(steps, random.uniform() * sum);
    const { sampler, feature } = ways[Math.min(at, ways.length - 1)];
    const item = sampler.draw(feature, random);
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

  constructor({ items, features }: MemberScorer) {
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
      upperBound(this.#sums, wanted, first, first + this.#blocks) - first,
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
