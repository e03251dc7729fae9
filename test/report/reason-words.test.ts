import { describe, expect, it } from 'vitest';
import type { Reasons } from '../../src/predict/reasons.js';
import { confidenceWords } from '../../src/report/words/confidence.js';
import { reasonWords } from '../../src/report/words/reasons.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

const none = { count: 0, share: 0, usual: 0 };
const blended: Reasons = {
  items: [
    { item: 'tea', share: 1.01, usual: 0.5 },
    { item: 'milk', share: -0.01, usual: 0.5 },
  ],
  others: none,
  features: [{ feature: 3, about: ['cake'], share: 0.08, usual: 0.03 }],
  otherFeatures: { count: 9, share: -0.1, usual: 0.07 },
  direct: { share: 1.02, usual: 0.9 },
  rest: 0,
};
const say = (reasons: Reasons, score: number) => reasonWords(reasons, score, USERS_AND_ITEMS, (id) => id);

describe('why an item is listed', () => {
  it('says what comes from items directly, and marks parts that speak against the item', () => {
    expect(say(blended, 1)).toEqual({
      lines: [
        'because of tea (101 %, usually 50 %); milk (−1 %)',
        'by feature 3 (cake): 8 %, usually 3 %; other features: −10 %; ' +
          'weights from item to item, past all features: 102 %, usually 90 %',
      ],
      against: true,
    });
  });

  it('says nothing of parts against an item where there are none, nor of weights where there are no features', () => {
    const plain: Reasons = {
      ...blended,
      items: [{ item: 'tea', share: 1, usual: 1 }],
      features: [],
      otherFeatures: none,
      direct: { share: 1, usual: 1 },
    };
    expect(say(plain, 1)).toEqual({ lines: ['as usual, because of tea (100 %)'], against: false });
  });

  it('keeps the signs of the parts of a score below 0, and has words for one of 0', () => {
    const { lines, against } = say(
      { ...blended, items: [{ item: 'tea', share: 1, usual: -1 }], rest: -3 },
      -2,
    );
    expect(lines[0]).toBe('because of tea (50 %); not explained by any of them (−150 %)');
    expect(against).toBe(true);
    expect(say(blended, 0).lines).toEqual(['nothing that this user has speaks for it or against it']);
  });
});

describe('how sure a list is', () => {
  it('is not said where there is nothing else to choose from', () => {
    expect(confidenceWords({ overlap: 1, left: 0 }, 2)).toMatch(/^There is nothing else to choose from/);
    expect(confidenceWords({ overlap: 1, left: 1 }, 2)).toMatch(/^Sure: .* 2 of these 2\.$/);
  });
});
