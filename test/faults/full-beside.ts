// A disk that is full, where no small one can be mounted: the file beside an output is a way to a device that takes nothing.

import { openSync, symlinkSync } from 'node:fs';
import { vi } from 'vitest';
import * as beside from '../../src/files/temporary-name.js';

/** The next output to `path` goes to /dev/full. Needs `vi.mock('…/beside.js', { spy: true })` in the test file. */
export function besideIsFull(path: string): void {
  const place = `${path}.full.part`;
  symlinkSync('/dev/full', place);
  vi.mocked(beside.temporaryPathFor).mockReturnValueOnce(place);
  vi.mocked(beside.createNew).mockImplementationOnce(() => undefined);
  vi.mocked(beside.openNew).mockImplementationOnce((at) => openSync(at, 'w'));
}
