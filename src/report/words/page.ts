// What the browser page says about the machine, time and memory.

import type { FilterColumn } from '../../attributes/item-filter.js';
import type { ModelKind } from '../../options/names.js';
import { fixed, grouped, percent, short } from '../../text/numbers.js';
import { described, list, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import { columnName } from './info.js';

/** What the page calls the kinds of model. */
export const MODEL_TITLES: Readonly<Record<ModelKind, string>> = {
  auto: 'sparse or dense, chosen for each side',
  sparse: 'sparse',
  dense: 'dense',
};

/** What a model of the page is for: to describe the data, or to make lists (a ranker). */
export type Purpose = 'understand' | 'recommend';

/** What the page calls its two models. */
export const PURPOSE_TITLES: Readonly<Record<Purpose, string>> = {
  understand: 'the model that describes the data',
  recommend: 'the ranker',
};

/** How much of what held-out users have is in the lists of a model, or of popular items, with standard errors. */
export interface Score {
  readonly purpose: Purpose | undefined;
  readonly recall: number;
  readonly ndcg: number;
  readonly standardError: { readonly recall: number; readonly ndcg: number };
}

export interface ComparedLists {
  readonly scores: readonly Score[];
  /** The model to recommend with: the one whose lists are clearly better, else the ranker. */
  readonly best: Purpose;
  /** Whether two models were compared and neither has clearly better lists. */
  readonly tie: boolean;
  readonly n: number;
  /** Held-out users. */
  readonly users: number;
  /** Test items: those that the lists are made of. */
  readonly items: number;
}

/** Which model makes better lists, and by how much. */
export function comparisonWords(
  { scores, best, tie, n, users, items }: ComparedLists,
  names: SideNames,
): string {
  const title = (purpose: Purpose | undefined) =>
    purpose ? PURPOSE_TITLES[purpose] : `a list of popular ${names.items.many}`;
  const [first, ...others] = [...scores].sort(
    (a, b) => Number(b.purpose === best) - Number(a.purpose === best) || b.recall - a.recall,
  );
  const share = percentsApart(scores.map(({ recall }) => recall));
  const against = list(others.map(({ purpose, recall }) => `${share(recall)} by ${title(purpose)}`));
  return present([
    `For ${many(users, names.users)} that no model saw, the first ${n} ${names.items.many} by ${title(first.purpose)} ` +
      `contain ${share(first.recall)} of the hidden ${names.items.many}, against ${against}.`,
    tie && 'The two models do not differ clearly.',
    `The lists are ranked among ${grouped(items)} test ${items === 1 ? names.items.one : names.items.many}.`,
  ]).join(' ');
}

/** Percentages with as many decimals, at most two, as show that they differ. */
function percentsApart(shares: readonly number[]): (share: number) => string {
  const different = new Set(shares).size;
  const shows = (digits?: number) =>
    new Set(shares.map((share) => percent(share, digits))).size === different;
  const decimals = shows() ? undefined : shows(1) ? 1 : 2;
  return (share) => percent(share, decimals);
}

/** Which of two models makes the lists, and why. `chosen`: the one that the visitor chose. */
export function listerWords({ best, tie }: ComparedLists, chosen: Purpose | undefined): string {
  if (chosen) return `Recommend uses ${PURPOSE_TITLES[chosen]}, as you chose.`;
  return `Recommend therefore uses ${PURPOSE_TITLES[best]}${tie ? ', which is made for lists' : ''}.`;
}

/** Which users a file of the models lacks. `setting`: the label of the setting that holds them out. */
export function heldOutOfFile(heldOut: number, setting: string, { users }: SideNames): string {
  return `Saved without the ${many(heldOut, described('held-out', users))}. To have all, untick “${setting}” in the settings of Fit and fit again.`;
}

/** What was found in a table about the items. */
export interface ItemTable {
  readonly source: string;
  /** Items of the data that the table has; undefined for a table that a model stores. */
  readonly known?: number | undefined;
  /** Items that have a title, and all items. */
  readonly matched: number;
  readonly of: number;
  /** Items of the table without edges. */
  readonly added: number;
  /** The column of titles, if there is one. */
  readonly title: string | undefined;
  /** Attributes that a filter can name. */
  readonly attributes: readonly FilterColumn[];
}

/** Attributes that are named; the others are counted. */
const MOST_ATTRIBUTES = 5;

/** `hasData`: whether the table of edges is open, so that an item that it lacks has no users. */
export function itemTableWords(
  { source, matched, of, added, title, attributes }: ItemTable,
  { items }: SideNames,
  hasData: boolean,
): string {
  const file = shown(source, 40);
  const named = filtersInOrder(attributes)
    .slice(0, MOST_ATTRIBUTES)
    .map(({ name }) => columnName(name));
  const more = attributes.length - named.length;
  const one = added === 1;
  return present([
    title === undefined
      ? `No column of ${file} holds titles.`
      : `${grouped(matched)} of ${many(of, items)} have a title, from ${/^\d+$/.test(title) ? '' : 'column '}${columnName(title)} of ${file}.`,
    named.length > 0 && `Lists can be filtered by ${list(more > 0 ? [...named, `${more} others`] : named)}.`,
    added > 0 &&
      `${many(added, items)} in it ${one ? 'is' : 'are'} ${hasData ? `new (nobody has ${one ? 'it' : 'them'} yet)` : 'unknown to this model'}; ${one ? 'its attributes give its score' : 'their attributes give their scores'}.`,
  ]).join(' ');
}

/** A table is likely to be about other items if it has less than this part of the items, and as little of it is about them. */
const OF_OTHERS = 0.1;

/** A warning, if a table has next to none of the items. */
export function otherItemsWords(
  { source, known, of, added }: Pick<ItemTable, 'source' | 'known' | 'of' | 'added'>,
  { items }: SideNames,
): string | undefined {
  if (known === undefined || known >= OF_OTHERS * of || known >= OF_OTHERS * (known + added))
    return undefined;
  return `Only ${grouped(known)} of ${many(of, items)} are in ${shown(source, 40)}, and only ${grouped(known)} of its ${grouped(known + added)} ids are known. It may be a table of other ${items.many}: replace or remove it.`;
}

/** What an attribute holds: some values, or a range. */
export function examplesOf({ values, range }: FilterColumn): string {
  if (range) {
    const { low, high } = range;
    return isYears(range) ? `${fixed(low, 0)} to ${fixed(high, 0)}` : `${short(low)} to ${short(high)}`;
  }
  const some = (values ?? []).slice(0, 2).map(({ value }) => shown(value, 16));
  // No line begins with the ellipsis.
  return some.join(', ') + ((values?.length ?? 0) > some.length ? ',\u00a0…' : '');
}

/** Years are written without separators. */
function isYears({ low, high }: { readonly low: number; readonly high: number }): boolean {
  return [low, high].every((end) => Number.isInteger(end) && Math.abs(end) >= 1000 && Math.abs(end) <= 2200);
}

/** Attributes by which lists are likely to be filtered come first: categories, years, measures, then other numbers. */
export function filtersInOrder(attributes: readonly FilterColumn[]): FilterColumn[] {
  const rank = ({ kind, range }: FilterColumn) => {
    if (kind === 'category') return 0;
    if (!range) return 5;
    if (isYears(range)) return 1;
    if (!Number.isInteger(range.low) || !Number.isInteger(range.high)) return 2;
    // Numbers beyond this are ids, not amounts.
    return range.high > 1e9 ? 4 : 3;
  };
  return [...attributes].sort((a, b) => rank(a) - rank(b));
}

/** A condition on an attribute to begin with: its most common value, or the larger half of its numbers. */
export function conditionOn({ name, values, range }: FilterColumn): string {
  const column = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
  if (range) return `${column} >= ${range.median}`;
  return `${column} = '${(values?.[0]?.value ?? '').replaceAll("'", "''")}'`;
}

/** `hasData`: whether a table is open, to which a model can be fitted. */
export function noMapWords({ items }: SideNames, hasData: boolean): string {
  return `This model has no map of the ${items.many}: it is a ranker. Only models that describe the data have a map; ${hasData ? 'this page can fit one' : 'open your table to fit one'}.`;
}

/** What is said in the place of a map. `state`: whether it is being drawn, waits for other work, or was not asked for. */
export function noMapYetWords(state: 'drawn' | 'waits' | 'none', items: number, names: SideNames): string {
  if (state === 'drawn') return 'The map is being drawn.';
  if (state === 'waits') return 'The map will be drawn when the other work has ended.';
  return `A map of ${many(items, names.items)} can be drawn.`;
}

/** What computes in this tab. */
export interface PageMachine {
  readonly isolated: boolean;
  readonly cores: number;
  readonly gpu?:
    | { readonly available: boolean; readonly software: boolean; readonly detail: string }
    | undefined;
}

/** A word or two for the badge, and why. */
export function machineWords({ isolated, cores, gpu }: PageMachine) {
  const threads = isolated ? `${cores} ${cores === 1 ? 'thread' : 'threads'}` : 'one thread';
  const alone = isolated
    ? `This tab may share memory between threads, so it computes on ${cores === 1 ? 'the one core' : `all ${cores} cores`}.`
    : 'The server did not send the headers that let threads share memory, so the page uses one thread. It is slower; the results are the same.';
  if (!gpu) return { badge: threads, why: alone };
  if (gpu.available && !gpu.software) {
    return { badge: `GPU and ${threads}`, why: `Large fits run on the GPU (${gpu.detail}). ${alone}` };
  }
  const none = gpu.available
    ? `The only GPU is emulated in software (${gpu.detail}), which is slower than threads.`
    : 'This page has no access to a GPU.';
  return { badge: threads, why: `${alone} ${none}` };
}

/** 'about 5 seconds', 'about 3 minutes'. */
export function aboutTime(seconds: number): string {
  if (seconds < 1.5) return 'about a second';
  if (seconds < 90) return `about ${Math.round(seconds)} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes < 90 ? `about ${minutes} minutes` : `about ${Math.round(minutes / 60)} hours`;
}

/** '840 kB', '12 MB', '1.5 GB'. */
export function byteWords(bytes: number): string {
  if (bytes < 1e3) return `${bytes} bytes`;
  if (bytes < 1e6) return `${Math.round(bytes / 1e3)} kB`;
  if (bytes < 1e9) return `${bytes < 1e7 ? (bytes / 1e6).toFixed(1) : Math.round(bytes / 1e6)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** The memory and time that work needs, said before it begins. */
export function needWords(bytes: number, seconds: number, cap: number): string {
  const need = `This will take about ${byteWords(bytes)} of memory and ${aboutTime(seconds)}.`;
  if (bytes <= cap) return need;
  return `${need} That is more than this browser is likely to give a tab (${byteWords(cap)}).`;
}

/** The estimated size of a table that is not read yet. */
export function rowsWords(rows: number): string {
  return `about ${many(Number(rows.toPrecision(2)), 'row')}`;
}
