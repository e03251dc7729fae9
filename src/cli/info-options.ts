// --item-info and --user-info: tables about items and users.

import { askedColumns } from '../attributes/columns.js';
import type { ModelInfo } from '../attributes/info.js';
import type { InfoReport, SideInfoSource } from '../attributes/side-info.js';
import type { Model } from '../fit/model.js';
import { type BipartiteGraph, SIDES, type SideName } from '../graph/graph.js';
import { readSideColumns, readSideTable } from '../ingest/side-file.js';
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
  { itemInfo, userInfo, infoColumns, database }: InfoFlags,
  graph: Described,
  context: CommandContext,
): Promise<GivenInfo | undefined> {
  const asked = columnsOf(infoColumns, itemInfo ?? userInfo);
  const tables = [];
  for (const [side, name] of [['items', itemInfo] as const, ['users', userInfo] as const]) {
    if (name === undefined) continue;
    const { readInfoColumns } = await attributeReader();
    const table = await readSideColumns(name, { signal: context.signal, database });
    // Columns are chosen for the table about the items.
    const columns = side === 'items' || itemInfo === undefined ? asked : undefined;
    const found = readInfoColumns(graph[side], { name, table, columns });
    await warnOfMissing(name, found.report, side, graph, context);
    tables.push({ side, name, found });
  }
  if (tables.length === 0) return undefined;
  return {
    info: Object.fromEntries(tables.map(({ side, found }) => [side, found.info])),
    reports: Object.fromEntries(
      tables.map(({ side, name, found }) => [side, { source: name, ...found.report }]),
    ),
  };
}

/** Reads the table about the items, which each split of a study reads again; undefined if none is given. */
export async function readItemInfo(
  { itemInfo, infoColumns }: Pick<InfoFlags, 'itemInfo' | 'infoColumns'>,
  graph: Described,
  context: CommandContext,
): Promise<SideInfoSource | undefined> {
  const asked = columnsOf(infoColumns, itemInfo);
  if (itemInfo === undefined) return undefined;
  const rows = await readSideTable(itemInfo, { signal: context.signal });
  const source = { name: itemInfo, rows, columns: asked };
  const { readSideInfo } = await attributeReader();
  await warnOfMissing(itemInfo, readSideInfo(graph.items, source).report, 'items', graph, context);
  return source;
}

function columnsOf(names: readonly string[] | undefined, table: string | undefined) {
  if (names && table === undefined) {
    throw optionError`${option('infoColumns')} goes with ${option('itemInfo')}; give both, or neither`;
  }
  return askedColumns(names);
}

/** Its stop words and stems take time to load. */
const attributeReader = () => import('../attributes/side-info.js');

async function warnOfMissing(
  source: string,
  report: InfoReport,
  side: SideName,
  graph: Described,
  { warn }: CommandContext,
): Promise<void> {
  const { unmatchedWords } = await attributeReader();
  const words = unmatchedWords(source, report, (graph.names ?? USERS_AND_ITEMS)[side]);
  if (words !== undefined) warn(words);
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
