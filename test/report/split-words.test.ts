import { expect, it } from 'vitest';
import { splitWords, timeSplitWords } from '../../src/report/words/split.js';
import { sideNames, USERS_AND_ITEMS } from '../../src/text/sides.js';

it('says where every user of a split is, so that the numbers add up', () => {
  const sizes = { ...USERS_AND_ITEMS, all: 4339, train: 3474, foldIn: 860, test: 9973, unseenItems: 35 };
  expect(splitWords(sizes)).toBe(
    'The models learn from 3,474 users of 4,339. The other 865 users are held out: a model sees some of their items and must predict the rest, 9,973 edges. ' +
      '5 users of these have no item to show, so their lists have popular items. 35 items are only with held-out users, so the models do not know them.',
  );
  expect(splitWords({ ...sizes, foldIn: 865, unseenItems: 0 })).toMatch(/9,973 edges\.$/);
});

it('calls both sides what the data call them, also in a split by time', () => {
  const names = sideNames({ users: 'customers', items: 'products' });
  for (const times of [{}, { cut: 1e12 }]) {
    const said = timeSplitWords(times, '1.2', names);
    expect(said).toMatch(/customers?/);
    expect(said).not.toMatch(/\b[Uu]sers?\b|\b[Ii]tems?\b/);
  }
});
