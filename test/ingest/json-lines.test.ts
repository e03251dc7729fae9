import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { InputError } from '../../src/errors.js';
import { readGraph } from '../../src/ingest/read.js';
import { edgesOf, scratchFolder } from './scratch.js';

const scratch = scratchFolder();

describe('JSON lines', () => {
  const text = '{"user":"ann","item":3,"n":2}\n\n{"item":"04","n":"1","user":"bob"}\r\n';

  it('reads objects by key, in any order of keys', async () => {
    for (const [name, data] of [
      ['a.jsonl', text],
      ['a.jsonl.gz', gzipSync(text)],
      ['a.txt', text],
    ] as const) {
      const result = await readGraph(scratch.write(name, data), { count: 'n', multigraph: true });
      expect(edgesOf(result.graph)).toEqual(['["ann","3",2]', '["bob","04",1]']);
      expect(result.guess).toEqual({
        kind: 'table',
        format: 'json lines',
        columns: { users: 'user', items: 'item', count: 'n' },
      });
    }
    const chosen = await readGraph(scratch.write('b.jsonl', text), { users: 2, items: 'user' });
    expect(edgesOf(chosen.graph)).toEqual(['["04","bob",1]', '["3","ann",1]']);
  });

  it('reads arrays by position', async () => {
    const { graph } = await readGraph(scratch.write('c.jsonl', '["a",1,7]\n["b",2,8]\n'), { items: 3 });
    expect(edgesOf(graph)).toEqual(['["a","7",1]', '["b","8",1]']);
  });

  it.each([
    ['no JSON', '{"user":1,"item":2}\n{"user":1,', /line 2: not valid JSON/],
    ['no object', '{"user":1,"item":2}\n7\n', /line 2: not a JSON object/],
    ['one field', '{"user":1}\n', /line 1: it has one column, "user"; a table needs/],
    [
      'a field missing',
      '{"user":1,"item":2}\n{"user":1}\n',
      /line 2: column "item": the line has no such field/,
    ],
    ['a nested id', '{"user":1,"item":{"a":1}}\n', /line 1: column "item": the id is \{"a":1\}/],
    ['a null id', '{"user":null,"item":1}\n', /column "user": the id is null/],
    ['an empty id', '{"user":"","item":1}\n', /column "user": the id is empty/],
    [
      'a number that is not exact',
      '{"user":9007199254740993,"item":1}\n',
      /the id 9007199254740993 is not exact as a number; write it as a string/,
    ],
    [
      'bytes that are not UTF-8',
      Buffer.from('{"user":"\xff","item":1}\n', 'latin1'),
      /line 1: the line is not UTF-8/,
    ],
    ['a bad count', '{"user":1,"item":2,"n":-1}\n', /column "n": the count is "-1"/],
  ])('refuses %s', async (_, data, message) => {
    const file = scratch.write('bad.jsonl', data);
    const options = String(data).includes('"n"') ? { count: 'n' } : {};
    const reading = readGraph(file, options);
    await expect(reading).rejects.toThrow(message);
    await expect(reading).rejects.toBeInstanceOf(InputError);
  });

  it('sets bad lines aside', async () => {
    const file = scratch.write('mixed.jsonl', '{"user":1,"item":2}\n{"user":\n{"user":2,"item":2}\n');
    const rejects = scratch.path('bad-lines.csv');
    const { read } = await readGraph(file, { rejects });
    expect(read).toEqual({ rows: 3, kept: 2, merged: 0, rejected: 1 });
    expect(readFileSync(rejects, 'utf8')).toMatch(/^line,reason,row\n2,"not valid JSON .*","\{""user"":"\n$/);
  });
});
