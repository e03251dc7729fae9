// Titles and attributes as tensors: info.users.* and info.items.* hold the added ids, titles, attributes and numbers of a side.

import { z } from 'zod';
import type { ContentScores } from '../attributes/content-scores.js';
import { COLUMN_KINDS, type ModelInfo, type SideInfo } from '../attributes/info.js';
import type { Model } from '../fit/model.js';
import { SIDES, type SideName } from '../graph/graph.js';
import { VertexIds } from '../graph/ids.js';
import { getSparse, putSparse } from './ranker-tensors.js';
import { putIds, putInto, putTexts, type TensorReader } from './tensor-reader.js';
import type { Tensor } from './tensors.js';

const LARGEST = 2 ** 31 - 1;
const whole = z.number().int().min(0).max(LARGEST);
const setting = z.number().min(0).max(1e6);
/** Settings that were searched on held-back users or items. */
const searched = {
  heldBack: whole,
  columns: z.array(z.tuple([z.string().max(10_000), setting])).max(1000),
};
const sideSchema = z.object({
  added: whole,
  titles: z.boolean(),
  columns: z
    .array(z.object({ name: z.string().max(10_000), kind: z.enum(COLUMN_KINDS), first: whole, count: whole }))
    .max(1000),
  /** Names of the columns of numbers. */
  numbers: z.array(z.string().max(10_000)).max(1000),
  content: z
    .object({
      ...searched,
      popularity: setting,
      direct: setting,
      commonness: setting.optional(),
      neighbours: whole.optional(),
      scale: setting.optional(),
      level: z.number().positive().max(1e12).optional(),
      few: z.number().min(0).max(1e12).optional(),
    })
    .optional(),
  tastes: z.object({ ...searched, added: z.number().positive().max(1e6) }).optional(),
});
const infoSchema = z.object({ users: sideSchema.optional(), items: sideSchema.optional() });
type SideHead = z.infer<typeof sideSchema>;

/** Puts the tensors of both sides; returns what the metadata hold. */
export function putInfo(tensors: Map<string, Tensor>, info: ModelInfo, withUsers: boolean): string {
  const head: Partial<Record<SideName, SideHead>> = {};
  for (const name of SIDES) {
    const side = name === 'items' || withUsers ? info[name] : undefined;
    if (side) head[name] = putSide(tensors, name, side);
  }
  return JSON.stringify(head);
}

function putSide(tensors: Map<string, Tensor>, name: SideName, side: SideInfo): SideHead {
  const prefix = `info.${name}.`;
  const put = putInto(tensors, prefix);
  if (side.added.length > 0) putIds(put, side.added);
  if (side.titles.length > 0) putTexts(put, 'title', side.titles);
  putTexts(put, 'attribute', side.names);
  putSparse(putInto(tensors, `${prefix}rows.`), side.rows, 'float32');
  for (const [c, { values }] of side.numbers.entries()) put(`numbers.${c}`, values);
  const { content, tastes } = side;
  if (content) {
    const { neighbours, weights } = content;
    putSparse(putInto(tensors, `${prefix}neighbours.`), neighbours, 'float32');
    putSparse(putInto(tensors, `${prefix}weights.`), weights, 'float32');
  }
  return {
    added: side.added.length,
    titles: side.titles.length > 0,
    columns: side.columns.map((column) => ({ ...column })),
    numbers: side.numbers.map(({ column }) => column),
    ...(content && {
      content: { ...content.settings, columns: Object.entries(content.settings.columns) },
    }),
    ...(tastes && { tastes: { ...tastes, columns: Object.entries(tastes.columns) } }),
  };
}

/** `apart`: the users lie elsewhere. */
export function getInfo(read: TensorReader, model: Model, text: string, apart: boolean): ModelInfo {
  const head = infoSchema.parse(JSON.parse(text));
  const info: { users?: SideInfo; items?: SideInfo } = {};
  for (const name of SIDES) {
    const side = head[name];
    if (side && !(apart && name === 'users')) info[name] = getSide(read, name, model[name].count, side);
  }
  return Object.freeze(info);
}

function getSide(read: TensorReader, name: SideName, count: number, head: SideHead): SideInfo {
  const prefix = `info.${name}.`;
  const added = head.added > 0 ? read.ids(prefix) : VertexIds.texts([]);
  if (added.length !== head.added) throw new Error(`tensor ${prefix}ids has ${added.length} ids`);
  const total = count + added.length;
  const names = read.texts(`${prefix}attribute`);
  let next = 0;
  for (const column of head.columns) {
    if (column.first !== next) throw new Error(`the columns of ${prefix} do not follow each other`);
    next += column.count;
  }
  if (next !== names.length) throw new Error(`the columns of ${prefix} have ${next} attributes`);
  const rows = getSparse(read, `${prefix}rows.`, total, 'float32', names.length);
  return Object.freeze({
    added,
    titles: head.titles ? read.texts(`${prefix}title`, total) : [],
    columns: head.columns,
    names,
    rows,
    numbers: head.numbers.map((column, c) => ({
      column,
      values: read.get(`${prefix}numbers.${c}`, Float64Array, total),
    })),
    ...(head.content && { content: getContent(read, prefix, count, added.length, head.content) }),
    ...(head.tastes && {
      tastes: { ...head.tastes, columns: Object.fromEntries(head.tastes.columns) },
    }),
  });
}

function getContent(
  read: TensorReader,
  prefix: string,
  count: number,
  added: number,
  { columns, ...settings }: NonNullable<SideHead['content']>,
): ContentScores {
  return Object.freeze({
    neighbours: getSparse(read, `${prefix}neighbours.`, added, 'float32', count),
    weights: getSparse(read, `${prefix}weights.`, count + added, 'float32'),
    settings: { ...settings, columns: Object.fromEntries(columns) },
  });
}
