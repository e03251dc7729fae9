// Everything that is read by name, each one value: what it is called, how it is told, how it is read. Help, errors and the
// choice of a reader derive from this list; a new format is one more value in it. file-formats.ts has those of files.

import { InputError } from '../errors.js';
import { option, optionError } from '../options/error.js';
import { readSotu } from './builtin.js';
import { FILE_FORMATS } from './file-formats.js';
import { readNetflix } from './netflix.js';
import type { ReadOptions, ReadResult, RejectSink } from './options.js';
import { drawPaperSet } from './paper-set.js';
import { readEchonest, readText, readWikitext } from './recipes.js';

/** Data that are named and not looked into: built-in sets (`@name`) and recipes (`name:PATH`), with a layout of their own. */
export interface NamedFormat {
  readonly name: string;
  /** How it is given: '@sotu', 'netflix:DIR'. */
  readonly usage: string;
  readonly meaning: string;
  /** Whether it has words, of which the common ones can be left out. */
  readonly words?: boolean;
  matches(source: string): boolean;
  read(source: string, options: ReadOptions, rejects?: RejectSink): Promise<ReadResult>;
}

type Reader = NamedFormat['read'];

function builtin(name: string, meaning: string, read: Reader, words = false): NamedFormat {
  return { name, usage: name, meaning, words, matches: (source) => source === name, read };
}

function recipe(name: string, path: string, meaning: string, read: Reader, words = false): NamedFormat {
  const prefix = `${name}:`;
  return {
    name,
    usage: prefix + path,
    meaning,
    words,
    matches: (source) => source.startsWith(prefix),
    read(source, options, rejects) {
      if (source === prefix) {
        throw new InputError(`${source}: a path is missing after the colon, as in ${prefix}PATH`);
      }
      return read(source.slice(prefix.length), options, rejects);
    },
  };
}

export const NAMED_FORMATS: readonly NamedFormat[] = [
  builtin('@sotu', 'State of the Union addresses and their words', readSotu, true),
  builtin('@simulated', 'the simulated set of the paper', (_, options) => drawPaperSet(1200, options)),
  builtin('@simulated-small', 'a small simulated set', (_, options) => drawPaperSet(120, options)),
  recipe('netflix', 'DIR', 'the Netflix Prize ratings: mv_*.txt or combined_data_*.txt', readNetflix),
  recipe('echonest', 'FILE', 'the Echo Nest listening counts: train_triplets.txt', readEchonest),
  recipe('wikitext', 'FILE', 'raw WikiText: articles and their words', readWikitext, true),
  recipe(
    'text',
    'PATH',
    'a document a line, or a .txt file each in a folder, and their words',
    readText,
    true,
  ),
];

/** The built-in set or recipe that the source names, or undefined where it is a path. */
export function namedFormat(source: string): NamedFormat | undefined {
  const found = NAMED_FORMATS.find((format) => format.matches(source));
  if (!found && source.startsWith('@')) {
    const known = NAMED_FORMATS.filter(({ name }) => name.startsWith('@')).map(({ name }) => name);
    throw new InputError(
      `${source}: there is no such built-in set; there are ${known.join(', ')}. A file of that name: ./${source}`,
    );
  }
  return found;
}

/** Throws if an option describes what the format settles itself. */
export function refuseOptions(source: string, format: NamedFormat | undefined, options: ReadOptions): void {
  const { commonWords } = options;
  if (commonWords !== undefined && !format?.words) {
    const texts = NAMED_FORMATS.filter(({ words }) => words).map(({ usage }) => usage);
    throw optionError`${option('commonWords')} ${commonWords}: only texts have words (${texts.join(', ')}); leave this option out`;
  }
  if (!format) return;
  for (const name of ['users', 'items', 'count', 'sep', 'header'] as const) {
    if (options[name] !== undefined) {
      const what = format.name === source ? source : `${format.name}:`;
      throw new InputError(`--${name} ${options[name]}: ${what} has a fixed layout; leave this option out`);
    }
  }
}

/** What to do where a path leads nowhere: it may be meant as a recipe. */
export function missingFile(source: string): string {
  const recipes = NAMED_FORMATS.map(({ usage }) => usage).filter((usage) => usage.includes(':'));
  return /^[a-z]{2,}:/.test(source)
    ? `, nor a recipe of that name: there are ${recipes.slice(0, -1).join(', ')} and ${recipes.at(-1)}`
    : '; check the path';
}

/** What DATA can be, for the help of commands. */
export const DATA_HELP = `a file (${FILE_FORMATS.flatMap(({ endings }) => endings).join(', ')}, also .gz), - for standard input, ${NAMED_FORMATS.map(({ usage }) => usage).join(', ')}`;
