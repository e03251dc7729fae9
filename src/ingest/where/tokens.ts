// Cuts a condition on rows into tokens, as in rating >= 7 and time > '2013-01-01'.

import { option, optionError } from '../../options/error.js';
import { shown } from '../../text/untrusted.js';

export interface Token {
  /** 'name' and 'place' (#3) are columns; 'word' belongs to the language. */
  readonly kind: 'name' | 'place' | 'text' | 'number' | 'sign' | 'word' | 'end';
  readonly at: number;
  readonly written: string;
  /** Without quotes. */
  readonly value: string;
}

/** A column of such a name goes in double quotes. */
const WORD = /^(and|or|not|in|like|is|null|between|true|false)$/i;

/** A column as a condition names it: genre, #3, "my column". */
export function writtenColumn(name: string): string {
  if (/^\d+$/.test(name)) return `#${name}`;
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !WORD.test(name)
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}

const TOKEN =
  /\s*(?:(?<number>(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)|(?<name>[\p{L}_][\p{L}\p{N}_]*)|#(?<place>\d+)|'(?<text>(?:[^']|'')*)'|"(?<quoted>(?:[^"]|"")*)"|(?<sign><=|>=|<>|!=|==|[=<>(),+-])|(?<end>$))/iuy;

/** Operators of other languages, and what to write instead. */
const REMEDIES: Readonly<Record<string, string>> = {
  "'": "this quote is never closed; close it with another '",
  '"': 'this quote is never closed; close it with another "',
  '&': '"&" means nothing here: write and',
  '|': '"|" means nothing here: write or',
  '!': '"!" means nothing here: write not, or != for another value',
  '`': '"`" means nothing here: put names of columns in double quotes',
};

/** The tokens of the text; the last one marks the end. */
export function tokensOf(text: string, name = 'where'): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; tokens.at(-1)?.kind !== 'end'; ) {
    TOKEN.lastIndex = at;
    const found = TOKEN.exec(text);
    if (!found) {
      const start = at + /^\s*/.exec(text.slice(at))![0].length;
      const character = String.fromCodePoint(text.codePointAt(start)!);
      throw wrong(
        text,
        start,
        REMEDIES[character] ?? `${shown(JSON.stringify(character))} means nothing here`,
        name,
      );
    }
    at = TOKEN.lastIndex;
    const written = found[0].trimStart();
    const [group, matched] = Object.entries(found.groups!).find(([, value]) => value !== undefined)!;
    const quote = group === 'text' ? "'" : '"';
    const kind = group === 'quoted' ? 'name' : group === 'name' && WORD.test(matched) ? 'word' : group;
    const value = group === 'text' || group === 'quoted' ? matched.replaceAll(quote + quote, quote) : matched;
    tokens.push({ kind: kind as Token['kind'], at: at - written.length, written, value });
  }
  return tokens;
}

/** Characters of the condition that a message shows on each side of the error. */
const SHOWN = 30;

/** An error message with the place in the condition, marked by ▸. */
export function wrong(text: string, at: number, problem: string, name = 'where') {
  const before = text.slice(Math.max(0, at - SHOWN), at);
  const after = text.slice(at, at + SHOWN);
  const [more, rest] = [at > SHOWN ? '…' : '', at + SHOWN < text.length ? '…' : ''];
  return optionError`${option(name)}, character ${at + 1}: ${problem} (${shown(`${more}${before}▸${after}${rest}`)})`;
}
