// What the page says when something is wrong: in the words of its controls, and in the step where it went wrong.

import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { option, optionError } from '../../src/options/error.js';
import { openUrl } from '../../src/page/actions.js';
import { LABELS } from '../../src/page/control-labels.js';
import { inLabels } from '../../src/page/session/session-error.js';
import { complain, go, problemHere, step } from '../../src/page/state.js';

beforeEach(() => {
  vi.stubGlobal('history', { pushState: () => {} });
  vi.stubGlobal('window', { scrollTo: () => {} });
});
afterEach(() => vi.unstubAllGlobals());

test('an option is named by the label of its control, without the placeholder of a command line', () => {
  const error = optionError`bad row; set it aside with ${option('rejects', 'FILE')}, or try ${option('sep')}`;
  expect(error.message).toBe('bad row; set it aside with rejects FILE, or try sep');
  expect((inLabels(error) as Error).message).toBe(
    `bad row; set it aside with “${LABELS.rejects}”, or try “${LABELS.sep}”`,
  );
});

test('an option without a control has its name, and other errors stay as they are', () => {
  const error = optionError`${option('where')} leaves out all; see ${option('minDegree', 'N')} and ${option('toString')}`;
  expect((inLabels(error) as Error).message).toBe('where leaves out all; see minDegree and toString');
  const other = new Error('rejects');
  expect(inLabels(other)).toBe(other);
});

test('a problem in a step that was left is shown only there, and once', () => {
  step.value = 'explore';
  go('recommend');
  complain('no map', 'explore');
  expect(problemHere.value).toBeUndefined();
  go('explore');
  expect(problemHere.value).toBe('no map');
  go('recommend');
  expect(problemHere.value).toBeUndefined();
  go('explore');
  expect(problemHere.value).toBeUndefined();
});

test('a fetched file is called what its address ends with, also if that is no valid text', async () => {
  const posted: { input: { source: { name: string } } }[] = [];
  class FakeWorker {
    postMessage(request: (typeof posted)[number]): void {
      posted.push(request);
    }
  }
  vi.stubGlobal('Worker', FakeWorker);
  vi.stubGlobal('SESSION', './session.js');
  vi.stubGlobal('document', { baseURI: 'http://host/', documentElement: { dataset: {} } });
  vi.stubGlobal('location', { href: 'http://host/' });
  vi.stubGlobal('fetch', async () => new Response('ann,tea'));
  for (const name of ['a%20b.csv', '100%.csv', '%FF.csv']) void openUrl(`https://tables.example/${name}`);
  await vi.waitFor(() =>
    expect(posted.flatMap(({ input }) => input?.source.name ?? [])).toEqual([
      'a b.csv',
      '100%.csv',
      '%FF.csv',
    ]),
  );
});

test.each(['http://tables.example/a.csv', 'javascript:alert(1)'])(
  '%s is refused before it is fetched',
  async (address) => {
    vi.stubGlobal('document', { baseURI: 'http://host/', documentElement: { dataset: {} } });
    vi.stubGlobal('location', { href: 'http://host/' });
    const fetched = vi.fn();
    vi.stubGlobal('fetch', fetched);
    step.value = 'start';
    await openUrl(address);
    expect(problemHere.value).toBe(
      `${address}: this page can only fetch addresses that begin with https://; download the file and drop it here`,
    );
    expect(fetched).not.toHaveBeenCalled();
  },
);
