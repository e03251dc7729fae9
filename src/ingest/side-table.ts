// Small tables beside the data: titles, lists of ids, batches of users. Read whole, by the reader of all text tables.

import { InputError } from '../errors.js';
import { guessSeparator, isQuoted } from './guess.js';
import { rowsOf, type TextRow, withoutMark } from './scan.js';
import { openSource } from './source.js';

/** What such a table may hold. */
const MAX_BYTES = 1 << 28;
/** Columns that are looked at: more than any such table has, and less than a damaged file may. */
const MOST_COLUMNS = 200;
/** Rare separators come first: a comma inside titles must not win over :: between them. */
const SEPARATORS = ['::', '\t', ';', '|', ','] as const;

/** The rows of a file, of `-`, or of what is packed with gzip; columns are cut where the first rows say. */
export async function readSideTable(
  path: string,
  separators: readonly string[] = SEPARATORS,
): Promise<TextRow[]> {
  const source = await openSource(path);
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const part of source.chunks) {
      length += part.length;
      if (length > MAX_BYTES) {
        throw new InputError(`${path}: it has more than ${MAX_BYTES} bytes; give a smaller table`);
      }
      parts.push(part.slice());
    }
  } finally {
    source.close();
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return sideTable(bytes, path, separators);
}

/** The same of bytes; `name` is what messages call them. */
export function sideTable(
  all: Uint8Array,
  name: string,
  separators: readonly string[] = SEPARATORS,
): TextRow[] {
  const bytes = withoutMark(all);
  if (bytes[0] === 0xff || bytes[0] === 0xfe) {
    throw new InputError(`${name}: the file is UTF-16; save it as UTF-8`);
  }
  const sample = bytes.subarray(0, 1 << 16);
  const separator = guessSeparator(name, sample, sample.length === bytes.length, separators);
  // An id a line is taken as it stands.
  const quoted = separator !== '\n' && (isQuoted(separator) || separator === '::');
  return [...rowsOf(bytes, { separator, quoted, mostColumns: MOST_COLUMNS })];
}
