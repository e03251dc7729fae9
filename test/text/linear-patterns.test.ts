// Every regular expression of src takes time in proportion to its text. Each is tried on long texts that repeat one character
// or a pair, with beginnings and ends that make it backtrack.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ts } from '@ts-morph/common';
import { describe, expect, it } from 'vitest';

const SOURCES = join(import.meta.dirname, '../../src');
const LENGTH = 8000;
/** A pattern that takes the square of the length needs several times as long. */
const MOST_MS = 20;
const UNITS = [
  ' ',
  '\t',
  '\n',
  '0',
  '1',
  'a',
  'A',
  'é',
  '_',
  '.',
  '-',
  ':',
  '0.',
  '1.',
  'a ',
  ' a',
  "''",
  '\\"',
  '1,',
];
const BEGINNINGS = ['', '0', 'a', '.', '"', "'", '(', '-', ' ', '=', '&'];

interface Pattern {
  readonly where: string;
  readonly regex: RegExp;
}

function patternsOf(file: string): Pattern[] {
  const text = readFileSync(join(SOURCES, file), 'utf8');
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Pattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/');
      const regex = new RegExp(node.text.slice(1, end), node.text.slice(end + 1));
      const { line } = source.getLineAndCharacterOfPosition(node.getStart());
      found.push({ where: `src/${file}:${line + 1} ${node.text}`, regex });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const long = new Map<string, string>();
function pumped(unit: string): string {
  const made = long.get(unit) ?? unit.repeat(LENGTH / unit.length);
  long.set(unit, made);
  return made;
}

/** The first text that takes too long, three times in a row; undefined if none does. */
function slowText(regex: RegExp): string | undefined {
  // Characters of the pattern itself get furthest into it.
  const own = [...new Set(regex.source.replace(/\\[a-z]/gi, ''))].filter((one) => one !== '\\');
  for (const unit of new Set([...UNITS, ...own])) {
    for (const beginning of new Set([...BEGINNINGS, ...own.slice(0, 6)])) {
      const text = `${beginning}${pumped(unit)}\u0001`;
      const takes = () => {
        const began = performance.now();
        regex.lastIndex = 0;
        regex.test(text);
        return performance.now() - began;
      };
      if (takes() > MOST_MS && takes() > MOST_MS && takes() > MOST_MS)
        return JSON.stringify(beginning + unit);
    }
  }
  return undefined;
}

describe('regular expressions', () => {
  it.each([
    /\s*\(\d{4}\)\s*$/, // once stripped years from titles
    /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, // once recognised numbers in cells
    /0+$/,
  ])('%s would be found', (regex) => {
    expect(slowText(regex)).toBeDefined();
  });

  it('all of src are linear', () => {
    const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' });
    const all = files.filter((name) => /\.tsx?$/.test(name)).flatMap(patternsOf);
    expect(all.length).toBeGreaterThan(150);
    const slow = all.flatMap(({ where, regex }) => {
      const text = slowText(regex);
      return text === undefined ? [] : [`${where} on ${text}`];
    });
    expect(slow).toEqual([]);
  }, 60_000);
});
