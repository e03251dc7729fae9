// How one fit scores users, for every kind of fit: its scores are products of two tables. A posterior has one fit, a ranker
// has one for each member, and their scores add up. Recommendation folds users in one by one, evaluation many at a time.

import { ACTIVITY_FLOOR, type Activity, singlePrecision } from '../../engine/engine.js';
import { eligibleMass, foldBase, foldVertex } from '../../fit/fold-in/fold-in.js';
import {
  type FoldManyOptions,
  type GammaFold,
  type HistoryRows,
  type LeastSquaresFold,
  memberFold,
  type OwnItems,
} from '../../fit/fold-in/member-fold.js';
import {
  columnSums,
  type Model,
  meanTable,
  type Posterior,
  type PosteriorModel,
  type RankerMember,
} from '../../fit/model.js';
import { once } from '../../math/once.js';
import { sumOfProducts } from '../../math/products.js';
import { type Explanation, expectedRate, explainer, posteriorExplainer } from '../explain/explain.js';

/** The Gammas of a user in one fit. */
export interface UserPosterior {
  readonly weightShape: number;
  readonly weightRate: number;
  readonly featureShape: ArrayLike<number>;
  readonly featureRate: ArrayLike<number>;
}

/** A user in one fit. */
export interface UserFactors {
  /** The row whose products with the items' rows are the scores. */
  readonly means: Float32Array;
  /** The score of an item in float64. */
  score(item: number): number;
  /** A function that explains scores; it computes what depends on the user alone once. */
  explainer(): (item: number) => Explanation;
  /** Undefined if the fit has no posterior (least squares). */
  posterior(): UserPosterior | undefined;
}

/** One of the fits whose scores a model adds up. */
export interface MemberScorer {
  readonly features: number;
  /** Factor of its scores in the sum. */
  readonly share: number;
  /** Mean activities of the items: items × features. */
  readonly items: Float32Array;
  /** Mean activities of the fit's own users; undefined if they are not stored. */
  readonly users: Float32Array | undefined;
  /** A user of the model. */
  known(row: number, own: OwnItems): UserFactors;
  /** A new user, folded in from a few items. */
  foldOne(own: OwnItems): UserFactors;
  /** Mean activities of many new users: rows × features. Undefined for a posterior, whose users have a posterior each. */
  foldMany?(rows: HistoryRows, options?: FoldManyOptions): Promise<Float32Array>;
}

/** The fits of a model; undefined for rankers whose scores are not products of factors. */
export function memberScorers(model: Model): readonly MemberScorer[] | undefined {
  if (model.type === 'posterior') return [posteriorScorer(model)];
  const { scores, multigraph } = model;
  if (scores.kind !== 'factors') return undefined;
  return scores.members.map((member) => memberScorer(member, multigraph));
}

function posteriorScorer(model: PosteriorModel): MemberScorer {
  const { features } = model;
  // As in an evaluation: a new user's items are in the model, so the user could have met only items of the model.
  const otherMass = once(() => eligibleMass(model, 'items', { unseenShare: 0 }));
  const factorsOf = (users: Posterior, row: number, own: OwnItems, activity: Activity): UserFactors => {
    const posterior = {
      weightShape: users.weightShape[row],
      weightRate: users.weightRate[row],
      featureShape: users.featureShape.subarray(row * features, (row + 1) * features),
      featureRate: users.featureRate.subarray(row * features, (row + 1) * features),
    };
    return {
      means: Float32Array.from(meansOf(posterior)),
      score: (item) => expectedRate(model, users, row, item),
      explainer: () => posteriorExplainer(model, users, row, own, activity),
      posterior: () => posterior,
    };
  };
  const base = foldBase(model, 'users');
  return {
    features,
    share: 1,
    items: meanTable(model.items, features),
    users: undefined,
    known: (row, own) => factorsOf(model.users, row, own, 'geometric'),
    foldOne(own) {
      const { counts } = own;
      const vertex = foldVertex(base, own.items, { counts, otherMass: otherMass() });
      const [weightShape, weightRate] = [
        Float32Array.of(vertex.weightShape),
        Float32Array.of(vertex.weightRate),
      ];
      const users = { count: 1, ...singlePrecision({ ...vertex, weightShape, weightRate }) };
      return factorsOf(users, 0, own, 'mean');
    },
  };
}

function memberScorer(member: RankerMember, multigraph: boolean): MemberScorer {
  const { features: K, items, users, share = 1 } = member;
  const fold = memberFold(member, multigraph);
  const kind = 'system' in fold ? leastSquaresUsers(member, fold) : gammaUsers(member, fold);
  const foldOne = (own: OwnItems) => kind.user(kind.row(own), own);
  return {
    features: K,
    share,
    items,
    users,
    known: (row, own) => (users ? kind.user(users.subarray(row * K, (row + 1) * K), own) : foldOne(own)),
    foldOne,
    foldMany: fold.foldMany,
  };
}

/** A kind of member: how a user's row comes from items, and what it says. */
interface MemberUsers {
  row(own: OwnItems): Float32Array;
  user(means: Float32Array, own: OwnItems): UserFactors;
}

/** Members with Gamma factors fold users in by half-steps, whose edge passes use means. */
function gammaUsers(
  { features: K, items }: RankerMember,
  { foldOne, history, multigraph, priorShape }: GammaFold,
): MemberUsers {
  const allMass = once(() => columnSums(items, K));
  return {
    row: (own) => Float32Array.from(meansOf(foldOne(own))),
    user: (means, own) => ({
      means,
      score: (item) => sumOfProducts(means, items, item * K, K),
      explainer() {
        // A ranker stores means alone; the shapes behind them are computed again from the user's items.
        const folded = foldOne(own);
        return explainer({
          multigraph,
          priorShape,
          shape: folded.featureShape,
          activity: meansOf(folded).map((mean) => Math.max(ACTIVITY_FLOOR, mean)),
          own: history(own),
          writeItem(item, out) {
            for (let k = 0; k < K; k++) out[k] = Math.max(ACTIVITY_FLOOR, items[item * K + k]);
          },
          parts: (item) => Float64Array.from(means, (mean, k) => mean * items[item * K + k]),
          allParts: () => allMass().map((mass, k) => means[k] * mass),
        });
      },
      posterior: () => foldOne(own),
    }),
  };
}

/** fit/fold-in/least-squares-fold.ts has the system A x = Σ y_own that a user's row solves. */
function leastSquaresUsers({ features: K, items }: RankerMember, { system }: LeastSquaresFold): MemberUsers {
  const mass = once(() => columnSums(items, K));
  const product = (row: ArrayLike<number>, item: number) => sumOfProducts(row, items, item * K, K);
  return {
    row: (own) => Float32Array.from(system.row(own.items, own.weights)),
    user: (means, own) => ({
      means,
      score: (item) => product(means, item),
      posterior: () => undefined,
      explainer() {
        const solve = system.solver(own.items, own.weights);
        const weightOf = (e: number) => own.weights?.[e] ?? 1;
        const towardsAll = solve(mass());
        const all = {
          features: Float64Array.from(means, (mean, k) => mean * mass()[k]),
          direct: 0,
          items: Float64Array.from(own.items, (from, e) => weightOf(e) * product(towardsAll, from)),
          prior: 0,
        };
        return (item): Explanation => {
          // x = A⁻¹ Σ w y_own, so an own item contributes w y_own · A⁻¹ y to x·y.
          const towards = solve(items.subarray(item * K, (item + 1) * K));
          const score = product(means, item);
          const byItem = Float64Array.from(own.items, (from, e) => weightOf(e) * product(towards, from));
          const sum = byItem.reduce((a, b) => a + b, 0);
          // The stored row is rounded; contributions are scaled to the score that it gives.
          const scale = sum === 0 ? 0 : score / sum;
          return {
            score,
            features: Float64Array.from(means, (mean, k) => mean * items[item * K + k]),
            direct: 0,
            items: byItem.map((part) => part * scale),
            prior: sum === 0 ? score : 0,
            all,
          };
        };
      },
    }),
  };
}

/** E[weight]·E[feature] of a user. */
function meansOf({ featureShape, featureRate, weightShape, weightRate }: UserPosterior): Float64Array {
  const weight = weightShape / weightRate;
  return Float64Array.from(featureShape, (shape, k) => (weight * shape) / featureRate[k]);
}
