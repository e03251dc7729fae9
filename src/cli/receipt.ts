// Reads a receipt from results.json. The file must be plain, and no larger or deeper than a study writes.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { InputError } from '../errors.js';
import { type CheckedReceipt, checkReceipt } from '../study/receipt.js';

/** Far above what the largest study writes, far below what a string can hold. */
const MOST_BYTES = 256 * 2 ** 20;
const DEEPEST = 64;

export async function readReceipt(path: string): Promise<CheckedReceipt> {
  const text = await readPlainFile(path);
  if (depthOf(text) > DEEPEST) {
    throw new InputError(`${path}: it is nested more than ${DEEPEST} deep; give a results.json of a study`);
  }
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (cause) {
    const { message } = cause as SyntaxError;
    throw new InputError(
      `${path}: it is not valid JSON (${message.slice(0, 200)}); give a results.json of a study`,
    );
  }
  try {
    return checkReceipt(document);
  } catch (cause) {
    if (!(cause instanceof InputError)) throw cause;
    throw new InputError(`${path}: ${cause.message}`);
  }
}

/** Opened without blocking: a FIFO without a writer would block forever. */
async function readPlainFile(path: string): Promise<string> {
  // Not every system has this flag.
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, O_RDONLY | O_NONBLOCK);
  } catch (cause) {
    // A socket cannot be opened at all.
    if ((cause as NodeJS.ErrnoException).code !== 'ENXIO') throw cause;
    throw notPlain(path);
  }
  try {
    const found = await file.stat();
    if (!found.isFile()) throw notPlain(path);
    if (found.size > MOST_BYTES) {
      throw new InputError(
        `${path}: it has ${found.size} bytes, and no study writes more than ${MOST_BYTES}; give a results.json of a study`,
      );
    }
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

function notPlain(path: string): InputError {
  return new InputError(`${path}: it is not a plain file; give a results.json of a study`);
}

/** The nesting depth of the brackets of a JSON text, not counting those in strings. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (quoted) {
      if (c === 0x5c) at++;
      else if (c === 0x22) quoted = false;
    } else if (c === 0x22) quoted = true;
    else if (c === 0x7b || c === 0x5b) deepest = Math.max(deepest, ++depth);
    else if (c === 0x7d || c === 0x5d) depth--;
  }
  return deepest;
}
