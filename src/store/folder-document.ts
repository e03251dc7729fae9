// JSON documents that describe a folder: split.json and parts.json.

import type { z } from 'zod';
import { InputError } from '../errors.js';
import { writePieces } from '../files/atomic.js';
import { readPlainText } from '../files/plain-file.js';
import { documentProblem } from '../text/documents.js';
import { safeJson } from '../text/untrusted.js';
import { type Expected, requireVersion } from './tensors.js';

/** A description is short. */
const MOST_BYTES = 1 << 26;

interface ExpectedDocument extends Expected {
  /** What to do if the document is wrong. */
  readonly remedy: string;
}

export function writeDocument(path: string, document: object): Promise<void> {
  return writePieces(path, [`${safeJson(JSON.stringify(document, null, 2))}\n`]);
}

/** Reads a document and checks its format, version and fields. */
export async function readDocument<S extends z.ZodType>(
  path: string,
  schema: S,
  expected: ExpectedDocument,
): Promise<z.infer<S>> {
  const { format, what, remedy } = expected;
  const document = await readJson(path, what, remedy);
  if (document?.format === format) requireVersion(`${path}: ${what}`, document.version, expected, remedy);
  const parsed = schema.safeParse(document);
  if (parsed.success) return parsed.data;
  throw new InputError(`${path}: this is not ${what} (${documentProblem(parsed.error)}); ${remedy}`);
}

/** The parsed JSON of a regular file: opening a pipe or a device could wait without end. */
export async function readJson(
  path: string,
  what: string,
  remedy: string,
): Promise<{ readonly format?: unknown; readonly version?: unknown } | undefined> {
  const text = await readPlainText(
    path,
    MOST_BYTES,
    () => new InputError(`${path}: this is not ${what}; ${remedy}`),
  );
  try {
    return JSON.parse(text) as object;
  } catch (cause) {
    throw new InputError(`${path}: it is not valid JSON (${(cause as Error).message}); ${remedy}`);
  }
}
