// Bad rows that are set aside: a CSV of line, reason and the row itself, renamed to its final name when reading has ended.

import { closeSync, fsyncSync, renameSync, rmSync, writeSync } from 'node:fs';
import { openNew, temporaryPathFor } from '../../files/temporary-name.js';
import { removeOnExit, writeError } from '../../files/write-error.js';
import type { RejectSink } from '../options.js';

/** How every file of rejects begins. */
export const REJECTS_HEADER = 'line,reason,row\n';
const BUFFERED_BYTES = 1 << 16;

interface RejectFile extends RejectSink {
  /** Renames the file to its final name. */
  commit(): void;
  /** Removes what was written. */
  discard(): void;
}

/** Opens the file before reading begins, so that a path that cannot be written stops it. */
export function openRejects(path: string): RejectFile {
  const temporary = temporaryPathFor(path);
  const guard = <T>(work: () => T): T => {
    try {
      return work();
    } catch (cause) {
      throw writeError(path, cause);
    }
  };
  const file = guard(() => openNew(temporary));
  const done = removeOnExit(temporary);
  let buffered = REJECTS_HEADER;
  let open = true;
  const flush = () => {
    guard(() => writeSync(file, buffered));
    buffered = '';
  };
  return {
    add({ line, reason, text }) {
      buffered += `${line},${csv(reason)},${csv(text)}\n`;
      if (buffered.length > BUFFERED_BYTES) flush();
    },
    commit() {
      flush();
      guard(() => fsyncSync(file));
      open = false;
      closeSync(file);
      guard(() => renameSync(temporary, path));
    },
    discard() {
      if (open) closeSync(file);
      open = false;
      rmSync(temporary, { force: true });
      done();
    },
  };
}

function csv(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
