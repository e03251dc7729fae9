// Tells files that graphex wrote by their first bytes: models, states of fits, and files of rejected rows. A table of edges
// looks like any other table.

import { open } from 'node:fs/promises';
import { REJECTS_HEADER } from '../ingest/intake/rejects.js';
import { MODEL_START } from './tensors.js';

/** Whether a file may be replaced without asking: it is empty, or graphex wrote it. */
export async function isOwnFile(path: string): Promise<boolean> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return false;
  try {
    const { size } = await file.stat();
    if (size === 0) return true;
    const first = Buffer.alloc(8 + MODEL_START.length);
    const { bytesRead } = await file.read(first, 0, first.length, 0);
    const start = first.toString('latin1', 0, bytesRead);
    return start.startsWith(REJECTS_HEADER) || start.slice(8) === MODEL_START;
  } finally {
    await file.close();
  }
}
