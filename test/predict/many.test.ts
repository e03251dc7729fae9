// Lists for many users: on all threads, to files; a bad user affects no other.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { fit } from '../../src/fit/fit.js';
import type { Model } from '../../src/fit/model.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { parseNumber } from '../../src/ingest/intake/value-column.js';
import { readWithValues } from '../../src/ingest/read.js';
import { randomStream } from '../../src/math/random.js';
import { OptionError } from '../../src/options/error.js';
import { createRecommender } from '../../src/predict/recommender.js';
import { saveModel } from '../../src/store/model-file.js';
import { graphex } from '../cli/run.js';
import { smallModel } from './recommend-model.js';

const folder = mkdtempSync(join(tmpdir(), 'graphex-many-'));
const at = (name: string) => join(folder, name);
afterAll(() => rmSync(folder, { recursive: true }));

const random = randomStream(11);
const pairs: [string, string][] = Array.from({ length: 3000 }, () => [
  `u${Math.floor(600 * random.uniform() ** 1.3)}`,
  `i,${Math.floor(80 * random.uniform() ** 2)}`,
]);
const graph = BipartiteGraph.fromPairs(pairs);
const models: Record<string, Model> = {};
const file = at('model.safetensors');

beforeAll(async () => {
  models.posterior = (await fit(graph, { features: 3, iterations: 15, threads: 1, model: 'sparse' })).model;
  models.ranker = (await fit(graph, { method: 'ranking', features: 3, iterations: 5, threads: 1 })).model;
  models.popularity = (await fitBaseline(graph, 'popularity', { threads: 1 })).model;
  models.knn = (await fitBaseline(graph, 'knn', { threads: 1, trials: 2 })).model;
  await saveModel(file, models.posterior);
});

describe('many queries', () => {
  it.each(['posterior', 'ranker', 'popularity', 'knn'])(
    'of a %s get on three threads what they get on one',
    async (kind) => {
      const recommender = createRecommender(models[kind]);
      try {
        const queries = Array.from({ length: 300 }, (_, a) =>
          a % 3 === 0
            ? { likes: [pairs[a][1], pairs[a + 1][1], 'strange'] }
            : { user: pairs[a][0], ...(a % 3 === 1 && { exclude: ['i,0', 'i,1'] }) },
        );
        const heard = [0, 0];
        const options = { n: 7, exclude: ['i,2'] };
        const [one, three] = await Promise.all(
          [1, 3].map((threads, t) =>
            recommender.recommendMany(queries, { ...options, threads, onUnknown: () => heard[t]++ }),
          ),
        );
        expect(three).toEqual(one);
        expect(heard).toEqual([100, 100]);
        expect(one[1].some(({ item }) => ['i,0', 'i,1', 'i,2'].includes(item))).toBe(false);
        const seen = await recommender.recommendMany(queries, {
          ...options,
          includeSeen: true,
          threads: 2,
          onUnknown: () => {},
        });
        expect(seen).not.toEqual(one);
      } finally {
        await recommender.close();
      }
    },
  );

  it('stop on the signal, and later ones are answered', async () => {
    const recommender = createRecommender(models.posterior);
    try {
      const queries = Array.from({ length: 600 }, (_, a) => ({ likes: [pairs[a][1]] }));
      const stop = new AbortController();
      const under = recommender.recommendMany(queries, { threads: 2, signal: stop.signal });
      stop.abort();
      await expect(under).rejects.toMatchObject({ name: 'AbortError' });
      expect(await recommender.recommendMany(queries, { threads: 2, n: 1 })).toHaveLength(600);
    } finally {
      await recommender.close();
    }
  });
});

describe('graphex recommend --all-users', () => {
  it('writes the same lists in every format, readable as lists again', async () => {
    const recommender = createRecommender(models.posterior);
    const { ids, count } = models.posterior.users;
    const users = Array.from({ length: count }, (_, u) => ids.at(u));
    const expected = await recommender.recommendMany(
      users.map((user) => ({ user })),
      { n: 3, threads: 1 },
    );
    await recommender.close();
    for (const name of ['lists.csv', 'lists.tsv.gz', 'lists.parquet']) {
      const { status, stdout } = await graphex(
        'recommend',
        file,
        '--all-users',
        '-n',
        '3',
        '-o',
        at(name),
        '--quiet',
      );
      const [wrote, ...next] = stdout.split('\n');
      expect([status, wrote]).toEqual([
        0,
        `wrote ${at(name)}: ${(3 * count).toLocaleString('en-US')} rows for ${count} users`,
      ]);
      expect(next.join('\n')).toMatch(/^Next: npx graphex serve/);
      for (const role of ['rank', 'score'] as const) {
        const { graph: lists, values } = await readWithValues(
          at(name),
          {},
          { column: role, role, parse: parseNumber(role), keep: 'least' },
        );
        for (const [u, user] of users.entries()) {
          const v = lists.users.ids.find(user);
          const first = lists.users.offsets[v];
          const items = Array.from(lists.users.neighbors.subarray(first, lists.users.offsets[v + 1]), (i) =>
            lists.items.ids.at(i),
          );
          for (const [rank, { item, score }] of expected[u].entries()) {
            expect(values[first + items.indexOf(item)]).toBe(role === 'rank' ? rank + 1 : score);
          }
        }
      }
    }
    await graphex('recommend', file, '--all-users', '-n', '3', '-o', at('lists.jsonl.gz'), '--quiet');
    const lines = gunzipSync(readFileSync(at('lists.jsonl.gz')))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ user }) => user)).toEqual(users);
    expect(lines.map(({ items }) => items)).toEqual(expected);
    const piped = await graphex('recommend', file, '--all-users', '-n', '3', '-o', '-', '--quiet');
    expect(piped.stdout).toBe(readFileSync(at('lists.csv'), 'utf8'));
  });

  it('writes lines of JSON with reasons and confidence, as the document of --json has them', async () => {
    writeFileSync(at('some.txt'), [0, 1, 2].map((u) => models.posterior.users.ids.at(u)).join('\n'));
    const asked = ['recommend', file, '--batch', at('some.txt'), '-n', '2', '--explain', '--confidence'];
    const whole = JSON.parse((await graphex(...asked, '--json', '--quiet')).stdout);
    const { status } = await graphex(...asked, '-o', at('why.jsonl'), '--quiet');
    const lines = readFileSync(at('why.jsonl'), 'utf8').trim().split('\n');
    expect([status, lines.map((line) => JSON.parse(line))]).toEqual([0, whole]);
    expect(whole[0]).toMatchObject({
      confidence: { overlap: expect.any(Number), text: expect.any(String) },
      items: [{ explanation: {}, low: expect.any(Number) }, {}],
    });
  });

  it('explains many lists on several threads as on one thread', async () => {
    const model = smallModel({ users: 80 });
    const recommender = createRecommender(model);
    const queries = Array.from({ length: 80 }, (_, u) =>
      u % 9 === 1 ? { likes: ['item 3', 'nothing'] } : { user: `user ${u}` },
    );
    const asked = { n: 3, explain: true, confidence: true, onUnknown: () => {}, exclude: ['item 2'] };
    const alone = await recommender.explainMany(queries, { ...asked, threads: 1 });
    const done: number[] = [];
    const together = await recommender.explainMany(queries, {
      ...asked,
      threads: 2,
      onProgress: (progress) => done.push(progress.done),
    });
    expect(together).toEqual(alone);
    // One report for each piece of a worker.
    expect(done).toHaveLength(5);
    expect(done.at(-1)).toBe(80);
    expect(alone[0]).toMatchObject({
      confidence: { overlap: expect.any(Number) },
      items: [{ reasons: {} }, {}, {}],
    });
    const { onUnknown: _, ...strict } = asked;
    await expect(recommender.explainMany(queries, { ...strict, threads: 2 })).rejects.toThrow(
      /item nothing is not in the model/,
    );
    await expect(
      recommender.explainMany(queries, { ...asked, threads: 2, signal: AbortSignal.abort() }),
    ).rejects.toThrow();
    await recommender.close();
  });

  it('names the option that is wrong on any number of threads', async () => {
    const recommender = createRecommender(models.knn);
    const queries = Array.from({ length: 80 }, (_, a) => ({ user: pairs[a][0] }));
    for (const threads of [1, 2]) {
      const told = recommender.explainMany(queries, { n: 3, confidence: true, threads });
      await expect(told).rejects.toBeInstanceOf(OptionError);
    }
    await recommender.close();
  });

  it('needs an output for the lists that can be written', async () => {
    for (const [args, says] of [
      [['--all-users'], /say where the lists go/],
      [['--all-users', '-o', at('x.xlsx')], /format is not known by this ending/],
      [['--all-users', '-o', at('no/x.csv')], /its folder does not exist/],
      [
        ['--all-users', '-o', at('x.csv'), '--explain'],
        /--explain does not go with -o .*x.csv: .*write .jsonl/,
      ],
      [['--all-users', '-o', '-', '--json'], /takes the lists or the document/],
      [['--user', 'u1', '-o', at('x.csv')], /-o is for the lists of many/],
      [['--all-users', '--user', 'u1'], /--user and --all-users were both given/],
    ] as const) {
      const { status, stderr } = await graphex('recommend', file, ...args);
      expect(status).toBe(2);
      expect(stderr).toMatch(says);
    }
    expect(readdirSync(folder).filter((name) => name.startsWith('x') || name.includes('part'))).toEqual([]);
  });
});

describe('graphex recommend --batch', () => {
  it('skips, counts and names what it cannot use, and makes the rest', async () => {
    writeFileSync(at('users.txt'), 'user\nu1\nnobody\nu2\nnobody else\n');
    const known = await graphex(
      'recommend',
      file,
      '--batch',
      at('users.txt'),
      '-n',
      '2',
      '-o',
      at('b.csv'),
      '--json',
    );
    expect(JSON.parse(known.stdout)).toMatchObject({
      users: 2,
      rows: 4,
      skipped: 2,
      skippedBecause: [{ reason: 'unknown to the model', names: ['nobody', 'nobody else'] }],
    });
    expect(known.stderr).toMatch(/2 users skipped, unknown to the model: nobody, nobody else/);
    writeFileSync(
      at('likes.csv'),
      'customer,product\nann,"i,0"\nann,zzz\nbob,yyy\ncarl\n"d ""x""","i,1"\nann,"i,3"\n',
    );
    const fresh = await graphex('recommend', file, '--batch', at('likes.csv'), '-n', '2', '--json');
    expect(JSON.parse(fresh.stdout).map(({ user }: { user: string }) => user)).toEqual([
      'ann',
      'bob',
      'd "x"',
    ]);
    expect(fresh.stderr).toMatch(/1 row skipped, without a user and an item, as in the first row: line 5/);
    expect(fresh.stderr).toMatch(/no liked item is known to the model, so 1 user \(bob\) gets popular items/);
    expect(JSON.parse(fresh.stdout)[1]).toMatchObject({ basis: 'popular' });
    expect(fresh.stderr).toMatch(/2 liked items are unknown to the model and were left out: zzz, yyy/);
    const one = await graphex('recommend', file, '--likes', 'i,0', '--likes', 'i,3', '-n', '2', '--json');
    expect(JSON.parse(fresh.stdout)[0].items).toEqual(JSON.parse(one.stdout));
  });

  it('says so if nothing is left, and writes nothing', async () => {
    writeFileSync(at('none.txt'), 'nobody\n');
    const { status, stderr } = await graphex(
      'recommend',
      file,
      '--batch',
      at('none.txt'),
      '-o',
      at('none.csv'),
    );
    expect(status).toBe(2);
    expect(stderr).toMatch(/no list can be made: 1 user unknown to the model \(nobody\)/);
    expect(existsSync(at('none.csv'))).toBe(false);
  });
});

describe('titles', () => {
  const titles = at('titles.csv');
  writeFileSync(
    titles,
    `id,title\n${Array.from({ length: 80 }, (_, i) => `"i,${i}","Film ${i < 2 ? 'Twin' : `No. ${i}`} (19${10 + i})"`).join('\n')}\n`,
  );

  it('are shown, and can replace ids if they name a single item', async () => {
    const similar = await graphex(
      'similar',
      file,
      '--item',
      'film no. 5',
      '--titles',
      titles,
      '-n',
      '2',
      '--json',
    );
    const byId = await graphex('similar', file, '--item', 'i,5', '-n', '2', '--json');
    const [first, second] = JSON.parse(similar.stdout);
    expect([first, second].map(({ title: _, ...entry }) => entry)).toEqual(JSON.parse(byId.stdout));
    expect(first.title).toMatch(/^Film /);
    const twins = await graphex('recommend', file, '--likes', 'Film Twin', '--titles', titles);
    expect(twins.stderr).toMatch(/Film Twin fits several items: Film Twin \(1910\)/);
    const typo = await graphex('recommend', file, '--likes', 'Fim No. 77', '--titles', titles);
    expect([typo.status, typo.stderr]).toEqual([
      0,
      expect.stringMatching(/did you mean Film No\. 77 \(1987\)\?/),
    ]);
  });

  it('name features', async () => {
    const { stdout } = await graphex('features', file, '--titles', titles, '-n', '3', '--json');
    const [feature] = JSON.parse(stdout);
    expect(feature.name).toBe(feature.items.map(({ title }: { title: string }) => title).join(', '));
    expect((await graphex('features', file, '--titles', titles)).stdout).toMatch(
      /feature \d+: [\d.]+ % of the expected edges: Film /,
    );
  });
});
