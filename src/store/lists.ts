// Files of lists of recommendations.

import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { InputError } from '../errors.js';
import { writeAtomic } from '../files/atomic.js';
import { type Batches, type ListsKind, listPieces } from './list-pieces.js';

/** The format that a path's ending stands for; throws where it stands for none, so a command can ask before its work. */
export function listsFormat(path: string): { readonly kind: ListsKind; readonly gzipped: boolean } {
  const [, ending, packed] = /\.(csv|tsv|jsonl|ndjson|parquet)(\.gz)?$/i.exec(path) ?? [];
  const kind = ending?.toLowerCase().replace('ndjson', 'jsonl') as ListsKind | undefined;
  const gzipped = packed !== undefined;
  if (!kind || (kind === 'parquet' && gzipped)) {
    throw new InputError(
      `${path}: the format is not known by this ending; use .csv, .tsv, .jsonl (these also with .gz) or .parquet`,
    );
  }
  return { kind, gzipped };
}

/** Writes the lists; the file appears whole or not at all. `titled`: with a column of titles. */
export async function writeLists(path: string, batches: Batches, titled: boolean): Promise<void> {
  const { kind, gzipped } = listsFormat(path);
  await writeAtomic(path, async (beside) => {
    const pieces = Readable.from(listPieces(kind, batches, titled), { objectMode: false });
    const file = createWriteStream(beside);
    await (gzipped ? pipeline(pieces, createGzip({ level: 4 }), file) : pipeline(pieces, file));
  });
}
