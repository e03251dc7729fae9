// A list of recommendations on the terminal, with reasons and confidence.

import { catalogueOf } from '../../attributes/info.js';
import type { Model } from '../../fit/model.js';
import type { Reasons } from '../../predict/explain/reasons.js';
import type { TitleBook } from '../../predict/titles.js';
import { fixed, grouped, significant } from '../../text/numbers.js';
import { present } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { oneLine, shown } from '../../text/untrusted.js';
import { INTERVAL_NOTE } from '../words/confidence.js';
import { AGAINST_WORDS, reasonWords, usualWords } from '../words/reasons.js';
import { textTable, wrap } from './text-table.js';

interface PrintedList {
  /** How stable the list is, in words. */
  readonly confidence?: { readonly text: string } | undefined;
  readonly items: readonly {
    readonly item: string;
    readonly title?: string;
    readonly score: number;
    readonly low?: number;
    readonly high?: number;
    readonly reasons?: Reasons | undefined;
  }[];
}

/** Both ends with as many decimals as two digits of their distance need. */
function interval(low: number, high: number): string {
  const decimals = high > low ? Math.min(9, Math.max(0, 1 - Math.floor(Math.log10(high - low)))) : 2;
  return `${fixed(low, decimals)} … ${fixed(high, decimals)}`;
}

/** Longer titles lose their middle, so that a row fits the terminal. */
const LONGEST_TITLE = 40;
const INDENT = '      ';

export function listText({ items: list, confidence }: PrintedList, model: Model, titles: TitleBook): string {
  const name = (id: string) => shown(titles.ofId(id) ?? id, LONGEST_TITLE);
  const names = model.names ?? USERS_AND_ITEMS;
  const { items } = names;
  if (list.length === 0) {
    const count = grouped(catalogueOf(model).count);
    return `No ${items.one} is left to recommend: the model has ${count}, and all are known, excluded or left out by the filter.`;
  }
  const named = list.some((entry) => entry.title !== undefined);
  const cells = [
    present(['', items.one, named && 'title', 'score', confidence && '90 % interval']),
    ...list.map(({ item, title, score, low, high }, rank) =>
      present([
        `${rank + 1}.`,
        shown(item, LONGEST_TITLE),
        named && shown(title ?? '', LONGEST_TITLE),
        significant(score, 4),
        low !== undefined && high !== undefined && interval(low, high),
      ]),
    ),
  ];
  const table = textTable(cells, Number.POSITIVE_INFINITY);
  const [heading, ...rows] = table.split('\n');
  const why = list.map(({ score, reasons }) => reasons && reasonWords(reasons, score, names, name));
  const lines = rows.flatMap((row, at) => [
    row,
    ...(why[at]?.lines ?? []).map((line) => wrap(oneLine(line), INDENT, `${INDENT}  `)),
  ]);
  const notes = present([
    why.some((one) => one?.usual) && usualWords(names),
    why.some((one) => one?.against) && AGAINST_WORDS,
    confidence && `${confidence.text} ${INTERVAL_NOTE}`,
  ]);
  return [heading, ...lines, ...notes.flatMap((note) => ['', wrap(note)])].join('\n');
}
