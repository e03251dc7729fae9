// --item-info and --user-info: tables about items and users.

import { askedColumns } from '../attributes/columns.js';
import type { ModelInfo } from '../attributes/info.js';
import type { InfoReport } from '../attributes/side-info.js';
import type { Model } from '../fit/model.js';
import { type BipartiteGraph, SIDES, type SideName } from '../graph/graph.js';
import { readSideTable } from '../ingest/side-file.js';
import { wrap } from '../report/terminal/text-table.js';
import { infoWords, tastesWords } from '../report/words/info.js';
import { type SideNames, USERS_AND_ITEMS } from '../text/sides.js';
import type { CommandContext } from './command.js';

interface InfoFlags {
  readonly itemInfo?: string | undefined;
  readonly userInfo?: string | undefined;
  readonly infoColumns?: readonly string[] | undefined;
  /** The database that a query reads. */
  readonly database?: string | undefined;
}

/** What the tables say, and what was found in each. */
interface GivenInfo {
  readonly info: ModelInfo;
  readonly reports: Readonly<Partial<Record<SideName, InfoReport & { readonly source: string }>>>;
}

/** Reads the tables about the sides of a graph; undefined if none is given. */
export async function readInfo(
  { itemInfo, userInfo, infoColumns, database }: InfoFlags,
  graph: Pick<BipartiteGraph, 'users' | 'items' | 'names'>,
  { signal, warn }: CommandContext,
): Promise<GivenInfo | undefined> {
  if (itemInfo === undefined && userInfo === undefined) return undefined;
  // Its stop words and stems take a tenth of a second to load.
  const { readSideInfo, unmatchedWords } = await import('../attributes/side-info.js');
  const columns = askedColumns(infoColumns);
  const info: { -readonly [S in SideName]?: ModelInfo[S] } = {};
  const reports: Partial<Record<SideName, InfoReport & { readonly source: string }>> = {};
  for (const [side, path] of [['items', itemInfo] as const, ['users', userInfo] as const]) {
    if (path === undefined) continue;
    const rows = await readSideTable(path, { signal, database });
    // Columns are chosen for the table about the items.
    const asked = side === 'items' || itemInfo === undefined ? columns : undefined;
    const found = readSideInfo(graph[side], { name: path, rows, columns: asked });
    info[side] = found.info;
    reports[side] = { source: path, ...found.report };
    const words = unmatchedWords(path, found.report, (graph.names ?? USERS_AND_ITEMS)[side]);
    if (words !== undefined) warn(words);
  }
  return { info, reports };
}

/** The model with what the tables say, and with scores for items and users without edges. */
export async function withInfo<M extends Model>(
  model: M,
  about: GivenInfo | undefined,
  { seed, threads, signal, onProgress }: CommandContext,
): Promise<M> {
  if (!about) return model;
  const task = { seed, threads, signal, onProgress };
  const { fitInfo } = await import('../predict/content/fit-info.js');
  return { ...model, info: await fitInfo(model, about.info, task) };
}

export function infoJson(about: GivenInfo | undefined, { info }: Pick<Model, 'info'>) {
  if (!about) return { info: null };
  const { users, ...reports } = about.reports;
  const tastes = info?.users?.tastes;
  return { info: { ...reports, ...(users && { users: { ...users, ...(tastes && { tastes }) } }) } };
}

/** `model`: with what was found in the tables. */
export function infoText(
  about: GivenInfo | undefined,
  names: SideNames,
  model: Pick<Model, 'info'>,
): string[] {
  return SIDES.flatMap((side) => {
    const report = about?.reports[side];
    if (!report) return [];
    const tastes = model.info?.[side]?.tastes;
    const sentences = [infoWords(report, names[side]), ...(tastes ? [tastesWords(tastes, names)] : [])];
    return ['', wrap(sentences.join(' '))];
  });
}
