// How each kind of model scores users, behind one interface: products of factors, item weights, popularity, or a sum of them.
// Recommendation and evaluation both use it.

import type { SharedAttribute } from '../../attributes/shared-attributes.js';
import { throwIfAborted } from '../../errors.js';
import type { OwnItems } from '../../fit/fold-in/member-fold.js';
import type { ItemScores, Model, Ranker } from '../../fit/model.js';
import { lowerBound } from '../../math/csr.js';
import { allocate, inSharedMemory } from '../../math/memory.js';
import { once } from '../../math/once.js';
import type { TaskOptions } from '../../progress.js';
import { addScaled } from '../../solvers/combine-weights.js';
import { createListMaker, type ListMaker, type ListQuery } from '../../topn/list-maker.js';
import { addWeights, type SparseWeights, type TopLists } from '../../topn/query.js';
import { addUp, type Explanation, priorExplainer, type ScoreParts, scaled } from '../explain/explain.js';
import {
  type AddedItems,
  addedItems,
  knownOwn,
  neighbourExplanation,
  withAddedItems,
} from './added-items.js';
import { type MemberScorer, memberScorers, type UserFactors } from './member-scorer.js';
import { factorScorer, historyLists, joinedRows, type RowLists, rowLists, type Scorer } from './scorer.js';

/** A user ready to be scored. */
export interface UserScorer {
  /** The score of an item in float64. */
  score(item: number): number;
  /** The user in each member; undefined if the model has none. */
  readonly factors?: readonly UserFactors[];
  /** The part of the score that item weights add to that of the factors; undefined if they add nothing. */
  readonly weightScore?: ((item: number) => number) | undefined;
  /** A function that explains scores; it computes what depends on the user alone once. */
  explainer(): (item: number) => Explanation;
  /** The user's attributes that change the score of an item most, if the user is scored by attributes. */
  readonly attributes?: ((item: number) => SharedAttribute[]) | undefined;
}

interface BestQuery {
  readonly n: number;
  /** Items that are not listed, for each user. */
  readonly excluded: readonly ArrayLike<number>[];
  /** Bits of items that no user gets. */
  readonly without?: Uint32Array | undefined;
}

export interface ModelScorer {
  /** `row` is a user of the model, or undefined for a new user. */
  userScorer(row: number | undefined, own: OwnItems): UserScorer;
  /** The best items of each user, best first; ties go to the smaller index. */
  best(users: readonly UserScorer[], query: BestQuery, options: TaskOptions): Promise<Uint32Array[]>;
  /** Gives `take` each user's scores of all items, without the item weights of `factors`. `take` may change them. */
  eachRow(
    users: readonly UserScorer[],
    take: (user: number, scores: Float32Array) => void,
    options: TaskOptions,
  ): Promise<void>;
  /** Scores of many users for an evaluation. `history`: their items; `factors`: their rows in each member, if there are members. */
  manyScorer(history: RowLists, factors: readonly Float32Array[]): Scorer;
  readonly items: number;
  /** Undefined if scores are not products of factors. */
  readonly members: readonly MemberScorer[] | undefined;
  readonly factors: ScorerFactors | undefined;
  close(): Promise<void>;
}

/** The scores of all members as one matrix product, from which engines compute lists. */
export interface ScorerFactors {
  readonly features: number;
  /** Items × features; the same array each time. */
  items(): Float32Array;
  /** Item weights that are added to the products; the same arrays each time. */
  itemWeights(): SparseWeights | undefined;
  /** Writes the rows of users: users × features. */
  rows(users: readonly UserScorer[], out: Float32Array): void;
  /** The same as `eachRow` of the model, for rows. */
  eachRow: ListMaker['eachRow'];
  /** Lists for rows, on all threads; `history` has the items of each row. */
  lists(
    rows: Float32Array,
    query: ListQuery,
    history: () => RowLists,
    options: TaskOptions,
  ): Promise<TopLists>;
}

export function createModelScorer(model: Model): ModelScorer {
  const members = memberScorers(model);
  const added = addedItems(model);
  if (members) {
    const all = added ? members.map((member) => withAddedItems(member, added)) : members;
    return factorModelScorer(model, all, added);
  }
  const { items, scores } = model as Ranker;
  const users = scores.kind === 'items' ? itemUsers(scores, items.count) : popularityUsers(items.degree);
  return added
    ? rowModelScorer(added.total, withAddedUsers(users, added))
    : rowModelScorer(items.count, users);
}

/** Scores are sums of products of factors, which are one product over all features, and of item weights. */
function factorModelScorer(
  model: Model,
  members: readonly MemberScorer[],
  added: AddedItems | undefined,
): ModelScorer {
  type FactorScorer = UserScorer & { readonly factors: readonly UserFactors[]; readonly own: OwnItems };
  const features = members.reduce((sum, member) => sum + member.features, 0);
  const count = added?.total ?? model.items.count;
  const items = once(() =>
    members.length === 1
      ? members[0].items
      : joinedRows(members.map(({ items: table, features: K }) => ({ table, features: K }))),
  );
  const allWeights = once(() => {
    const [learned, ofAttributes] = [itemWeightsOf(model), added?.weights];
    return learned && ofAttributes ? addScaled(learned, ofAttributes, 1, count) : (learned ?? ofAttributes);
  });
  /** In memory that threads can share. */
  const itemWeights = once(() => {
    const found = allWeights();
    return (
      found && {
        offsets: inSharedMemory(found.offsets),
        targets: inSharedMemory(found.targets),
        weights: inSharedMemory(found.weights),
      }
    );
  });
  const byItemWeights = once(() => {
    const weights = allWeights();
    return weights && itemUsers({ kind: 'items', ...weights }, count);
  });
  let maker: ListMaker | undefined;
  const rows = (users: readonly UserScorer[], out: Float32Array) => {
    let at = 0;
    for (const user of users) {
      for (const [m, { means }] of (user as FactorScorer).factors.entries()) {
        const { share } = members[m];
        out.set(share === 1 ? means : means.map((mean) => share * mean), at);
        at += means.length;
      }
    }
  };
  const opened = () => {
    maker ??= createListMaker(items(), count, features);
    return maker;
  };
  const lists: ScorerFactors['lists'] = (users, query, history, options) => {
    const weights = itemWeights();
    return opened().byFactors(users, query, options, weights && { ...weights, history: history() });
  };
  return {
    items: count,
    members,
    factors: {
      ...{ features, items, rows, itemWeights, lists },
      eachRow: (table, take, options) => opened().eachRow(table, take, options),
    },
    userScorer(row, own): FactorScorer {
      const known = knownOwn(own, model.items.count);
      const factors = members.map((member) =>
        row === undefined ? member.foldOne(known.own) : member.known(row, known.own),
      );
      const direct = byItemWeights()?.(own);
      return {
        factors,
        own,
        score(item) {
          // In the order in which an explanation adds up.
          const products = factors.reduce((sum, one, m) => sum + members[m].share * one.score(item), 0);
          return direct ? products + direct.score(item) : products;
        },
        weightScore: direct?.score,
        explainer() {
          const explainers = factors.map((one) => one.explainer());
          const ofWeights = direct?.explainer();
          return (item) =>
            addUp([
              ...explainers.map((explain, m) => known.spread(scaled(explain(item), members[m].share))),
              ...(ofWeights ? [ofWeights(item)] : []),
            ]);
        },
      };
    },
    async best(users, { n, excluded, without }, options) {
      const table = allocate(Float32Array, users.length * features);
      rows(users, table);
      const history = () => historyLists(users.map((user) => (user as FactorScorer).own));
      const query = { n, excluded: rowLists(excluded), without };
      return bestOf(await lists(table, query, history, options), users.length);
    },
    eachRow(users, take, options) {
      const table = new Float32Array(users.length * features);
      rows(users, table);
      return opened().eachRow(table, take, options);
    },
    manyScorer(history, factors) {
      const weights = allWeights();
      const users = joinedRows(
        members.map(({ features: K, share }, m) => ({ table: factors[m], features: K, share })),
      );
      return {
        ...factorScorer(users, items(), features),
        itemWeights: weights && { ...weights, history },
      };
    },
    close: async () => maker?.close(),
  };
}

function bestOf({ positions, listed, counts }: TopLists, rows: number): Uint32Array[] {
  return Array.from({ length: rows }, (_, row) =>
    positions.subarray(row * listed, row * listed + counts[row]),
  );
}

export function itemWeightsOf(model: Model): SparseWeights | undefined {
  return model.type === 'ranker' && model.scores.kind === 'factors' ? model.scores.itemWeights : undefined;
}

/** A user whose scores are written row by row. */
interface RowScorer extends UserScorer {
  write(out: Float32Array): void;
}

/** Scores are sums of weights from the user's items. */
function itemUsers(scores: ItemScores, count: number): (own: OwnItems) => RowScorer {
  const toAll = new Map<number, number>();
  const weightToAll = (from: number) => {
    let sum = toAll.get(from);
    if (sum === undefined) {
      sum = weightsFrom(scores, from, count).reduce((total, weight) => total + weight, 0);
      toAll.set(from, sum);
    }
    return sum;
  };
  return (own) => {
    const write = (out: Float32Array) => {
      out.fill(0);
      for (let e = 0; e < own.items.length; e++) {
        addWeights(scores, own.items[e], out, count, own.weights?.[e]);
      }
    };
    const factor = (e: number) => own.weights?.[e] ?? 1;
    const weight = (from: number, to: number) => weightOf(scores, from, to, count);
    const parts = (item: number) => Float64Array.from(own.items, (from, e) => factor(e) * weight(from, item));
    const score = (item: number) => parts(item).reduce((sum, part) => sum + part, 0);
    return {
      write,
      score,
      explainer: () => {
        const features = new Float64Array(0);
        const partsOf = (items: Float64Array): ScoreParts => ({
          features,
          direct: items.reduce((sum, part) => sum + part, 0),
          items,
          prior: 0,
        });
        const all = partsOf(Float64Array.from(own.items, (from, e) => factor(e) * weightToAll(from)));
        return (item) => {
          const found = partsOf(parts(item));
          return { score: found.direct, ...found, all };
        };
      },
    };
  };
}

function weightsFrom({ offsets, weights }: ItemScores, from: number, count: number): Float32Array {
  return offsets
    ? weights.subarray(offsets[from], offsets[from + 1])
    : weights.subarray(from * count, (from + 1) * count);
}

function weightOf(
  { offsets, targets, weights }: ItemScores,
  from: number,
  to: number,
  count: number,
): number {
  if (!offsets || !targets) return weights[from * count + to];
  const end = offsets[from + 1];
  const at = lowerBound(targets, to, offsets[from], end);
  return at < end && targets[at] === to ? weights[at] : 0;
}

/** The same scores for every user: the degrees of the items. */
function popularityUsers(degree: Uint32Array): (own: OwnItems) => RowScorer {
  const score = (item: number) => degree[item];
  return (own) => ({
    write: (out) => out.set(degree),
    score,
    explainer: () => priorExplainer(score, own.items.length),
  });
}

/** The same with added items: sums of their neighbours' scores, and weights by attributes. */
function withAddedUsers(
  userOf: (own: OwnItems) => RowScorer,
  added: AddedItems,
): (own: OwnItems) => RowScorer {
  const { known, total, neighbours, weights } = added;
  const byWeights = itemUsers({ kind: 'items', ...weights }, total);
  return (own) => {
    const ofKnown = knownOwn(own, known);
    const inner = userOf(ofKnown.own);
    const direct = byWeights(own);
    const ofNeighbours = (item: number, start: number, score: (neighbour: number) => number) => {
      let sum = start;
      for (let e = neighbours.offsets[item - known]; e < neighbours.offsets[item - known + 1]; e++) {
        sum += neighbours.weights[e] * score(neighbours.targets[e]);
      }
      return sum;
    };
    const score = (item: number) =>
      item < known
        ? inner.score(item) + direct.score(item)
        : ofNeighbours(item, direct.score(item), inner.score);
    return {
      write(out) {
        inner.write(out.subarray(0, known));
        for (let item = known; item < total; item++) {
          out[item] = ofNeighbours(item, 0, (neighbour) => out[neighbour]);
        }
        for (let e = 0; e < own.items.length; e++) {
          addWeights(weights, own.items[e], out, undefined, own.weights?.[e]);
        }
      },
      score,
      explainer() {
        const explain = inner.explainer();
        const ofWeights = direct.explainer();
        return (item) => {
          const found = item < known ? explain(item) : neighbourExplanation(item, added, explain);
          return addUp([ofKnown.spread(found), ofWeights(item)]);
        };
      },
    };
  };
}

function rowModelScorer(count: number, userOf: (own: OwnItems) => RowScorer): ModelScorer {
  const maker = createListMaker(new Float32Array(0), count, 0);
  return {
    items: count,
    members: undefined,
    factors: undefined,
    userScorer: (_row, own) => userOf(own),
    async best(users, { n, excluded, without }, options) {
      const query = { n, excluded: rowLists(excluded), without };
      const write = (row: number, out: Float32Array) => (users[row] as RowScorer).write(out);
      return bestOf(await maker.byRows(users.length, write, query, options), users.length);
    },
    async eachRow(users, take, { signal }) {
      const row = new Float32Array(count);
      for (const [u, user] of users.entries()) {
        throwIfAborted(signal);
        (user as RowScorer).write(row);
        take(u, row);
      }
    },
    manyScorer({ offsets, values, weights }) {
      const all = new Float32Array(count);
      return {
        kind: 'rows',
        scores: (row, candidates, out) => {
          const [first, last] = [offsets[row], offsets[row + 1]];
          const items = values.subarray(first, last);
          userOf({ items, weights: weights?.subarray(first, last) }).write(all);
          for (let c = 0; c < candidates.length; c++) out[c] = all[candidates[c]];
        },
      };
    },
    close: () => maker.close(),
  };
}
