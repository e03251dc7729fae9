// Writes folders of results: either all files appear or none, and files of others stay.

import { lstat, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { InputError } from '../errors.js';
import { remove, syncFile, syncFolder, writePieces } from './atomic.js';
import { isOwn, MANIFEST, type Manifest, readManifest, requireOwnFiles, writeManifest } from './manifest.js';
import { randomToken, temporaryPathFor } from './temporary-name.js';
import { removeOnExit, writeError } from './write-error.js';

/** Holds files that are complete but not all moved to their final names. */
const COMMITTED = '.graphex-written';
/** How many times a writer retries after another writer of the same folder came first. */
const MOST_TURNS = 100;

export type FolderFiles = Readonly<Record<string, (temporary: string) => Promise<void>>>;

/** How to write a folder, and whether to replace an existing one. */
export interface FolderOptions {
  /** Also replace files that graphex has not written. Default false. */
  readonly force?: boolean | undefined;
  /** Names of files of earlier results; they are removed if graphex wrote them. */
  readonly obsolete?: RegExp | readonly string[] | undefined;
  /** Files that may be written concurrently, before the others. Default none: one after another. */
  readonly concurrent?: readonly string[] | undefined;
}

/**
 * Writes several files in a folder or below it: either all appear or none. A new folder is written under a temporary name
 * and renamed. In an existing folder one rename decides: from then on the new files count. This process, or the next one
 * that calls `finishFolder`, moves them to their final names. It throws if graphex did not write an existing file.
 */
export async function writeFolder(
  folder: string,
  files: FolderFiles,
  options: FolderOptions = {},
): Promise<void> {
  const home = resolve(folder);
  const names = Object.keys(files);
  let made: string | undefined;
  let stage: string | undefined;
  let done: (() => void) | undefined;
  try {
    const exists = await isFolder(home);
    const before = exists ? await requireOwnFolder(home, names, options) : undefined;
    if (!exists) made = await makeFolders(dirname(home));
    stage = exists ? join(home, `.${randomToken()}.part`) : temporaryPathFor(home);
    await mkdir(stage);
    done = removeOnExit(stage);
    const inside = stage;
    const writeFile = async (name: string) => {
      const path = join(inside, name);
      try {
        await makeFolders(dirname(path));
        await files[name](path);
        await syncFile(path);
      } catch (cause) {
        throw writeError(join(folder, name), cause);
      }
    };
    const concurrent = new Set(options.concurrent ?? []);
    // Wait for all: a failure removes the stage, and nothing may write there afterwards.
    const results = await Promise.allSettled(Array.from(concurrent, writeFile));
    for (const one of results) if (one.status === 'rejected') throw one.reason;
    for (const name of names) if (!concurrent.has(name)) await writeFile(name);
    const obsolete = obsoleteFiles(before, names, options);
    const kept = Object.entries(before ?? {}).filter(([name]) => !obsolete.includes(name));
    await writeManifest(stage, names, Object.fromEntries(kept));
    await syncFile(join(stage, MANIFEST));
    await commit(stage, home, names, options);
    for (const name of obsolete) {
      if (before && (await isOwn(home, name, before))) await rm(join(home, name));
    }
  } catch (cause) {
    if (stage !== undefined && done) await remove(stage);
    // Remove the parent folders that were created here and are empty.
    await removeFolders(dirname(home), made);
    throw writeError(folder, cause);
  } finally {
    done?.();
  }
}

/** Writes texts in the same way; returns their paths. */
export async function writeTexts(
  folder: string,
  texts: Readonly<Record<string, string>>,
  options: FolderOptions = {},
): Promise<string[]> {
  const files = Object.entries(texts).map(([name, text]) => [
    name,
    (temporary: string) => writePieces(temporary, [text]),
  ]);
  await writeFolder(folder, Object.fromEntries(files), options);
  return Object.keys(texts).map((name) => join(folder, name));
}

/** The decisive rename; retries if another writer came first. */
async function commit(
  stage: string,
  home: string,
  names: readonly string[],
  options: FolderOptions,
): Promise<void> {
  for (let turn = 0; ; turn++) {
    const exists = await isFolder(home);
    try {
      await rename(stage, exists ? join(home, COMMITTED) : home);
      break;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if ((code !== 'ENOTEMPTY' && code !== 'EEXIST') || turn === MOST_TURNS) throw cause;
      await requireOwnFolder(home, names, options);
    }
  }
  await finishFolder(home, [...names, ...obsoleteFiles(await readManifest(home), names, options)]);
  await syncFolder(home);
}

/**
 * Finishes the work of a killed writer, and throws if graphex did not write an existing file of these names. Returns the
 * manifest of the folder.
 */
export async function requireOwnFolder(
  folder: string,
  names: readonly string[],
  options: FolderOptions = {},
): Promise<Manifest | undefined> {
  const { force = false } = options;
  for (let turn = 0; ; turn++) {
    await finishFolder(folder, [...names, ...obsoleteFiles(await readManifest(folder), names, options)]);
    const before = await readManifest(folder);
    try {
      await refuseLinkedFolders(folder, names);
      if (!force) await requireOwnFiles(folder, names, before);
      return before;
    } catch (cause) {
      // Another writer may be moving its files right now.
      const moving = (await stat(join(folder, COMMITTED)).catch(absent)) !== undefined;
      const changed = JSON.stringify(await readManifest(folder)) !== JSON.stringify(before);
      if ((!moving && !changed) || turn === MOST_TURNS) throw cause;
      await new Promise((wait) => setTimeout(wait, 5));
    }
  }
}

/**
 * Moves the files that a killed `writeFolder` had completed to their final names. Readers of a folder call it first. It
 * moves only plain files of the given names within a plain folder: a link was put there by somebody else.
 */
export async function finishFolder(folder: string, names: readonly string[]): Promise<void> {
  const committed = join(folder, COMMITTED);
  const there = await lstat(committed).catch(absent);
  if (there === undefined) return;
  const foreign = (what: string) =>
    new InputError(
      `${join(committed, what)}: this does not belong to a result of this kind; remove it, or repeat the command that was interrupted`,
    );
  if (!there.isDirectory()) throw foreign('');
  const known = new Set([...names, MANIFEST]);
  const inside = new Set([...known].flatMap(foldersOf));
  // Check all before moving the first.
  const moves: string[] = [];
  const folders = [''];
  for (const below of folders) {
    for (const entry of (await readdir(join(committed, below), { withFileTypes: true }).catch(absent)) ??
      []) {
      const name = join(below, entry.name);
      if (entry.isDirectory() && inside.has(name)) folders.push(name);
      else if (entry.isFile() && known.has(name)) moves.push(name);
      else throw foreign(name);
    }
  }
  await refuseLinkedFolders(folder, names);
  for (const name of moves) {
    await makeFolders(dirname(join(folder, name)));
    // Another process may have moved it already.
    await rename(join(committed, name), join(folder, name)).catch(absent);
  }
  for (const name of folders.reverse()) await rmdir(join(committed, name)).catch(() => undefined);
}

/** Temporary folders that a killed writer has left. */
const STAGE = /^\.[0-9a-f]{16}\.part$/;

/** Removes those of the files that graphex has written, and the folder if it is then empty. Files of others stay. */
export async function removeResult(folder: string, names: readonly string[]): Promise<void> {
  const written = await readManifest(folder);
  if (!written) return;
  const own = names.filter((name) => Object.hasOwn(written, name));
  for (const name of [...own, MANIFEST]) {
    const path = join(folder, name);
    if ((await lstat(path).catch(absent))?.isFile()) await rm(path);
  }
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (STAGE.test(entry.name) && entry.isDirectory())
      await rm(join(folder, entry.name), { recursive: true });
  }
  const left = await readdir(folder);
  if (left.length === 0) await rmdir(folder);
}

/** The folders above a name: for 'figures/a.svg' it is 'figures'. */
function foldersOf(name: string): string[] {
  const parent = dirname(name);
  return parent === '.' ? [] : [parent, ...foldersOf(parent)];
}

/** Throws if a folder is a link: writing through it would write to another place than the named one. */
async function refuseLinkedFolders(folder: string, names: readonly string[]): Promise<void> {
  for (const name of new Set(names.flatMap(foldersOf))) {
    const there = await lstat(join(folder, name)).catch(absent);
    if (there?.isSymbolicLink()) {
      throw new InputError(
        `${join(folder, name)}: this is a link to another place; remove it, or choose another folder`,
      );
    }
  }
}

function obsoleteFiles(
  manifest: Manifest | undefined,
  names: readonly string[],
  { obsolete }: FolderOptions,
): string[] {
  const isObsolete = (name: string) =>
    obsolete instanceof RegExp ? obsolete.test(name) : obsolete?.includes(name);
  return Object.keys(manifest ?? {}).filter((name) => isObsolete(name) && !names.includes(name));
}

/**
 * Creates a folder and its parents, and returns the first that was missing. It creates them one by one: Node's recursion
 * never ends if the system reports a refused folder as missing, as in /proc.
 */
async function makeFolders(folder: string): Promise<string | undefined> {
  if (await isFolder(folder)) return undefined;
  const parent = dirname(folder);
  const made = parent === folder ? undefined : await makeFolders(parent);
  try {
    await mkdir(folder);
  } catch (cause) {
    // Another process may have created it.
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST' && (await isFolder(folder))) return made;
    await removeFolders(parent, made);
    throw cause;
  }
  return made ?? folder;
}

/** Removes the empty folders from `last` up to `made`; does nothing if `made` is undefined. */
async function removeFolders(last: string, made: string | undefined): Promise<void> {
  for (let at = last; made !== undefined && at.length >= made.length; at = dirname(at)) {
    await rmdir(at).catch(() => undefined);
  }
}

async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(absent);
  if (found && !found.isDirectory()) {
    throw new InputError(`${path}: a file is in the way of the folder; choose another name or remove it`);
  }
  return found !== undefined;
}

function absent(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT') throw cause;
}
