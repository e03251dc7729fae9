import { describe, expect, it } from 'vitest';
import type { Reasons } from '../../src/predict/explain/reasons.js';
import { confidenceWords } from '../../src/report/words/confidence.js';
import { reasonWords } from '../../src/report/words/reasons.js';
import { sideNames, USERS_AND_ITEMS } from '../../src/text/sides.js';

const none = { count: 0, contribution: 0, fraction: 0, usual: 0 };
const blended: Reasons = {
  items: [
    { item: 'tea', contribution: 1.01, fraction: 1.01, usual: 0.5 },
    { item: 'milk', contribution: -0.01, fraction: -0.01, usual: 0.5 },
  ],
  others: none,
  features: [{ feature: 3, about: ['cake'], contribution: 0.08, fraction: 0.08, usual: 0.03 }],
  otherFeatures: { count: 9, contribution: -0.1, fraction: -0.1, usual: 0.07 },
  direct: { contribution: 1.02, fraction: 1.02, usual: 0.9 },
  rest: 0,
};
const say = (reasons: Reasons, score: number) => reasonWords(reasons, score, USERS_AND_ITEMS, (id) => id);

describe('why an item is listed', () => {
  it('names direct contributions of items, and marks those that speak against the item', () => {
    expect(say(blended, 1)).toEqual({
      lines: [
        'because of tea (101 %, usually 50 %); milk (−1 %)',
        'by feature 3 (cake): 8 %, usually 3 %; other features: −10 %; ' +
          'direct weights between items: 102 %, usually 90 %',
      ],
      against: true,
      usual: true,
    });
  });

  it('mentions no contributions against an item if there are none, and no weights if there are no features', () => {
    const plain: Reasons = {
      ...blended,
      items: [{ item: 'tea', contribution: 1, fraction: 1, usual: 1 }],
      features: [],
      otherFeatures: none,
      direct: { contribution: 1, fraction: 1, usual: 1 },
    };
    expect(say(plain, 1)).toEqual({
      lines: ['because of tea (100 %); none of them contributes more than usual'],
      against: false,
      usual: false,
    });
  });

  it('names only attributes that one of the named items has', () => {
    const shared = (value: string, items: string[]) => ({ column: 'kind', value, fraction: 0.5, items });
    const attributes = [shared('black', ['milk']), shared('hot', ['tea', 'milk'])];
    expect(say({ ...blended, attributes }, 1).lines.at(-1)).toBe('same kind: hot');
    expect(say({ ...blended, attributes: attributes.slice(0, 1) }, 1).lines.join()).not.toContain(
      'same kind',
    );
  });

  it('keeps the signs of contributions to a negative score, and has a sentence for a score of 0', () => {
    const { lines, against } = say(
      { ...blended, items: [{ item: 'tea', contribution: 1, fraction: 1, usual: -1 }], rest: -3 },
      -2,
    );
    expect(lines[0]).toBe('because of tea (50 %); unexplained (−150 %)');
    expect(against).toBe(true);
    expect(say(blended, 0).lines).toEqual(['none of this user’s items contributes to the score']);
  });
});

describe('negligible reasons', () => {
  const bare: Reasons = { ...blended, features: [], otherFeatures: none, direct: none };

  it('an item whose contribution rounds to 0 % is not named', () => {
    const one: Reasons = {
      ...bare,
      items: [{ item: 'tea', contribution: 0.004, fraction: 0.004, usual: 0.004 }],
      rest: 0.996,
    };
    expect(say(one, 1).lines).toEqual([
      'none of this user’s items contributes: the score reflects overall popularity',
    ]);
    const many: Reasons = {
      ...one,
      items: [{ item: 'tea', contribution: 0.4, fraction: 0.4, usual: 0.1 }],
      others: { count: 7, contribution: 0.004, fraction: 0.004, usual: 0.3 },
      rest: 0.596,
    };
    expect(say(many, 1).lines).toEqual(['because of tea (40 %, usually 10 %); unexplained (60 %)']);
  });

  it('many small contributions are added up, and none is named', () => {
    const items = Array.from({ length: 5 }, (_, i) => ({
      item: `i${i}`,
      contribution: 0.004,
      fraction: 0.004,
      usual: 0.004,
    }));
    const small: Reasons = {
      ...bare,
      items,
      others: { count: 95, contribution: 0.38, fraction: 0.38, usual: 0.4 },
      rest: 0.6,
    };
    expect(say(small, 1).lines).toEqual([
      'because of 100 items (40 %); unexplained (60 %); none of them contributes more than usual',
    ]);
  });
});

describe('the confidence of a list', () => {
  it('has one verdict for one sentence', () => {
    for (const listed of [1, 2, 3, 5, 10, 20]) {
      const verdicts = new Map<string, string>();
      for (let overlap = 0; overlap <= 1; overlap += 1 / 240) {
        const [verdict, share] = confidenceWords({ overlap, left: 1, history: 7 }, listed).split('. ');
        expect(verdicts.get(share) ?? verdict).toBe(verdict);
        verdicts.set(share, verdict);
      }
      expect(new Set(verdicts.values()).size).toBeGreaterThan(1);
    }
  });

  it('is not stated if there is nothing else to choose from', () => {
    expect(confidenceWords({ overlap: 1, left: 0, history: 7 }, 2)).toMatch(
      /^The list holds every item that is left/,
    );
    expect(confidenceWords({ overlap: 1, left: 1, history: 7 }, 2)).toMatch(
      /^The taste of this user decides the list\. Another user of the same taste, with 7 other items, would get about 2 of these 2\. .* not how good\.$/,
    );
  });

  it('says what decides the list and what to do, and is silent about quality', () => {
    const said = (overlap: number) => confidenceWords({ overlap, left: 1, history: 1 }, 20);
    expect(said(0.1)).toBe(
      'Single items of this user’s history decide the list. Another user of the same taste, with 1 other item, would get about 2 of these 20. So a complete history matters. This says how stable the list is, not how good.',
    );
    expect(said(0.5)).toMatch(
      /^The taste of this user and single items of the history decide the list\. .* about 10 of these 20\. /,
    );
    expect(said(0.8)).toMatch(
      /^The taste of this user decides the list\. .* about 16 of these 20\. .* missing items hardly matter\./,
    );
    const books = sideNames({ users: 'readers', items: 'books' });
    expect(confidenceWords({ overlap: 0.1, left: 1, history: 4 }, 20, books)).toMatch(
      /^Single books of this reader’s history decide the list\. Another reader of the same taste, with 4 other books, /,
    );
  });
});
