// The manifest of a folder: the names and hashes of the files that graphex has written. Only these are ever replaced or
// removed. A file that somebody else has made or changed stays.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import type { InputError } from '../errors.js';
import { option, optionError } from '../options/error.js';
import { writePieces } from './atomic.js';

export const MANIFEST = '.graphex.json';
const MOST_BYTES = 1 << 20;

const schema = z.object({
  format: z.literal('graphex-files'),
  version: z.literal(1),
  files: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
});

/** SHA-256 of each file by its name in the folder. */
export type Manifest = Readonly<Record<string, string>>;

/** The manifest of a folder; undefined if there is none, or if another file has that name. */
export async function readManifest(folder: string): Promise<Manifest | undefined> {
  const path = join(folder, MANIFEST);
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isFile() || found.size > MOST_BYTES) return undefined;
  try {
    return schema.parse(JSON.parse(await readFile(path, 'utf8'))).files;
  } catch {
    return undefined;
  }
}

/** Writes the manifest of the files in `stage`, and of earlier files that they do not replace. */
export async function writeManifest(
  stage: string,
  names: readonly string[],
  before: Manifest,
): Promise<void> {
  const files: Record<string, string> = { ...before };
  for (const name of names) files[name] = await hashOf(join(stage, name));
  const document = { format: 'graphex-files', version: 1, files } satisfies z.infer<typeof schema>;
  await writePieces(join(stage, MANIFEST), [`${JSON.stringify(document, null, 1)}\n`]);
}

/** Throws if a file of these names exists that graphex did not write, or that was changed since. */
export async function requireOwnFiles(
  folder: string,
  names: readonly string[],
  manifest: Manifest | undefined,
): Promise<void> {
  const taken = await lstat(join(folder, MANIFEST)).catch(() => undefined);
  if (taken && !manifest) throw notOwn(join(folder, MANIFEST));
  for (const name of names) {
    const path = join(folder, name);
    if (!(await isThere(path)) || (await isOwn(folder, name, manifest))) continue;
    throw notOwn(path, manifest !== undefined && Object.hasOwn(manifest, name));
  }
}

/** Whether the file exists, is plain, and has the content that graphex wrote. */
export async function isOwn(folder: string, name: string, manifest: Manifest | undefined): Promise<boolean> {
  if (!manifest || !Object.hasOwn(manifest, name)) return false;
  const path = join(folder, name);
  if (!(await lstat(path).catch(() => undefined))?.isFile()) return false;
  return (await hashOf(path).catch(() => undefined)) === manifest[name];
}

/** The error for an existing file that graphex did not write: why it stays, and what to do. */
export function notOwn(path: string, changed = false): InputError {
  const why = changed
    ? 'it was changed since graphex wrote it'
    : 'it is there already, and graphex has not written it';
  return optionError`${path}: ${why}; choose another place, move it away, or allow it with ${option('force')}`;
}

async function isThere(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return false;
    throw cause;
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
