import { expect, it } from 'vitest';
import { idByTitle } from '../../src/cli/titles.js';
import { VertexIds } from '../../src/graph/ids.js';
import { createItemSearch } from '../../src/predict/search-index.js';
import { titleBook } from '../../src/predict/titles.js';

const titles = [
  'Dark Matter',
  'Harry Potter and the Chamber of Secrets',
  'Harry Potter',
  'The Animatrix (2003)',
  'The Matrix (1999)',
  'Amélie',
  'Hairy Pottery',
];
const ids = VertexIds.texts(['i0', 'i1', 'i2', 'i3', 'i4', 'i5', 'i6']);
const degree = [9, 8, 1, 5, 3, 2, 7];
const search = createItemSearch(ids, titles, degree);

it('finds contained words, else parts of words, else close spellings', () => {
  expect(search('harry potter', 10)).toEqual([2, 1]);
  expect(search('hary potter', 10)).toEqual([1, 6, 2]);
  expect(search('potter har', 10)).toEqual([1, 2]);
  expect(search('matrix', 10)).toEqual([4]);
  expect(search('matri', 10)).toEqual([4]);
  expect(search('imatri', 10)).toEqual([3]);
  expect(search('MATRIX', 1)).toEqual([4]);
  expect(search('mtrix', 10)).toEqual([4]);
  expect(search('harri poter', 10)).toEqual([1, 2]);
  expect(search('amelie', 10)).toEqual([5]);
  expect(search('i3', 10)[0]).toBe(3);
  expect(search('nothing like it', 10)).toEqual([]);
  expect(search('!!', 10)).toEqual([]);
});

it('names an item by whole words that it alone has, and lists the candidates otherwise', () => {
  const book = titleBook(ids, titles, degree);
  expect(idByTitle('chamber secrets', book)).toBe('i1');
  expect(idByTitle('harry potter', book)).toBe('i2');
  expect(() => idByTitle('potter', book)).toThrow(
    'potter fits several items: Harry Potter and the Chamber of Secrets (i1), Harry Potter (i2); give the id or the whole title of one of them',
  );
  expect(() => idByTitle('drk matter', book)).toThrow('did you mean Dark Matter?');
  expect(idByTitle('zzz', book)).toBe('zzz');
  expect(book.candidateWords('harry')).toBe(
    'Harry Potter and the Chamber of Secrets (i1), Harry Potter (i2)',
  );
  expect(book.candidateWords('zzz')).toBe('');
});

it('takes whole words for a title, and never a part of a word or a number', () => {
  const films = [
    'Heathers (1989)',
    'Java Heat (2013)',
    'Heat (1986)',
    'Heat (1995)',
    'Apartment 1303 (2012)',
  ];
  const book = titleBook(VertexIds.texts(['0097493', '2006040', '0093164', '0113277', '1672115']), films);
  expect(book.meant('heat')).toBe('ambiguous');
  expect(book.candidateWords('heat')).toBe(
    'Heat (1986) (0093164), Heat (1995) (0113277), Java Heat (2013) (2006040)',
  );
  expect(book.meant('java')).toEqual({ item: 1 });
  for (const text of ['heathe', '1303', '93164']) expect(book.meant(text)).toBe('unknown');
  expect(book.near('heathe')).toBe('Heathers (1989)');
  for (const number of ['93164', 93164, '093164', '93164.0']) expect(book.near(number)).toBe('0093164');
  expect(titleBook(VertexIds.texts(['7.0']), []).near('007')).toBe('7.0');
});

it('answers within milliseconds on many titles', () => {
  const count = 50_000;
  const many = Array.from(
    { length: count },
    (_, i) => `w${(i * 7919) % 30011} item ${i % 977} story${i % 13}`,
  );
  const searchMany = createItemSearch(VertexIds.range(count), many, undefined);
  const found = searchMany('w5 stor', 5);
  expect(found.length).toBeGreaterThan(0);
  // Processor time: other programs do not count.
  const start = process.cpuUsage();
  for (const text of ['w5 stor', 'item 5', 'stroy1', 'w', '77']) searchMany(text, 10);
  const { user, system } = process.cpuUsage(start);
  expect((user + system) / 1000 / 5).toBeLessThan(100);
});
