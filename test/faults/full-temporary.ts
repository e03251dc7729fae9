// A full disk without mounting a small one: the temporary file of an output is a link to a device that accepts nothing.

import { openSync, symlinkSync } from 'node:fs';
import { vi } from 'vitest';
import * as temporary from '../../src/files/temporary-name.js';

/** The next output to `path` goes to /dev/full. Needs `vi.mock('…/temporary-name.js', { spy: true })` in the test file. */
export function temporaryIsFull(path: string): void {
  const place = `${path}.full.part`;
  symlinkSync('/dev/full', place);
  vi.mocked(temporary.temporaryPathFor).mockReturnValueOnce(place);
  vi.mocked(temporary.createNew).mockImplementationOnce(() => undefined);
  vi.mocked(temporary.openNew).mockImplementationOnce((at) => openSync(at, 'w'));
}
