// Known formats: `netflix:DIR`, `echonest:FILE`, `wikitext:FILE`, `text:PATH`. Each has its rules fixed, so options that
// say how a table is laid out are refused.

import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, throwIfAborted } from '../errors.js';
import { readDelimited } from './delimited.js';
import { decodeLine, linesOf, MAX_LINE_BYTES, showLine } from './lines.js';
import { readNetflix } from './netflix.js';
import type { ReadOptions, ReadResult, RejectSink } from './options.js';
import { openSource, readError } from './source.js';
import { DocumentCollector } from './words.js';

type Recipe = (path: string, options: ReadOptions, rejects?: RejectSink) => Promise<ReadResult>;

const RECIPES: Readonly<Record<string, Recipe>> = {
  netflix: readNetflix,
  echonest: readEchonest,
  wikitext: readWikitext,
  text: readText,
};

/** Reads `name:PATH` if the name is a recipe's; otherwise undefined. */
export function readRecipe(
  source: string,
  options: ReadOptions,
  rejects?: RejectSink,
): Promise<ReadResult> | undefined {
  const [, name, path] = /^([a-z]+):(.*)$/s.exec(source) ?? [];
  const recipe = Object.hasOwn(RECIPES, name ?? '') ? RECIPES[name!] : undefined;
  if (!recipe) return undefined;
  refuseLayout(`${name}:`, options);
  if (path === '') throw new InputError(`${source}: a path is missing after the colon, as in ${name}:PATH`);
  return recipe(path!, options, rejects);
}

/** Throws if an option describes the layout of a table, which a fixed format does not have. */
export function refuseLayout(source: string, options: ReadOptions): void {
  for (const name of ['users', 'items', 'count', 'sep', 'header'] as const) {
    if (options[name] !== undefined) {
      throw new InputError(`--${name} ${options[name]}: ${source} has a fixed layout; leave this option out`);
    }
  }
}

/** train_triplets.txt: user, song, plays, by tabs. An edge per played song; as a multigraph, the plays. */
async function readEchonest(path: string, options: ReadOptions, rejects?: RejectSink): Promise<ReadResult> {
  const source = await openSource(path, options.signal);
  try {
    const layout = { users: 1, items: 2, count: 3, sep: '\t', header: false };
    const result = await readDelimited(source, { ...options, ...layout }, rejects);
    return {
      ...result,
      guess: {
        kind: 'echonest',
        format: 'echonest',
        columns: { users: 'user', items: 'song', count: 'plays' },
      },
    };
  } finally {
    source.close();
  }
}

/** WikiText raw: an article begins at a line ` = Title = `; section headings have more equals signs. */
async function readWikitext(path: string, options: ReadOptions, rejects?: RejectSink): Promise<ReadResult> {
  const articles = new DocumentCollector(path, options, rejects);
  const titles = new Map<string, number>();
  let title: string | undefined;
  let body: string[] = [];
  const close = () => {
    if (title === undefined) return;
    // Two articles can share a title; each stays a document of its own.
    const times = (titles.get(title) ?? 0) + 1;
    titles.set(title, times);
    articles.add(times === 1 ? title : `${title} (${times})`, body.join('\n'));
    body = [];
  };
  await eachLine(path, options, articles, (text, line) => {
    const heading = /^ ?= ((?!=).*?) = ?$/.exec(text);
    if (heading && !heading[1].endsWith('=')) {
      close();
      title = heading[1].trim();
    } else if (title !== undefined) body.push(text);
    else if (text.trim() !== '') {
      throw new InputError(
        `${path}, line ${line}: text before the first article heading " = Title = "; give a raw WikiText file such as wiki.train.raw`,
      );
    }
  });
  close();
  return articles.finish('wikitext', 'wikitext');
}

/** A document per line of a file, or per .txt file of a folder. */
async function readText(path: string, options: ReadOptions, rejects?: RejectSink): Promise<ReadResult> {
  const documents = new DocumentCollector(path, options, rejects);
  if (path !== '-' && (await isFolder(path))) await addFolder(path, options, documents);
  else {
    await eachLine(path, options, documents, (text, line) => {
      if (text.trim() !== '') documents.add(String(line), text);
    });
  }
  return documents.finish('text', 'text');
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (cause) {
    throw readError(path, cause);
  }
}

async function addFolder(folder: string, options: ReadOptions, documents: DocumentCollector): Promise<void> {
  let names: string[];
  try {
    names = (await readdir(folder)).filter((name) => /\.txt$/i.test(name)).sort();
  } catch (cause) {
    throw readError(folder, cause);
  }
  if (names.length === 0) {
    throw new InputError(
      `${folder}: there is no .txt file in it; give a folder with a document per .txt file`,
    );
  }
  for (const [n, name] of names.entries()) {
    throwIfAborted(options.signal);
    const path = join(folder, name);
    let bytes: Uint8Array;
    try {
      bytes = await readFile(path);
    } catch (cause) {
      throw readError(path, cause);
    }
    const text = decodeLine(bytes);
    if (text === undefined) {
      documents.collector.reject(n + 1, `${name} is not UTF-8 text`, showLine(bytes), path);
    } else documents.add(name.replace(/\.txt$/i, ''), text);
    options.onProgress?.({ stage: 'reading', done: n + 1, total: names.length, unit: 'documents' });
  }
}

async function eachLine(
  path: string,
  options: ReadOptions,
  documents: DocumentCollector,
  take: (text: string, line: number) => void,
): Promise<void> {
  const source = await openSource(path, options.signal);
  let line = 0;
  try {
    if (source.content === 'parquet')
      throw new InputError(`${path}: this is a Parquet file, not text; read it without a recipe`);
    for await (const lines of linesOf(source.chunks)) {
      throwIfAborted(options.signal);
      for (const bytes of lines) {
        line++;
        const text = bytes.length > MAX_LINE_BYTES ? undefined : decodeLine(bytes);
        if (text !== undefined) take(text, line);
        else {
          const long = bytes.length > MAX_LINE_BYTES;
          documents.collector.reject(
            line,
            long ? `the line is longer than ${MAX_LINE_BYTES} bytes` : 'the line is not UTF-8 text',
            showLine(bytes),
          );
        }
      }
      options.onProgress?.({ stage: 'reading', done: documents.documents, unit: 'documents' });
    }
  } finally {
    source.close();
  }
}
