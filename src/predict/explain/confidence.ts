// The confidence of a list. Draws from a user's posterior alone mislead: for a user with one item they predict that much of the
// list would change, although such a list is mostly what every user gets. So the history itself is drawn again: factors from the
// posterior, then as many items by these factors as the user has. They are folded in as a new user. The confidence is the share
// of the list that is recommended again; docs/appendix/serving.md compares it with what is observed.

import type { OwnItems } from '../../fit/fold-in/member-fold.js';
import { forEachBit } from '../../math/bits.js';
import { upperBound } from '../../math/csr.js';
import { gamma } from '../../math/distributions.js';
import { quantile } from '../../math/quantile.js';
import { type Random, randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { option, optionError } from '../../options/error.js';
import type { MemberScorer, UserPosterior } from '../scoring/member-scorer.js';
import type { ModelScorer } from '../scoring/model-scorer.js';

/** The confidence of a list of recommendations. */
export interface ListConfidence {
  /** Items that could have been listed and were not. With 0 there was no choice. */
  readonly left: number;
  /** Expected share of the list that would be recommended again after another history of the same taste and length. */
  readonly overlap: number;
  /** Number of items in each history that was drawn: that of the user's items, at most 200. */
  readonly history: number;
  /** 90 % interval of the score of each listed item. */
  readonly intervals: readonly { readonly low: number; readonly high: number }[];
}

/** Number of histories that are drawn. */
const HISTORIES = 12;
/** Number of draws for the intervals of the scores. */
const DRAWS = 200;
/** Length of the longest history that is drawn. A longer one takes long and changes its list little. */
const LONGEST = 200;
/** Posteriors are widened by this factor, measured on histories of held-out users (docs/appendix/serving.md). */
const WIDER = 2;

interface ListQuestion {
  /** A user of the model; undefined for a new user. */
  readonly row: number | undefined;
  readonly own: OwnItems & { readonly items: Uint32Array };
  readonly listed: readonly number[];
  /** Items that the list leaves out besides the user's own. */
  readonly exclude: readonly number[];
  /** Bits of items that a filter leaves out. */
  readonly without?: Uint32Array | undefined;
}

/** A function that computes the confidence of lists of one model. It prepares the sampling of items on first use. */
export function createConfidence(scorer: ModelScorer): (question: ListQuestion) => Promise<ListConfidence> {
  const samplers = new Map<MemberScorer, ItemSampler>();
  const samplerOf = (member: MemberScorer) => {
    const sampler = samplers.get(member) ?? createItemSampler(member);
    samplers.set(member, sampler);
    return sampler;
  };
  return async ({ row, own, listed, exclude, without }) => {
    const user = scorer.userScorer(row, own);
    const fits = (scorer.members ?? []).flatMap((member, m) => {
      const factors = user.factors?.[m];
      return factors ? [{ member, factors, posterior: factors.posterior() }] : [];
    });
    const uncertain = fits.flatMap(({ member, posterior }) => (posterior ? [{ member, posterior }] : []));
    if (uncertain.length === 0) {
      throw optionError`this model has no posterior of its users, so it cannot state a confidence; leave ${option('confidence')} out`;
    }
    const random = randomStream(own.items.length, STREAMS.confidence, ...own.items.subarray(0, 8));
    // Contributions without a posterior stay as they are.
    const fixed = (item: number) =>
      fits.reduce(
        (sum, { member, factors, posterior }) => sum + (posterior ? 0 : member.share * factors.score(item)),
        user.weightScore?.(item) ?? 0,
      );
    const draws = drawScores(uncertain, random);
    const intervals = listed.map((item) => scoreInterval(draws, fixed(item), item));
    const left = itemsLeft(scorer.items, own.items, listed, exclude, without);
    const length = Math.min(LONGEST, Math.max(1, own.items.length));
    if (listed.length === 0) return { left, overlap: 1, history: length, intervals };
    const sources = uncertain.map(({ member, posterior }) => ({ posterior, sampler: samplerOf(member) }));
    const had = new Set(own.items);
    const histories = Array.from({ length: HISTORIES }, () => drawHistory(sources, length, had, random));
    return { left, overlap: await overlapOf(histories), history: length, intervals };

    /** Share of the list that is recommended after the drawn histories, too. */
    async function overlapOf(histories: readonly Uint32Array[]): Promise<number> {
      const n = listed.length;
      const excluded = [...exclude, ...own.items];
      const task = { threads: 1 };
      // Neither list may hold an item of the other's history. So the user's list is long enough to leave out any drawn history.
      const longest = histories.reduce((most, { length }) => Math.max(most, length), 0);
      const [long] = await scorer.best([user], { n: n + longest, excluded: [excluded], without }, task);
      const again = await scorer.best(
        histories.map((items) => scorer.userScorer(undefined, { items })),
        { n, excluded: histories.map((items) => [...excluded, ...items]), without },
        task,
      );
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
}

/** Number of candidates that are not listed. The user's own items are candidates if the list holds one of them. */
function itemsLeft(
  count: number,
  own: Uint32Array,
  listed: readonly number[],
  exclude: readonly number[],
  without: Uint32Array | undefined,
): number {
  const had = new Set(own);
  const out = new Set([...exclude, ...listed]);
  if (!listed.some((item) => had.has(item))) for (const item of had) out.add(item);
  if (!without) return count - out.size;
  let filtered = 0;
  forEachBit(without, (item) => {
    if (!out.has(item)) filtered++;
  });
  return count - out.size - filtered;
}

/** Drawn factors of a user, without the zeros, which are most of them. */
interface DrawnFactors {
  readonly features: Uint32Array;
  readonly values: Float64Array;
}

/** A draw of each feature, from a posterior that is widened. */
function drawFactors({ featureShape, featureRate }: UserPosterior, random: Random): DrawnFactors {
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

/** The posterior means, for a draw in which every feature is 0. */
function meanFactors({ featureShape, featureRate }: UserPosterior): DrawnFactors {
  return {
    features: Uint32Array.from({ length: featureShape.length }, (_, k) => k),
    values: Float64Array.from(featureShape, (shape, k) => shape / featureRate[k]),
  };
}

/** Logarithm of a number that is negligible compared with 1. */
const NOTHING = -100;

/**
 * A draw from Gamma(shape, shape). Below shape 1 it is G(shape + 1)·U^(1/shape). Most features of a user have a small shape, for
 * which the second factor is nearly always negligible; then the first, which costs most, is not drawn.
 */
function gammaOfMeanOne(random: Random, shape: number): number {
  if (shape >= 1) return gamma(random, shape) / shape;
  const power = Math.log(random.uniform()) / shape;
  return power < NOTHING ? 0 : (gamma(random, shape + 1) * Math.exp(power)) / shape;
}

/** Draws of a user's factors in one fit. */
interface ScoreDraws {
  readonly member: MemberScorer;
  readonly rows: readonly (DrawnFactors & { readonly weight: number })[];
}

/** Every item is scored with the same draws of the user. */
function drawScores(
  fits: readonly { readonly member: MemberScorer; readonly posterior: UserPosterior }[],
  random: Random,
): ScoreDraws[] {
  return fits.map(({ member, posterior }) => ({
    member,
    rows: Array.from({ length: DRAWS }, () => ({
      ...drawFactors(posterior, random),
      weight: member.share * (gamma(random, posterior.weightShape) / posterior.weightRate),
    })),
  }));
}

function scoreInterval(draws: readonly ScoreDraws[], fixed: number, item: number) {
  const scores = new Float64Array(DRAWS).fill(fixed);
  for (const { member, rows } of draws) {
    const ofItem = member.items.subarray(item * member.features, (item + 1) * member.features);
    for (const [d, { features, values, weight }] of rows.entries()) {
      let sum = 0;
      for (let f = 0; f < features.length; f++) sum += values[f] * ofItem[features[f]];
      scores[d] += weight * sum;
    }
  }
  scores.sort();
  return { low: quantile(scores, 0.05), high: quantile(scores, 0.95) };
}

/** Up to `length` items drawn by the user's factors, none of them in `without`. */
function drawHistory(
  sources: readonly { readonly posterior: UserPosterior; readonly sampler: ItemSampler }[],
  length: number,
  without: ReadonlySet<number>,
  random: Random,
): Uint32Array {
  // A feature of any fit is chosen in proportion to its expected edges.
  const choices: { readonly sampler: ItemSampler; readonly feature: number }[] = [];
  const steps: number[] = [];
  let sum = 0;
  const drawn = sources.map(({ posterior }) => drawFactors(posterior, random));
  const nothing = drawn.every(({ features }) => features.length === 0);
  for (const [s, { posterior, sampler }] of sources.entries()) {
    const { features, values } = nothing ? meanFactors(posterior) : drawn[s];
    for (const [f, feature] of features.entries()) {
      sum += values[f] * sampler.mass(feature);
      steps.push(sum);
      choices.push({ sampler, feature });
    }
  }
  const items = new Set<number>();
  // Factors that reach only a handful of items cannot give more.
  for (let tries = 0; sum > 0 && items.size < length && tries < 20 * length; tries++) {
    const at = upperBound(steps, random.uniform() * sum);
    const { sampler, feature } = choices[Math.min(at, choices.length - 1)];
    const item = sampler.draw(feature, random);
    if (!without.has(item)) items.add(item);
  }
  if (items.size === 0) items.add(0);
  return Uint32Array.from(items).sort();
}

const BLOCK = 256;

type ItemSampler = ReturnType<typeof createItemSampler>;

/** Draws items in proportion to their activity in one feature: finds a block by its sum, then walks through it. */
function createItemSampler({ items, features }: MemberScorer) {
  const count = items.length / features;
  const blocks = Math.ceil(count / BLOCK);
  /** features × blocks: cumulative sums. */
  const sums = new Float64Array(features * blocks);
  for (let item = 0; item < count; item++) {
    const block = Math.floor(item / BLOCK);
    for (let k = 0; k < features; k++) sums[k * blocks + block] += items[item * features + k];
  }
  for (let k = 0; k < features; k++) {
    for (let b = 1; b < blocks; b++) sums[k * blocks + b] += sums[k * blocks + b - 1];
  }
  const mass = (k: number) => sums[(k + 1) * blocks - 1];
  return {
    mass,
    draw(k: number, random: Random): number {
      const first = k * blocks;
      const wanted = random.uniform() * mass(k);
      const block = Math.min(upperBound(sums, wanted, first, first + blocks) - first, blocks - 1);
      let left = wanted - (block === 0 ? 0 : sums[first + block - 1]);
      const last = Math.min((block + 1) * BLOCK, count) - 1;
      for (let item = block * BLOCK; item < last; item++) {
        left -= items[item * features + k];
        if (left < 0) return item;
      }
      return last;
    },
  };
}
