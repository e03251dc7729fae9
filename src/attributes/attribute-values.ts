// The values of one column → attributes, in a fixed order and within limits.

import { plainWords } from '../ingest/recipes/words.js';
import type { SparseWeights } from '../topn/query.js';
import { valuesOf } from './columns.js';
import type { ColumnKind } from './info.js';

/** Attributes that were not kept. */
export interface DroppedAttributes {
  /** Words of a single row. */
  readonly rare: number;
  /** Words of more than half of the rows. */
  readonly common: number;
  /** Values beyond the largest number that a column may have. */
  readonly beyond: number;
}

/** The attributes of one column: its rows refer to `names`. */
export interface ColumnValues {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly names: readonly string[];
  readonly rows: SparseWeights;
  readonly dropped: DroppedAttributes;
}

/** A cell of a row, and how often it counts. */
export interface Cell {
  readonly row: number;
  readonly text: string;
  readonly count: number;
  readonly separator: string | undefined;
}

/** Attributes that a column may have: those in the most rows are kept. */
const MOST_ATTRIBUTES = 100_000;
/** Different values that are counted; later ones are dropped. */
const MOST_DISTINCT = 2_000_000;
/** Values of one cell. */
const MOST_OF_CELL = 2000;
const LONGEST_VALUE = 200;
const LONGEST_TEXT = 100_000;
const RARE = 2;
const COMMON = 0.5;
/** With fewer rows, no value counts as common. */
const FEW_ROWS = 20;
const BINS = 24;

/** The attributes of a column of texts or categories. */
export function columnValues(
  name: string,
  kind: ColumnKind,
  cells: Iterable<Cell>,
  total: number,
): ColumnValues {
  const codes = new Map<string, number>();
  /** Rows that have each value: an upper bound if a row comes twice. */
  const spread: number[] = [];
  /** Where each value was added last. */
  const last: number[] = [];
  const [atRow, atCode, atCount]: [number[], number[], number[]] = [[], [], []];
  let beyond = 0;
  const described = new Uint8Array(total);
  const codeOf = (value: string) => {
    const key = value.slice(0, LONGEST_VALUE);
    const known = codes.get(key);
    if (known !== undefined) return known;
    if (codes.size >= MOST_DISTINCT) {
      beyond++;
      return undefined;
    }
    const code = codes.size;
    codes.set(key, code);
    spread.push(0);
    last.push(-1);
    return code;
  };
  for (const { row, text, count, separator } of cells) {
    described[row] = 1;
    const values =
      kind === 'text'
        ? plainWords(text.slice(0, LONGEST_TEXT))
        : valuesOf(text.slice(0, LONGEST_TEXT), separator);
    const first = atRow.length;
    const end = Math.min(values.length, MOST_OF_CELL);
    for (let v = 0; v < end; v++) {
      const code = codeOf(values[v]);
      if (code === undefined) continue;
      if (last[code] >= first) atCount[last[code]] += count;
      else {
        spread[code]++;
        last[code] = atRow.length;
        atRow.push(row);
        atCode.push(code);
        atCount.push(count);
      }
    }
  }
  const rows = described.reduce((sum, is) => sum + is, 0);
  const keep = keptCodes([...codes.keys()], spread, kind, rows);
  return {
    name,
    kind,
    names: keep.names,
    rows: compressed(atRow, atCode, atCount, keep.place, total),
    dropped: { ...keep.dropped, beyond: keep.dropped.beyond + beyond },
  };
}

function keptCodes(values: readonly string[], spread: readonly number[], kind: ColumnKind, rows: number) {
  let [rare, common] = [0, 0];
  let kept: number[] = [];
  for (let code = 0; code < values.length; code++) {
    if (kind === 'text' && spread[code] < RARE) rare++;
    else if (kind === 'text' && rows > FEW_ROWS && spread[code] > COMMON * rows) common++;
    else kept.push(code);
  }
  const beyond = Math.max(0, kept.length - MOST_ATTRIBUTES);
  if (beyond > 0) {
    kept = kept.sort((a, b) => spread[b] - spread[a] || (values[a] < values[b] ? -1 : 1));
    kept.length = MOST_ATTRIBUTES;
  }
  kept.sort((a, b) => (values[a] < values[b] ? -1 : 1));
  const place = new Int32Array(values.length).fill(-1);
  for (const [at, code] of kept.entries()) place[code] = at;
  return { place, names: kept.map((code) => values[code]), dropped: { rare, common, beyond } };
}

/** Triples → rows with ascending attributes; counts of equal ones add up. */
function compressed(
  atRow: readonly number[],
  atCode: readonly number[],
  atCount: readonly number[],
  place: Int32Array,
  total: number,
): SparseWeights {
  const isKept = (e: number) => place[atCode[e]] >= 0;
  const starts = new Uint32Array(total + 1);
  for (let e = 0; e < atRow.length; e++) if (isKept(e)) starts[atRow[e] + 1]++;
  for (let r = 0; r < total; r++) starts[r + 1] += starts[r];
  const triples = new Uint32Array(starts[total]);
  const next = starts.slice();
  for (let e = 0; e < atRow.length; e++) if (isKept(e)) triples[next[atRow[e]]++] = e;
  const offsets = new Uint32Array(total + 1);
  const targets = new Uint32Array(triples.length);
  const weights = new Float32Array(triples.length);
  let kept = 0;
  let keys = new Float64Array(0);
  for (let r = 0; r < total; r++) {
    const [first, length] = [starts[r], starts[r + 1] - starts[r]];
    // By attribute, then in the given order.
    if (keys.length < length) keys = new Float64Array(2 * length);
    for (let i = 0; i < length; i++) keys[i] = place[atCode[triples[first + i]]] * length + i;
    if (length > FEW_KEYS) keys.subarray(0, length).sort();
    else sortFew(keys, length);
    for (let i = 0; i < length; ) {
      const attribute = Math.floor(keys[i] / length);
      let count = 0;
      for (; i < length && keys[i] < (attribute + 1) * length; i++) {
        count += atCount[triples[first + (keys[i] - attribute * length)]];
      }
      targets[kept] = attribute;
      weights[kept++] = count;
    }
    offsets[r + 1] = kept;
  }
  return { offsets, targets: targets.slice(0, kept), weights: weights.slice(0, kept) };
}

/** Most rows have few attributes: a call of `sort` would take most of the time. */
const FEW_KEYS = 32;

function sortFew(keys: Float64Array, count: number): void {
  for (let i = 1; i < count; i++) {
    const key = keys[i];
    let at = i;
    for (; at > 0 && keys[at - 1] > key; at--) keys[at] = keys[at - 1];
    keys[at] = key;
  }
}

/** The attributes of a column of numbers: bins with about the same number of rows each. */
export function numberValues(name: string, values: Float64Array): ColumnValues {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort();
  /** The smallest number of each bin. */
  const starts: number[] = [];
  for (let bin = 0; bin < BINS && sorted.length > 0; bin++) {
    const start = sorted[Math.floor((bin * sorted.length) / BINS)];
    if (starts.at(-1) !== start) starts.push(start);
  }
  const binOf = (value: number) => {
    let bin = starts.length - 1;
    while (bin > 0 && value < starts[bin]) bin--;
    return bin;
  };
  const last = new Float64Array(starts.length).fill(Number.NEGATIVE_INFINITY);
  for (const value of sorted) last[binOf(value)] = value;
  const offsets = new Uint32Array(values.length + 1);
  for (let r = 0; r < values.length; r++) offsets[r + 1] = offsets[r] + (Number.isNaN(values[r]) ? 0 : 1);
  const targets = new Uint32Array(offsets[values.length]);
  for (let r = 0; r < values.length; r++)
    if (!Number.isNaN(values[r])) targets[offsets[r]] = binOf(values[r]);
  return {
    name,
    kind: 'number',
    names: starts.map((start, bin) => (start === last[bin] ? String(start) : `${start} to ${last[bin]}`)),
    rows: { offsets, targets, weights: new Float32Array(targets.length).fill(1) },
    dropped: { rare: 0, common: 0, beyond: 0 },
  };
}
