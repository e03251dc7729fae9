// A fit that starts from a previous model, for data that have grown since. Vertices are matched by id. New vertices start from noise
// around their degree, and the first half-steps fold them in. Vertices that are no longer in the data are dropped.

import type { TableValues } from '../../engine/engine.js';
import {
  type BipartiteGraph,
  type BySide,
  bySide,
  type SideName,
  type WeighedSide,
} from '../../graph/graph.js';
import { METHODS, type Method } from '../../options/commands/fit.js';
import { option, optionError, show } from '../../options/error.js';
import { grouped } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import {
  type Model,
  modelHyper,
  needPosterior,
  type PosteriorModel,
  type RankerMember,
  type Vertices,
} from '../model.js';
import type { AscentOptions, FitOptions, GibbsFitOptions, Learnable } from '../options.js';
import type { BothHyper } from './bound.js';
import type { MatchedTaus } from './hyper.js';
import { emptyTable, rowTotal, startRow, vertexStart } from './start.js';

/** How the vertices of one side match those of the previous model. */
export interface MatchCounts {
  /** In both. */
  readonly matched: number;
  /** In the data alone. */
  readonly new: number;
  /** In the model alone. */
  readonly dropped: number;
}

/** How the vertices of both sides match those of the previous model. */
export type PreviousReport = BySide<MatchCounts>;

/** Options inherited from the previous fit unless given. Those about time and engine are not inherited. */
const INHERITED = [
  'features',
  'model',
  'counts',
  'learn',
  'sizes',
  'users',
  'items',
  'folds',
  'average',
  'blend',
  'halfLife',
];

/** The options of a fit that starts from a model: the given ones, completed by those of the model's fit. */
export function successorOptions(given: FitOptions & { readonly from: Model }): FitOptions {
  const { from } = given;
  const method = methodOf(from);
  const { method: asked, features } = { ...given } as Readonly<Record<string, unknown>>;
  if (asked !== undefined && asked !== method) {
    throw optionError`${option('from')}: the previous model was fitted by ${option('method')} ${method}, and another method cannot start from it; leave ${option('method')} out, or leave ${option('from')} out`;
  }
  const previous = from.provenance.options;
  if (features !== undefined && features !== previous.features) {
    throw optionError`${option('from')}: the previous model has ${show(previous.features)} features, not ${show(features)}; leave ${option('features')} out, or start without ${option('from')}`;
  }
  const { average } = given as { readonly average?: unknown };
  if (typeof average === 'number' && average > (previous.average as number)) {
    throw optionError`${option('from')}: the previous model adds the scores of ${show(previous.average)} fits, not ${show(average)}; leave ${option('average')} out, or start without ${option('from')}`;
  }
  const kept = INHERITED.filter((name) => name in METHODS[method] && previous[name] !== undefined);
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  const both = {
    ...Object.fromEntries(kept.map((name) => [name, previous[name]])),
    ...Object.fromEntries(said),
  };
  const sides = bySide((side) => ({ ...inheritedHyper(from, side), ...given[side] }));
  return { ...both, ...sides, method } as FitOptions;
}

/** The inherited hyperparameters: all of a ranker, which learns none; of a posterior those that were given. */
function inheritedHyper(from: Model, side: SideName): object {
  if (from.type === 'posterior') return (from.provenance.options[side] as object | undefined) ?? {};
  const { size: _, ...hyper } = modelHyper(from)![side];
  return hyper;
}

function methodOf(from: Model): Method {
  if (from?.type === 'posterior') return 'ascent';
  if (from?.type !== 'ranker')
    throw optionError`${option('from')}: expected a model, as fit or loadModel returns it`;
  if (from.method === 'ranking') return 'ranking';
  throw optionError`${option('from')}: a baseline (${from.method}) has nothing to start from, because it is computed in one pass; leave ${option('from')} out`;
}

/** Matches the vertices of the data with those of the model; refuses a model that knows no item of the data. */
export function matchVertices(
  graph: BipartiteGraph,
  from: BySide<Pick<Vertices, 'ids' | 'count'>>,
): { readonly rows: BySide<Int32Array>; readonly report: PreviousReport } {
  const rows = bySide((side) => from[side].ids.findAll(graph[side].ids));
  const report = bySide((side) => {
    const matched = rows[side].reduce((sum, row) => sum + Number(row >= 0), 0);
    return { matched, new: graph[side].count - matched, dropped: from[side].count - matched };
  });
  // Only items must match: a ranker may have been saved without its users.
  if (report.items.matched === 0) {
    throw optionError`${option('from')}: the model knows none of the ${graph.items.count} items of these data; is it a model of other data, or are the columns swapped?`;
  }
  return { rows, report };
}

/** Starting tables: rows of the previous posterior; new vertices start from noise, on the same scale. */
export function previousTables(
  graph: BipartiteGraph,
  from: PosteriorModel,
  rows: BySide<Int32Array>,
  hyper: BothHyper,
  seed: number,
): BySide<TableValues> {
  const { features: K } = from;
  return bySide((side) => {
    const previous = from[side];
    const matched = rows[side];
    const weight = (i: number) => previous.weightShape[matched[i]] / previous.weightRate[matched[i]];
    const scale = onScale(graph[side], matched, weight);
    const begin = startRow(vertexStart(graph[side]), side, hyper[side], K, seed, scale);
    const values = emptyTable(matched.length, K);
    for (const [i, row] of matched.entries()) {
      if (row < 0) {
        begin(values, i);
        continue;
      }
      values.weightShape[i] = previous.weightShape[row];
      values.weightRate[i] = previous.weightRate[row];
      for (let k = 0; k < K; k++) {
        values.featureShape[i * K + k] = previous.featureShape[row * K + k];
        values.featureRate[i * K + k] = previous.featureRate[row * K + k];
      }
    }
    return values;
  });
}

/** The starting items of one member of a ranker, with the means of the previous member. */
export function previousItems(
  graph: { readonly items: WeighedSide },
  member: RankerMember,
  rows: Int32Array,
  hyper: BothHyper,
  seed: number,
): TableValues {
  const { features, items: means } = member;
  const side = graph.items;
  const weights = new Float64Array(means.length / features);
  for (let j = 0; j < weights.length; j++) {
    for (let k = 0; k < features; k++) weights[j] += means[j * features + k] / features;
  }
  const values = emptyTable(side.count, features);
  const scale = onScale(side, rows, (i) => weights[rows[i]]);
  const begin = startRow(vertexStart(side), 'items', hyper.items, features, seed, scale);
  for (let i = 0; i < rows.length; i++) {
    const weight = weights[rows[i]];
    if (!(weight > 0)) {
      begin(values, i);
      continue;
    }
    // A ranking fit uses only the means, so any shapes and rates with these means will do.
    values.weightShape[i] = weight;
    values.weightRate[i] = 1;
    for (let to = i * features, from = rows[i] * features, end = to + features; to < end; to++, from++) {
      values.featureShape[to] = Math.max(means[from] / weight, LEAST_MEAN);
      values.featureRate[to] = 1;
    }
  }
  return values;
}

/** A mean that was rounded to 0 could never grow again. */
const LEAST_MEAN = 1e-6;

/** Mean weight of a new vertex as a function of its strength, on the scale of the matched vertices. */
function onScale(
  side: WeighedSide,
  rows: Int32Array,
  weight: (i: number) => number,
): (strength: number) => number {
  let mass = 0;
  let total = 0;
  for (let i = 0; i < rows.length; i++) {
    if (rows[i] < 0) continue;
    mass += weight(i);
    total += rowTotal(side, i);
  }
  return (strength) => (total > 0 ? (mass / total) * strength : strength);
}

/** Starting hyperparameters: those that the fit learns or matches are taken from the previous model. */
export function previousHyper(
  first: BothHyper,
  from: PosteriorModel,
  learn: BySide<readonly Learnable[]>,
  matchedTaus: MatchedTaus,
): BothHyper {
  return bySide((side) => {
    const previous = from[side].hyper;
    const moving = matchedTaus[side] === undefined ? learn[side] : [...learn[side], 'tau' as const];
    const taken = moving.filter((what) => what !== 'size' || previous.size > 0);
    return { ...first[side], ...Object.fromEntries(taken.map((what) => [what, previous[what]])) };
  });
}

/** The members of a ranker that a ranking fit starts from. */
export function previousMembers(from: Model): readonly RankerMember[] {
  const scores = from.type === 'ranker' ? from.scores : undefined;
  return scores?.kind === 'factors' ? scores.members.filter(({ fold }) => fold.kind === 'poisson') : [];
}

/** The options of the fit that gave this posterior, as its record holds them. */
export function refitOptions(model: Model): AscentOptions | GibbsFitOptions {
  needPosterior(model, 'fits that are repeated on other data');
  return model.provenance.options as AscentOptions | GibbsFitOptions;
}

/** The largest share of the previous users that may be missing without a warning. */
const USUAL_LOSS = 0.2;

/**
 * The share of the previous users that are not in the data, and a text about them without a full stop. Undefined if they are few; they
 * are many if only new rows are given.
 */
export function missingUsers({ users, names }: Model, graph: BipartiteGraph) {
  const missing = graph.users.ids.findAll(users.ids).reduce((sum, at) => sum + Number(at < 0), 0);
  if (missing <= USUAL_LOSS * users.count) return undefined;
  const all = many(users.count, (names ?? USERS_AND_ITEMS).users);
  const text = `${grouped(missing)} of ${all} of the previous model are not in these data`;
  return { share: missing / users.count, text };
}
