// The files that a receipt names. A relative path means nothing in another folder, so a receipt also stores the path relative to its own
// folder.

import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { InputError } from '../errors.js';
import { isPattern } from '../files/glob.js';

/** The path in a source and its prefix: 'text:' in 'text:speeches'. There is no path in '-', '@sotu' or a query. */
function parts(source: string): { readonly recipe: string; readonly path: string } | undefined {
  if (source === '-' || source.startsWith('@') || source.startsWith('sql:')) return undefined;
  const [, recipe = '', path = source] = /^([a-z]{2,}:)(.+)$/.exec(source) ?? [];
  return { recipe, path };
}

/** Whether the file exists; for a pattern, whether its folder exists. */
function isThere(path: string): boolean {
  return existsSync(
    isPattern(path) && !existsSync(path) ? dirname(`${path.slice(0, path.search(/[*?[]/))}x`) : path,
  );
}

/** A relative source as seen from the folder of the report; null if the source does not depend on a folder. */
export function seenFrom(folder: string, source: string): string | null {
  const found = parts(source);
  if (!found || isAbsolute(found.path)) return null;
  const path = relative(resolve(folder), resolve(found.path));
  return isAbsolute(path) ? null : found.recipe + path;
}

/** Finds a receipt's source: as given, or relative to the receipt's folder. */
export function findSource(
  receipt: string,
  what: { readonly source: string; readonly sourceFrom?: string | null | undefined },
  advice: string,
): string {
  const given = parts(what.source);
  if (!given || isThere(given.path)) return what.source;
  const fromReceipt = what.sourceFrom ? parts(what.sourceFrom) : undefined;
  const path = fromReceipt && relative('', join(dirname(resolve(receipt)), fromReceipt.path));
  if (path && isThere(path)) return fromReceipt.recipe + path;
  throw new InputError(
    `${what.source}: there is no such file${path ? `, nor ${path}` : ''}; the path comes from ${receipt}, ` +
      `and is tried as given and from that file's folder: ${advice}`,
  );
}
