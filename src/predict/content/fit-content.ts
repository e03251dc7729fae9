// How attributes score items without edges: settings are found on held-back items, then every added item gets neighbours among
// the items of the data, and weights from the items that a user may have.

import { type ContentScores, type ContentSettings, FEW_EDGES } from '../../attributes/content-scores.js';
import type { SideInfo } from '../../attributes/info.js';
import { type NewItem, withRows } from '../../attributes/new-rows.js';
import { predictedPopularity } from '../../attributes/popularity.js';
import { attributeVectors, createNeighbourSearch, SparseSums } from '../../attributes/similarity.js';
import { throwIfAborted } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import type { TaskOptions } from '../../progress.js';
import type { SparseWeights } from '../../topn/query.js';
import { createModelScorer, type ModelScorer } from '../scoring/model-scorer.js';
import { findContentSettings } from './content-settings.js';
import { holdItemsBack } from './held-back-items.js';
import { levelOfAdded } from './level.js';
import { commonnessOf, SMOOTHING, smoothingWeights } from './smoothing.js';

/** Items from which an added item has weights: as many as make this number of weights in all, within these limits. */
const ALL_WEIGHTS = 4_000_000;
const WEIGHTS = { least: 80, most: 1000 };
const DEFAULT_NEIGHBOURS = 50;
/** The part of the weights by attributes that an item with one edge less gets. */
const FEW_SHARE = 0.2;

interface ContentTask extends TaskOptions {
  readonly seed: number;
}

/** The table about the items with scores for items without edges, or with few. */
export async function fitContent(model: Model, info: SideInfo, task: ContentTask): Promise<SideInfo> {
  if (info.names.length === 0) return info;
  const scorer = createModelScorer({ ...model, info: undefined });
  try {
    const trial = holdItemsBack(model, info.rows.offsets, task.seed);
    const settings = await findContentSettings(model, scorer, info, trial, widthOf(info), task);
    const content = contentScores(model, scorer, info, settings, task);
    const level = await levelOfAdded(model, Object.freeze({ ...info, content }), task);
    return Object.freeze({ ...info, content: atLevel(content, level, model.items.count) });
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
  const scorer = createModelScorer({ ...model, info: undefined });
  try {
    const { settings } = about.content;
    const content = contentScores(model, scorer, info, settings, {}, about.content);
    return Object.freeze({ ...model, info: { ...model.info, items: Object.freeze({ ...info, content }) } });
  } finally {
    await scorer.close();
  }
}

const widthOf = ({ added }: SideInfo) =>
  Math.max(WEIGHTS.least, Math.min(WEIGHTS.most, Math.floor(ALL_WEIGHTS / Math.max(1, added.length))));

/** The scores by attributes, with settings that were found before. Items that `before` has scores for keep them. */
function contentScores(
  model: Model,
  scorer: ModelScorer,
  info: SideInfo,
  settings: ContentSettings,
  { signal, onProgress }: TaskOptions,
  before?: ContentScores,
): ContentScores {
  const { count: known, degree } = model.items;
  const added = info.added.length;
  const width = widthOf(info);
  // Without the scale, the direct similarity cannot be added to scores.
  const { neighbours: near = DEFAULT_NEIGHBOURS, commonness = 0, scale = 0, level = 1 } = settings;
  const vectors = attributeVectors(info, partsOf(info, settings));
  const search = createNeighbourSearch(vectors, known, degree);
  const popularity = predictedPopularity(info.rows, info.names.length, degree);
  const smoothed = smoothingWeights(scorer, known);
  const neighbours = new RowsBuilder(added, before?.neighbours);
  const weights = new RowsBuilder(known + added, before?.weights);
  const to = new SparseSums(known);
  const first = before ? known + before.neighbours.offsets.length - 1 : 0;
  for (let item = first; item < known + added; item++) {
    const isAdded = item >= known;
    if (!isAdded && degree[item] >= FEW_EDGES) continue;
    if (item % 1024 === 0) {
      throwIfAborted(signal);
      onProgress?.({ stage: 'attributes', done: item, total: known + added, unit: 'items' });
    }
    const found = search(item, isAdded ? width : near);
    const { items, similarities } = found;
    const share = isAdded ? level : (FEW_SHARE * (FEW_EDGES - degree[item])) / FEW_EDGES;
    const factor = share * Math.exp(settings.popularity * popularity[item]);
    const direct = settings.direct * scale * commonnessOf(found, known) ** -commonness;
    for (const [i, other] of items.entries()) to.add(other, factor * direct * similarities[i]);
    if (isAdded) {
      const sum = similarities.slice(0, near).reduce((total, one) => total + one, SMOOTHING);
      const nearest = Array.from(items.slice(0, near), (other, i) => ({ other, i }));
      for (const { other, i } of nearest) smoothed?.(other, (factor * similarities[i]) / sum, to);
      for (const { other, i } of nearest.sort((a, b) => a.other - b.other)) {
        neighbours.add(item - known, other, (factor * similarities[i]) / sum);
        // For users who have the added item.
        weights.add(item, other, Math.max(direct, scale) * similarities[i]);
      }
    }
    const kept = to.takeLargest(width);
    for (const [i, from] of kept.items.entries()) weights.add(from, item, kept.similarities[i]);
  }
  return Object.freeze({ neighbours: neighbours.finish(), weights: weights.finish(), settings });
}

/** The same with all scores of added items times `level`. */
function atLevel(
  { neighbours, weights, settings }: ContentScores,
  level: number,
  known: number,
): ContentScores {
  return Object.freeze({
    neighbours: { ...neighbours, weights: neighbours.weights.map((weight) => level * weight) },
    weights: {
      ...weights,
      weights: weights.weights.map((weight, e) => (weights.targets[e] >= known ? level * weight : weight)),
    },
    settings: { ...settings, level },
  });
}

/** The weights of the columns, in their order. */
function partsOf({ columns }: Pick<SideInfo, 'columns'>, settings: ContentSettings): number[] {
  return columns.map(({ name }) => (Object.hasOwn(settings.columns, name) ? settings.columns[name] : 0));
}

/** Collects weights whose targets ascend within each row, whatever the order of the rows. */
class RowsBuilder {
  readonly #lengths: Uint32Array;
  #rows = new Uint32Array(1 << 16);
  #targets = new Uint32Array(1 << 16);
  #weights = new Float32Array(1 << 16);
  #count = 0;

  /** `first`: weights to begin with. */
  constructor(rows: number, first?: SparseWeights) {
    this.#lengths = new Uint32Array(rows);
    if (!first) return;
    for (let row = 0; row + 1 < first.offsets.length; row++) {
      for (let e = first.offsets[row]; e < first.offsets[row + 1]; e++) {
        this.add(row, first.targets[e], first.weights[e]);
      }
    }
  }

  add(row: number, target: number, weight: number): void {
    if (this.#count === this.#rows.length) this.#grow();
    this.#rows[this.#count] = row;
    this.#targets[this.#count] = target;
    this.#weights[this.#count++] = weight;
    this.#lengths[row]++;
  }

  #grow(): void {
    const [rows, targets, weights] = [this.#rows, this.#targets, this.#weights];
    this.#rows = new Uint32Array(2 * rows.length);
    this.#targets = new Uint32Array(2 * rows.length);
    this.#weights = new Float32Array(2 * rows.length);
    this.#rows.set(rows);
    this.#targets.set(targets);
    this.#weights.set(weights);
  }

  finish(): SparseWeights {
    const offsets = new Uint32Array(this.#lengths.length + 1);
    for (const [r, length] of this.#lengths.entries()) offsets[r + 1] = offsets[r] + length;
    const targets = new Uint32Array(this.#count);
    const weights = new Float32Array(this.#count);
    const next = offsets.slice();
    for (let e = 0; e < this.#count; e++) {
      const at = next[this.#rows[e]]++;
      targets[at] = this.#targets[e];
      weights[at] = this.#weights[e];
    }
    return { offsets, targets, weights };
  }
}
