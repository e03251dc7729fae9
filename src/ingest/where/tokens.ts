// The words of a condition on rows, as in rating >= 7 and time > '2013-01-01'.

import { option, optionError } from '../../options/error.js';
import { shown } from '../../text/untrusted.js';

export type Token = { readonly at: number; readonly written: string } & (
  | { readonly kind: 'name' | 'text'; readonly value: string }
  | { readonly kind: 'number'; readonly value: number }
  /** A column by its place, from 1. */
  | { readonly kind: 'place'; readonly value: number }
  | { readonly kind: 'sign' | 'word' | 'end' }
);

/** Words of the language; a column of such a name goes in double quotes. */
const WORDS = new Set(['and', 'or', 'not', 'in', 'like', 'is', 'null', 'between', 'true', 'false']);

const PATTERNS = {
  space: /\s+/uy,
  number: /(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/iuy,
  name: /[\p{L}_][\p{L}\p{N}_]*/uy,
  place: /#(\d+)/uy,
  text: /'((?:[^']|'')*)'/uy,
  quoted: /"((?:[^"]|"")*)"/uy,
  sign: /<=|>=|<>|!=|==|[=<>(),+-]/uy,
} as const;

/** What people write from the habit of other languages. */
const HABITS: Readonly<Record<string, string>> = {
  '&': 'write and',
  '|': 'write or',
  '!': 'write not, or != for another value',
  '‘': "write plain quotes: '",
  '’': "write plain quotes: '",
  '“': 'write plain quotes: "',
  '”': 'write plain quotes: "',
  '`': 'put names of columns in double quotes',
  ';': 'one condition is all there is',
};

/** Cuts the text into words; the last is the end. */
export function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  while (at < text.length) {
    const space = match(PATTERNS.space);
    if (space) {
      at += space[0].length;
      continue;
    }
    const token = nextToken(text, at, match);
    tokens.push(token);
    at += token.written.length;
  }
  tokens.push({ kind: 'end', at: text.length, written: '' });
  return tokens;
}

function nextToken(text: string, at: number, match: (pattern: RegExp) => RegExpExecArray | null): Token {
  const number = match(PATTERNS.number);
  if (number) {
    const value = Number(number[0]);
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw wrong(
        text,
        at,
        `${shown(number[0])} is too large to be exact as a number; put it in quotes, as '…'`,
      );
    }
    return { kind: 'number', at, written: number[0], value };
  }
  const name = match(PATTERNS.name);
  if (name) {
    const word = name[0].toLowerCase();
    return WORDS.has(word)
      ? { kind: 'word', at, written: name[0] }
      : { kind: 'name', at, written: name[0], value: name[0] };
  }
  const place = match(PATTERNS.place);
  if (place) return { kind: 'place', at, written: place[0], value: Number(place[1]) };
  const quoted = match(PATTERNS.quoted);
  if (quoted) return { kind: 'name', at, written: quoted[0], value: quoted[1].replaceAll('""', '"') };
  const written = match(PATTERNS.text);
  if (written) return { kind: 'text', at, written: written[0], value: written[1].replaceAll("''", "'") };
  const sign = match(PATTERNS.sign);
  if (sign) return { kind: 'sign', at, written: sign[0] };
  const character = String.fromCodePoint(text.codePointAt(at)!);
  if (character === "'" || character === '"') {
    throw wrong(text, at, `this quote is never closed; close it with another ${character}`);
  }
  const habit = HABITS[character];
  throw wrong(text, at, `${shown(JSON.stringify(character))} means nothing here${habit ? `: ${habit}` : ''}`);
}

/** Characters of the condition that a message shows on either side. */
const SHOWN = 30;

/** A message with the place in the condition, which ▸ marks. */
export function wrong(text: string, at: number, problem: string) {
  const before = text.slice(Math.max(0, at - SHOWN), at);
  const after = text.slice(at, at + SHOWN);
  const [more, rest] = [at > SHOWN ? '…' : '', at + SHOWN < text.length ? '…' : ''];
  return optionError`${option('where')}, character ${at + 1}: ${problem} (${shown(`${more}${before}▸${after}${rest}`)})`;
}
