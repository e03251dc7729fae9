// The page's side of the session, with a worker that only says what happens to it.

import { afterEach, expect, test, vi } from 'vitest';
import { ask } from '../../src/page/session-client.js';

afterEach(() => vi.unstubAllGlobals());

test('a session that failed is ended, and the next request starts another', async () => {
  const workers: { onerror?: (event: unknown) => void; ended: boolean }[] = [];
  class FakeWorker {
    ended = false;
    constructor() {
      workers.push(this);
    }
    postMessage(): void {}
    terminate(): void {
      this.ended = true;
    }
  }
  vi.stubGlobal('Worker', FakeWorker);
  vi.stubGlobal('SESSION', './session.js');
  vi.stubGlobal('document', { baseURI: 'http://host/' });
  const { answer } = ask('machine', undefined);
  workers[0].onerror!({ preventDefault: () => {}, message: 'out of memory' });
  await expect(answer).rejects.toThrow('has stopped (out of memory). Load the data again');
  expect(workers[0].ended).toBe(true);
  void ask('machine', undefined);
  expect(workers.map(({ ended }) => ended)).toEqual([true, false]);
});
