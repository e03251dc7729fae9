import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.js';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { readDelimited } from '../../src/ingest/formats/delimited.js';
import type { ReadOptions } from '../../src/ingest/options.js';
import { readGraph } from '../../src/ingest/read.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();

/** Reads bytes that arrive in pieces of the given sizes, over and over. */
function readPieces(bytes: Uint8Array, sizes: readonly number[], options: ReadOptions = {}) {
  async function* chunks() {
    for (let at = 0, n = 0; at < bytes.length; n++) {
      const size = sizes[n % sizes.length];
      yield bytes.subarray(at, at + size);
      at += size;
    }
  }
  return readDelimited({ name: 'pieces', chunks: chunks() }, options);
}

/** Twenty rows of codes, no two of one pattern. */
const CODES = Array.from({ length: 20 }, (_, i) => `u${i},${String.fromCharCode(97 + i)}${i}x`);

const cap = (text: string) => text[0].toUpperCase() + text.slice(1);
const TEXTS = Array.from({ length: 30 }, (_, i): [string, string] => [
  'abc'[i % 3] + 'nna'.repeat(1 + (i % 5)),
  'xyz'[i % 3] + 'o'.repeat(1 + (i % 7)),
]);

describe('text tables', () => {
  it.each([
    ['comma', 'a.csv', 'user,item\nann,x\nbob,y\n', { header: true, separator: ',' }],
    ['tab', 'a.tsv', 'ann\tx\nbob\ty\n', { header: false, separator: '\t' }],
    ['two colons', 'a.dat', 'ann::x::5\nbob::y::4\n', { header: false, separator: '::' }],
    ['semicolon', 'a.csv', 'ann;x\nbob;y\n', { header: false, separator: ';' }],
    ['bar', 'a.txt', 'ann|x\nbob|y', { header: false, separator: '|' }],
    [
      'blank lines before the header',
      'a.csv',
      '\n\nuser,item\nann,x\nbob,y\n',
      { header: true, separator: ',' },
    ],
    ['space', 'a.txt', 'ann x\nbob y\n', { header: false, separator: ' ' }],
    [
      'line ends of Windows, a byte order mark, blank lines',
      'a.csv',
      '\ufeffann,x\r\n\r\nbob,y\r\n\n',
      { header: false, separator: ',' },
    ],
  ])('guesses the separator: %s', async (_, name, text, guess) => {
    const result = await readGraph(scratch.write(name, text));
    expect(edgesOf(result.graph)).toEqual(['["ann","x",1]', '["bob","y",1]']);
    expect(result.guess).toMatchObject(guess);
  });

  it.each([
    ['names of ids over numbers', 'user_id,book_id\n1,2\n', true],
    ['usual names over texts', 'source,target\na,b\n', true],
    ['unusual names over numbers', 'leser,buch\n1,2\n', true],
    ['usual names of which one comes again', 'word,title\nu1,title\nu2,b\n', true],
    ['words over codes', 'person,thing\nu17,b23\nu4,b7\nu4,b9\nu5,b23\nu6,b1\n', true],
    ['words over too few codes', 'person,thing\nu17,b23\nu4,b7\nu4,b9\nu5,b23\n', false],
    ['words over one column of codes', 'leser,kennung\na,B-1\nb,B-2\nc,B-3\nd,B-4\ne,B-5\n', false],
    ['words over codes beside a text', 'wer,was,wo\nu1,b2,x\nu2,b2,y\nu3,b4,x\nu3,b7,z\nu5,b2,x\n', true],
    [
      'words over codes beside a date',
      'wer,was,am\nu1,b,2-1\nu2,c,3-1\nu3,d,4-1\nu3,e,5-1\nu5,b,6-1\n',
      false,
    ],
    ['words over codes of many kinds', `leser,buch\n${CODES.join('\n')}\n`, true],
    ['words over too few codes of many kinds', `leser,buch\n${CODES.slice(0, 19).join('\n')}\n`, false],
    ['words over codes and words', 'ann,tea\nu1,b23\nu4,milk\nu4,b3\nu5,b2\nu6,b2\n', false],
    [
      'words over codes beside a text that comes again',
      'wer,was,de\nu1,b2,de\nu2,b3,en\nu3,b4,de\nu4,b5,fr\nu5,b6,de\n',
      false,
    ],
    ['codes over codes', 'u1,b2\nu17,b23\nu4,b7\nu4,b9\nu5,b23\nu6,b1\n', false],
    ['a guest before users', 'guest,home\nuser1,home\nuser2,about\nuser3,home\n', false],
    ['a guest before many users', `guest,home\n${CODES.map((_, i) => `user${i},home`).join('\n')}\n`, false],
    ['a guest on a page of its own', 'guest,home\nu1,a\nu2,b\nu3,c\nu4,d\nu5,e\nu6,f\n', false],
    ['an item without a number before some with one', 'anna,milk\nanna,b12\nbob,b7\n', false],
    ['root before users', 'root\tp\nu1\tq\nu2\tr\n', false],
    ['a path without a letter', 'anonymous,/\nuser1,/a\nuser2,/b\n', false],
    ['a path without a letter before many', 'anonymous,/\nu1,/1\nu2,/2\nu3,/3\nu4,/4\nu5,/5\n', false],
    ['a row without a date over rows with one', 'ann,x,\nbob,y,2023-11-30\nbob,x,2023-11-29\n', false],
    ['an empty name over row numbers', ',leser,buch\n0,ann,x\n1,bob,y\n2,bob,x\n3,ann,z\n4,cem,x\n', true],
    [
      'an empty name over row numbers from 1',
      ',wer,was\n1,ann,x\n2,bob,y\n3,bob,x\n4,ann,z\n5,cem,x\n',
      true,
    ],
    ['an empty user', ',x\n1,y\n2,z\n', false],
    ['an empty name over few row numbers', ',wer,was\n1,ann,x\n2,bob,y\n', false],
    ['an empty cell over other numbers', ',wer,was\n1,ann,x\n2,bob,y\n3,bob,x\n5,ann,z\n6,cem,x\n', false],
    ['row numbers below values', ',ann,x\n1,ann,y\n2,bob,y\n3,bob,x\n4,ann,z\n5,cem,x\n', false],
    ['an empty name over numbers beside a name over numbers', ',buch,jahr\n17,x,1999\n4,y,2003\n', true],
    ['names before an empty column', 'leser,buch,\n7,3,\n', true],
    ['a row without a number over rows with one', 'ann,x,\nbob,y,3\n', false],
    ['a row with a missing number', 'ann,x,NA\nbob,y,3\n', false],
    ['a usual name that comes twice', 'user,item,item\nann,x,y\nbob,y,z\n', true],
    ['a name that comes twice over numbers', 'leser,buch,buch\nann,x,1\nbob,y,2\n', true],
    ['a word that comes twice over codes', 'ann,ann\nu1,x1\nu2,x2\nu3,x3\nu4,x4\nu5,x5\n', false],
    ['texts only', 'ann,x\nbob,y\n', false],
    [
      'words over mail addresses',
      `wer,adresse\n${TEXTS.map(([a, b]) => `${a},${b}@x.org`).join('\n')}\n`,
      true,
    ],
    [
      'lower case over names',
      `leser,buch\n${TEXTS.map(([a, b]) => `${cap(a)},${cap(b)}`).join('\n')}\n`,
      true,
    ],
    [
      'Latin over Greek',
      `leser,buch\n${TEXTS.map(([a, b]) => `α${'β'.repeat(a.length)}${a.length},λ${b.length}`).join('\n')}\n`,
      true,
    ],
    [
      'words over texts of the same kind',
      `leser,buch\n${TEXTS.map((row) => row.join(',')).join('\n')}\n`,
      false,
    ],
    [
      'names over too few names',
      `leser,buch\n${TEXTS.slice(0, 19)
        .map(([a, b]) => `${cap(a)},${cap(b)}`)
        .join('\n')}\n`,
      false,
    ],
    ['a number in the first row', 'x1,7\nx2,8\n', false],
    ['a single row', 'ann,x\n', false],
  ])('guesses the header: %s', async (_, text, header) => {
    const { guess } = await readGraph(scratch.write('h.csv', text), { rejects: scratch.path('h.rejects') });
    expect(guess).toMatchObject({ header, headerGuessed: true });
  });

  it('shows the first row if it takes it as data and it could be a header', async () => {
    const rows = TEXTS.slice(0, 10).map(([a, b]) => `${cap(a)},${cap(b)}`);
    const unsure = await readGraph(scratch.write('u.csv', `leser,buch\n${rows.join('\n')}\n`));
    expect(unsure.guess).toMatchObject({ header: false, unsureRow: ['leser', 'buch'] });
    const sure = await readGraph(scratch.write('u.csv', `${rows.join('\n')}\n`));
    expect(sure.guess).not.toHaveProperty('unsureRow');
  });

  it('decides by the used columns whether the first row is a header', async () => {
    const file = scratch.write(
      'used.csv',
      'wer,was,wo\nu1,ann,p1\nu2,bob,p1\nu3,ann,p2\nu3,cem,p7\nu5,bob,p2\n',
    );
    expect((await readGraph(file)).guess.header).toBe(false);
    expect((await readGraph(file, { items: 3 })).guess.header).toBe(true);
    expect((await readGraph(file, { users: 3, items: '1' })).guess.header).toBe(true);
  });

  it('treats a first row that lacks a column as data, and says so', async () => {
    const rows = TEXTS.map(([a, b]) => `${cap(a)},${cap(b)},Xy`);
    const file = scratch.write('short.csv', `leserbuch,zahl\n${rows.join('\n')}\n`);
    await expect(readGraph(file, { items: 3 })).rejects.toThrow(InputError);
  });

  it('does not lose a first row without a user as a header', async () => {
    const file = scratch.write('none.csv', ',x\n1,y\n2,z\n3,y\n4,z\n5,y\n');
    await expect(readGraph(file)).rejects.toThrow(/line 1: column 1: the id is empty/);
    const { read } = await readGraph(file, { rejects: scratch.path('none.rejects') });
    expect(read).toEqual({ rows: 6, kept: 5, merged: 0, rejected: 1 });
  });

  it('takes columns by name, by number and by option', async () => {
    const file = scratch.write('c.csv', 'when,item,who,n\n1,x,ann,3\n2,y,bob,4\n');
    const byName = await readGraph(file, { users: 'who', items: 'item', count: 'n', multigraph: true });
    expect(edgesOf(byName.graph)).toEqual(['["ann","x",3]', '["bob","y",4]']);
    expect(byName.guess.columns).toEqual({ users: 'who', items: 'item', count: 'n' });
    const byNumber = await readGraph(file, { users: 3, items: '2', count: 4, multigraph: true });
    expect(fingerprint(byNumber.graph)).toBe(fingerprint(byName.graph));
    const told = await readGraph(file, { users: 3, items: 2, header: false });
    expect(told.graph.edges).toBe(3);
    const separated = await readGraph(scratch.write('s.txt', 'a,b\tc\nd,e\tf\n'), { sep: ',' });
    const tab = await readGraph(scratch.write('tab.txt', 'a,b\tc\nd,e\tf\n'), { sep: '\\t' });
    expect(edgesOf(tab.graph)).toEqual(['["a,b","c",1]', '["d,e","f",1]']);
    const odd = await readGraph(scratch.write('odd.txt', 'a¦"b\nc¦d\n'), { sep: '¦' });
    expect(edgesOf(odd.graph)).toEqual(['["a","\\"b",1]', '["c","d",1]']);
    expect(edgesOf(separated.graph)).toEqual(['["a","b\\tc",1]', '["d","e\\tf",1]']);
  });

  it('keeps every id exactly as it is written', async () => {
    const ids = [
      '0054890',
      '12346.0',
      '-0',
      '+1',
      '1e3',
      ' 7',
      '9007199254740993',
      '4294967295',
      'é',
      '𝒳',
      '""',
      'a\nb',
      'a,b',
    ];
    const text = ids.map((id) => `u,"${id.replaceAll('"', '""')}"\n`).join('');
    const { graph } = await readGraph(scratch.write('ids.csv', text));
    expect([...graph.items.ids.values].sort()).toEqual([...ids].sort());
  });

  it('sorts whole numbers by value and texts by code unit', async () => {
    const numbers = await readGraph(scratch.write('n.csv', 'u,10\nu,9\nu,-3\nu,4294967296\nu,100\n'));
    expect(numbers.graph.items.ids.kind).toBe('integer');
    expect([...numbers.graph.items.ids.values]).toEqual([-3, 9, 10, 100, 4294967296]);
    const texts = await readGraph(scratch.write('t.csv', 'u,10\nu,9\nu,x\nu,\uffff\nu,𝒳\n'));
    expect(texts.graph.items.ids.values).toEqual(['10', '9', 'x', '𝒳', '\uffff']);
    const thin = await readGraph(scratch.write('w.csv', 'u,4000000000\nu,5\nu,4294967294\n'));
    expect([...thin.graph.items.ids.values]).toEqual([5, 4000000000, 4294967294]);
  });

  it('treats quotes between tabs as plain characters', async () => {
    const rows = [
      'd1\t"\t3',
      'd1\t"hello\t1',
      'd2\t"well\tquoted"\t1',
      'd2\t"a"b\t1',
      'd3\t""""\t2',
      'd3\tx\t"4"',
    ];
    const file = scratch.write('quotes.tsv', rows.join('\n'));
    const { graph } = await readGraph(file, { count: 3, multigraph: true });
    expect(edgesOf(graph)).toEqual([
      '["d1","\\"",3]',
      '["d1","\\"hello",1]',
      '["d2","\\"a\\"b",1]',
      '["d2","well\\tquoted",1]',
      '["d3","\\"",2]',
      '["d3","x",4]',
    ]);
  });

  it('counts rows read, kept, merged', async () => {
    const file = scratch.write('m.csv', 'a,x,2\na,x,3\nb,x,1\n');
    const simple = await readGraph(file);
    expect(simple.read).toEqual({ rows: 3, kept: 2, merged: 1, rejected: 0 });
    const multi = await readGraph(file, { count: 3, multigraph: true });
    expect(edgesOf(multi.graph)).toEqual(['["a","x",5]', '["b","x",1]']);
    const rows = await readGraph(file, { multigraph: true });
    expect(edgesOf(rows.graph)).toEqual(['["a","x",2]', '["b","x",1]']);
  });

  it('reads compressed files, whatever their name', async () => {
    const plain = await readGraph(scratch.write('z.csv', 'ann,x\nbob,y\n'));
    const zipped = await readGraph(scratch.write('z.bin', gzipSync('ann,x\nbob,y\n')));
    expect(fingerprint(zipped.graph)).toBe(fingerprint(plain.graph));
  });

  it('gives the same graph for any order of rows', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(30), fc.constantFrom('1', '2', '10', 'x', '07')), {
          minLength: 1,
          maxLength: 40,
        }),
        async (rows) => {
          const table = (list: typeof rows) => Buffer.from(list.map((row) => `${row.join(',')}\n`).join(''));
          const one = await readPieces(table(rows), [1e6], { header: false, sep: ',' });
          const two = await readPieces(table([...rows].reverse()), [1e6], { header: false, sep: ',' });
          expect(two.graph.users.ids.values).toEqual(one.graph.users.ids.values);
          expect(two.graph.items.ids.values).toEqual(one.graph.items.ids.values);
          expect(two.graph.users.neighbors).toEqual(one.graph.users.neighbors);
        },
      ),
      { numRuns: 50 },
    );
  });

  // If it were scanned again with each chunk, the row would take more than half a minute.
  it('takes time in proportion to the length of a row, in any number of chunks', async () => {
    const long = 'x'.repeat(6_000_000);
    const text = `user,item,more\n${'ann,a,1\n'.repeat(10_000)}bob,b,${long}\ncleo,"c",2\n`;
    const { graph, read } = await readPieces(Buffer.from(text), [500]);
    expect(edgesOf(graph)).toEqual(edgesOf((await readPieces(Buffer.from(text), [text.length])).graph));
    expect([graph.edges, read.rows]).toEqual([3, 10_002]);
  }, 15_000);

  it('reads back any cells, quoted or not, with any separator, wherever the chunks are cut', async () => {
    const cell = fc.oneof(
      fc.string({ minLength: 1, maxLength: 6 }),
      fc.constantFrom('7', '12', 'a"b', 'x,y', 'p:q', ':', 'line\nbreak', 'é\r', '"'),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell, cell), { minLength: 2, maxLength: 30 }),
        fc.constantFrom(',', '\t', ';', '|'),
        fc.constantFrom('\n', '\r\n'),
        fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1, maxLength: 5 }),
        async (rows, sep, end, sizes) => {
          // Between tabs a line break cannot be quoted.
          fc.pre(sep !== '\t' || !JSON.stringify(rows).includes('\\n'));
          const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
          const plain = (text: string) => (text.includes(sep) || /["\r\n]/.test(text) ? quote(text) : text);
          const lines = rows.map(([u, i], n) => (n % 2 ? quote(u) : plain(u)) + sep + plain(i) + end);
          // Enough copies to exceed the bytes of the guess, and to cut chunks in the middle of rows.
          const text = lines.join('').repeat(Math.ceil(90_000 / lines.join('').length));
          const { graph } = await readPieces(Buffer.from(text), sizes, { sep, header: false });
          const expected = new Set(rows.map(([u, i]) => JSON.stringify([clean(u), clean(i), 1])));
          expect(edgesOf(graph)).toEqual([...expected].sort());
        },
      ),
      { numRuns: 40 },
    );
    // Unpaired surrogates have no UTF-8 form.
    function clean(text: string) {
      return Buffer.from(text).toString();
    }
  });

  it('cuts two-character separators right at any chunk border', async () => {
    const rows = Array.from({ length: 6000 }, (_, n) => `u${n % 50}::i:${n % 70}::${n}\n`).join('');
    const whole = await readPieces(Buffer.from(rows), [1e6]);
    expect(whole.graph.items.ids.at(0)).toBe('i:0');
    for (const size of [1, 7, 64, 4097]) {
      const cut = await readPieces(Buffer.from(rows), [size]);
      expect(fingerprint(cut.graph)).toBe(fingerprint(whole.graph));
    }
  });

  it('reports progress and stops on request', async () => {
    const file = scratch.write('p.csv', 'a,b\n'.repeat(600_000));
    const stages: number[] = [];
    await readGraph(file, { onProgress: ({ done, total }) => stages.push(done / total!) });
    expect(stages.at(-1)).toBe(1);
    const controller = new AbortController();
    const stopped = readGraph(file, { signal: controller.signal, onProgress: () => controller.abort() });
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError' });
  });
});
