// How items without edges, or with few, get scores from their attributes. An added item has neighbours among the items of the
// data: its score is a weighted sum of theirs. Weights from every item of a user to items with similar attributes are added.

import type { SparseWeights } from '../topn/query.js';

/** An item with at least this many edges is scored by its edges alone. */
export const FEW_EDGES = 20;

/** How much of the score by attributes an item with `degree` edges gets: all without edges, none from FEW_EDGES on. */
export function attributeWeight(degree: number): number {
  return Math.max(0, 1 - degree / FEW_EDGES);
}

/** Settings of the scores by attributes, found on items held back from the training data. */
export interface ContentSettings {
  /** Items held back to find the settings; 0 if there were too few, and the settings are defaults. */
  readonly heldBack: number;
  /** The weight of each column in the similarity of two items, by the name of the column. */
  readonly columns: Readonly<Record<string, number>>;
  /** The exponent of the popularity that the attributes predict. */
  readonly popularity: number;
  /** The weight of the direct similarity to the user's items; the rest comes through similar items. */
  readonly direct: number;
  /** Items with common attributes count less: the exponent of their mean similarity to all items. Default 0. */
  readonly commonness?: number | undefined;
  /** Similar items whose scores an item gets a part of. Default 50. */
  readonly neighbours?: number | undefined;
  /** The score units of one unit of similarity; undefined in files of earlier versions. */
  readonly scale?: number | undefined;
  /** The factor of all scores of added items, which makes them comparable with those of the others. Default 1. */
  readonly level?: number | undefined;
  /** The factor of scores by attributes for items with few edges; it is multiplied by `attributeWeight`. */
  readonly few?: number | undefined;
}

/** What is added to a model's scores for items that have attributes. */
export interface ContentScores {
  /** Per added item, its neighbours in the data. Its score is a weighted sum of theirs. */
  readonly neighbours: SparseWeights;
  /** Per item of the catalogue, weights to items with similar attributes. */
  readonly weights: SparseWeights;
  readonly settings: ContentSettings;
}
