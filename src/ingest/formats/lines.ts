// Cuts a stream of bytes into lines, for formats that are read line by line.

import { peek } from '../../files/chunks.js';
import { concat } from '../../math/memory.js';
import { withoutMark } from './scan.js';

/** The longest line that is read; a file with longer ones does not consist of lines. */
export const MAX_LINE_BYTES = 1 << 24;

// `linesOf` removes a byte order mark at the start of a file; anywhere else it is text.
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The line as text; undefined if it is not UTF-8. */
export function decodeLine(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text of a line; undefined if `lineProblem` says why it has none. */
export function lineText(bytes: Uint8Array): string | undefined {
  return bytes.length > MAX_LINE_BYTES ? undefined : decodeLine(bytes);
}

export function lineProblem({ length }: Uint8Array): string {
  return length > MAX_LINE_BYTES
    ? `the line is longer than ${MAX_LINE_BYTES} bytes`
    : 'the line is not UTF-8 text';
}

/** The beginning of a line for a message, whatever its bytes. */
export function showLine(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, 200));
}

const LF = 10;
const CR = 13;

/**
 * The lines of the stream without their ends (LF, CR LF or CR), in batches. A line beyond the limit is cut just above it, without waiting
 * for its end.
 */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  let parts: Uint8Array[] = [];
  let held = 0;
  /** True inside a line beyond the limit: the rest of it is skipped. */
  let skipping = false;
  let begun = false;
  let afterReturn = false;
  // The first chunk that it gives is long enough for the mark of the file.
  for await (const chunk of (await peek(chunks)).all) {
    const lines: Uint8Array[] = [];
    let start = 0;
    // The mark of the whole file, and the second half of a CR LF that two chunks share.
    if (!begun) start = chunk.length - withoutMark(chunk).length;
    else if (afterReturn && chunk[0] === LF) start = 1;
    begun = true;
    afterReturn = chunk.at(-1) === CR;
    // Search for CR once per chunk, so that files without CR lose no time.
    let nextReturn = chunk.indexOf(CR, start);
    for (;;) {
      let end = chunk.indexOf(LF, start);
      if (nextReturn >= 0 && nextReturn < start) nextReturn = chunk.indexOf(CR, start);
      if (nextReturn >= 0 && (end < 0 || nextReturn < end)) end = nextReturn;
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
      if (end < 0) {
        if (skipping) break;
        parts.push(piece.slice());
        held += piece.length;
        if (held > MAX_LINE_BYTES) {
          lines.push(concat(Uint8Array, parts));
          parts = [];
          held = 0;
          skipping = true;
        }
        break;
      }
      if (!skipping) lines.push(parts.length === 0 ? piece : concat(Uint8Array, [...parts, piece]));
      skipping = false;
      parts = [];
      held = 0;
      start = chunk[end] === CR && chunk[end + 1] === LF ? end + 2 : end + 1;
    }
    yield lines;
  }
  if (held > 0) yield [concat(Uint8Array, parts)];
}
