// A condition on attributes, as in genre = 'Fantasy' and year >= 1990 → the items that it leaves out. It is compiled once for
// each distinct text, so that a request scans nothing.

import { numberOf } from '../ingest/where/filter.js';
import { type Cells, parseCondition, TRUE } from '../ingest/where/parse.js';
import { wrong } from '../ingest/where/tokens.js';
import { shown } from '../text/untrusted.js';
import { catalogueOf, type ModelInfo, type SideInfo } from './info.js';

const OPTION = 'filter';
/** Filters of a model that are kept. */
const MOST_KEPT = 64;
/** The longest condition. */
const LONGEST = 10_000;
const COLUMNS_SHOWN = 30;

type Described = Parameters<typeof catalogueOf>[0] & { readonly info?: ModelInfo | undefined };

const KEPT = new WeakMap<object, Map<string, Uint32Array>>();

/** The items of the catalogue for which the condition does not hold, ascending. Throws if it is no condition on the attributes. */
export function filteredOut(model: Described, condition: string): Uint32Array {
  const kept = KEPT.get(model) ?? new Map<string, Uint32Array>();
  KEPT.set(model, kept);
  const before = kept.get(condition);
  if (before) {
    // The last one asked for is the last to go.
    kept.delete(condition);
    kept.set(condition, before);
    return before;
  }
  const made = compile(model, condition);
  kept.set(condition, made);
  if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value!);
  return made;
}

/** The values of one item in one column. */
type ColumnReader = (item: number) => readonly string[];

function compile(model: Described, condition: string): Uint32Array {
  const about = model.info?.items;
  if (!about) {
    throw wrong(
      '',
      0,
      'the model stores no attributes of its items; fit it with a table about the items',
      OPTION,
    );
  }
  if (condition.length > LONGEST) {
    throw wrong('', 0, `the condition has more than ${LONGEST} characters; write a shorter one`, OPTION);
  }
  const { ids, count } = catalogueOf(model);
  const { columns, test } = parseCondition(condition, OPTION);
  const readers = columns.map(({ name, at }) => {
    const found = readerOf(about, String(name), (item) => ids.at(item));
    if (found) return found;
    const known = columnNames(about);
    const some = known.slice(0, COLUMNS_SHOWN).map((one) => shown(one));
    const more = known.length > COLUMNS_SHOWN ? ', …' : '';
    throw wrong(
      condition,
      at,
      `the model has no attribute ${shown(String(name))}; it has ${some.join(', ')}${more}`,
      OPTION,
    );
  });
  const values: (readonly string[])[] = readers.map(() => []);
  const place = new Uint32Array(readers.length);
  const cells: Cells = {
    text: (slot) => values[slot][place[slot]] || undefined,
    number: (slot) => numberOf(values[slot][place[slot]]),
    several: (slot) => values[slot].length,
    choose: (slot, at) => {
      place[slot] = at;
    },
  };
  const out: number[] = [];
  for (let item = 0; item < count; item++) {
    for (let slot = 0; slot < readers.length; slot++) values[slot] = readers[slot](item);
    if (test(cells) !== TRUE) out.push(item);
  }
  return Uint32Array.from(out);
}

/** Columns that a condition can name. Texts are stored as words, so only the titles can be compared whole. */
function columnNames({ columns, numbers, titles }: SideInfo): string[] {
  const all = columns.filter(({ kind }) => kind === 'category').map(({ name }) => name);
  return ['id', ...(titles.length > 0 ? ['title'] : []), ...all, ...numbers.map(({ column }) => column)];
}

function readerOf(
  { columns, numbers, titles, rows, names }: SideInfo,
  name: string,
  idOf: (item: number) => string,
): ColumnReader | undefined {
  const isNamed = (other: string) => other === name || other.toLowerCase() === name.toLowerCase();
  const ofNumbers = numbers.find(({ column }) => isNamed(column));
  if (ofNumbers) {
    const { values } = ofNumbers;
    return (item) => (Number.isNaN(values[item]) ? [] : [String(values[item])]);
  }
  const column = columns.find((one) => one.kind === 'category' && isNamed(one.name));
  if (column) {
    const end = column.first + column.count;
    return (item) => {
      const found: string[] = [];
      for (let e = rows.offsets[item]; e < rows.offsets[item + 1]; e++) {
        const attribute = rows.targets[e];
        if (attribute >= column.first && attribute < end) found.push(names[attribute]);
      }
      return found;
    };
  }
  if (isNamed('title') && titles.length > 0) return (item) => (titles[item] ? [titles[item]] : []);
  return isNamed('id') ? (item) => [idOf(item)] : undefined;
}
