// Lists, plurals and capitals.

import { grouped } from './numbers.js';

/** A thing that can be counted. */
export interface Noun {
  readonly one: string;
  readonly many: string;
}

/** 'a, b and c'; three or more have semicolons if one contains a comma. */
export function list(parts: readonly string[], last: 'and' | 'or' = 'and'): string {
  if (parts.length < 2) return parts.join('');
  const long = parts.length > 2 && parts.some((part) => part.includes(','));
  const comma = long ? '; ' : ', ';
  return `${parts.slice(0, -1).join(comma)}${long ? '; ' : ' '}${last} ${parts.at(-1)}`;
}

/** What a condition leaves in place of a sentence, a row or a section that there is not. */
export type Absent = false | null | undefined;

/** The entries that there are. */
export function present<T>(entries: readonly (T | Absent)[]): T[] {
  return entries.filter((entry): entry is T => (entry ?? false) !== false);
}

/** '1 edge', '1,204 edges'. A plain word takes an s. */
export function many(count: number, noun: string | Noun): string {
  const { one, many } = typeof noun === 'string' ? { one: noun, many: `${noun}s` } : noun;
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** 'test user', 'test users'. */
export function described(adjective: string, { one, many }: Noun): Noun {
  return { one: `${adjective} ${one}`, many: `${adjective} ${many}` };
}

/** 'is' or 'are', by the count. */
export function are(count: number): string {
  return count === 1 ? 'is' : 'are';
}

/** 'was' or 'were', by the count. */
export function were(count: number): string {
  return count === 1 ? 'was' : 'were';
}

/** 'a user', 'an item'. */
export function article(word: string): string {
  return `${/^([aeio]|u(?!ser|ni|se|ti|rl|sa))/i.test(word) ? 'an' : 'a'} ${word}`;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Cuts a title after a word; what it ends with in parentheses, such as a year, stays: 'The Silence of the… (1991)'. */
export function shortTitle(title: string, most: number): string {
  if (title.length <= most) return title;
  const [ending = ''] = / \([^()]{1,8}\)$/.exec(title) ?? [];
  const room = most - ending.length - 1;
  const cut = title.lastIndexOf(' ', room);
  // A long first word is cut anywhere, but never within a character.
  const head = title.slice(0, cut > room / 2 ? cut : room).replace(/[\s,:;.–-]{1,4}$|[\ud800-\udbff]$/, '');
  return `${head}…${ending}`;
}

/** A path's last part; recipes and built-in sets stay as they are. */
export function sourceName(source: string): string {
  return source === '-' ? 'standard input' : source.split(/[\\/]/).at(-1) || source;
}
