// Items for a user: one that the model knows, or a new one who is folded in from a few items.

import { topByFactors } from '../engine/cpu/rank-factors.js';
import { InputError, throwIfAborted } from '../errors.js';
import { eligibleMass, foldInOne } from '../fit/fold-in.js';
import { type Model, meanTable, memberModels, type Posterior } from '../fit/model.js';
import { allocate } from '../math/memory.js';
import type { TaskOptions } from '../progress.js';
import { shown } from '../text/untrusted.js';
import { whole } from '../validate.js';
import { type Explanation, expectedRate, explainer, type OwnItems } from './explain.js';
import { factorScorer, type RowLists, sumOfFactors } from './rank.js';

type Id = string | number;

/** Who asks: a user of the model, by id, or someone new, by items (with counts, for a multigraph). */
export type Asker =
  | { readonly user: Id }
  | { readonly likes: readonly Id[]; readonly counts?: readonly number[] | undefined };

export interface RecommendOptions extends TaskOptions {
  /** Items to list; fewer only where fewer are left. Default 20. */
  readonly n?: number | undefined;
  /** Ids that are not to be listed. Ids that the model does not know could not be listed anyway. */
  readonly exclude?: readonly Id[] | undefined;
  /** List also what the user already has. Default false. */
  readonly includeSeen?: boolean | undefined;
  /** Say how each score comes about. Default false. */
  readonly explain?: boolean | undefined;
  /** Liked items that the model does not know are left out and reported here; without it they are an InputError. */
  readonly onUnknown?: ((ids: readonly Id[], asker: number) => void) | undefined;
}

export interface Recommendation {
  readonly item: string;
  /** The expected rate of the edge (section 8); an added-up model gives the sum of its members'. */
  readonly score: number;
  readonly explanation?: RecommendationShares;
}

/** Parts of a score. Features add up to it, and so do the user's items with the prior. */
export interface RecommendationShares {
  /** Features of the members one after the other. */
  readonly features: readonly number[];
  /** The user's own items, largest part first. */
  readonly items: readonly { readonly item: string; readonly share: number }[];
  /** What the user would have without any item. */
  readonly prior: number;
}

/** The best items for one asker, best first; ties go to the item that the model names first. */
export async function recommend(
  model: Model,
  asker: Asker,
  options: RecommendOptions = {},
): Promise<Recommendation[]> {
  return (await recommendMany(model, [asker], options))[0];
}

/** The same for many at once. */
export async function recommendMany(
  model: Model,
  askers: readonly Asker[],
  options: RecommendOptions = {},
): Promise<Recommendation[][]> {
  const { n = 20, includeSeen = false } = options;
  whole('n', n, 1);
  if (askers.length === 0) return [];
  const members = memberModels(model);
  const someNew = askers.some((asker) => 'likes' in asker);
  // As in an evaluation: a new user's items are known ones, so only these count as what they could have met.
  const masses = someNew ? members.map((member) => eligibleMass(member, 'items', { unseenShare: 0 })) : [];
  const known = askers.map((asker, a) => {
    if (a % 64 === 0) throwIfAborted(options.signal);
    return place(model, members, masses, asker, a, options);
  });
  const excluded = excludedItems(model, known, options.exclude ?? [], includeSeen);
  const tables = sumOfFactors(
    members.map((member, m) => {
      const rows = allocate(Float32Array, known.length * member.features);
      for (const [r, asker] of known.entries()) {
        writeMeans(
          asker.posteriors[m],
          asker.row,
          rows.subarray(r * member.features, (r + 1) * member.features),
        );
      }
      return factorScorer(rows, meanTable(member.items, member.features), member.features);
    }),
  );
  const everything = Uint32Array.from({ length: model.items.count }, (_, item) => item);
  const rows = Uint32Array.from({ length: askers.length }, (_, row) => row);
  const lists = await topByFactors(tables, everything, rows, n, excluded, options);
  return known.map((asker, row) => {
    if (row % 64 === 0) throwIfAborted(options.signal);
    const explainers = options.explain
      ? members.map((member, m) => explainer(member, asker.posteriors[m], asker.row, asker.own))
      : undefined;
    const first = row * lists.listed;
    return Array.from(lists.positions.subarray(first, first + lists.counts[row]), (item) => {
      const name = model.items.ids.at(item);
      if (!explainers) {
        // In float64, so that the same score comes out with and without an explanation.
        const scores = members.map((member, m) => expectedRate(member, asker.posteriors[m], asker.row, item));
        return { item: name, score: scores.reduce((sum, score) => sum + score, 0) };
      }
      const parts = explainers.map((explain) => explain(item));
      const score = parts.reduce((sum, part) => sum + part.score, 0);
      return { item: name, score, explanation: shares(model, asker.own, parts) };
    });
  });
}

/** An asker's row of a posterior for each member, and the items they have. */
interface Placed {
  readonly posteriors: readonly Posterior[];
  readonly row: number;
  readonly own: OwnItems & { readonly items: Uint32Array };
}

function place(
  model: Model,
  members: readonly Model[],
  masses: readonly Float64Array[],
  asker: Asker,
  at: number,
  options: RecommendOptions,
): Placed {
  if ('user' in asker) {
    const row = model.users.ids.find(asker.user);
    if (row < 0) {
      throw new InputError(
        `user ${shown(asker.user)} is not in the model (${model.users.count} users, the first is ${shown(model.users.ids.at(0))}); ` +
          'for a new user, name items with likes',
      );
    }
    const { seen } = model;
    if (!seen && !options.includeSeen) {
      throw new InputError(
        'the model does not carry which items its users have: fit it again, or ask to include seen items',
      );
    }
    const [first, last] = seen ? [seen.offsets[row], seen.offsets[row + 1]] : [0, 0];
    const own = {
      items: seen ? seen.neighbors.subarray(first, last) : new Uint32Array(0),
      counts: seen?.counts?.subarray(first, last),
    };
    return { posteriors: members.map((member) => member.users), row, own };
  }
  const own = likedItems(model, asker, at, options);
  const posteriors = members.map((member, m) => {
    const vertex = foldInOne(member, own.items, {
      ...(own.counts && { counts: own.counts }),
      otherMass: masses[m],
      activity: 'mean',
    });
    return {
      count: 1,
      weightShape: Float32Array.of(vertex.weightShape),
      weightRate: Float32Array.of(vertex.weightRate),
      featureShape: Float32Array.from(vertex.featureShape),
      featureRate: Float32Array.from(vertex.featureRate),
    };
  });
  return { posteriors, row: 0, own: { ...own, activity: 'mean' } };
}

/** Liked items by index, each once, counts added. */
function likedItems(
  model: Model,
  { likes, counts }: Extract<Asker, { likes: unknown }>,
  at: number,
  { onUnknown }: RecommendOptions,
): { items: Uint32Array; counts: Uint32Array | undefined } {
  if (counts && counts.length !== likes.length) {
    throw new InputError(`${counts.length} counts for ${likes.length} liked items; give one for each`);
  }
  const liked = new Map<number, number>();
  const unknown: Id[] = [];
  for (const [i, id] of likes.entries()) {
    const item = model.items.ids.find(id);
    if (item < 0) unknown.push(id);
    else liked.set(item, (liked.get(item) ?? 0) + (counts?.[i] ?? 1));
  }
  if (unknown.length > 0) {
    if (!onUnknown) {
      throw new InputError(
        `${unknown.length === 1 ? 'item' : 'items'} ${unknown
          .slice(0, 5)
          .map((id) => shown(id))
          .join(', ')}${unknown.length > 5 ? ', …' : ''}: ` +
          `not among the ${model.items.count} items of the model; leave out what it never saw`,
      );
    }
    onUnknown(unknown, at);
  }
  if (liked.size === 0) {
    throw new InputError('no liked item is known to the model: name at least one of its items');
  }
  const items = Uint32Array.from(liked.keys()).sort();
  return { items, counts: model.multigraph ? items.map((item) => liked.get(item)!) : undefined };
}

function excludedItems(
  model: Model,
  askers: readonly Placed[],
  exclude: readonly Id[],
  includeSeen: boolean,
): RowLists | undefined {
  const always = exclude.map((id) => model.items.ids.find(id)).filter((item) => item >= 0);
  if (includeSeen && always.length === 0) return undefined;
  const offsets = new Uint32Array(askers.length + 1);
  const lists = askers.map(({ own }, a) => {
    const list = [...always, ...(includeSeen ? [] : own.items)];
    offsets[a + 1] = offsets[a] + list.length;
    return list;
  });
  return { offsets, values: Uint32Array.from(lists.flat()) };
}

/** E[weight]·E[feature] of one row. */
function writeMeans(posterior: Posterior, row: number, out: Float32Array): void {
  const weight = posterior.weightShape[row] / posterior.weightRate[row];
  for (let k = 0; k < out.length; k++) {
    const at = row * out.length + k;
    out[k] = (weight * posterior.featureShape[at]) / posterior.featureRate[at];
  }
}

function shares(model: Model, own: Placed['own'], parts: readonly Explanation[]): RecommendationShares {
  const byItem = Array.from(own.items, (item, e) => ({
    item: model.items.ids.at(item),
    share: parts.reduce((sum, part) => sum + part.items[e], 0),
  }));
  byItem.sort((a, b) => b.share - a.share);
  return {
    features: parts.flatMap((part) => Array.from(part.features)),
    items: byItem,
    prior: parts.reduce((sum, part) => sum + part.prior, 0),
  };
}
