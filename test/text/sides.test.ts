import { describe, expect, it } from 'vitest';
import { plural, singular } from '../../src/text/plurals.js';
import {
  namesOfColumns,
  nounOfColumn,
  readSideNames,
  sideNames,
  USERS_AND_ITEMS,
} from '../../src/text/sides.js';

describe('side names', () => {
  it.each([
    ['user_id', 'users'],
    ['userId', 'users'],
    ['USERID', 'users'],
    ['customerId', 'customers'],
    ['CustomerNo', 'customers'],
    ['Customer ID', 'customers'],
    ['StockCode', 'products'],
    ['book_id', 'books'],
    ['isbn', 'books'],
    ['person', 'people'],
    ['category', 'categories'],
    ['Movies', 'movies'],
    ['term', 'terms'],
    ['research_paper', 'research papers'],
    ['address', 'addresses'],
    ['series', 'series'],
    ['businessman', 'businessmen'],
    ['human', 'humans'],
  ])('a column %s holds %s', (header, many) => {
    expect(nounOfColumn(header)?.many).toBe(many);
  });

  it.each(['u', 'x', 'col1', 'column_2', '1', 'id', 'V1', 'src', 'Kundennummer der Käufer', '<b>', ''])(
    'a column %j says nothing',
    (header) => expect(nounOfColumn(header)).toBeUndefined(),
  );

  it('takes the name of one column, and users or items for the other', () => {
    expect(namesOfColumns('customer', 'x')).toEqual({
      users: { one: 'customer', many: 'customers' },
      items: USERS_AND_ITEMS.items,
    });
    expect(namesOfColumns('a', 'b')).toBeUndefined();
  });

  it('does not call the users items, nor both sides the same', () => {
    expect(namesOfColumns('item', 'user')).toBeUndefined();
    expect(namesOfColumns('user_id', 'user')).toBeUndefined();
  });

  it('takes people’s own words, in the plural or not', () => {
    const names = sideNames({ users: 'customer', items: 'categories' });
    expect(names).toEqual({
      users: { one: 'customer', many: 'customers' },
      items: { one: 'category', many: 'categories' },
    });
    expect(() => sideNames({ users: '', items: 'products' })).toThrow('is not a name for the users');
    expect(() => sideNames({ users: 'a'.repeat(50), items: 'b' })).toThrow('names: "aaa');
    expect(() => sideNames({ users: 'books', items: 'book' })).toThrow('both sides are called books');
  });

  it('accepts names of a file only if they are short words', () => {
    const names = sideNames({ users: 'customers', items: 'products' });
    expect(readSideNames(JSON.parse(JSON.stringify(names)))).toEqual(names);
    for (const bad of [
      undefined,
      null,
      7,
      {},
      { users: 'customers', items: 'products' },
      { users: { one: '<img>', many: '<img>s' }, items: names.items },
      { users: { one: 'a\u001b[2J', many: 'as' }, items: names.items },
      { users: names.items, items: names.items },
    ]) {
      expect(readSideNames(bad)).toBeUndefined();
    }
  });

  it('singular undoes plural', () => {
    for (const word of [
      'user',
      'film',
      'box',
      'match',
      'bus',
      'class',
      'city',
      'person',
      'analysis',
      'movie',
    ]) {
      expect(singular(plural(word))).toBe(word);
      expect(singular(word)).toBe(word);
    }
  });
});
