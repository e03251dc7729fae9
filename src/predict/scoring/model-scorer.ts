// How each kind of model comes to its scores, behind one interface: a judge gives an asker a place, and lists for many
// places at once.

import type { ItemScores, Model, Ranker } from '../../fit/model.js';
import { lowerBound } from '../../math/csr.js';
import { allocate, inSharedMemory } from '../../math/memory.js';
import type { TaskOptions } from '../../progress.js';
import { createListMaker, type ListMaker, type ListQuery } from '../../topn/list-maker.js';
import type { TopLists } from '../../topn/lists.js';
import { addWeights, type SparseWeights } from '../../topn/query.js';
import type { Explanation, OwnItems, ScoreParts } from '../explain/explain.js';
import { type MemberScorer, memberScorers, type UserFactors } from './member-scorer.js';
import { once } from './once.js';
import { type RowLists, rowLists, sumOfFactors } from './scorer.js';

/** An asker's place before a judge. */
export interface UserScorer {
  /** The score of an item in float64. */
  score(item: number): number;
  /** What of it is no product of the asker's features. */
  fixedScore(item: number): number;
  /** In each of the judge's voices; undefined where it has none. */
  readonly factors?: readonly UserFactors[];
  /** Shares out scores; what depends on the user alone is done once. */
  explainer(): (item: number) => Explanation;
}

/** What makes scores and lists for one model; made once, asked often. */
export interface ModelScorer {
  /** `row` is a user of the model, or undefined for someone new. */
  userScorer(row: number | undefined, own: OwnItems): UserScorer;
  lists(places: readonly UserScorer[], query: ListQuery, options: TaskOptions): Promise<TopLists>;
  /** Number of items. */
  readonly items: number;
  /** Of products of tables; undefined where scores come from something else. */
  readonly members: readonly MemberScorer[] | undefined;
  readonly factors: ScorerFactors | undefined;
  close(): Promise<void>;
}

/** Scores as one product, for whoever makes lists of it. */
export interface ScorerFactors {
  readonly features: number;
  /** Items × features; the same array each time. */
  items(): Float32Array;
  /** What is added to the products; the same arrays each time. */
  itemWeights(): SparseWeights | undefined;
  /** Writes the rows of places: places × features. */
  rows(places: readonly UserScorer[], out: Float32Array): void;
  /** Lists for rows, on the threads; `history` is what they have. */
  lists(
    rows: Float32Array,
    query: ListQuery,
    history: () => RowLists,
    options: TaskOptions,
  ): Promise<TopLists>;
}

/** What a user of the model has; nothing where the model does not carry it. */
export function ownItems({ seen }: Model, row: number): OwnItems & { readonly items: Uint32Array } {
  if (!seen) return { items: new Uint32Array(0), counts: undefined };
  const [first, last] = [seen.offsets[row], seen.offsets[row + 1]];
  return { items: seen.neighbors.subarray(first, last), counts: seen.counts?.subarray(first, last) };
}

export function createModelScorer(model: Model): ModelScorer {
  const voices = memberScorers(model);
  if (voices) return factorJudge(model, voices);
  const { scores } = model as Ranker;
  return scores.kind === 'items' ? itemJudge(model as Ranker, scores) : popularityJudge(model as Ranker);
}

/** Scores are sums of products of tables, one product over all features side by side, and of weights beside them. */
function factorJudge(model: Model, voices: readonly MemberScorer[]): ModelScorer {
  type FactorScorer = UserScorer & { readonly factors: readonly UserFactors[]; readonly own: OwnItems };
  const features = voices.reduce((sum, voice) => sum + voice.features, 0);
  const { count } = model.items;
  const items = once(() => (voices.length === 1 ? voices[0].items : joined(voices)));
  const itemWeights = once(() => sharedWeights(model));
  const fromItems = once(() => {
    const weights = itemWeightsOf(model);
    return weights && itemPlace({ kind: 'items', ...weights }, count);
  });
  let maker: ListMaker | undefined;
  const open = () => {
    maker ??= createListMaker(items(), count, features);
    return maker;
  };
  const rows = (places: readonly UserScorer[], out: Float32Array) => {
    let at = 0;
    for (const place of places) {
      for (const [v, { means }] of (place as FactorScorer).factors.entries()) {
        const { share } = voices[v];
        out.set(share === 1 ? means : means.map((mean) => share * mean), at);
        at += means.length;
      }
    }
  };
  const listsOf: ScorerFactors['lists'] = (users, query, history, options) => {
    const weights = itemWeights();
    return open().byFactors(users, query, options, weights && { ...weights, history: history() });
  };
  return {
    items: count,
    members: voices,
    factors: { features, items, rows, itemWeights, lists: listsOf },
    userScorer(row, own): FactorScorer {
      const seats = voices.map((voice) => (row === undefined ? voice.fresh(own) : voice.known(row, own)));
      const direct = fromItems()?.(own);
      return {
        factors: seats,
        own,
        score(item) {
          // In the order in which an explanation adds up.
          const products = seats.reduce((sum, seat, v) => sum + voices[v].share * seat.score(item), 0);
          return direct ? products + direct.score(item) : products;
        },
        fixedScore: (item) => direct?.score(item) ?? 0,
        explainer() {
          const explainers = seats.map((seat) => seat.explainer());
          const ofItems = direct?.explainer();
          return (item) =>
            addUp([
              ...explainers.map((explain, v) => scaled(explain(item), voices[v].share)),
              ...(ofItems ? [ofItems(item)] : []),
            ]);
        },
      };
    },
    lists(places, query, options) {
      const users = allocate(Float32Array, places.length * features);
      rows(places, users);
      const history = () => rowLists(places.map((place) => (place as FactorScorer).own.items));
      return listsOf(users, query, history, options);
    },
    close: async () => maker?.close(),
  };
}

function itemWeightsOf(model: Model): SparseWeights | undefined {
  return model.type === 'ranker' && model.scores.kind === 'factors' ? model.scores.itemWeights : undefined;
}

/** The weights where threads can share them. */
function sharedWeights(model: Model): SparseWeights | undefined {
  const found = itemWeightsOf(model);
  return (
    found && {
      offsets: inSharedMemory(found.offsets),
      targets: inSharedMemory(found.targets),
      weights: inSharedMemory(found.weights),
    }
  );
}

function joined(voices: readonly MemberScorer[]): Float32Array {
  return sumOfFactors(voices.map(({ items, features }) => ({ users: items, items, features }))).items;
}

/** An explanation of so many times the score. */
function scaled(explanation: Explanation, share: number): Explanation {
  if (share === 1) return explanation;
  const times = (values: Float64Array) => values.map((value) => share * value);
  const parts = ({ features, direct, items, prior }: ScoreParts): ScoreParts => ({
    features: times(features),
    direct: share * direct,
    items: times(items),
    prior: share * prior,
  });
  return { score: share * explanation.score, ...parts(explanation), all: parts(explanation.all) };
}

function addUp(parts: readonly Explanation[]): Explanation {
  if (parts.length === 1) return parts[0];
  return {
    score: parts.reduce((sum, part) => sum + part.score, 0),
    ...addParts(parts),
    all: addParts(parts.map((part) => part.all)),
  };
}

function addParts(parts: readonly ScoreParts[]): ScoreParts {
  const features = new Float64Array(parts.reduce((sum, part) => sum + part.features.length, 0));
  let at = 0;
  for (const part of parts) {
    features.set(part.features, at);
    at += part.features.length;
  }
  return {
    features,
    direct: parts.reduce((sum, part) => sum + part.direct, 0),
    items: parts[0].items.map((_, e) => parts.reduce((sum, part) => sum + part.items[e], 0)),
    prior: parts.reduce((sum, part) => sum + part.prior, 0),
  };
}

/** Scores are sums of weights from what the user has. */
function itemJudge(model: Ranker, scores: ItemScores): ModelScorer {
  const { count } = model.items;
  return rowJudge(count, itemPlace(scores, count));
}

function itemPlace(scores: ItemScores, count: number): (own: OwnItems) => RowScorer {
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
    const write = (out: Float32Array | Float64Array) => {
      out.fill(0);
      for (let e = 0; e < own.items.length; e++) addWeights(scores, own.items[e], out, count);
    };
    const weight = (from: number, to: number) => weightOf(scores, from, to, count);
    const parts = (item: number) => Float64Array.from(own.items, (from) => weight(from, item));
    const score = (item: number) => parts(item).reduce((sum, part) => sum + part, 0);
    return {
      write,
      score,
      fixedScore: score,
      explainer: () => {
        const features = new Float64Array(0);
        const shareOut = (items: Float64Array): ScoreParts => ({
          features,
          direct: items.reduce((sum, part) => sum + part, 0),
          items,
          prior: 0,
        });
        const all = shareOut(Float64Array.from(own.items, weightToAll));
        return (item) => {
          const found = shareOut(parts(item));
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

/** The same for everyone. */
function popularityJudge({ items }: Ranker): ModelScorer {
  return rowJudge(items.count, (own) => ({
    write: (out) => out.set(items.degree),
    score: (item) => items.degree[item],
    fixedScore: (item) => items.degree[item],
    explainer: () => (item) => {
      const score = items.degree[item];
      const parts = (prior: number): ScoreParts => ({
        features: new Float64Array(0),
        direct: 0,
        items: new Float64Array(own.items.length),
        prior,
      });
      return { score, ...parts(score), all: parts(1) };
    },
  }));
}

interface RowScorer extends UserScorer {
  write(out: Float32Array): void;
}

function rowJudge(count: number, place: (own: OwnItems) => RowScorer): ModelScorer {
  const maker = createListMaker(new Float32Array(0), count, 0);
  return {
    items: count,
    members: undefined,
    factors: undefined,
    userScorer: (_row, own) => place(own),
    lists: (places, query, options) =>
      maker.byRows((row, out) => (places[row] as RowScorer).write(out), query, options),
    close: () => maker.close(),
  };
}
