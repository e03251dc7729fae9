import { mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { AbortError } from '../../src/errors.js';
import { fingerprint } from '../../src/graph/fingerprint.js';
import { type BipartiteGraph, degrees } from '../../src/graph/graph.js';
import { readGraph } from '../../src/ingest/read.js';
import { randomStream } from '../../src/math/random.js';
import { openPartition, readShard, shardFile } from '../../src/shard/partition-folder.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { shardOfBytes, shardsOfNumbers } from '../../src/shard/user-shards.js';
import { countDegrees } from '../../src/sparsity/degree-counts.js';
import { literal, withDuckDB } from '../ingest/duckdb.js';
import { scratchFolder } from '../ingest/scratch.js';

const { path } = scratchFolder();
const folder = path('.');

/** A row a line, with repeats; ids by the given names. */
function table(rows: number, user: (u: number) => string, item: (i: number) => string, seed = 1): string[] {
  const random = randomStream(seed, 5);
  return Array.from({ length: rows }, () => {
    const u = Math.floor(300 * random.uniform() ** 2);
    const i = Math.floor(80 * random.uniform() ** 2);
    return `${user(u)},${item(i)},${1 + random.below(3)}`;
  });
}

const filesOf = (parts: string) =>
  Object.fromEntries(
    readdirSync(parts)
      .filter((name) => !name.startsWith('.'))
      .map((name) => [name, readFileSync(join(parts, name)).toString('base64')]),
  );

const same = (a: Uint32Array, b: Uint32Array) => a.length === b.length && a.every((x, e) => x === b[e]);

/** Everything that the shards hold must be the graph, in its own order of ids. */
async function expectGraph(parts: string, graph: BipartiteGraph) {
  const opened = await openPartition(parts);
  expect(opened).toMatchObject({
    users: graph.users.count,
    items: graph.items.count,
    edges: graph.edges,
    total: graph.total,
    multigraph: graph.multigraph,
    fingerprint: fingerprint(graph),
  });
  expect(opened.itemIds.values).toEqual(graph.items.ids.values);
  expect(Array.from(opened.itemDegree)).toEqual(Array.from(degrees(graph.items)));
  for (const side of ['users', 'items'] as const) {
    expect(opened.degrees[side]).toEqual(countDegrees(degrees(graph[side])));
  }
  const met = new Set<string>();
  for (let s = 0; s < opened.shards.length; s++) {
    const shard = await readShard(opened, s);
    expect(shard.ids.kind).toBe(graph.users.ids.kind);
    const others: string[] = [];
    for (let v = 0; v < shard.count; v++) {
      const id = shard.ids.at(v);
      met.add(id);
      const user = graph.users.ids.find(id);
      const theirs = (of: Uint32Array) =>
        of.subarray(graph.users.offsets[user], graph.users.offsets[user + 1]);
      const own = (of: Uint32Array) => of.subarray(shard.offsets[v], shard.offsets[v + 1]);
      if (!same(own(shard.neighbors), theirs(graph.users.neighbors))) others.push(`items of ${id}`);
      if (graph.users.counts && !same(own(shard.counts!), theirs(graph.users.counts)))
        others.push(`counts of ${id}`);
    }
    expect(others).toEqual([]);
  }
  expect(met.size).toBe(graph.users.count);
}

describe('shards hold the graph that reading in one piece gives', () => {
  const number = (n: number) => String(n * 7 + 3);
  const text = (n: number) => `id ${n}`;
  // Whole numbers come first, then texts: the text changes what the earlier codes mean.
  const late = (numbers: number) => (n: number) => (n < numbers ? String(n) : `id ${n}`);
  // Rows of a batch in 16 MB of memory.
  const BATCH = 2 ** 16;
  test.each([
    ['whole numbers', number, number],
    ['texts', text, text],
    ['numbers that turn out to be texts', late(200), late(70)],
    ['large and small numbers', (n: number) => String(n < 50 ? n : n * 1e12), number],
  ])('%s', async (name, user, item) => {
    const lines = table(name.startsWith('numbers') ? 100_000 : BATCH + 2000, user, item);
    // Whole numbers come first, and many of them, so that a batch is written before the first text.
    lines.sort((a, b) => Number(/id/.test(a)) - Number(/id/.test(b)));
    if (name.startsWith('numbers')) expect(/id/.test(lines[BATCH])).toBe(false);
    const file = path(`${name}.csv`);
    writeFileSync(file, lines.join('\n'));
    for (const multigraph of [false, true]) {
      const options = { multigraph, ...(multigraph && { count: 3 }) };
      const parts = path(`${name} ${multigraph}`);
      const { graph, read } = await readGraph(file, options);
      const made = await partitionGraph(file, parts, { ...options, shards: 5, memory: '16M' });
      expect(made).toMatchObject({ shards: 5, edges: graph.edges, fingerprint: fingerprint(graph), read });
      await expectGraph(parts, graph);
    }
  });

  test('other formats, recipes, built-in sets and graphs in memory', async () => {
    writeFileSync(path('a.csv.gz'), gzipSync(table(500, text, number).join('\n')));
    writeFileSync(path('a.jsonl'), '{"u":"a","i":1}\n{"u":"b","i":1}\n{"u":"a","i":2}\n');
    writeFileSync(path('doc.txt'), 'cats chase mice\nmice eat cheese\nwe eat cheese and bread\n');
    for (const source of [path('a.csv.gz'), path('a.jsonl'), `text:${path('doc.txt')}`, '@simulated-small']) {
      const { graph } = await readGraph(source);
      const parts = path(`of ${source.replaceAll('/', '_')}`);
      await partitionGraph(source, parts, { shards: 3 });
      await expectGraph(parts, graph);
      await partitionGraph(graph, `${parts} again`, { shards: 3 });
      expect(filesOf(`${parts} again`)[shardFile(1)]).toEqual(filesOf(parts)[shardFile(1)]);
    }
  });
});

describe('a partition', () => {
  const lines = table(
    8000,
    (n) => `u${n}`,
    (n) => `i${n}`,
  );
  const file = path('rows.csv');
  beforeAll(() => writeFileSync(file, lines.join('\n')));

  test('depends on the rows and the shards alone: not on their order, nor on the memory', async () => {
    writeFileSync(path('turned.csv'), [...lines].reverse().join('\n'));
    await partitionGraph(file, path('one'), { shards: 7, memory: '16M' });
    await partitionGraph(path('turned.csv'), path('two'), { shards: 7, memory: '1G' });
    expect(filesOf(path('two'))).toEqual(filesOf(path('one')));
  });

  describe('of a large table of whole numbers', () => {
    // The fewest rows with which threads read groups of rows.
    const ROWS = 1_060_000;
    const query = (from: number, to: number) =>
      `SELECT (i * 7919) % 40009 + 3000000000 * (i % 2) u, (i * i) % 3001 v, 1 + i % 3 n FROM range(${from}, ${to}) t(i)`;
    const copy = (name: string, sql: string) =>
      withDuckDB(2, (connection) =>
        connection.run(`COPY (${sql}) TO ${literal(path(name))} (FORMAT parquet)`),
      );
    beforeAll(async () => {
      await copy('plain.parquet', query(0, ROWS));
      await copy('first.parquet', query(0, 500_000));
      await copy('second.parquet', query(500_000, ROWS));
      await copy('late.parquet', `${query(0, ROWS)} UNION ALL SELECT -7, 8, 1`);
    });

    test.each([false, true])(
      'is the same on any number of threads, in any memory, in one file or two: counts %s',
      async (multigraph) => {
        const options = { multigraph, count: 'n', shards: 6, force: true };
        // Too little memory for groups of rows: they are read one by one.
        await partitionGraph(path('plain.parquet'), path('by row'), {
          ...options,
          memory: '64M',
          threads: 1,
        });
        const expected = filesOf(path('by row'));
        expect((await openPartition(path('by row'))).read.rows).toBe(ROWS);
        const two = [path('first.parquet'), path('second.parquet')];
        const ways = [
          [two, 3, '300M'],
          [path('plain.parquet'), 2, '2G'],
          [path('plain.parquet'), 1, '300M'],
        ] as const;
        for (const [source, threads, memory] of multigraph ? ways.slice(0, 2) : ways.slice(2)) {
          await partitionGraph(source, path('by groups'), { ...options, threads, memory });
          expect(filesOf(path('by groups'))).toEqual(expected);
        }
      },
    );

    test('is read row by row where one number is not plain', async () => {
      const made = await partitionGraph(path('late.parquet'), path('late'), { shards: 6, threads: 2 });
      const { graph } = await readGraph(path('late.parquet'));
      expect(made).toMatchObject({ edges: graph.edges, fingerprint: fingerprint(graph) });
    });

    test('that is stopped while it is read leaves nothing', async () => {
      const before = readdirSync(folder);
      const stop = new AbortController();
      const made = partitionGraph(path('plain.parquet'), path('stopped/parts'), {
        signal: stop.signal,
        onProgress: ({ stage }) => stage === 'reading' && stop.abort(),
      });
      await expect(made).rejects.toThrow(AbortError);
      expect(readdirSync(folder)).toEqual(before);
    });
  });

  test('assigns a user to a shard by id, digits or bytes', () => {
    const bytes = (text: string) => new TextEncoder().encode(text);
    const shardsOf = (ids: Uint32Array, shards: number) => {
      const result = new Uint16Array(ids.length);
      shardsOfNumbers(ids, ids.length, shards, result);
      return result;
    };
    const few = Uint32Array.of(0, 7, 4294967294);
    for (const shards of [64, 60]) {
      expect(Array.from(few, (id) => shardOfBytes(bytes(String(id)), shards))).toEqual([
        ...shardsOf(few, shards),
      ]);
    }
    const counts = new Float64Array(16);
    for (const shard of shardsOf(
      Uint32Array.from({ length: 16_000 }, (_, id) => id),
      16,
    ))
      counts[shard]++;
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });

  test('of several files is that of one with all of their rows', async () => {
    writeFileSync(path('first.csv'), lines.slice(0, 3000).join('\n'));
    writeFileSync(path('second.csv'), lines.slice(3000).join('\n'));
    await partitionGraph([path('first.csv'), path('second.csv')], path('both'), { shards: 4 });
    await expectGraph(path('both'), (await readGraph(file)).graph);
  });

  test('takes rows by a condition, and refuses to count degrees before there is a graph', async () => {
    const named = path('named.csv');
    writeFileSync(named, ['u,i,n', ...lines].join('\n'));
    const { graph, read } = await readGraph(named, { where: 'n >= 2' });
    expect(graph.total).toBeLessThan(read.rows);
    const made = await partitionGraph(named, path('where'), { where: 'n >= 2', shards: 4 });
    expect(made.read.rows).toBe(read.rows);
    await expectGraph(path('where'), graph);
    await expect(partitionGraph(file, path('core'), { minDegree: 2 })).rejects.toThrow(
      'minDegree needs the whole graph in memory',
    );
  });

  test('of a graph refuses options of reading, which would have no effect', async () => {
    const { graph } = await readGraph(file);
    for (const [name, value] of Object.entries({ where: 'n >= 2', multigraph: false, minDegree: 2 }))
      await expect(partitionGraph(graph, path('graph'), { [name]: value })).rejects.toThrow(
        `${name}: a graph was read when it was made; leave this option out, or give it to readGraph`,
      );
    await partitionGraph(graph, path('graph'), { shards: 2, where: undefined });
  });

  test('is not a table, and reading it as one is an error that says so', async () => {
    await partitionGraph(file, path('no table'), { shards: 2 });
    await expect(readGraph(path('no table'))).rejects.toThrow(
      'this is a folder of shards, which only graphex check, split and fit read; give the data from which they were made',
    );
  });

  test('with fewer shards than before leaves none of the old ones', async () => {
    await partitionGraph(file, path('fewer'), { shards: 9 });
    await partitionGraph(file, path('fewer'), { shards: 2 });
    expect(readdirSync(path('fewer')).filter((name) => name.startsWith('shard-'))).toHaveLength(2);
    await expectGraph(path('fewer'), (await readGraph(file)).graph);
  });

  test('that is stopped leaves nothing', async () => {
    const before = readdirSync(folder);
    const stop = new AbortController();
    const made = partitionGraph(file, path('stopped/parts'), {
      shards: 4,
      signal: stop.signal,
      onProgress: ({ stage }) => stage === 'sorting' && stop.abort(),
    });
    await expect(made).rejects.toThrow(AbortError);
    expect(readdirSync(folder)).toEqual(before);
  });

  test('that does not fit says how many shards are needed', async () => {
    const many = table(400_000, String, String);
    writeFileSync(path('many.csv'), many.join('\n'));
    await expect(
      partitionGraph(path('many.csv'), path('large'), { shards: 1, memory: '16M' }),
    ).rejects.toThrow(
      /^memory: the largest shard has 400000 rows, which take .* GB to sort.*give shards 2 or more$/,
    );
    await expect(partitionGraph(file, path('large'), { memory: 'much' })).rejects.toThrow(
      'memory much: expected an amount of at least 16M, as in 800M or 8G',
    );
  });

  test('never replaces what graphex has not written', async () => {
    mkdirSync(path('theirs'));
    writeFileSync(path('theirs/parts.json'), 'mine');
    await expect(partitionGraph(file, path('theirs'), { shards: 2 })).rejects.toThrow('parts.json');
    expect(readFileSync(path('theirs/parts.json'), 'utf8')).toBe('mine');
  });
});

describe('incomplete shards are refused', () => {
  const parts = path('hostile');
  const document = () => JSON.parse(readFileSync(join(parts, 'parts.json'), 'utf8'));
  beforeAll(async () => {
    writeFileSync(path('few.csv'), table(600, String, String).join('\n'));
    await partitionGraph(path('few.csv'), parts, { shards: 3 });
  });

  test.each<[string, (d: ReturnType<typeof document>) => void, RegExp]>([
    ['a number of users', (d) => void d.users++, /\d+ users instead of \d+/],
    ['a shard that says more', (d) => void (d.shards[1].edges += 5), /edges instead of/],
    ['degrees that do not add up', (d) => d.degrees.items.pop(), /degrees of items/],
    [
      'other degrees of the same sum',
      (d) => {
        const { items } = d.degrees;
        const [last, before] = [items.length - 1, items.length - 2];
        items[last][0] += items[before][1];
        items[before][0] -= items[last][1];
      },
      /degrees of its items are not those of parts.json/,
    ],
    ['a hash', (d) => void (d.shards[0].hash = 'x'), /not the description of a partition/],
    ['an endless list of shards', (d) => void (d.shards = Array(5000).fill(d.shards[0])), /partition/],
    [
      'another version',
      (d) => void (d.version = 2),
      /format version 2, and this graphex reads version 1 only; update graphex/,
    ],
  ])('%s', async (_name, change, message) => {
    const changed = document();
    change(changed);
    mkdirSync(path('changed'), { recursive: true });
    for (const [name, bytes] of Object.entries(filesOf(parts))) {
      writeFileSync(path(`changed/${name}`), Buffer.from(bytes, 'base64'));
    }
    writeFileSync(path('changed/parts.json'), JSON.stringify(changed));
    await expect(openPartition(path('changed'))).rejects.toThrow(message);
  });

  test('a shard of another partition, a truncated one, and a missing one', async () => {
    writeFileSync(path('other.csv'), table(600, String, String, 2).join('\n'));
    await partitionGraph(path('other.csv'), path('other'), { shards: 3 });
    const opened = await openPartition(parts);
    writeFileSync(join(parts, shardFile(0)), readFileSync(join(path('other'), shardFile(0))));
    await expect(readShard(opened, 0)).rejects.toThrow(
      'it belongs to another partition, or the shards have changed',
    );
    truncateSync(join(parts, shardFile(1)), 900);
    await expect(readShard(opened, 1)).rejects.toThrow(
      'the shard file is cut short; copy it again or partition again',
    );
    rmSync(join(parts, shardFile(2)));
    await expect(readShard(opened, 2)).rejects.toThrow('there is no such file');
  });
});
