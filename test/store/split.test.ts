import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { buildGraph } from '../../src/graph/build.js';
import { fingerprint } from '../../src/graph/fingerprint.js';
import type { BipartiteGraph } from '../../src/graph/graph.js';
import { VertexIds } from '../../src/graph/ids.js';
import { randomStream } from '../../src/math/random.js';
import { split } from '../../src/sample/split.js';
import type { Split } from '../../src/sample/split-types.js';
import { loadSplit, saveSplit } from '../../src/store/split-folder.js';
import { writeEdges } from '../../src/store/write-table.js';
import { edgesOf, scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();

/** Users with whole-number ids; items with texts, most of them digits, whose order as texts differs from by value. */
function exampleGraph(): BipartiteGraph {
  const random = randomStream(7);
  const rows = Array.from({ length: 900 }, () => [random.below(60), random.below(45)] as const);
  const items = Array.from({ length: 45 }, (_, i) => (i === 44 ? 'x' : String(i))).sort();
  return buildGraph({
    users: rows.map((row) => row[0]),
    items: rows.map((row) => row[1]),
    counts: rows.map((_, n) => 1 + (n % 5)),
    userCount: 60,
    itemCount: 45,
    userIds: VertexIds.range(60),
    itemIds: VertexIds.texts(items),
    multigraph: true,
  });
}

describe('the split folder', () => {
  let original: Split;
  beforeAll(async () => {
    original = split(exampleGraph(), { seed: 5 });
    await saveSplit(scratch.path('split'), original, { source: 'example', dropped: 3 });
  });

  it('returns the same split: parts, assignment, order of vertices', async () => {
    const loaded = await loadSplit(scratch.path('split'));
    for (const part of ['train', 'foldIn', 'test'] as const) {
      expect(edgesOf(loaded[part])).toEqual(edgesOf(original[part]));
      expect(loaded[part].users.ids.values).toEqual(original[part].users.ids.values);
      expect(loaded[part].items.ids.values).toEqual(original[part].items.ids.values);
      expect(loaded[part].items.neighbors).toEqual(original[part].items.neighbors);
      expect(loaded[part].items.counts).toEqual(original[part].items.counts);
    }
    for (const side of ['users', 'items'] as const) {
      expect(loaded.assignment[side].ids.values).toEqual(original.assignment[side].ids.values);
      expect(loaded.assignment[side].drawn).toEqual(original.assignment[side].drawn);
    }
    const { method, seed, testUsers, testItems, fingerprint: whole } = original;
    expect(loaded).toMatchObject({ method, seed, testUsers, testItems, fingerprint: whole });
    expect(readdirSync(scratch.path('split')).sort()).toEqual([
      '.graphex.json',
      'coins-items.parquet',
      'coins-users.parquet',
      'foldin.parquet',
      'split.json',
      'test.parquet',
      'train.parquet',
    ]);
  });

  it('describes itself in split.json', async () => {
    const record = JSON.parse(readFileSync(join(scratch.path('split'), 'split.json'), 'utf8'));
    expect(record).toMatchObject({
      source: 'example',
      dropped: 3,
      seed: 5,
      parts: { train: { edges: original.train.edges, fingerprint: fingerprint(original.train) } },
      coins: { users: { total: 60 }, items: { total: 45 } },
    });
  });

  it('keeps parts that are empty', async () => {
    const empty = buildGraph({ users: [], items: [], userCount: 0, itemCount: 0, multigraph: true });
    await saveSplit(scratch.path('empty'), { ...original, foldIn: empty });
    expect((await loadSplit(scratch.path('empty'))).foldIn.edges).toBe(0);
  });

  it('is refused if a part, the assignment or split.json is missing, changed or foreign', async () => {
    const broken = async (change: (folder: string) => unknown): Promise<string> => {
      const folder = scratch.path('broken');
      rmSync(folder, { recursive: true, force: true });
      cpSync(scratch.path('split'), folder, { recursive: true });
      await change(folder);
      const error = await loadSplit(folder).then(
        () => undefined,
        (cause) => cause,
      );
      expect(error?.name).toBe('InputError');
      return error.message;
    };
    const edit = (folder: string, change: (record: Record<string, unknown>) => void) => {
      const record = JSON.parse(readFileSync(`${folder}/split.json`, 'utf8'));
      change(record);
      writeFileSync(`${folder}/split.json`, JSON.stringify(record));
    };
    expect(await broken((f) => rmSync(`${f}/split.json`))).toMatch(/no split\.json/);
    expect(await broken((f) => writeFileSync(`${f}/split.json`, '{'))).toMatch(/not valid JSON/);
    expect(await broken((f) => writeFileSync(`${f}/split.json`, '{}'))).toMatch(
      /not the description of a split/,
    );
    expect(await broken((f) => edit(f, (r) => (r.version = 2)))).toMatch(/version 2.*update graphex/);
    expect(await broken((f) => edit(f, (r) => delete r.coins))).toMatch(/coins/);
    expect(await broken((f) => rmSync(`${f}/test.parquet`))).toMatch(/test\.parquet: there is no such file/);
    expect(await broken((f) => rmSync(`${f}/coins-users.parquet`))).toMatch(/coins-users\.parquet/);
    expect(await broken((f) => writeEdges(`${f}/train.parquet`, original.test))).toMatch(
      /train\.parquet: its contents are not those/,
    );
    expect(await broken((f) => cpSync(`${f}/coins-items.parquet`, `${f}/coins-users.parquet`))).toMatch(
      /coins/,
    );
  });
});
