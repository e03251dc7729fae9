// What a model knows about its vertices beyond the edges: titles and attributes of each side, and vertices that only the table
// about them has. Those come after the vertices of the data: vertex `count + v` is `added.at(v)`.

import { joinIds, type VertexIds } from '../graph/ids.js';
import type { SparseWeights } from '../topn/query.js';
import type { ContentScores } from './content-scores.js';

/** How the values of a column become attributes. */
export const COLUMN_KINDS = ['text', 'category', 'number'] as const;
/** What a column holds. */
export type ColumnKind = (typeof COLUMN_KINDS)[number];

/** A column of the table, and the attributes that come from it. */
export interface InfoColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  /** Its attributes are `first` … `first + count − 1`. */
  readonly first: number;
  readonly count: number;
}

/** The attributes of one side. Rows are the vertices of the data, then the added ones. */
export interface SideInfo {
  /** Vertices of the table that have no edge in the data. */
  readonly added: VertexIds;
  /** The title of each row, '' if it has none; an empty list if the table has no titles. */
  readonly titles: readonly string[];
  readonly columns: readonly InfoColumn[];
  /** The value that each attribute stands for: a word, a category, a range of numbers. */
  readonly names: readonly string[];
  /** Per row its attributes in ascending order, and how often it has each. */
  readonly rows: SparseWeights;
  /** The numbers of each column of numbers, by the name of the column; NaN if a row has none. */
  readonly numbers: readonly { readonly column: string; readonly values: Float64Array }[];
  /** How items without edges are scored; undefined if the table has no attributes. */
  readonly content?: ContentScores | undefined;
  /** How attributes of users change the popularity of items; undefined for the items' side, or if it was not computed. */
  readonly tastes?: Tastes | undefined;
}

/** How the popularity of items depends on attributes of users, found on users held back from the training data. */
export interface Tastes {
  /** Users held back to find the settings. */
  readonly heldBack: number;
  /** The exponent of each column, by its name: 0 if the column says nothing about the users' items. */
  readonly columns: Readonly<Record<string, number>>;
  /** Added to observed and expected numbers of users, so that few users do not change a popularity much. */
  readonly added: number;
}

/** What a model knows about its two sides. */
export interface ModelInfo {
  readonly users?: SideInfo | undefined;
  readonly items?: SideInfo | undefined;
}

interface Side {
  readonly count: number;
  readonly ids: VertexIds;
  readonly degree: Uint32Array;
}

const CATALOGUES = new WeakMap<SideInfo, Side>();

/** The items that can be listed and named: those of the data, then those that only the table about the items has. */
export function catalogueOf({
  items,
  info,
}: {
  readonly items: Side;
  readonly info?: ModelInfo | undefined;
}): Side {
  const about = info?.items;
  // Items without scores by attributes cannot be listed.
  if (!about?.content || about.added.length === 0) return items;
  const known = CATALOGUES.get(about);
  if (known) return known;
  const count = items.count + about.added.length;
  const degree = new Uint32Array(count);
  degree.set(items.degree);
  const catalogue = Object.freeze({ count, ids: joinIds([items.ids, about.added]), degree });
  CATALOGUES.set(about, catalogue);
  return catalogue;
}

/** The title of each item of the catalogue, '' if it has none; an empty list if the model stores no titles. */
export function storedTitles(model: Parameters<typeof catalogueOf>[0]): readonly string[] {
  const titles = model.info?.items?.titles ?? [];
  return titles.length === 0 ? titles : titles.slice(0, catalogueOf(model).count);
}

/** The year at the end of a title. */
export function yearIn(title: string): string | undefined {
  return /\((\d{4})\)$/.exec(title)?.[1];
}

/** What settings say of a column, by its name; 0 if they say nothing. */
export function settingOf(
  settings: Readonly<Record<string, number>>,
  { name }: Pick<InfoColumn, 'name'>,
): number {
  return Object.hasOwn(settings, name) ? settings[name] : 0;
}

/** The column that an attribute comes from. */
export function columnOf({ columns }: Pick<SideInfo, 'columns'>, attribute: number): InfoColumn {
  return columns.find(({ first, count }) => attribute >= first && attribute < first + count)!;
}
