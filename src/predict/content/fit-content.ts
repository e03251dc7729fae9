// How attributes score items without edges. Settings are found on held-back items. Then every added item gets neighbours among
// the items of the data, and weights from the items that a user may have.

import {
  attributeWeight,
  type ContentScores,
  type ContentSettings,
} from '../../attributes/content-scores.js';
import { type ModelInfo, type SideInfo, settingOf } from '../../attributes/info.js';
import { type NewItem, withRows } from '../../attributes/new-rows.js';
import { predictedPopularity } from '../../attributes/predicted-popularity.js';
import { attributeVectors, invertedLists } from '../../attributes/similarity.js';
import type { Model } from '../../fit/model.js';
import type { TaskOptions } from '../../progress.js';
import { createModelScorer } from '../scoring/model-scorer.js';
import { findContentSettings } from './content-settings.js';
import { contentWeights } from './content-weights.js';
import { fitTastes } from './fit-tastes.js';
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

/** The model with tables about its sides. Items of their table that have no edges in training are new items. */
export async function withTables<M extends Model>(
  model: M,
  { items, users }: ModelInfo,
  task: TaskOptions & { readonly seed: number },
): Promise<M> {
  const info = {
    ...(items && { items: await fitContent(model, items, task) }),
    ...(users && { users: fitTastes(model, users, task) }),
  };
  return { ...model, info };
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

/** Number of weights towards an item with few edges, which also has a score by its edges. */
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
  const vectors = attributeVectors(
    info,
    info.columns.map((column) => settingOf(settings.columns, column)),
  );
  const popularity =
    settings.popularity > 0 ? predictedPopularity(info.rows, info.names.length, degree) : undefined;
  const items: number[] = [];
  const first = before ? known + before.neighbours.offsets.length - 1 : 0;
  for (let item = first; item < known + added; item++) {
    if (item >= known || attributeWeight(degree[item]) > 0) items.push(item);
  }
  const places = new Uint32Array(items.length + 1);
  for (const [p, item] of items.entries()) places[p + 1] = places[p] + (item < known ? widthFew : width);
  const factors = Float64Array.from(items, (item) => {
    const share = item < known ? attributeWeight(degree[item]) : level;
    return popularity ? share * Math.exp(settings.popularity * popularity[item]) : share;
  });
  const rows = {
    known,
    vectors,
    lists: invertedLists(vectors, known, degree),
    passed: await passedWeights(model),
    // A weight from an item matters more if more users have the item.
    importance: Float32Array.from(degree, (users) => Math.sqrt(users)),
    items: Uint32Array.from(items),
    factors,
    near,
    direct: settings.direct * scale,
    commonness,
    places,
  };
  const found = await scoreRows(rows, task);
  return Object.freeze({ ...contentWeights(rows, found, scale, added, before), settings });
}

/** Scales the scores of added items by `level` and those of items with few edges by `few`, in place. */
function atLevels(
  { neighbours, weights: { offsets, targets, weights }, settings }: ContentScores,
  { level, few }: Levels,
  known: number,
): ContentScores {
  for (let e = 0; e < neighbours.weights.length; e++) neighbours.weights[e] *= level;
  const settled = { ...settings, level, few };
  // Weights from added items are not scaled.
  const ofKnown = offsets[known];
  for (let e = 0; e < ofKnown; e++) weights[e] *= targets[e] < known ? few : level;
  if (few > 0)
    return Object.freeze({ neighbours, weights: { offsets, targets, weights }, settings: settled });
  const isKept = (e: number) => e >= ofKnown || targets[e] >= known;
  const starts = new Uint32Array(offsets.length);
  let kept = 0;
  for (let row = 0; row + 1 < offsets.length; row++) {
    for (let e = offsets[row]; e < offsets[row + 1]; e++) {
      if (!isKept(e)) continue;
      targets[kept] = targets[e];
      weights[kept++] = weights[e];
    }
    starts[row + 1] = kept;
  }
  const left = { offsets: starts, targets: targets.slice(0, kept), weights: weights.slice(0, kept) };
  return Object.freeze({ neighbours, weights: left, settings: settled });
}
