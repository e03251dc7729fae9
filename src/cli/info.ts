// --item-info and --user-info: tables about items and users.

import { askedColumns } from '../attributes/columns.js';
import type { ModelInfo } from '../attributes/info.js';
import { type InfoReport, readSideInfo, unmatchedWords } from '../attributes/side-info.js';
import type { BipartiteGraph, SideName } from '../graph/graph.js';
import { readSideTable } from '../ingest/side-file.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import type { CommandContext } from './command.js';

export interface InfoFlags {
  readonly itemInfo?: string | undefined;
  readonly userInfo?: string | undefined;
  readonly infoColumns?: readonly string[] | undefined;
}

/** What the tables say, and what was found in each. */
export interface GivenInfo {
  readonly info: ModelInfo;
  readonly reports: Readonly<Partial<Record<SideName, InfoReport & { readonly source: string }>>>;
}

/** Reads the tables about the sides of a graph; undefined if none is given. */
export async function readInfo(
  { itemInfo, userInfo, infoColumns }: InfoFlags,
  graph: Pick<BipartiteGraph, 'users' | 'items' | 'names'>,
  { signal, warn }: CommandContext,
): Promise<GivenInfo | undefined> {
  if (itemInfo === undefined && userInfo === undefined) return undefined;
  const columns = askedColumns(infoColumns);
  const info: { -readonly [S in SideName]?: ModelInfo[S] } = {};
  const reports: Partial<Record<SideName, InfoReport & { readonly source: string }>> = {};
  for (const [side, path] of [['items', itemInfo] as const, ['users', userInfo] as const]) {
    if (path === undefined) continue;
    const rows = await readSideTable(path, { signal });
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
