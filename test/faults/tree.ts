import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Every entry below a folder, with its kind and contents. */
export function tree(folder: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true }) as string[]) {
    const path = join(folder, name);
    const kind = lstatSync(path);
    if (kind.isSymbolicLink()) found[name] = `link to ${readlinkSync(path)}`;
    else if (kind.isFile()) found[name] = createHash('sha256').update(readFileSync(path)).digest('hex');
    else found[name] = kind.isDirectory() ? 'folder' : 'other';
  }
  return found;
}
