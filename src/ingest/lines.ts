// A stream of bytes as lines, for formats that are read line by line.

/** A line longer than this is given up: such a file holds no lines. */
export const MAX_LINE_BYTES = 1 << 24;

const strict = new TextDecoder('utf-8', { fatal: true });

/** The line as text, without a carriage return at its end; undefined if it is not UTF-8. */
export function decodeLine(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes.at(-1) === 13 ? bytes.subarray(0, -1) : bytes);
  } catch {
    return undefined;
  }
}

/** The beginning of a line for a message, whatever its bytes. */
export function showLine(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes.subarray(0, 200));
}

/** The lines of the stream without their line feeds, in batches. A line beyond the limit comes cut, just longer. */
export async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array[]> {
  let parts: Uint8Array[] = [];
  let held = 0;
  for await (const chunk of chunks) {
    const lines: Uint8Array[] = [];
    let start = 0;
    for (;;) {
      const end = chunk.indexOf(10, start);
      const piece = chunk.subarray(start, end < 0 ? chunk.length : end);
      if (end < 0) {
        if (held <= MAX_LINE_BYTES) {
          parts.push(piece.slice());
          held += piece.length;
        }
        break;
      }
      lines.push(parts.length === 0 ? piece : joined(parts, piece));
      parts = [];
      held = 0;
      start = end + 1;
    }
    yield lines;
  }
  if (held > 0) yield [joined(parts, new Uint8Array(0))];
}

function joined(parts: readonly Uint8Array[], last: Uint8Array): Uint8Array {
  const result = new Uint8Array(parts.reduce((sum, part) => sum + part.length, last.length));
  let at = 0;
  for (const part of [...parts, last]) {
    result.set(part, at);
    at += part.length;
  }
  return result;
}
