// --item-info and --user-info: tables about items and users.

import { askedColumns } from '../attributes/columns.js';
import type { ModelInfo } from '../attributes/info.js';
import type { InfoReport, SideInfoSource } from '../attributes/side-info.js';
import type { Model } from '../fit/model.js';
import { type BipartiteGraph, SIDES, type SideName } from '../graph/graph.js';
import { readSideTable } from '../ingest/side-file.js';
import type { OptionsOf } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import type { READ, SIDE_INFO } from '../options/shared.js';
import { wrap } from '../report/terminal/text-table.js';
import { carriedWords, infoWords, tastesWords } from '../report/words/info.js';
import { present } from '../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../text/sides.js';
import type { CommandContext } from './command.js';

/** `database`: what a query reads. */
type InfoFlags = OptionsOf<typeof SIDE_INFO & Pick<typeof READ, 'database'>>;

/** What the tables say, and what was found in each. */
interface GivenInfo {
  readonly info: ModelInfo;
  readonly reports: Readonly<Partial<Record<SideName, InfoReport & { readonly source: string }>>>;
}

type Described = Pick<BipartiteGraph, 'users' | 'items' | 'names'>;

/** Reads the tables about the sides of a graph; undefined if none is given. */
export async function readInfo(
  flags: InfoFlags,
  graph: Described,
  context: CommandContext,
): Promise<GivenInfo | undefined> {
  const tables = await readTables(flags, graph, context);
  if (tables.length === 0) return undefined;
  return {
    info: Object.fromEntries(tables.map(({ side, found }) => [side, found.info])),
    reports: Object.fromEntries(
      tables.map(({ side, source, found }) => [side, { source: source.name, ...found.report }]),
    ),
  };
}

/** Reads the table about the items, which each split of a study reads again; undefined if none is given. */
export async function readItemInfo(
  { itemInfo, infoColumns }: Pick<InfoFlags, 'itemInfo' | 'infoColumns'>,
  graph: Described,
  context: CommandContext,
): Promise<SideInfoSource | undefined> {
  return (await readTables({ itemInfo, infoColumns }, graph, context))[0]?.source;
}

async function readTables(
  { itemInfo, userInfo, infoColumns, database }: InfoFlags,
  graph: Described,
  { signal, warn }: CommandContext,
) {
  if (infoColumns && itemInfo === undefined && userInfo === undefined) {
    throw optionError`${option('infoColumns')} goes with ${option('itemInfo')}; give both, or neither`;
  }
  const columns = askedColumns(infoColumns);
  const tables = [];
  for (const [side, path] of [['items', itemInfo] as const, ['users', userInfo] as const]) {
    if (path === undefined) continue;
    // Its stop words and stems take a tenth of a second to load.
    const { readSideInfo, unmatchedWords } = await import('../attributes/side-info.js');
    const source: SideInfoSource = {
      name: path,
      rows: await readSideTable(path, { signal, database }),
      // Columns are chosen for the table about the items.
      columns: side === 'items' || itemInfo === undefined ? columns : undefined,
    };
    const found = readSideInfo(graph[side], source);
    const words = unmatchedWords(path, found.report, (graph.names ?? USERS_AND_ITEMS)[side]);
    if (words !== undefined) warn(words);
    tables.push({ side, source, found });
  }
  return tables;
}

/**
 * The model with what the tables say, and with scores for items and users without edges. A side without a table keeps what the
 * previous model knows.
 */
export async function withInfo<M extends Model>(
  model: M,
  about: GivenInfo | undefined,
  { seed, task }: CommandContext,
  previous?: Model,
): Promise<M> {
  let info = about?.info ?? {};
  if (previous?.info) {
    const { carriedInfo } = await import('../attributes/new-rows.js');
    info = {
      items: info.items ?? carriedInfo('items', previous, model),
      users: info.users ?? carriedInfo('users', previous, model),
    };
  }
  if (!info.items && !info.users) return model;
  const { withTables } = await import('../predict/content/fit-content.js');
  return withTables(model, info, { seed, ...task });
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
    if (!report) return model.info?.[side] ? [wrap(carriedWords(names[side]))] : [];
    const tastes = model.info?.[side]?.tastes;
    const sentences = present([infoWords(report, names[side]), tastes && tastesWords(tastes, names)]);
    return [wrap(sentences.join(' '))];
  });
}
