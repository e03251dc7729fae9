// Readers of known data: Echo Nest's triplets, raw WikiText, and texts in a file or a folder.

import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, throwIfAborted } from '../../errors.js';
import { readError } from '../../files/read-error.js';
import { isParquet } from '../../parquet/magic.js';
import { readDelimited } from '../formats/delimited.js';
import { decodeLine, lineProblem, linesOf, lineText, showLine } from '../formats/lines.js';
import { withoutMark } from '../formats/scan.js';
import type { ReadOptions, ReadResult, RejectSink } from '../options.js';
import { openSource, requireFile } from '../source.js';
import type { DocumentCollector } from './words.js';

/** The most bytes of a document: more than any book, and less than memory. */
const MAX_DOCUMENT_BYTES = 1 << 26;

/** Loaded on demand, because lists of stop words take time to load. */
const newDocuments = async (path: string, options: ReadOptions, rejects?: RejectSink) => {
  const { DocumentCollector } = await import('./words.js');
  return new DocumentCollector(path, options, rejects);
};

/** train_triplets.txt: user, song and plays, separated by tabs. Each played song is an edge; in a multigraph its count is the plays. */
export async function readEchonest(
  path: string,
  options: ReadOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
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
export async function readWikitext(
  path: string,
  options: ReadOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  const articles = await newDocuments(path, options, rejects);
  const titles = new Map<string, number>();
  let title: string | undefined;
  let body: string[] = [];
  let length = 0;
  const close = () => {
    if (title === undefined) return;
    // Two articles can share a title; each is a separate document.
    const times = (titles.get(title) ?? 0) + 1;
    titles.set(title, times);
    articles.add(times === 1 ? title : `${title} (${times})`, body.join('\n'));
    body = [];
    length = 0;
  };
  await eachLine(path, options, articles, (text, line) => {
    const heading = /^ ?= ((?!=).*?) = ?$/.exec(text);
    if (heading && !heading[1].endsWith('=')) {
      close();
      title = heading[1].trim();
    } else if (title !== undefined) {
      length += text.length;
      if (length > MAX_DOCUMENT_BYTES) {
        throw new InputError(
          `${path}, line ${line}: the article has more than ${MAX_DOCUMENT_BYTES} characters; give a raw WikiText file such as wiki.train.raw`,
        );
      }
      body.push(text);
    } else if (text.trim() !== '') {
      throw new InputError(
        `${path}, line ${line}: text before the first article heading " = Title = "; give a raw WikiText file such as wiki.train.raw`,
      );
    }
  });
  close();
  return articles.finish('wikitext', 'wikitext');
}

/** Reads a document per line of a file, or per .txt file of a folder. */
export async function readText(
  path: string,
  options: ReadOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  const documents = await newDocuments(path, options, rejects);
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
    const bytes = await readDocument(path);
    const text = bytes && decodeLine(withoutMark(bytes));
    if (bytes === undefined) {
      documents.collector.reject(n + 1, `${name} has more than ${MAX_DOCUMENT_BYTES} bytes`, '', path);
    } else if (text === undefined) {
      documents.collector.reject(n + 1, `${name} is not UTF-8 text`, showLine(bytes), path);
    } else documents.add(name.replace(/\.txt$/i, ''), text);
    options.onProgress?.({ stage: 'reading', done: n + 1, total: names.length, unit: 'documents' });
  }
}

/** The bytes of a file; undefined if it has too many, even if it grows while it is read. */
async function readDocument(path: string): Promise<Uint8Array | undefined> {
  const { size } = await requireFile(path);
  if (size > MAX_DOCUMENT_BYTES) return undefined;
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of createReadStream(path)) {
      length += part.length;
      if (length > MAX_DOCUMENT_BYTES) return undefined;
      parts.push(part);
    }
  } catch (cause) {
    throw readError(path, cause);
  }
  return Buffer.concat(parts);
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
    if (isParquet(source.first))
      throw new InputError(`${path}: this is a Parquet file, not text; read it without a recipe`);
    for await (const lines of linesOf(source.chunks)) {
      throwIfAborted(options.signal);
      for (const bytes of lines) {
        line++;
        const text = lineText(bytes);
        if (text !== undefined) take(text, line);
        else documents.collector.reject(line, lineProblem(bytes), showLine(bytes));
      }
      options.onProgress?.({ stage: 'reading', done: documents.documents, unit: 'documents' });
    }
  } finally {
    source.close();
  }
}
