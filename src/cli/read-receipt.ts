// Reads a receipt from results.json. The file must be plain, and no larger or deeper than a study writes.

import { InputError } from '../errors.js';
import { readPlainText } from '../files/plain-file.js';
import { type CheckedReceipt, checkReceipt } from '../study/receipt.js';
import { isDeeperThan } from '../text/json-depth.js';

/** Far above what the largest study writes, far below what a string can hold. */
const MOST_BYTES = 256 * 2 ** 20;
const DEEPEST = 64;

export async function readReceipt(path: string): Promise<CheckedReceipt> {
  const text = await readPlainText(path, MOST_BYTES, (problem, bytes) => {
    const what =
      problem === 'kind'
        ? 'it is not a plain file'
        : `it has ${bytes} bytes, and no study writes more than ${MOST_BYTES}`;
    return new InputError(`${path}: ${what}; give a results.json of a study`);
  });
  if (isDeeperThan(text, DEEPEST)) {
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
