// The ranking task of any train/test pair of tables: for each user of the test part, rank every item that the user does not have
// in training. It also counts the users and pairs that cannot be evaluated.

import { InputError } from '../errors.js';
import type { BipartiteGraph } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';
import type { ListTask } from '../metrics/list-metrics.js';
import { mergedIds } from '../sample/whole-graph.js';
import { present } from '../text/phrases.js';
import { itemsByUser } from './split-task.js';

/** A train/test pair of tables from any source. */
export interface SplitTables {
  readonly train: BipartiteGraph;
  readonly test: BipartiteGraph;
  /** A user's items in this part are not ranked either. */
  readonly validation?: BipartiteGraph | undefined;
  /** The known items of users whom training did not see (the fold-in part of a split): the model's input, not ranked. */
  readonly foldIn?: BipartiteGraph | undefined;
}

/** The ranking task of a pair of tables: users, candidates, and known and relevant items. */
export interface TableTask extends ListTask {
  /** The ids of the candidates: every item of training and test. Ties of scores go to the first. */
  readonly items: VertexIds;
  /** The ids of the evaluated users. */
  readonly users: VertexIds;
  /** Per user, the candidates that are not ranked, ascending. */
  readonly excluded: readonly Uint32Array[];
  /** Per user, the candidates in the training or fold-in part, ascending: what a model may know. */
  readonly history: readonly Uint32Array[];
  readonly left: {
    /** Test pairs that are also in training or validation: they are not ranked, so they do not count. */
    readonly repeated: number;
    /** Test users who have only such pairs. */
    readonly usersOfRepeated: number;
    /** Evaluated users without any item in training or fold-in. */
    readonly withoutHistory: number;
    /** Test items that training never saw, and their test pairs, which count as misses. */
    readonly unseenItems: number;
    readonly unseenPairs: number;
  };
}

/** Makes the ranking task of a pair of tables. Ids are compared as texts: 7 in one table equals "7" in the other. */
export function tableTask(parts: SplitTables): TableTask {
  const { train, test } = parts;
  for (const name of ['train', 'test'] as const) {
    if (parts[name].edges === 0) {
      throw new InputError(`the ${name} part is empty; give a table with at least one row`);
    }
  }
  const items = mergedIds([train.items.ids, test.items.ids]);
  if (items.length === train.items.count + test.items.count) {
    throw new InputError(
      `none of the ${test.items.count} items of the test part is in training; check that both tables are of the same data and that no columns are swapped`,
    );
  }
  const known = new Uint8Array(items.length);
  const degree = new Uint32Array(items.length);
  for (let j = 0; j < train.items.count; j++) {
    const place = items.find(train.items.ids.at(j));
    known[place] = 1;
    degree[place] = train.items.offsets[j + 1] - train.items.offsets[j];
  }
  const rowsOf = (graph: BipartiteGraph | undefined) => graph && itemsByUser(graph, items);
  const [trained, folded, validated] = [rowsOf(train), rowsOf(parts.foldIn), rowsOf(parts.validation)];
  const tested = rowsOf(test)!;
  const users: number[] = [];
  const relevant: Uint32Array[] = [];
  const excluded: Uint32Array[] = [];
  const history: Uint32Array[] = [];
  const left = { repeated: 0, usersOfRepeated: 0, withoutHistory: 0, unseenItems: 0, unseenPairs: 0 };
  for (let u = 0; u < test.users.count; u++) {
    const id = test.users.ids.at(u);
    const own = joined([trained?.(id), folded?.(id)]);
    const out = joined([own, validated?.(id)]);
    const wanted = tested(id);
    const had = new Set(out);
    const asked = wanted.filter((place) => !had.has(place));
    left.repeated += wanted.length - asked.length;
    if (asked.length === 0) {
      left.usersOfRepeated++;
      continue;
    }
    if (own.length === 0) left.withoutHistory++;
    for (const place of asked) left.unseenPairs += 1 - known[place];
    users.push(u);
    relevant.push(asked);
    excluded.push(out);
    history.push(own);
  }
  if (users.length === 0) {
    throw new InputError(
      'every pair of the test part is also in training, so nothing is left to predict; give parts that do not overlap',
    );
  }
  left.unseenItems = known.reduce((sum, k) => sum + 1 - k, 0);
  return Object.freeze({
    candidates: items.length,
    items,
    users: test.users.ids.pick(users),
    relevant,
    excluded,
    history,
    degree,
    trainUsers: train.users.count,
    left: Object.freeze(left),
  });
}

function joined(lists: readonly (Uint32Array | undefined)[]): Uint32Array {
  const given = present(lists).filter(({ length }) => length > 0);
  if (given.length <= 1) return given[0] ?? new Uint32Array(0);
  return Uint32Array.from(new Set(given.flatMap((list) => [...list]))).sort();
}
