// Folders of results: all of their files appear, or none, and what somebody else has put there stays.

import { lstat, mkdir, readdir, rename, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { InputError } from '../errors.js';
import { remove, syncFile, syncFolder, writePieces } from './atomic.js';
import { isOwn, MANIFEST, type Manifest, readManifest, requireOwnFiles, writeManifest } from './manifest.js';
import { randomToken, temporaryPathFor } from './temporary-name.js';
import { removeOnExit, writeError } from './write-error.js';

/** Where the files of a folder wait that were all written but are not all in their places. */
const COMMITTED = '.graphex-written';
/** How often two writers of one folder may meet before the later one gives up. */
const MOST_TURNS = 100;

export type FolderFiles = Readonly<Record<string, (temporary: string) => Promise<void>>>;

/** How a folder is written: whether one that is there may be replaced. */
export interface FolderOptions {
  /** Replace also what graphex has not written. Default false. */
  readonly force?: boolean | undefined;
  /** Files of earlier results that these have not, by their names: removed where graphex wrote them. */
  readonly obsolete?: RegExp | readonly string[] | undefined;
  /** Files that may be written at the same time, before the others. Default none: one after the other. */
  readonly together?: readonly string[] | undefined;
}

/**
 * Writes several files in a folder or below it: all appear, or none. A new folder is written under a temporary name and
 * renamed. In an existing folder one rename decides: from then on the new files count, and this process, or the next that
 * calls `finishFolder`, moves them to their places. An existing file that graphex did not write is refused.
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
    const together = new Set(options.together ?? []);
    // All of them are waited for: what fails is removed, and nothing may be written there any more.
    const results = await Promise.allSettled(Array.from(together, writeFile));
    for (const one of results) if (one.status === 'rejected') throw one.reason;
    for (const name of names) if (!together.has(name)) await writeFile(name);
    const obsolete = obsoleteFiles(before, names, options);
    await writeManifest(stage, names, without(before, obsolete));
    await syncFile(join(stage, MANIFEST));
    await commit(stage, home, names, options);
    for (const name of obsolete) {
      if (before && (await isOwn(home, name, before))) await rm(join(home, name));
    }
  } catch (cause) {
    if (stage !== undefined && done) await remove(stage);
    // Folders on the way that were made here and are empty go away again.
    await removeFolders(dirname(home), made);
    throw writeError(folder, cause);
  } finally {
    done?.();
  }
}

/** The same with files that are texts; returns their paths. */
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

/** The one rename that decides, tried again where another writer came first. */
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
 * Finishes what a killed writer has begun, and throws if graphex did not write a file of these names. Returns the manifest
 * of what graphex has written there.
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
      // Another writer may just be moving its files.
      const moving = (await stat(join(folder, COMMITTED)).catch(absent)) !== undefined;
      const changed = JSON.stringify(await readManifest(folder)) !== JSON.stringify(before);
      if ((!moving && !changed) || turn === MOST_TURNS) throw cause;
      await new Promise((wait) => setTimeout(wait, 5));
    }
  }
}

/**
 * Moves to their places the files that a killed `writeFolder` had all written. Readers of a folder call it first. Only plain
 * files of the given names in a plain folder are moved, and only within the folder: a link there is somebody else's doing.
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
  // All are looked at before the first is moved.
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
    // Where another process is at the same, it may have been faster.
    await rename(join(committed, name), join(folder, name)).catch(absent);
  }
  for (const name of folders.reverse()) await rmdir(join(committed, name)).catch(() => undefined);
}

/** Stages that a writer which was killed has left in its folder. */
const STAGE = /^\.[0-9a-f]{16}\.part$/;

/**
 * Removes those of the files that graphex has written in a folder, and the folder where nothing else is in it. What somebody else
 * has put there stays.
 */
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

/** The folders between here and a name: of 'figures/a.svg' that is 'figures'. */
function foldersOf(name: string): string[] {
  const parent = dirname(name);
  return parent === '.' ? [] : [parent, ...foldersOf(parent)];
}

/** Writing through a folder that is a link would write into another place than was named. */
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

function without(manifest: Manifest | undefined, names: readonly string[]): Manifest {
  return Object.fromEntries(Object.entries(manifest ?? {}).filter(([name]) => !names.includes(name)));
}

/**
 * Makes a folder and those on the way to it, and returns the first that was missing. One by one: Node's own recursion
 * never ends where a folder is refused as if its parent were not there, as in /proc.
 */
async function makeFolders(folder: string): Promise<string | undefined> {
  if (await isFolder(folder)) return undefined;
  const parent = dirname(folder);
  const made = parent === folder ? undefined : await makeFolders(parent);
  try {
    await mkdir(folder);
  } catch (cause) {
    // Another process may have been faster.
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST' && (await isFolder(folder))) return made;
    await removeFolders(parent, made);
    throw cause;
  }
  return made ?? folder;
}

/** Removes the folders from `made` down to `last` that are empty; none where none was made. */
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
