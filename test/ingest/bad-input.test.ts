import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { InputError } from '../../src/errors.js';
import { readError } from '../../src/files/read-error.js';
import type { ReadOptions } from '../../src/ingest/options.js';
import { readGraph } from '../../src/ingest/read.js';
import { temporaryIsFull } from '../faults/full-temporary.js';
import { edgesOf, scratchFolder } from './scratch.js';

vi.mock('../../src/files/temporary-name.js', { spy: true });

const scratch = scratchFolder();

async function messageOf(source: string, options: ReadOptions = {}): Promise<string> {
  try {
    await readGraph(source, options);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    return (error as Error).message;
  }
  throw new Error(`${source} was read without complaint`);
}

/** Name, contents, options, and what the message must say in addition to the name of the file. */
const CASES: [string, string | Uint8Array, ReadOptions, RegExp[]][] = [
  ['empty file', '', {}, [/empty/, /at least two columns/]],
  ['only blank lines', '\n\r\n\n', {}, [/empty/]],
  ['only a header', 'user,item\n', { header: true }, [/no row of data/]],
  ['only a header, guessed', 'user,item\n', {}, [/no row of data/]],
  ['only a header, without a line end', 'user_id,movie_id,rating', {}, [/no row of data/]],
  ['one column', 'ann\nbob\n', {}, [/line 1/, /only one column/, /"ann"/, /separator with sep/]],
  ['wrong separator', 'ann,x\nbob,y\n', { sep: ';' }, [/line 1/, /only one column/, /";"/, /"ann,x"/]],
  ['impossible separator', 'ann,x\n', { sep: '' }, [/separator ""/]],
  [
    'no such column by name',
    'user,item\n1,2\n',
    { users: 'reader' },
    [/no column "reader" for users/, /"user", "item"/],
  ],
  ['no such column by number', '1,2\n', { items: 3 }, [/no column 3 for items/, /2 columns/, /1 to 2/]],
  [
    'a column name without a header',
    'a,b\n',
    { users: 'user', header: false },
    [/no column "user"/, /need a header/],
  ],
  [
    'a name that two columns have',
    'user,item,item\n1,2,3\n',
    { items: 'item' },
    [/columns 2 and 3 are both called "item"/, /items 3/],
  ],
  ['the same column twice', 'a,b\n', { users: 2 }, [/both column 2/]],
  [
    'ragged row',
    'ann,x\nbob,y\ncem,z,7\n',
    {},
    [/line 3/, /3 columns where the first row has 2/, /"cem,z,7"/],
  ],
  ['short row', 'a,x\nb,y\nc\n', {}, [/line 3/, /1 column where the first row has 2/]],
  [
    'unterminated quote',
    'ann,x\n"bob,y\ncem,z\n',
    {},
    [/line 2/, /column 1 opens a double quote that never closes/],
  ],
  [
    'text after a quote',
    'ann,x\n"bob"s,y\n',
    {},
    [/line 2/, /column 1 continues after its closing double quote/],
  ],
  [
    'bytes that are not UTF-8',
    Buffer.from('ann,x\nb\xff\xfe,y\n', 'latin1'),
    {},
    [/line 2/, /column 1/, /not UTF-8/],
  ],
  ['UTF-16', Buffer.from('\ufeffann,x\n', 'utf16le'), {}, [/UTF-16/, /save it as UTF-8/]],
  ['zero bytes', 'ann\0,x\n', {}, [/zero bytes/]],
  ['a PDF document', Buffer.from('%PDF-1.7 x'), {}, [/PDF document/, /table itself/]],
  [
    'a JSON array of objects',
    '[{"user":1,"item":2},\n{"user":1,"item":3}]',
    {},
    [/one JSON array/, /one object per line/],
  ],
  ['a zip archive', Buffer.from('PK\x03\x04....'), {}, [/zip archive/, /unpack/]],
  ['negative count', 'ann,x,-3\n', { count: 3 }, [/line 1/, /column 3/, /"-3"/, /whole number from 1/]],
  ['fractional count', 'ann,x,2.5\n', { count: 3 }, [/line 1/, /"2.5"/]],
  [
    'zero count',
    'u,i,n\nann,x,0\n',
    { count: 'n', header: true },
    [/line 2/, /column "n"/, /count is 0/, /leave out/],
  ],
  ['count that is no number', 'ann,x,NaN\n', { count: 3 }, [/"NaN"/]],
  ['empty count', 'ann,x,\n', { count: 3 }, [/count is empty/]],
  ['count too large', 'ann,x,4294967296\n', { count: 3 }, [/4294967295/]],
  [
    'counts that add up too high',
    'a,x,4294967295\na,x,1\n',
    { count: 3, multigraph: true },
    [/add up to 4294967296/],
  ],
  ['empty user', 'ann,x\n,y\n', {}, [/line 2/, /column 1: the id is empty/]],
  ['empty item', 'ann,x\nbob,""\n', {}, [/line 2/, /column 2: the id is empty/]],
];

describe('bad input', () => {
  it.each(CASES)('%s', async (name, data, options, expected) => {
    const file = scratch.write(`${name.replaceAll(/\W/g, '-')}.csv`, data);
    const message = await messageOf(file, options);
    if (!/^separator|add up/.test(message)) expect(message).toContain(file);
    for (const part of expected) expect(message).toMatch(part);
    expect(message).not.toMatch(/undefined|\bNaN\b(?!")|\[object/);
  });

  it('a missing file, a directory, a folder that is a file', async () => {
    expect(await messageOf(scratch.path('none.csv'))).toMatch(/none\.csv: there is no such file/);
    expect(await messageOf(scratch.path(''))).toMatch(/this is a folder.*text:/);
    const file = scratch.write('plain.csv', 'a,b\n');
    expect(await messageOf(`${file}/x.csv`)).toMatch(/no such file/);
  });

  it('no permission', async () => {
    const denied = readError('x.csv', Object.assign(new Error('denied'), { code: 'EACCES' }));
    expect(denied).toBeInstanceOf(InputError);
    expect((denied as Error).message).toMatch(/x\.csv: no permission to read it/);
    if (process.getuid?.() !== 0) {
      const file = scratch.write('secret.csv', 'a,b\n');
      chmodSync(file, 0);
      expect(await messageOf(file)).toMatch(/no permission to read it/);
    }
  });

  it('a gzip file that is cut short or damaged', async () => {
    const { gzipSync } = await import('node:zlib');
    const bytes = gzipSync(Array.from({ length: 5000 }, (_, n) => `${n},${n * 7}\n`).join(''));
    expect(await messageOf(scratch.write('plain.csv.gz', 'user,item\n1,2\n'))).toMatch(/not gzip data/);
    const cut = scratch.write('cut.csv.gz', bytes.subarray(0, bytes.length / 2));
    expect(await messageOf(cut)).toMatch(/cut\.csv\.gz: the gzip data is damaged or cut short/);
    const flipped = Buffer.from(bytes);
    flipped[bytes.length >> 1] ^= 0xff;
    expect(await messageOf(scratch.write('flip.csv.gz', flipped))).toMatch(/damaged or cut short/);
  });

  it('an endless row does not take all memory', async () => {
    const file = scratch.write('long.csv', Buffer.alloc(40 << 20, 'a,b,'));
    expect(await messageOf(file)).toMatch(/longer than 16777216 bytes|columns/);
    const quote = Buffer.alloc(40 << 20, 'x\n');
    quote.set(Buffer.from('a,b\n"u,'), 0);
    expect(await messageOf(scratch.write('quote.csv', quote), { sep: ',' })).toMatch(
      /line 2: column 1 opens a double quote/,
    );
  }, 120_000);
});

describe('rejects', () => {
  const text = [
    'user,item,n',
    'ann,x,1',
    ',x,1',
    'bob,y,0',
    'bob,"y',
    'cem,z,2',
    'dan,z,2,7',
    'eve,"a ""b""",3',
    'fay,w,-1',
    '',
  ].join('\n');

  it('sets bad rows aside, continues and counts', async () => {
    const file = scratch.write('mixed.csv', text);
    const rejects = scratch.path('bad.csv');
    const { graph, read } = await readGraph(file, { count: 'n', multigraph: true, rejects });
    expect(edgesOf(graph)).toEqual(['["ann","x",1]', '["cem","z",2]', '["eve","a \\"b\\"",3]']);
    expect(read).toEqual({ rows: 8, kept: 3, merged: 0, rejected: 5 });
    const lines = readFileSync(rejects, 'utf8').trimEnd().split('\n');
    expect(lines[0]).toBe('line,reason,row');
    expect(lines.slice(1).map((line) => line.split(',')[0])).toEqual(['3', '4', '5', '7', '9']);
    expect(lines[3]).toBe(
      '5,"column 2 opens a double quote that does not close on its line, nor at the end of a column below","bob,""y"',
    );
    // Vertices that only bad rows name are not in the graph.
    expect(graph.users.ids.values).toEqual(['ann', 'cem', 'eve']);
  });

  it('writes the file also when nothing was rejected, and nothing when reading fails', async () => {
    const good = scratch.write('good.csv', 'a,b\n');
    await readGraph(good, { rejects: scratch.path('none-bad.csv') });
    expect(readFileSync(scratch.path('none-bad.csv'), 'utf8')).toBe('line,reason,row\n');
    const message = await messageOf(scratch.write('all.csv', ',b\n,c\n'), {
      rejects: scratch.path('never.csv'),
    });
    expect(message).toMatch(/all 2 rows were rejected/);
    expect(readdirSync(dirname(good)).filter((name) => name.includes('never'))).toEqual([]);
  });

  it('says before reading that the file cannot be written', async () => {
    const good = scratch.write('good.csv', 'a,b\n');
    expect(await messageOf(good, { rejects: scratch.path('no/such/dir.csv') })).toMatch(
      /folder does not exist/,
    );
  });

  it.skipIf(!existsSync('/dev/full'))('a full disk leaves nothing behind', async () => {
    const good = scratch.write('good.csv', 'a,b\n');
    mkdirSync(scratch.path('full'));
    const rejects = scratch.path('full/bad.csv');
    temporaryIsFull(rejects);
    expect(await messageOf(good, { rejects })).toMatch(/bad\.csv: the disk is full; nothing was written/);
    expect(readdirSync(scratch.path('full'))).toEqual([]);
  });
});

describe('fuzz', () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }),
    fc
      .array(
        fc.constantFrom(
          '1',
          'x',
          ',',
          '\t',
          ':',
          '::',
          '"',
          '""',
          '\n',
          '\r',
          '\r\n',
          'é',
          '-',
          '.',
          '{',
          '}',
          '0',
        ),
        {
          maxLength: 120,
        },
      )
      .map((parts) => Buffer.from(parts.join(''))),
    fc
      .tuple(fc.nat(45), fc.nat(255))
      .map(([at, byte]) =>
        Buffer.from('{"a":1,"b":"x"}\n{"a":2,"b":"y"}\nuser,item\n1,2\n').fill(byte, at, at + 1),
      ),
  );

  it('any bytes give a graph or an InputError, with and without rejects', async () => {
    await fc.assert(
      fc.asyncProperty(
        bytes,
        fc.constantFrom('f.csv', 'f.jsonl', 'f.txt', 'f.parquet'),
        fc.option(fc.constantFrom(1, 3, 'item'), { nil: undefined }),
        fc.boolean(),
        async (data, name, count, aside) => {
          const file = scratch.write(name, data);
          const options = {
            ...(count ? { count } : {}),
            ...(aside ? { rejects: scratch.path('fuzz-bad.csv') } : {}),
          };
          try {
            const { graph, read } = await readGraph(file, { ...options, multigraph: count !== undefined });
            expect(read.rows).toBe(read.kept + read.merged + read.rejected);
            expect(graph.users.ids.values).not.toContain('');
            expect(graph.edges).toBeGreaterThan(0);
          } catch (error) {
            if ((error as Error).name !== 'InputError') throw error;
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});
