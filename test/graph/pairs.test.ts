import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BipartiteGraph, InputError, readGraph } from '../../src/index.js';
import { edgesOf, scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();

describe('BipartiteGraph.fromPairs', () => {
  it('makes one edge of equal pairs, or counts them', () => {
    const pairs = [
      ['bob', 2],
      ['ann', 10],
      ['bob', 2],
      ['bob', 10, 3],
    ] as const;
    expect(edgesOf(BipartiteGraph.fromPairs(pairs))).toEqual([
      '["ann","10",1]',
      '["bob","10",1]',
      '["bob","2",1]',
    ]);
    const counted = BipartiteGraph.fromPairs(pairs, { multigraph: true });
    expect(edgesOf(counted)).toEqual(['["ann","10",1]', '["bob","10",3]', '["bob","2",2]']);
    expect(counted.items.ids.values).toEqual(Float64Array.of(2, 10));
  });

  it('gives the graph that reading the same table gives', async () => {
    const id = fc.oneof(
      fc.integer(),
      fc.string({ minLength: 1, unit: 'grapheme' }),
      fc.constantFrom('-0', '01', '1'),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(id, id), { minLength: 1, maxLength: 20 }), async (pairs) => {
        const lines = pairs.map((pair) => JSON.stringify(pair.map(String))).join('\n');
        const { graph } = await readGraph(scratch.write('pairs.jsonl', lines));
        const made = BipartiteGraph.fromPairs(pairs);
        expect(made.users.ids.values).toEqual(graph.users.ids.values);
        expect(made.items.ids.values).toEqual(graph.items.ids.values);
        expect(BipartiteGraph.fingerprint(made)).toBe(BipartiteGraph.fingerprint(graph));
      }),
      { numRuns: 50 },
    );
  });

  it.each([
    [[], /pairs: the list is empty/],
    [[['', 1]], /pair 1: the user is ""/],
    [
      [
        [1, 2],
        [1, 0.5],
      ],
      /pair 2: the item is 0\.5/,
    ],
    [[['\ud800', 1]], /the user is/],
    [[[1, 2, 0]], /pair 1: the count is 0/],
    [[[undefined, 1]], /the user is undefined/],
    [[['x'.repeat(70_000), 1]], /pair 1: the user is "x{60}"; an id has at most 65536 bytes/],
    [[['a\0b', 1]], /the user is .*; an id holds no zero byte/],
  ])('refuses %j in words', (pairs, says) => {
    const work = () => BipartiteGraph.fromPairs(pairs as never);
    expect(work).toThrow(InputError);
    expect(work).toThrow(says);
  });

  it('refuses a BigInt and says how to write it', () => {
    expect(() => BipartiteGraph.fromPairs([[12n as never, 1]])).toThrow(
      /pair 1: the user is 12n; write it as a text, as in String\(id\)/,
    );
  });
});
