import { describe, expect, it } from 'vitest';
import {
  metricLabel,
  metricPhrase,
  metricTitle,
  statisticLabel,
  statisticPhrase,
} from '../../src/text/figures.js';
import {
  fixed,
  grouped,
  percent,
  plusMinus,
  power,
  short,
  signed,
  signedFixed,
  unbroken,
} from '../../src/text/numbers.js';
import { article, capital, list, many, shortTitle, sourceName } from '../../src/text/phrases.js';
import { sideNames } from '../../src/text/sides.js';
import { stageLabel } from '../../src/text/stages.js';

describe('numbers for people', () => {
  it('groups, shortens and signs', () => {
    expect([grouped(1234567.8), grouped(-12)]).toEqual(['1,234,568', '−12']);
    expect([
      short(0),
      short(0.123456),
      short(0.123456, 4),
      short(12345.6),
      short(1.234e-7),
      short(-2.5),
    ]).toEqual(['0', '0.123', '0.1235', '12,346', '1.23e−7', '−2.5']);
    expect([short(3.4e38), short(9e14), short(Infinity)]).toEqual(['3.40e+38', '900,000,000,000,000', '∞']);
    expect([fixed(-0.5, 2), signed(3), signed(-3), signed(0)]).toEqual(['−0.50', '+3', '−3', '0']);
    expect([fixed(-0.00004, 4), signedFixed(-0.0004, 3), signedFixed(0.0004, 3)]).toEqual([
      '0.0000',
      '0.000',
      '0.000',
    ]);
    expect([signedFixed(0.0125, 3), signedFixed(-2, 1), signedFixed(0, 2)]).toEqual([
      '+0.013',
      '−2.0',
      '0.00',
    ]);
    expect([percent(0.5), percent(0.0512), percent(0), percent(0.123, 1)]).toEqual([
      '50 %',
      '5.1 %',
      '0 %',
      '12.3 %',
    ]);
    expect(plusMinus(0.4231, 0.01299, 2)).toBe('0.42 ± 0.013');
    expect([power(0.001), power(1000), power(1e6), power(1e-5)]).toEqual(['0.001', '1,000', '10⁶', '10⁻⁵']);
  });
});

describe('numbers on a page', () => {
  it('stay on one line with their units and errors', () => {
    expect(unbroken('54 % of 12 MB in 3 s or 40 ms, 0.4 ± 0.1; 5 s-shaped signs')).toBe(
      '54\u00a0% of 12\u00a0MB in 3\u00a0s or 40\u00a0ms, 0.4\u00a0±\u00a00.1; 5\u00a0s-shaped signs',
    );
    expect(unbroken('7 species, 3 msec, 100% of 2 MBit')).toBe('7 species, 3 msec, 100% of 2 MBit');
  });
});

describe('phrases', () => {
  it('lists, counts, and puts the article', () => {
    expect(list(['a'])).toBe('a');
    expect(list(['a', 'b', 'c'])).toBe('a, b and c');
    expect(list(['a', 'b'], 'or')).toBe('a or b');
    expect(list(['a (1,2)', 'b'])).toBe('a (1,2) and b');
    expect([many(1, 'edge'), many(1204, 'edge'), many(2, { one: 'person', many: 'people' })]).toEqual([
      '1 edge',
      '1,204 edges',
      '2 people',
    ]);
    expect(['user', 'item', 'url', 'uncle', 'book'].map(article)).toEqual([
      'a user',
      'an item',
      'a url',
      'an uncle',
      'a book',
    ]);
    expect([capital('ab'), sourceName('/a/b.csv'), sourceName('-'), sourceName('@sotu')]).toEqual([
      'Ab',
      'b.csv',
      'standard input',
      '@sotu',
    ]);
  });

  it('names the stages of a study', () => {
    expect([
      stageLabel({ stage: 'fit', model: 'sparse', features: 30 }),
      stageLabel({ stage: 'fit', model: 'ranking' }),
      stageLabel({ stage: 'evaluate', model: 'ranking' }),
      stageLabel({ stage: 'evidence', features: 10 }),
      stageLabel({ stage: 'baselines' }),
    ]).toEqual([
      'fit sparse model (K = 30)',
      'fit ranker',
      'evaluate ranker',
      'evidence (K = 10)',
      'baselines',
    ]);
  });

  it('names figures by the sides they are about', () => {
    const names = sideNames({ users: 'customers', items: 'products' });
    expect(statisticLabel('sigmaUsers', names)).toBe('σ̂ of customers');
    expect(statisticPhrase('items', names)).toBe('number of products');
    expect(metricPhrase('recallUnpopular', 20, names)).toBe('recall@20 without popular products');
    expect([metricTitle('ndcg', { n: 20, depth: 1000 }), metricTitle('mrr', { n: 20 })]).toEqual([
      'nDCG@1000',
      'MRR',
    ]);
    expect(metricLabel('ndcgUnpopular')).toBe('nDCG, unpopular');
  });
});

describe('a title that is too long', () => {
  it.each([
    ['Gravity (2013)', 40, 'Gravity (2013)'],
    ['The Silence of the Lambs (1991)', 30, 'The Silence of the… (1991)'],
    ['The Perks of Being a Wallflower', 24, 'The Perks of Being a…'],
    ['Star Wars: Episode IV - A New Hope', 21, 'Star Wars: Episode…'],
    ['Donaudampfschifffahrtsgesellschaft', 20, 'Donaudampfschifffah…'],
    ['😀'.repeat(20), 12, `${'😀'.repeat(5)}…`],
  ])('%s', (title, most, cut) => {
    expect(shortTitle(title, most)).toBe(cut);
    expect(cut.length).toBeLessThanOrEqual(most);
  });
});
