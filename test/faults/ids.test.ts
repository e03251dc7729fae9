// Hostile ids: kept byte for byte, refused with a sentence if they are not text, and never slow.

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { MAX_ID_BYTES } from '../../src/graph/ids.js';
import {
  BipartiteGraph,
  fit,
  loadModel,
  loadSplit,
  readGraph,
  saveModel,
  saveSplit,
  split,
  writeEdges,
} from '../../src/index.js';
import { ByteDictionary, NumberDictionary } from '../../src/ingest/intake/dictionary.js';
import { literal, withDuckDB } from '../ingest/duckdb.js';
import { edgesOf, scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();

describe('ids are kept byte for byte', () => {
  const nasty = [
    '\uFEFFmark',
    '\uFEFF',
    'mark',
    'quote"s',
    '""',
    'comma,tab\tsemi;pipe|',
    'line\nfeed',
    'return\rhere',
    'both\r\n',
    ' leading and trailing ',
    'e\u0301 is not é',
    'é',
    '😀😀',
    '=1+1',
    '-0',
    '01',
    '1.0',
    '1e0',
    '\u001b[2J',
    '\u2028',
    '__proto__',
    'constructor',
    'x'.repeat(MAX_ID_BYTES),
  ];

  it('through split folder, model file, CSV, Parquet and JSON lines, and back', async () => {
    const rows = nasty.flatMap((user, u) =>
      [0, 3, 7].map((step) => ({ user, item: nasty[(u + step) % nasty.length] })),
    );
    const source = scratch.write('nasty.jsonl', rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    const { graph } = await readGraph(source);
    expect(new Set(Array.from({ length: graph.users.count }, (_, u) => graph.users.ids.at(u)))).toEqual(
      new Set(nasty),
    );
    for (const name of ['nasty.csv', 'nasty.parquet', 'nasty.csv.gz']) {
      await writeEdges(scratch.path(name), graph);
      expect(edgesOf((await readGraph(scratch.path(name))).graph), name).toEqual(edgesOf(graph));
    }
    const parts = split(graph, { seed: 3 });
    await saveSplit(scratch.path('split'), parts);
    const loaded = await loadSplit(scratch.path('split'));
    for (const part of ['train', 'foldIn', 'test'] as const)
      expect(edgesOf(loaded[part])).toEqual(edgesOf(parts[part]));
    expect(loaded.assignment.users.ids.values).toEqual(parts.assignment.users.ids.values);
    const { model } = await fit(graph, { features: 1, iterations: 2, engine: 'reference' });
    await saveModel(scratch.path('m.safetensors'), model);
    const saved = await loadModel(scratch.path('m.safetensors'));
    expect(saved.users.ids.values).toEqual(graph.users.ids.values);
    expect(saved.items.ids.values).toEqual(graph.items.ids.values);
  });

  it.skipIf(spawnSync('script', ['--version']).status !== 0)(
    'for programs, and written out for a terminal: recommend -o -',
    async () => {
      const pairs = ['a', 'b', 'c'].flatMap((user) =>
        [`\u001b[2J${user}`, 'plain'].map((item) => [user, item]),
      );
      const graph = BipartiteGraph.fromPairs(pairs as [string, string][]);
      const { model } = await fit(graph, { features: 1, iterations: 2, engine: 'reference' });
      const path = scratch.path('escapes.safetensors');
      await saveModel(path, model);
      const bin = join(import.meta.dirname, '../../bin/graphex.js');
      const command = `${process.execPath} ${bin} recommend ${path} --all-users -n 2 --include-seen --quiet -o -`;
      const piped = spawnSync('sh', ['-c', command]).stdout.toString();
      const shown = spawnSync('script', ['-qec', command, '/dev/null']).stdout.toString();
      expect(piped).toContain('\u001b[2J');
      expect(shown).toContain('\\u001b[2J');
      expect(shown).not.toContain('\u001b[2J');
      expect(shown.split('\n').length).toBe(piped.split('\n').length);
    },
  );

  it('of any kind, through a split whose files are Parquet', async () => {
    const id = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((text) => text.isWellFormed());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(id, id), { minLength: 4, maxLength: 30 }), async (pairs) => {
        const lines = pairs.map((pair) => `${JSON.stringify(pair)}\n`).join('');
        const { graph } = await readGraph(scratch.write('any.jsonl', lines));
        const file = scratch.path('any.parquet');
        await writeEdges(file, graph);
        expect(edgesOf((await readGraph(file)).graph)).toEqual(edgesOf(graph));
      }),
      { numRuns: 60 },
    );
  });

  it('an id of more bytes than the limit is a bad row in every format', async () => {
    const long = 'é'.repeat(MAX_ID_BYTES / 2 + 1);
    const file = scratch.path('long.parquet');
    await withDuckDB(1, async (connection) => {
      await connection.run(
        `COPY (SELECT ${literal(long)} AS a, 1 AS b) TO ${literal(file)} (FORMAT parquet)`,
      );
    });
    const files = [
      file,
      scratch.write('long.csv', `a,1\n${long},1\n`),
      scratch.write('long.jsonl', `{"a":"${long}","b":1}\n`),
      `wikitext:${scratch.write('long.txt', ` = ${long} = \n text and more\n`)}`,
    ];
    for (const path of files) {
      await expect(readGraph(path), path).rejects.toThrow(/the id is longer than 65536 bytes/);
    }
  });
});

describe('JSON lines', () => {
  it.each([
    [
      'half a surrogate pair',
      String.raw`{"u":"\ud800","i":1}`,
      /column "u": the id holds half a surrogate pair/,
    ],
    ['another half', String.raw`{"u":1,"i":"a\udfff"}`, /column "i": the id holds half a surrogate pair/],
    ['a key twice', '{"u":1,"u":2,"i":3}', /column "u" occurs twice in the line/],
    [
      'a key twice, once with an escape',
      String.raw`{"u":1,"\u0075":2,"i":3}`,
      /column "u" occurs twice in the line/,
    ],
    [
      'a number beyond all',
      '{"u":1e999,"i":3}',
      /the id 1e999 is not exact as a number; write it as a string/,
    ],
    [
      'a number that is not exact',
      '{"u":12345678901234567890,"i":3}',
      /the id 12345678901234567890 is not exact as a number/,
    ],
    ['a field that only every object has', '{"u":1}', /column "i": the line has no such field/],
    ['a mark in the middle of the file', '\uFEFF{"u":1,"i":3}', /not valid JSON/],
  ])('refuse %s', async (_, line, says) => {
    const file = scratch.write('bad.jsonl', `{"u":"a","i":"b"}\n${line}\n`);
    await expect(readGraph(file)).rejects.toMatchObject({
      name: 'InputError',
      message: expect.stringMatching(says),
    });
  });

  it('treat __proto__, toString and repeated inner keys as plain keys', async () => {
    const file = scratch.write(
      'odd.jsonl',
      '{"__proto__":"a","toString":"b","x":{"__proto__":1,"__proto__":2}}\n{"__proto__":"c","toString":"\\"__proto__\\":"}\n',
    );
    const { graph } = await readGraph(file, { users: '__proto__', items: 'toString' });
    expect(edgesOf(graph)).toEqual(['["a","b",1]', '["c","\\"__proto__\\":",1]']);
    const missing = scratch.write('missing.jsonl', '{"constructor":"a","i":1}\n{"i":1}\n');
    await expect(readGraph(missing)).rejects.toThrow(
      /line 2: column "constructor": the line has no such field/,
    );
  });
});

describe('ids that were chosen to collide in a hash table', () => {
  /** 2^17 texts with one FNV-1a hash: concatenated pairs of colliding blocks. */
  function colliding(): Uint8Array[] {
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const spell = (block: number) => {
      const bits = Math.imul(block + 1, 0x9e3779b1) >>> 0;
      return Array.from({ length: 6 }, (_, i) => letters.charCodeAt((bits >>> (5 * i)) & 63));
    };
    const step = (hash: number, block: number) =>
      spell(block).reduce((h, letter) => Math.imul(h ^ letter, 0x01000193), hash) >>> 0;
    let state = 0x811c9dc5;
    const pairs: [number[], number[]][] = [];
    while (pairs.length < 15) {
      const seen = new Map<number, number>();
      for (let block = 0; ; block++) {
        const next = step(state, block);
        const other = seen.get(next);
        if (other !== undefined && spell(other).join() !== spell(block).join()) {
          pairs.push([spell(other), spell(block)]);
          state = next;
          break;
        }
        seen.set(next, block);
        if (block >= 1 << 20) throw new Error('no two blocks meet');
      }
    }
    return Array.from({ length: 1 << 15 }, (_, n) =>
      Uint8Array.from(pairs.flatMap((pair, p) => pair[(n >>> p) & 1])),
    );
  }

  function seconds(texts: readonly Uint8Array[]): number {
    const before = process.cpuUsage();
    const dictionary = new ByteDictionary();
    for (const text of texts) dictionary.code(text, 0, text.length);
    expect(dictionary.size).toBe(texts.length);
    return process.cpuUsage(before).user / 1e6;
  }

  it('32,768 ids with one FNV hash take the time of 32,768 other ids', () => {
    const crafted = colliding();
    const others = crafted.map((text, n) => {
      const other = text.slice();
      for (let i = 0; i < 5; i++) other[3 * i] = 97 + (Math.floor(n / 26 ** i) % 26);
      return other;
    });
    seconds(others.slice(0, 1000));
    const usual = Math.min(seconds(others), seconds(others));
    expect(seconds(crafted)).toBeLessThan(5 * usual + 0.5);
  });

  it('only time depends on the secret: codes come in order of first appearance', async () => {
    const codes: number[][] = [];
    for (let process = 0; process < 2; process++) {
      vi.resetModules();
      const fresh = await import('../../src/ingest/intake/dictionary.js');
      const bytes = new fresh.ByteDictionary();
      const numbers = new fresh.NumberDictionary();
      const texts = Array.from({ length: 5000 }, (_, n) =>
        new TextEncoder().encode(`id ${(n * 7919) % 1301} ${'x'.repeat(n % 20)}`),
      );
      codes.push([
        ...texts.map((text) => bytes.code(text, 0, text.length)),
        ...texts.map((_, n) => numbers.code((n * 104_729) % 1301)),
      ]);
    }
    expect(codes[0]).toEqual(codes[1]);
    expect(new NumberDictionary().code(7)).toBe(0);
  });
});
