// Opens a file with the desktop's program for it. The path is passed as an argument; no shell reads it.

import { spawn } from 'node:child_process';
import { resolve } from 'node:path';

/** The program that opens files on each system. Explorer asks the registry as `start` does, but without a shell. */
const OPENERS: Readonly<Partial<Record<NodeJS.Platform, string>>> = {
  darwin: 'open',
  win32: 'explorer.exe',
};
const FREEDESKTOP = 'xdg-open';
/** A program that still runs after this time has opened the file. */
const PATIENCE = 2000;

/** Resolves to a sentence on what went wrong, or to undefined. */
export function openFile(
  path: string,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  const opener = OPENERS[platform] ?? FREEDESKTOP;
  const instead = `open ${path} yourself`;
  return new Promise((settle) => {
    // Detached, so that the browser stays open when this process ends.
    const child = spawn(opener, [resolve(path)], { stdio: 'ignore', detached: true });
    const timer = setTimeout(() => done(undefined), PATIENCE);
    function done(failed: string | undefined): void {
      clearTimeout(timer);
      child.removeAllListeners();
      child.on('error', () => undefined);
      child.unref();
      settle(failed);
    }
    child.on('error', () => done(`the report is not opened: ${opener} is not installed; ${instead}`));
    child.on('exit', (status) => {
      // Explorer ends with status 1 even after a success.
      const well = status === 0 || platform === 'win32';
      done(well ? undefined : `the report is not opened: ${opener} found no program for it; ${instead}`);
    });
  });
}
