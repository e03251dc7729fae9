// The address of the page: Back and Forward, and addresses that are typed.

import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Opened } from '../../src/page/protocol.js';
import { change, followAddress, go, opened, settings, step } from '../../src/page/state.js';

interface Entry {
  readonly state: unknown;
  readonly hash: string;
}

/** The history of a tab. */
const entries: Entry[] = [{ state: null, hash: '#start?seed=3' }];
let at = 0;
let follow: (event: { readonly state: unknown }) => void;
const entry = (state: unknown, hash: string) => ({ state: structuredClone(state), hash });

function travel(steps: number): void {
  at += steps;
  follow({ state: entries[at].state });
}
/** The address, without settings, and the step that is shown. */
const shown = () => [entries[at].hash.replace(/\?.*/, ''), `#${step.value}`];

beforeAll(() => {
  vi.stubGlobal('window', {
    scrollTo: () => {},
    addEventListener: (_: string, listener: typeof follow) => {
      follow = listener;
    },
  });
  vi.stubGlobal('location', {
    get hash() {
      return entries[at].hash;
    },
  });
  vi.stubGlobal('history', {
    pushState: (state: unknown, _: string, hash: string) => {
      entries.splice(++at, entries.length, entry(state, hash));
    },
    replaceState: (state: unknown, _: string, hash: string) => {
      entries[at] = entry(state, hash);
    },
  });
  followAddress();
});
afterAll(() => vi.unstubAllGlobals());

test('the address is that of the step shown, and Forward reverses Back', () => {
  opened.value = { users: 1, items: 1, edges: 1 } as Opened;
  for (const to of ['verdict', 'fit', 'forecast'] as const) go(to);
  const way = ['#start', '#verdict', '#fit', '#forecast'];
  for (const back of [2, 1, 0]) {
    travel(-1);
    expect(shown()).toEqual([way[back], way[back]]);
  }
  for (const forward of [1, 2, 3]) {
    travel(1);
    expect(shown()).toEqual([way[forward], way[forward]]);
  }
});

test('Back keeps the settings; a typed address brings its own', () => {
  change({ features: 7, time: 'when' });
  travel(-1);
  expect([settings.value.features, settings.value.time, settings.value.seed]).toEqual([7, 'when', 3]);
  expect(entries[at].hash).toBe('#fit?seed=3&features=7&time=when');
  entries.splice(++at, entries.length, entry(null, '#verdict?seed=5'));
  follow({ state: null });
  expect([step.value, settings.value.seed, settings.value.time]).toEqual(['verdict', 5, undefined]);
  travel(-1);
  expect([shown(), settings.value.seed]).toEqual([['#fit', '#fit'], 5]);
});

test('a step that cannot be shown any more is that of the start, in the address as well', () => {
  opened.value = undefined;
  travel(-1);
  expect(shown()).toEqual(['#start', '#start']);
});
