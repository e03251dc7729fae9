// Checks the outputs of a command before it starts. An output must not be an input, must not replace the files of others, and must be
// writable, so that hours of work are not lost.

import { accessSync, constants, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { InputError } from '../errors.js';
import { requireOwnFolder } from '../files/folder.js';
import { FOLDER_KINDS, folderKinds } from '../files/folder-kinds.js';
import { notOwn } from '../files/manifest.js';
import { entryAt } from '../files/plain-file.js';
import { writeError } from '../files/write-error.js';
import { refuseOwnInput } from '../ingest/sources.js';
import { isOwnFile } from '../store/signature.js';

interface Outputs {
  /** Files that will be written; undefined if not wanted. */
  readonly files?: readonly (string | undefined)[];
  /** A folder that will be created or filled, and the names in it; a name that ends in / is a folder. */
  readonly folder?: { readonly path: string; readonly names: readonly string[] } | undefined;
  /** What the command reads: paths, recipes, built-in sets, or - for standard input. */
  readonly inputs: readonly (string | undefined)[];
  /** Also replace files that graphex has not written. */
  readonly force?: boolean | undefined;
}

/** Throws if an output is an input, cannot be written, or would replace a file that graphex has not written. */
export async function checkOutputs({ files = [], folder, inputs, force }: Outputs): Promise<void> {
  const alone = files.filter((path) => path !== undefined);
  const within = folder ? folder.names.map((name) => join(folder.path, name)) : [];
  const written = [...alone, ...within.filter((path) => !path.endsWith(sep))];
  await refuseOwnInput(
    written,
    inputs.filter((input) => input !== undefined),
  );
  for (const [at, path] of written.entries()) {
    if (written.slice(0, at).some((other) => resolve(other) === resolve(path))) {
      throw new InputError(`${path}: two outputs have this path; choose another path for one of them`);
    }
  }
  for (const path of alone) checkFile(path);
  if (folder) checkFolder(folder.path, within);
  if (force) return;
  for (const path of alone) if (entryAt(path) && !(await isOwnFile(path))) throw notOwn(path);
  if (folder && entryAt(folder.path)) {
    refuseOtherKind(folder);
    await requireOwnFolder(
      folder.path,
      folder.names.filter((name) => !name.endsWith(sep)),
    );
  }
}

/** A folder holds one kind of result, because readers recognise a folder by its marker. */
function refuseOtherKind({ path, names }: NonNullable<Outputs['folder']>): void {
  if (!FOLDER_KINDS.some(({ marker }) => names.includes(marker))) return;
  const other = folderKinds(path).find(({ marker }) => !names.includes(marker));
  if (!other) return;
  throw new InputError(
    `${path}: ${other.name} is in this folder (${other.marker}); choose another one, or replace it with --force`,
  );
}

function checkFile(path: string): void {
  const there = existing(path);
  if (there?.isDirectory() || /[/\\]$/.test(path)) {
    throw new InputError(`${path}: this is a folder; name a file in it`);
  }
  if (there && !there.isFile()) {
    throw new InputError(`${path}: it exists and is not a plain file; choose another path`);
  }
  const home = dirname(resolve(path));
  const nearest = firstExisting(home);
  if (nearest.there && !nearest.there.isDirectory()) throw inTheWay(path, nearest.at);
  if (nearest.at !== home) {
    throw new InputError(`${path}: its folder does not exist; create the folder or choose another path`);
  }
  checkWritable(path, home);
}

function checkFolder(path: string, within: readonly string[]): void {
  // Missing folders will be created, so the first one that exists must be writable.
  const { at, there } = firstExisting(resolve(path));
  if (there && !there.isDirectory()) throw inTheWay(path, at);
  checkWritable(path, at);
  if (at !== resolve(path)) return;
  for (const entry of within) {
    const kind = entryAt(entry.endsWith(sep) ? entry.slice(0, -1) : entry);
    if (kind && kind.isDirectory() !== entry.endsWith(sep)) {
      throw new InputError(
        `${entry}: a ${kind.isDirectory() ? 'folder' : 'file'} is in the way; choose another path`,
      );
    }
  }
}

/** The path itself, or its nearest parent that exists. */
function firstExisting(path: string): { readonly at: string; readonly there: Stats | undefined } {
  let at = path;
  let there = existing(at);
  while (!there && dirname(at) !== at) {
    at = dirname(at);
    there = existing(at);
  }
  return { at, there };
}

function inTheWay(path: string, file: string): InputError {
  const which = resolve(path) === file ? '' : `, ${file}`;
  return new InputError(`${path}: a file is in the way${which}; choose another path or remove the file`);
}

function checkWritable(path: string, folder: string): void {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw writeError(path, cause);
  }
}

/** The entry at an output path; undefined if there is none. */
function existing(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (cause) {
    // A path below a file does not exist; the file itself is found on the way up.
    if ((cause as NodeJS.ErrnoException).code === 'ENOTDIR') return undefined;
    throw writeError(path, cause);
  }
}
