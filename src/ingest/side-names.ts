// The names of the two sides of the data.

import { type AskedNames, namesOfColumns, type SideNames, sideNames } from '../text/sides.js';
import type { OriginKind, ReadGuess, ReadResult } from './options.js';

const TEXTS: AskedNames = { users: 'documents', items: 'words' };

/** The names for known sources; a table's header gives its own. */
const KNOWN: Readonly<Record<Exclude<OriginKind, 'table' | 'simulated'>, SideNames>> = {
  text: sideNames(TEXTS),
  wikitext: sideNames({ ...TEXTS, users: 'articles' }),
  speeches: sideNames({ ...TEXTS, users: 'speeches' }),
  netflix: sideNames({ users: 'viewers', items: 'films' }),
  echonest: sideNames({ users: 'listeners', items: 'songs' }),
};

function namesOf({ kind, columns }: ReadGuess): SideNames | undefined {
  if (kind === 'simulated') return undefined;
  return kind === 'table' ? namesOfColumns(columns.users, columns.items) : KNOWN[kind];
}

/** The result with names for the sides of its graph: as given, or as the source suggests. */
export function withNames(result: ReadResult, asked: AskedNames | undefined): ReadResult {
  const names = asked ? sideNames(asked) : namesOf(result.guess);
  return names ? { ...result, graph: Object.freeze({ ...result.graph, names }) } : result;
}
