// Sources that are read by name: built-in sets and recipes. A new recipe is an entry in NAMED_FORMATS; help, errors and the choice of a
// reader follow from it. formats/file-formats.ts has the formats of files.

import { InputError } from '../errors.js';
import { option, optionError } from '../options/error.js';
import type { NamedFile } from '../parquet/rows.js';
import { fillFromDuckDb, isDuckDb, readSql } from './formats/duckdb.js';
import { type BegunSource, FILE_FORMATS, type FileFormat, fileFormat } from './formats/file-formats.js';
import type { ReaderOptions, ReadOptions, ReadResult, RejectSink } from './options.js';
import { readSotu } from './recipes/builtin.js';
import { readNetflix } from './recipes/netflix.js';
import { drawPaperSet } from './recipes/paper-set.js';
import { readEchonest, readText, readWikitext } from './recipes/recipes.js';

/** Data recognised by name alone: built-in sets (`@name`) and recipes (`name:PATH`), each with its own layout. */
interface NamedFormat {
  readonly name: string;
  /** How a user writes it: '@sotu', 'netflix:DIR'. */
  readonly usage: string;
  /** Whether it consists of texts, whose common words can be left out. */
  readonly words?: boolean;
  /** Whether it is a table with columns that options can name. */
  readonly columns?: boolean;
  matches(source: string): boolean;
  read(source: string, options: ReaderOptions, rejects?: RejectSink): Promise<ReadResult>;
}

type Reader = NamedFormat['read'];

function builtin(name: string, read: Reader, words = false): NamedFormat {
  return { name, usage: name, words, matches: (source) => source === name, read };
}

function recipe(name: string, path: string, read: Reader, words = false): NamedFormat {
  const prefix = `${name}:`;
  return {
    name,
    usage: prefix + path,
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

const NAMED_FORMATS: readonly NamedFormat[] = [
  builtin('@sotu', readSotu, true),
  builtin('@simulated', (_, options) => drawPaperSet('@simulated', options)),
  builtin('@simulated-small', (_, options) => drawPaperSet('@simulated-small', options)),
  recipe('netflix', 'DIR', readNetflix),
  recipe('echonest', 'FILE', readEchonest),
  recipe('wikitext', 'FILE', readWikitext, true),
  recipe('text', 'PATH', readText, true),
  { ...recipe('sql', 'QUERY', readSql), columns: true },
];

const DATABASE: FileFormat<NamedFile> = {
  name: 'duckdb',
  endings: ['.duckdb'],
  matches: ({ first }) => isDuckDb(first),
  fill: (source, options, target) =>
    source.inFile((file) => fillFromDuckDb({ ...file, table: options.table }, 'duckdb', options, target)),
};

/** The format of an opened file; throws if there is none, or if the options belong to another. */
export function tableFormat(source: BegunSource<NamedFile>, { table }: ReadOptions): FileFormat<NamedFile> {
  if (DATABASE.matches(source)) return DATABASE;
  if (table !== undefined) {
    throw optionError`${option('table')} ${table}: ${source.name} is not a DuckDB database; leave this option out`;
  }
  return fileFormat(source);
}

/** The built-in set or recipe that the source names; undefined if it is a path. */
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

/** Throws if an option describes what the format itself determines. */
export function refuseOptions(source: string, format: NamedFormat | undefined, options: ReadOptions): void {
  const { commonWords } = options;
  if (commonWords !== undefined && !format?.words) {
    const texts = NAMED_FORMATS.filter(({ words }) => words).map(({ usage }) => usage);
    throw optionError`${option('commonWords')} ${commonWords}: only texts have words (${texts.join(', ')}); leave this option out`;
  }
  for (const [name, of] of [
    ['database', 'sql:'],
    ['table', 'a DuckDB database'],
  ] as const) {
    if (
      options[name] !== undefined &&
      (format ? format.name !== 'sql' || name === 'table' : name === 'database')
    ) {
      throw optionError`${option(name)} ${options[name]}: this is for ${of}; leave this option out`;
    }
  }
  if (!format) return;
  const what = format.name === source ? source : `${format.name}:`;
  for (const name of [...(format.columns ? [] : TABLE_OPTIONS), 'sep', 'header'] as const) {
    if (options[name] !== undefined) {
      throw optionError`${option(name)} ${String(options[name])}: ${what} has a fixed layout; leave this option out`;
    }
  }
}

/** Options that name columns of a table. */
const TABLE_OPTIONS = ['users', 'items', 'count', 'weight', 'where'] as const;

/** The remedy for a path that does not exist: it may be meant as a recipe. */
export function missingFile(source: string): string {
  const recipes = NAMED_FORMATS.map(({ usage }) => usage).filter((usage) => usage.includes(':'));
  return /^[a-z]{2,}:/.test(source)
    ? `, nor a recipe of that name: there are ${recipes.slice(0, -1).join(', ')} and ${recipes.at(-1)}`
    : '; check the path';
}

/** The values of DATA, for the help of commands. */
export const DATA_HELP = `files (${[...FILE_FORMATS, DATABASE].flatMap(({ endings }) => endings).join(', ')}, also .gz) or patterns such as 'logs/*.csv', - for standard input, ${NAMED_FORMATS.map(({ usage }) => usage).join(', ')}`;
