// How attributes score items without edges. Settings are found on held-back items. Then every added item gets neighbours among
// the items of the data, and weights from the items that a user may have.

import {
  attributeWeight,
  type ContentScores,
  type ContentSettings,
} from '../../attributes/content-scores.js';
import type { SideInfo } from '../../attributes/info.js';
import { type NewItem, withRows } from '../../attributes/new-rows.js';
import { predictedPopularity } from '../../attributes/predicted-popularity.js';
import { attributeVectors, invertedLists } from '../../attributes/similarity.js';
import type { Model } from '../../fit/model.js';
import type { TaskOptions } from '../../progress.js';
import type { SparseWeights } from '../../topn/query.js';
import { createModelScorer } from '../scoring/model-scorer.js';
import { findContentSettings } from './content-settings.js';
import { holdItemsBack } from './held-back-items.js';
import { type Levels, levelsOf } from './level.js';
import { scoreRows } from './score-rows.js';
import { passedWeights } from './smoothing.js';

/** Number of neighbours of an added item: so that all weights together have this number, within these limits. */
const ALL_WEIGHTS = 4_000_000;
const WEIGHTS = { least: 80, most: 1000 };
const DEFAULT_NEIGHBOURS = 50;

interface ContentTask extends TaskOptions {
  readonly seed: number;
}

/** The table about the items with scores for items without edges, or with few. */
export async function fitContent(model: Model, info: SideInfo, task: ContentTask): Promise<SideInfo> {
  if (info.names.length === 0) return info;
  const scorer = createModelScorer({ ...model, info: undefined });
  try {
    const trial = holdItemsBack(model, info.rows.offsets, task.seed);
    const settings = await findContentSettings(model, scorer, info, trial, task);
    const content = await contentScores(model, info, settings, task);
    const levels = await levelsOf(model, scorer, info.added.length, content, task);
    return Object.freeze({ ...info, content: atLevels(content, levels, model.items.count) });
  } finally {
    await scorer.close();
  }
}

/**
 * The model with further items, which nobody has yet and which are scored by their attributes. The same model if it scores
 * nothing by attributes, or knows the items.
 */
export async function withNewItems(model: Model, items: readonly NewItem[]): Promise<Model> {
  const about = model.info?.items;
  if (!about?.content) return model;
  const info = withRows(about, model.items.ids, items);
  if (info === about) return model;
  const { settings } = about.content;
  const content = await contentScores(model, info, settings, {}, about.content);
  return Object.freeze({ ...model, info: { ...model.info, items: Object.freeze({ ...info, content }) } });
}

const widthOf = ({ added }: SideInfo) =>
  Math.max(WEIGHTS.least, Math.min(WEIGHTS.most, Math.floor(ALL_WEIGHTS / Math.max(1, added.length))));

/** The same for items with few edges, which have scores of their own. */
function widthOfFew(degree: Uint32Array): number {
  let items = 0;
  for (const edges of degree) if (attributeWeight(edges) > 0) items++;
  return Math.min(WEIGHTS.least, Math.ceil(ALL_WEIGHTS / Math.max(1, items)));
}

/** The scores by attributes, with settings that were found before. Items that `before` has scores for keep them. */
async function contentScores(
  model: Model,
  info: SideInfo,
  settings: ContentSettings,
  task: TaskOptions,
  before?: ContentScores,
): Promise<ContentScores> {
  const { count: known, degree } = model.items;
  const added = info.added.length;
  const [width, widthFew] = [widthOf(info), widthOfFew(degree)];
  // Without the scale, the direct similarity cannot be added to scores.
  const { neighbours: near = DEFAULT_NEIGHBOURS, commonness = 0, scale = 0, level = 1 } = settings;
  const vectors = attributeVectors(info, partsOf(info, settings));
  const popularity = predictedPopularity(info.rows, info.names.length, degree);
  const items: number[] = [];
  const first = before ? known + before.neighbours.offsets.length - 1 : 0;
  for (let item = first; item < known + added; item++) {
    if (item >= known || attributeWeight(degree[item]) > 0) items.push(item);
  }
  const places = new Uint32Array(items.length + 1);
  for (const [p, item] of items.entries()) places[p + 1] = places[p] + (item < known ? widthFew : width);
  const factors = Float64Array.from(items, (item) => {
    const share = item < known ? attributeWeight(degree[item]) : level;
    return share * Math.exp(settings.popularity * popularity[item]);
  });
  const found = await scoreRows(
    {
      known,
      ...{ vectors, lists: invertedLists(vectors, known, degree), passed: passedWeights(model) },
      // A weight from an item matters more if more users have the item.
      importance: Float32Array.from(degree, (users) => Math.sqrt(users)),
      items: Uint32Array.from(items),
      ...{ factors, near, direct: settings.direct * scale, commonness, places },
    },
    task,
  );
  const neighbours = sparseRows(added, before?.neighbours, (add) => {
    for (const [p, item] of items.entries()) {
      if (item < known) continue;
      for (let e = p * near; e < p * near + found.nearCounts[p]; e++) {
        add(item - known, found.nearRows[e], factors[p] * found.nearValues[e]);
      }
    }
  });
  const weights = sparseRows(known + added, before?.weights, (add) => {
    for (const [p, item] of items.entries()) {
      // For users who have the added item.
      const back = Math.max(found.directs[p], scale) * found.sums[p];
      for (let e = p * near; item >= known && e < p * near + found.nearCounts[p]; e++) {
        add(item, found.nearRows[e], back * found.nearValues[e]);
      }
      for (let e = places[p]; e < places[p] + found.counts[p]; e++) {
        add(found.rows[e], item, found.values[e]);
      }
    }
  });
  return Object.freeze({ neighbours, weights, settings });
}

/** Scales the scores of added items by `level` and those of items with few edges by `few`, in place. */
function atLevels(
  { neighbours, weights: { offsets, targets, weights }, settings }: ContentScores,
  { level, few }: Levels,
  known: number,
): ContentScores {
  const starts = new Uint32Array(offsets.length);
  let kept = 0;
  for (let row = 0; row + 1 < offsets.length; row++) {
    for (let e = offsets[row]; e < offsets[row + 1]; e++) {
      // Weights from added items are not scaled.
      const factor = row >= known ? 1 : targets[e] < known ? few : level;
      if (factor === 0) continue;
      targets[kept] = targets[e];
      weights[kept++] = factor * weights[e];
    }
    starts[row + 1] = kept;
  }
  return Object.freeze({
    neighbours: { ...neighbours, weights: neighbours.weights.map((weight) => level * weight) },
    weights: { offsets: starts, targets: targets.slice(0, kept), weights: weights.slice(0, kept) },
    settings: { ...settings, level, few },
  });
}

/** The weights of the columns, in their order. */
function partsOf({ columns }: Pick<SideInfo, 'columns'>, settings: ContentSettings): number[] {
  return columns.map(({ name }) => (Object.hasOwn(settings.columns, name) ? settings.columns[name] : 0));
}

type AddWeight = (row: number, target: number, weight: number) => void;

/**
 * Weights by row, whatever the order in which `each` adds them, after those of `first`. Weights of a row stay in this order. `each` runs
 * twice: first its weights are counted, so that nothing is copied.
 */
function sparseRows(
  rows: number,
  first: SparseWeights | undefined,
  each: (add: AddWeight) => void,
): SparseWeights {
  const all = (add: AddWeight) => {
    for (let row = 0; first && row + 1 < first.offsets.length; row++) {
      for (let e = first.offsets[row]; e < first.offsets[row + 1]; e++) {
        add(row, first.targets[e], first.weights[e]);
      }
    }
    each(add);
  };
  const offsets = new Uint32Array(rows + 1);
  all((row) => offsets[row + 1]++);
  for (let row = 0; row < rows; row++) offsets[row + 1] += offsets[row];
  const targets = new Uint32Array(offsets[rows]);
  const weights = new Float32Array(offsets[rows]);
  const next = offsets.slice();
  all((row, target, weight) => {
    const at = next[row]++;
    targets[at] = target;
    weights[at] = weight;
  });
  return { offsets, targets, weights };
}
