// A fit that starts from a previous model, for data that have grown since. Vertices are matched by id. New vertices start from noise
// around their degree, and the first half-steps fold them in. Vertices that are no longer in the data are dropped.

import type { TableValues } from '../../engine/engine.js';
import { type BipartiteGraph, SIDES, type SideName, type WeighedSide } from '../../graph/graph.js';
import { METHODS, type Method } from '../../options/commands/fit.js';
import { option, optionError, show } from '../../options/error.js';
import {
  type FactorScores,
  type Model,
  modelHyper,
  type PosteriorModel,
  type Ranker,
  type RankerMember,
  type Vertices,
} from '../model.js';
import type { FitOptions, Learnable } from '../options.js';
import type { BothHyper } from './bound.js';
import type { MatchedTaus } from './hyper.js';
import { emptyTable, rowTotal, startRow, vertexStart, type WritableTable, wideTable } from './start.js';

type PreviousVertices = Pick<Vertices, 'ids' | 'count'>;

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
export type PreviousReport = Readonly<Record<SideName, MatchCounts>>;

/** A ranker whose scores are products of factors: the only kind of ranker that a fit can start from. */
type FactorRanker = Ranker & { readonly scores: FactorScores };

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
  const sides = SIDES.map((side) => [side, { ...inheritedHyper(from, side), ...given[side] }]);
  return { ...both, ...Object.fromEntries(sides), method } as FitOptions;
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
  from: Readonly<Record<SideName, PreviousVertices>>,
): { readonly rows: Readonly<Record<SideName, Int32Array>>; readonly report: PreviousReport } {
  const rows = {
    users: from.users.ids.findAll(graph.users.ids),
    items: from.items.ids.findAll(graph.items.ids),
  };
  const counts = (side: SideName): MatchCounts => {
    const found = rows[side];
    let matched = 0;
    for (let i = 0; i < found.length; i++) if (found[i] >= 0) matched++;
    return Object.freeze({
      matched,
      new: graph[side].count - matched,
      dropped: from[side].count - matched,
    });
  };
  const report = Object.freeze({ users: counts('users'), items: counts('items') });
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
  rows: Readonly<Record<SideName, Int32Array>>,
  hyper: BothHyper,
  seed: number,
): Record<SideName, TableValues> {
  const { features } = from;
  const start = (side: SideName) => {
    const previous = from[side];
    const matched = rows[side];
    const weight = (i: number) => previous.weightShape[matched[i]] / previous.weightRate[matched[i]];
    const values = emptyLike(previous, graph[side].count, features);
    const begin = startRow(
      vertexStart(graph[side]),
      side,
      hyper[side],
      features,
      seed,
      onScale(graph[side], matched, weight),
    );
    for (let i = 0; i < matched.length; ) {
      const row = matched[i];
      if (row < 0) {
        begin(values, i++);
        continue;
      }
      // Copies runs of rows that are consecutive in both, as most are.
      let end = i + 1;
      while (end < matched.length && matched[end] === row + end - i) end++;
      copyRows(values, i, previous, row, end - i, features);
      i = end;
    }
    return values;
  };
  return { users: start('users'), items: start('items') };
}

/** A table of zeros of the same number type: float32 tables are not widened. */
function emptyLike({ weightShape }: TableValues, rows: number, features: number): WritableTable {
  if (weightShape instanceof Float64Array) return wideTable(rows, features);
  return emptyTable(rows, features, (length) => new Float32Array(length));
}

function copyRows(
  to: WritableTable,
  at: number,
  from: TableValues,
  row: number,
  count: number,
  features: number,
): void {
  const copy = (name: keyof TableValues, width: number) =>
    to[name].set(from[name].subarray(row * width, (row + count) * width), at * width);
  copy('weightShape', 1);
  copy('weightRate', 1);
  copy('featureShape', features);
  copy('featureRate', features);
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
  const values = emptyTable(side.count, features, (length) => new Float32Array(length));
  const scale = onScale(side, rows, (i) => weights[rows[i]]);
  const begin = startRow(vertexStart(graph.items), 'items', hyper.items, features, seed, scale);
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
  learn: Readonly<Record<SideName, readonly Learnable[]>>,
  matchedTaus: MatchedTaus,
): BothHyper {
  const side = (name: SideName) => {
    const previous = from[name].hyper;
    const moving: readonly Learnable[] =
      matchedTaus[name] === undefined ? learn[name] : [...learn[name], 'tau'];
    const taken = moving.filter((what) => what !== 'size' || previous.size > 0);
    return { ...first[name], ...Object.fromEntries(taken.map((what) => [what, previous[what]])) };
  };
  return { users: side('users'), items: side('items') };
}

/** The members of a ranker that a ranking fit starts from. */
export function previousMembers(from: Model): readonly RankerMember[] {
  return (from as FactorRanker).scores.members.filter(({ fold }) => fold.kind === 'poisson');
}
