// Tells files that graphex wrote by their first bytes: models, states of fits, and files of rejected rows. A table of edges
// looks like any other table.

import { readAt } from '../files/chunks.js';
import { withFile } from '../files/plain-file.js';
import { REJECTS_HEADER } from '../ingest/intake/rejects.js';
import { MODEL_START } from './tensors.js';

/** Whether a file is a model or the state of a fit. */
export async function isModelFile(path: string): Promise<boolean> {
  return (await startOf(path))?.slice(8) === MODEL_START;
}

/** Whether a file may be replaced without asking: it is empty, or graphex wrote it. */
export async function isOwnFile(path: string): Promise<boolean> {
  const start = await startOf(path);
  if (start === undefined) return false;
  return start === '' || start.startsWith(REJECTS_HEADER) || start.slice(8) === MODEL_START;
}

/** The first bytes of a file; undefined if it cannot be opened. */
async function startOf(path: string): Promise<string | undefined> {
  const read = withFile(path, 'r', async (file) => {
    const found = await file.stat();
    if (!found.isFile()) return undefined;
    const first = await readAt(file, 0, 8 + MODEL_START.length);
    return Buffer.from(first).toString('latin1');
  });
  return read.catch(() => undefined);
}
