// Tells files that graphex wrote by their first bytes: models, states of fits, and files of rejected rows. A table of edges
// looks like any other table.

import { open } from 'node:fs/promises';
import { REJECTS_HEADER } from '../ingest/intake/rejects.js';
import { MODEL_START } from './tensors.js';

/** Whether a file is a model or the state of a fit. */
export async function isModelFile(path: string): Promise<boolean> {
  return (await startOf(path))?.text.slice(8) === MODEL_START;
}

/** Whether a file may be replaced without asking: it is empty, or graphex wrote it. */
export async function isOwnFile(path: string): Promise<boolean> {
  const start = await startOf(path);
  if (!start) return false;
  return start.size === 0 || start.text.startsWith(REJECTS_HEADER) || start.text.slice(8) === MODEL_START;
}

/** The size and the first bytes of a file; undefined if it cannot be opened. */
async function startOf(path: string): Promise<{ readonly size: number; readonly text: string } | undefined> {
  const file = await open(path, 'r').catch(() => undefined);
  if (!file) return undefined;
  try {
    const found = await file.stat();
    if (!found.isFile()) return undefined;
    const first = Buffer.alloc(8 + MODEL_START.length);
    const { bytesRead } = await file.read(first, 0, first.length, 0);
    return { size: found.size, text: first.toString('latin1', 0, bytesRead) };
  } finally {
    await file.close();
  }
}
