// The Netflix Prize ratings: a line `MOVIE:` and below it lines `CUSTOMER,RATING,DATE`, in 17,770 files mv_*.txt or four
// files combined_data_*.txt. An edge per rating.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { InputError, throwIfAborted } from '../../errors.js';
import { readError } from '../../files/read-error.js';
import { linesOf, showLine } from '../formats/lines.js';
import { EdgeCollector } from '../intake/collect.js';
import type { ReadOptions, ReadResult, RejectSink } from '../options.js';
import { openSource, requireFile } from '../source.js';

const COLON = 58;
const COMMA = 44;
/** More than any number of a customer or a film has. */
const MAX_DIGITS = 15;

export async function readNetflix(
  path: string,
  options: ReadOptions,
  rejects?: RejectSink,
): Promise<ReadResult> {
  const files = await ratingFiles(path);
  const collector = new EdgeCollector(path, options, rejects);
  for (const [n, file] of files.entries()) {
    await readFile(file, collector, options);
    options.onProgress?.({
      stage: 'reading',
      done: n + 1,
      total: files.length,
      unit: 'files',
      note: `${collector.rows} ratings`,
    });
  }
  return {
    ...collector.finish(),
    guess: { kind: 'netflix', format: 'netflix', columns: { users: 'customer', items: 'movie' } },
  };
}

/** The rating files of a folder, in order; a single file stands for itself. */
async function ratingFiles(path: string): Promise<string[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [path];
    const names = (await readdir(path)).sort();
    for (const pattern of [/^mv_\d+\.txt(\.gz)?$/, /^combined_data_\d+\.txt(\.gz)?$/]) {
      const found = names.filter((name) => pattern.test(name));
      if (found.length === 0) continue;
      for (const name of found) await requireFile(join(path, name));
      return found.map((name) => join(path, name));
    }
  } catch (cause) {
    throw readError(path, cause);
  }
  throw new InputError(
    `${path}: there are neither mv_*.txt nor combined_data_*.txt files in it; give the folder that holds them`,
  );
}

async function readFile(path: string, collector: EdgeCollector, options: ReadOptions): Promise<void> {
  const source = await openSource(path, options.signal);
  let line = 0;
  let movie = -1;
  const bad = (reason: string, bytes: Uint8Array) =>
    collector.reject(line, reason, showLine(bytes), `${path}, line ${line}`);
  try {
    for await (const lines of linesOf(source.chunks)) {
      throwIfAborted(options.signal);
      for (const bytes of lines) {
        line++;
        const { length } = bytes;
        if (length === 0) continue;
        const digits = leadingDigits(bytes, length);
        if (digits > 0 && digits <= MAX_DIGITS && digits === length - 1 && bytes[digits] === COLON) {
          movie = collector.items.encode(bytes, 0, digits);
        } else if (
          digits === 0 ||
          digits > MAX_DIGITS ||
          bytes[digits] !== COMMA ||
          !isRating(bytes, digits + 1, length)
        ) {
          bad('expected "MOVIE:" or "CUSTOMER,RATING,DATE" with a rating from 1 to 5', bytes);
        } else if (movie < 0) bad('a rating before the first "MOVIE:" line', bytes);
        else collector.push(collector.users.encode(bytes, 0, digits), movie, 1);
      }
    }
  } finally {
    source.close();
  }
}

function leadingDigits(bytes: Uint8Array, length: number): number {
  let i = 0;
  while (i < length && bytes[i] >= 48 && bytes[i] <= 57) i++;
  return i;
}

/** A digit 1 … 5, alone or followed by a comma and the date. */
function isRating(bytes: Uint8Array, at: number, length: number): boolean {
  return at < length && bytes[at] >= 49 && bytes[at] <= 53 && (at + 1 === length || bytes[at + 1] === COMMA);
}
