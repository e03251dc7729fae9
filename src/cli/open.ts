// Opens a file with the program that the desktop has for it. The path is an argument of its own: no shell reads it.

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

/** What opens files on each system. Explorer, like start, asks the registry, but without a shell between. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'open',
  win32: 'explorer.exe',
};
const FREEDESKTOP = 'xdg-open';
/** A program that is still there after this has opened something. */
const PATIENCE = 2000;

/** Resolves with what went wrong, in words; undefined where nothing did. */
export function openFile(
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const opener = OPENERS[platform] ?? FREEDESKTOP;
  const instead = `open ${path} yourself`;
  return new Promise((settle) => {
    // Detached: the browser goes on when this process ends.
    const child = spawn(opener, [resolve(path)], { stdio: 'ignore', detached: true });
    const timer = setTimeout(() => done(undefined), PATIENCE);
    function done(failed: string | undefined): void {
      clearTimeout(timer);
      child.removeAllListeners();
      child.on('error', () => undefined);
      child.unref();
      settle(failed);
    }
    child.on('error', () => done(`the report is not opened: there is no ${opener} here; ${instead}`));
    child.on('exit', (status) => {
      // Explorer ends with 1 even where all went well.
      const well = status === 0 || platform === 'win32';
      done(well ? undefined : `the report is not opened: ${opener} found no program for it; ${instead}`);
    });
  });
}
