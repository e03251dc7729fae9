// Models whose scores are products of two tables, as a recommender sees them: a *voice* is one fit, and scores add up
// over voices. A *seat* is a user's place in a voice: known from the fit, or made from a few items.

import { ACTIVITY_FLOOR } from '../../engine/engine.js';
import { eligibleMass, type FoldedVertex, foldBase, foldVertex } from '../../fit/fold-in/fold-in.js';
import { hierarchicalFold, poissonFold } from '../../fit/fold-in/member-fold.js';
import {
  columnSums,
  type Model,
  meanTable,
  type Posterior,
  type PosteriorModel,
  type RankerMember,
} from '../../fit/model.js';
import { sumOfProducts } from '../../math/products.js';
import type { Taste } from '../explain/confidence.js';
import {
  type Explanation,
  expectedRate,
  explainer,
  type OwnItems,
  posteriorExplainer,
} from '../explain/explain.js';
import { leastSquaresScorer } from './least-squares-scorer.js';
import { once } from './once.js';

type PoissonMember = RankerMember & { readonly fold: { readonly kind: 'poisson' } };
type HierarchicalMember = RankerMember & { readonly fold: { readonly kind: 'hierarchical' } };

/** A user's place in a voice. */
export interface UserFactors {
  /** The row whose products with the items' rows are the scores. */
  readonly means: Float32Array;
  /** The score of an item in float64. */
  score(item: number): number;
  /** Shares out scores; what depends on the user alone is done once. */
  explainer(): (item: number) => Explanation;
  /** The user's Gammas; undefined where the fit has none. */
  taste(): Taste | undefined;
}

/** One of the fits that a model's scores are the sum of. */
export interface MemberScorer {
  readonly features: number;
  /** What its scores are multiplied by in the sum. */
  readonly share: number;
  /** Mean activities of the items: items × features. */
  readonly items: Float32Array;
  known(row: number, own: OwnItems): UserFactors;
  fresh(own: OwnItems): UserFactors;
}

/** A posterior has one voice, a ranker by factors one for each member; other rankers have none. */
export function memberScorers(model: Model): readonly MemberScorer[] | undefined {
  if (model.type === 'posterior') return [posteriorVoice(model)];
  const { scores, multigraph } = model;
  if (scores.kind !== 'factors') return undefined;
  return scores.members.map(({ fold, share = 1, ...member }) => {
    if (fold.kind === 'least-squares') return { ...leastSquaresScorer({ ...member, fold }), share };
    const folding =
      fold.kind === 'poisson'
        ? poissonFolding({ ...member, fold }, multigraph)
        : hierarchicalFolding({ ...member, fold });
    return { ...memberVoice(member, folding), share };
  });
}

function posteriorVoice(model: PosteriorModel): MemberScorer {
  const { features } = model;
  // As in an evaluation: a new user's items are known ones, so only these count as what they could have met.
  const otherMass = once(() => eligibleMass(model, 'items', { unseenShare: 0 }));
  const seat = (
    users: Posterior,
    row: number,
    own: OwnItems,
    activity: 'geometric' | 'mean',
  ): UserFactors => ({
    means: rowMeans(users, row, features),
    score: (item) => expectedRate(model, users, row, item),
    explainer: () => posteriorExplainer(model, { users, row, own, activity }),
    taste: () => ({
      weightShape: users.weightShape[row],
      weightRate: users.weightRate[row],
      featureShape: users.featureShape.subarray(row * features, (row + 1) * features),
      featureRate: users.featureRate.subarray(row * features, (row + 1) * features),
    }),
  });
  const base = foldBase(model, 'users');
  return {
    features,
    share: 1,
    items: meanTable(model.items, features),
    known: (row, own) => seat(model.users, row, own, 'geometric'),
    fresh(own) {
      const { counts } = own;
      const vertex = foldVertex(base, own.items, { counts, otherMass: otherMass(), activity: 'mean' });
      const users: Posterior = {
        count: 1,
        weightShape: Float32Array.of(vertex.weightShape),
        weightRate: Float32Array.of(vertex.weightRate),
        featureShape: Float32Array.from(vertex.featureShape),
        featureRate: Float32Array.from(vertex.featureRate),
      };
      return seat(users, 0, own, 'mean');
    },
  };
}

/** How a member makes a user of a few items, with means in the edge pass throughout. */
interface Folding {
  /** Whether the law is one of counts, without which an edge counts 1; else of edges that are there or not. */
  readonly multigraph: boolean;
  readonly priorShape: number;
  /** What of a user's items counts. */
  seen(own: OwnItems): OwnItems;
  fold(own: OwnItems): FoldedVertex;
}

function poissonFolding(member: PoissonMember, multigraph: boolean): Folding {
  const { foldOne } = poissonFold(member, multigraph);
  return { multigraph, priorShape: member.fold.hyper.users.shape, seen: (own) => own, fold: foldOne };
}

function hierarchicalFolding(member: HierarchicalMember): Folding {
  const { foldOne } = hierarchicalFold(member);
  return { multigraph: true, priorShape: member.fold.shape, seen: ({ items }) => ({ items }), fold: foldOne };
}

function memberVoice(
  member: Omit<RankerMember, 'fold'>,
  { fold, seen, multigraph, priorShape }: Folding,
): Omit<MemberScorer, 'share'> {
  const { features: K, items, users } = member;
  const allMass = once(() => columnSums(items, K));
  const seat = (means: Float32Array, own: OwnItems): UserFactors => {
    const parts = (item: number) => {
      const products = new Float64Array(K);
      for (let k = 0; k < K; k++) products[k] = means[k] * items[item * K + k];
      return products;
    };
    return {
      means,
      score: (item) => sumOfProducts(means, items, item * K, K),
      explainer() {
        // A ranker keeps means alone; the shapes behind them come again from the user's items.
        const { featureShape, featureRate, weightShape, weightRate } = fold(own);
        const weight = weightShape / weightRate;
        return explainer({
          multigraph,
          priorShape,
          shape: featureShape,
          activity: featureShape.map((shape, k) =>
            Math.max(ACTIVITY_FLOOR, (weight * shape) / featureRate[k]),
          ),
          own: seen(own),
          writeItem(item, out) {
            for (let k = 0; k < K; k++) out[k] = Math.max(ACTIVITY_FLOOR, items[item * K + k]);
          },
          parts,
          allParts: () => allMass().map((mass, k) => means[k] * mass),
        });
      },
      taste: () => fold(own),
    };
  };
  const fresh = (own: OwnItems) => {
    const { featureShape, featureRate, weightShape, weightRate } = fold(own);
    const weight = weightShape / weightRate;
    return seat(
      Float32Array.from(featureShape, (shape, k) => (weight * shape) / featureRate[k]),
      own,
    );
  };
  return {
    features: K,
    items,
    known: (row, own) => (users ? seat(users.subarray(row * K, (row + 1) * K), own) : fresh(own)),
    fresh,
  };
}

/** E[weight]·E[feature] of one row. */
function rowMeans(posterior: Posterior, row: number, features: number): Float32Array {
  const weight = posterior.weightShape[row] / posterior.weightRate[row];
  const out = new Float32Array(features);
  for (let k = 0; k < features; k++) {
    const at = row * features + k;
    out[k] = (weight * posterior.featureShape[at]) / posterior.featureRate[at];
  }
  return out;
}
