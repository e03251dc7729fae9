// Lists, plurals and capitals.

import { grouped } from './numbers.js';

/** A thing that can be counted. */
export interface Noun {
  readonly one: string;
  readonly many: string;
}

/** 'a, b and c'; with semicolons if an entry contains a comma. */
export function list(parts: readonly string[], last: 'and' | 'or' = 'and'): string {
  if (parts.length < 2) return parts.join('');
  const long = parts.some((part) => part.includes(','));
  const comma = long ? '; ' : ', ';
  return `${parts.slice(0, -1).join(comma)}${long ? '; ' : ' '}${last} ${parts.at(-1)}`;
}

/** '1 edge', '1,204 edges'. A plain word takes an s. */
export function many(count: number, noun: string | Noun): string {
  const { one, many } = typeof noun === 'string' ? { one: noun, many: `${noun}s` } : noun;
  return `${grouped(count)} ${count === 1 ? one : many}`;
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

/** A path's last part; recipes and built-in sets stay as they are. */
export function sourceName(source: string): string {
  return source === '-' ? 'standard input' : source.split(/[\\/]/).at(-1) || source;
}
