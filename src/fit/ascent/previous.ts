// A fit that begins where a former model ended, for data that have grown since: vertices are matched by their ids, new ones
// begin as in any fit and are folded in by the first half-steps, and those that are gone are dropped.

import type { TableValues } from '../../engine/engine.js';
import { type BipartiteGraph, type GraphSide, SIDES, type SideName } from '../../graph/graph.js';
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

/** What a fit can begin from: a model, or the state of a fit to a part of the data. */
export interface PreviousState {
  readonly features: number;
  readonly users: FormerSide;
  readonly items: FormerSide;
}

type FormerVertices = Pick<Vertices, 'ids' | 'count'>;
type FormerSide = FormerVertices & TableValues & Pick<PosteriorModel['users'], 'hyper' | 'unseenMass'>;

/** How the vertices of one side of the data stand to those of the former model. */
export interface MatchCounts {
  /** In both. */
  readonly matched: number;
  /** In the data alone. */
  readonly new: number;
  /** In the model alone. */
  readonly dropped: number;
}

/** What a fit took over from a former model. */
export type PreviousReport = Readonly<Record<SideName, MatchCounts>>;

/** A ranker whose scores are products of factors: the only kind that a fit can begin from. */
type FactorRanker = Ranker & { readonly scores: FactorScores };

/** What stays as it was unless said otherwise; where and how long it is computed is the present fit's own. */
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
];

/** The options of a fit that begins from a model: those of the model's own fit where nothing else is said. */
export function successorOptions(given: FitOptions & { readonly from: Model }): FitOptions {
  const { from } = given;
  const method = methodOf(from);
  const { method: asked, features } = { ...given } as Readonly<Record<string, unknown>>;
  if (asked !== undefined && asked !== method) {
    throw optionError`${option('from')}: the former model was fitted by ${option('method')} ${method}, and a fit by another begins elsewhere; leave ${option('method')} out, or leave ${option('from')} out`;
  }
  const former = from.provenance.options;
  if (features !== undefined && features !== former.features) {
    throw optionError`${option('from')}: the former model has ${show(former.features)} features, not ${show(features)}; leave ${option('features')} out, or begin anew without ${option('from')}`;
  }
  const { average } = given as { readonly average?: unknown };
  if (typeof average === 'number' && average > (former.average as number)) {
    throw optionError`${option('from')}: the former model adds the scores of ${show(former.average)} fits, not ${show(average)}; leave ${option('average')} out, or begin anew without ${option('from')}`;
  }
  const kept = INHERITED.filter((name) => name in METHODS[method] && former[name] !== undefined);
  const said = Object.entries(given).filter(([, value]) => value !== undefined);
  const both = {
    ...Object.fromEntries(kept.map((name) => [name, former[name]])),
    ...Object.fromEntries(said),
  };
  const sides = SIDES.map((side) => [side, { ...formerHyper(from, side), ...given[side] }]);
  return { ...both, ...Object.fromEntries(sides), method } as FitOptions;
}

/** The hyperparameters that a successor keeps: all of a ranker, which learns none; those that were given of a posterior. */
function formerHyper(from: Model, side: SideName): object {
  if (from.type === 'posterior') return (from.provenance.options[side] as object | undefined) ?? {};
  const { size: _, ...hyper } = modelHyper(from)![side];
  return hyper;
}

function methodOf(from: Model): Method {
  if (from?.type === 'posterior') return 'ascent';
  if (from?.type !== 'ranker')
    throw optionError`${option('from')}: expected a model, as fit or loadModel gives it`;
  if (from.method === 'ranking') return 'ranking';
  throw optionError`${option('from')}: a baseline (${from.method}) has nothing to begin from: it is computed anew in one go; leave ${option('from')} out`;
}

/** How the data's vertices stand to the model's; refuses a model that knows none of them. */
export function matchVertices(
  graph: BipartiteGraph,
  from: Readonly<Record<SideName, FormerVertices>>,
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
  // A ranker may have been saved without its users; items carry all that is taken over.
  if (report.items.matched === 0) {
    throw optionError`${option('from')}: the model knows none of the ${graph.items.count} items of these data; is it a model of other data, or are the columns swapped?`;
  }
  return { rows, report };
}

/** Tables to begin with: rows of the former posterior, and for new vertices those of any start, on its scale. */
export function previousTables(
  graph: BipartiteGraph,
  from: PreviousState,
  rows: Readonly<Record<SideName, Int32Array>>,
  hyper: BothHyper,
  seed: number,
  /** The share of new vertices that begin with noise. */
  noisy: number,
): Record<SideName, TableValues> {
  const { features } = from;
  const start = (side: SideName) => {
    const former = from[side];
    const matched = rows[side];
    const weight = (i: number) => former.weightShape[matched[i]] / former.weightRate[matched[i]];
    const values = emptyLike(former, graph[side].count, features);
    const begin = startRow(
      vertexStart(graph[side]),
      side,
      hyper[side],
      features,
      seed,
      onScale(graph[side], matched, weight),
      noisy,
    );
    for (let i = 0; i < matched.length; ) {
      const row = matched[i];
      if (row < 0) {
        begin(values, i++);
        continue;
      }
      // Most follow each other here as there.
      let end = i + 1;
      while (end < matched.length && matched[end] === row + end - i) end++;
      copyRows(values, i, former, row, end - i, features);
      i = end;
    }
    return values;
  };
  return { users: start('users'), items: start('items') };
}

/** Zeros to be filled, as wide as the numbers that come in: a table of an engine in float32 is not widened for it. */
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

/** The items that one fit of a ranker begins with: those whose means are the former member's. */
export function previousItems(
  graph: BipartiteGraph,
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
  const begin = startRow(vertexStart(graph.items), 'items', hyper.items, features, seed, scale, 1);
  for (let i = 0; i < rows.length; i++) {
    const weight = weights[rows[i]];
    if (!(weight > 0)) {
      begin(values, i);
      continue;
    }
    // Only the means count in this objective: any shapes and rates that have them.
    values.weightShape[i] = weight;
    values.weightRate[i] = 1;
    for (let to = i * features, from = rows[i] * features, end = to + features; to < end; to++, from++) {
      values.featureShape[to] = Math.max(means[from] / weight, LEAST_MEAN);
      values.featureRate[to] = 1;
    }
  }
  return values;
}

/** A mean that rounding has made 0 could never grow again. */
const LEAST_MEAN = 1e-6;

/** Mean weight of a new vertex by its strength, on the scale of those that the model knew. */
function onScale(
  side: GraphSide,
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

/** First hyperparameters on the scale of the former tables: what the fit moves begins where it ended. */
export function previousHyper(
  first: BothHyper,
  from: PreviousState,
  learn: Readonly<Record<SideName, readonly Learnable[]>>,
  matchedTaus: MatchedTaus,
): BothHyper {
  const side = (name: SideName) => {
    const former = from[name].hyper;
    const moving: readonly Learnable[] =
      matchedTaus[name] === undefined ? learn[name] : [...learn[name], 'tau'];
    const taken = moving.filter((what) => what !== 'size' || former.size > 0);
    return { ...first[name], ...Object.fromEntries(taken.map((what) => [what, former[what]])) };
  };
  return { users: side('users'), items: side('items') };
}

/** The fits of a ranker that a fit for ranking begins from. */
export function previousMembers(from: Model): readonly RankerMember[] {
  return (from as FactorRanker).scores.members.filter(({ fold }) => fold.kind === 'poisson');
}
