import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Model } from '../../src/fit/model.js';
import { VertexIds } from '../../src/graph/ids.js';
import { recommend } from '../../src/predict/recommend.js';
import { ownItems } from '../../src/predict/user-query.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';
import { writeLists } from '../../src/store/write-table.js';
import { bin, graphex } from '../cli/run.js';
import { fittedModel } from './recommend-model.js';

let folder: string;
let path: string;
let model: Model;

async function saved(name: string, made: Model): Promise<string> {
  const file = join(folder, name);
  await saveModel(file, made);
  return file;
}

/** Writes a batch and asks for the lists of its users. */
async function batch(name: string, content: string | Uint8Array, ...args: string[]) {
  const file = join(folder, name);
  await writeFile(file, content);
  return graphex('recommend', path, '--batch', file, ...args);
}

const itemsOf = (of: Model, user: string) =>
  Array.from(ownItems(of, of.users.ids.find(user)).items, (item) => of.items.ids.at(item));

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-batch-'));
  path = await saved('model.safetensors', fittedModel(false));
  model = await loadModel(path);
});
afterAll(() => rm(folder, { recursive: true }));

describe('a user of the model with further items in the batch', () => {
  it('gets a list from both histories, without items of either', async () => {
    const own = itemsOf(model, 'user 3');
    const [fresh] = await recommend(model, { user: 'user 3' }, { n: 1 });
    expect(own.length).toBeGreaterThan(1);
    const { stdout, stderr } = await batch('delta.csv', `user 3,${fresh.item}\n`, '-n', '30', '--json');
    const [entry] = JSON.parse(stdout);
    const likes = [...own, fresh.item];
    expect(stderr).toBe('');
    expect(entry.items).toEqual(await recommend(model, { likes }, { n: 30 }));
    expect(entry.items).toHaveLength(30 - likes.length);
    expect(entry.basis).toBe(likes.length < 5 ? 'few' : 'personal');
    const output = join(folder, 'delta.jsonl');
    await graphex('recommend', path, '--batch', join(folder, 'delta.csv'), '-n', '30', '-o', output);
    expect(JSON.parse(await readFile(output, 'utf8'))).toEqual(entry);
  });

  it('is the user of the model if the file has no new items, or only unknown ones', async () => {
    const [first] = itemsOf(model, 'user 3');
    for (const item of [first, 'never seen']) {
      const { stdout } = await batch('same.csv', `user 3,${item}\n`, '--json');
      expect(JSON.parse(stdout)[0].items).toEqual(await recommend(model, { user: 'user 3' }));
    }
  });

  it('adds counts of a multigraph', async () => {
    const file = await saved('multigraph.safetensors', fittedModel(true));
    const counted = await loadModel(file);
    const own = itemsOf(counted, 'user 3');
    const { counts } = ownItems(counted, counted.users.ids.find('user 3'));
    const delta = join(folder, 'counts.csv');
    await writeFile(delta, `user 3,${own[0]}\nuser 3,${own[0]}\n`);
    const { stdout } = await graphex('recommend', file, '--batch', delta, '--json');
    const more = Array.from(counts!, (count, i) => count + (i === 0 ? 2 : 0));
    expect(JSON.parse(stdout)[0].items).toEqual(await recommend(counted, { likes: own, counts: more }));
  });

  it('is treated as new, with a warning, if the model stores no histories', async () => {
    const file = await saved('forgetful.safetensors', { ...fittedModel(false), seen: undefined });
    const delta = join(folder, 'forgotten.csv');
    await writeFile(delta, 'user 3,item 1\n');
    const { stdout, stderr } = await graphex('recommend', file, '--batch', delta, '--json');
    expect(stderr).toMatch(
      /the model stores no histories, so 1 user was treated as new, with only the items of the file/,
    );
    expect(JSON.parse(stdout)[0].items).toEqual(
      await recommend(await loadModel(file), { likes: ['item 1'] }),
    );
  });
});

describe('a batch in any format that fit reads', () => {
  const wanted = async () => [
    { user: 'ann', items: await recommend(model, { likes: ['item 1', 'item 2'] }), basis: 'few' },
    { user: 'bob', items: await recommend(model, { likes: ['item 9'] }), basis: 'few' },
  ];
  const pairs = [
    ['ann', 'item 1'],
    ['bob', 'item 9'],
    ['ann', 'item 2'],
  ];

  it.each([
    ['packed.csv.gz', gzipSync(pairs.map((pair) => pair.join()).join('\n'))],
    ['objects.jsonl', pairs.map(([user, item]) => JSON.stringify({ item, at: [1], user })).join('\n')],
    ['arrays.jsonl', pairs.map((pair) => JSON.stringify(pair)).join('\n')],
    ['semicolons.csv', pairs.map((pair) => pair.join(';')).join('\n')],
    ['three.csv', `user,item,rating\n${pairs.map((pair) => `${pair.join()},5`).join('\n')}`],
    ['bare.tsv', pairs.map((pair) => `${pair.join('\t')}\t5`).join('\n')],
    ['swapped.csv', `rating,item_id,userId\n${pairs.map(([u, i]) => `5,${i},${u}`).join('\n')}`],
  ])('%s', async (name, content) => {
    const { stdout, stderr } = await batch(name, content, '--json');
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual(await wanted());
  });

  it('Parquet, as recommend writes it, from a file and from standard input', async () => {
    const file = join(folder, 'lists.parquet');
    const scored = (items: string[]) => items.map((item) => ({ item, score: 1 }));
    await writeLists(
      file,
      (async function* () {
        yield [
          { user: 'ann', items: scored(['item 1', 'item 2']), basis: 'few' },
          { user: 'bob', items: scored(['item 9']), basis: 'few' },
        ];
      })(),
      false,
    );
    const { stdout } = await graphex('recommend', path, '--batch', file, '--json');
    expect(JSON.parse(stdout)).toEqual(await wanted());
    const piped = await new Promise<string>((resolve, reject) => {
      const child = execFile(
        process.execPath,
        [bin, 'recommend', path, '--batch', '-', '--json'],
        (error, out) => (error ? reject(error) : resolve(out)),
      );
      readFile(file).then((bytes) => child.stdin?.end(bytes), reject);
    });
    expect(JSON.parse(piped)).toEqual(await wanted());
  });

  it('ids alone as JSON', async () => {
    const list = await recommend(model, { user: 'user 5' });
    for (const content of ['{"user":"user 5"}\n', '"user 5"\n']) {
      const { stdout } = await batch('ids.jsonl', content, '--json');
      expect(JSON.parse(stdout)).toMatchObject([{ user: 'user 5', items: list }]);
    }
  });

  it('a file that is not a table is refused in a sentence, and not shown', async () => {
    const noise = Uint8Array.from({ length: 5000 }, (_, i) => (i * 7919) % 251);
    for (const [name, content, message] of [
      ['noise', noise, /this is not a table that graphex reads/],
      ['without zeros.csv', noise.map((byte) => byte || 1), /this is not a table that graphex reads/],
      ['x.parquet', noise, /not a Parquet file although its name says so/],
      ['a.zip', Buffer.from('PK\x03\x04 and so on'), /this is a zip archive; unpack it/],
    ] as const) {
      const { status, stdout, stderr } = await batch(name, content);
      expect(stderr).toMatch(message);
      expect(stderr).toMatch(/^error: [\x20-\x7e]+\n$/);
      expect([status, stdout]).toEqual([2, '']);
    }
  });
});

it('ids that contain separators are whole ids if the model knows them so', async () => {
  const made = fittedModel(false);
  const names = Array.from({ length: made.users.count }, (_, u) => `Doe; J., ${u}`);
  const odd = { ...made, users: { ...made.users, ids: VertexIds.texts(names) } };
  const file = await saved('odd.safetensors', odd);
  const ids = join(folder, 'odd.csv');
  await writeFile(ids, `user\n${names.slice(2, 4).join('\n')}\n`);
  const { stdout } = await graphex('recommend', file, '--batch', ids, '--json');
  expect(JSON.parse(stdout)).toMatchObject([
    { user: names[2], items: await recommend(odd, { user: names[2] }) },
    { user: names[3], items: await recommend(odd, { user: names[3] }) },
  ]);
});

describe('what is wrong in a batch', () => {
  it('rows and users are counted separately, and repeated rows are reported', async () => {
    const output = join(folder, 'ids.csv');
    const content = 'user 3\nuser 5\nuser 3\n user 5\nnobody\nuser 3\n';
    const { stdout, stderr } = await batch('ids.txt', content, '-o', output, '--json');
    expect(stderr).toMatch(/1 user skipped, unknown to the model: nobody\n/);
    expect(stderr).toMatch(/1 user skipped, unknown to the model; the spaces around the id/);
    expect(stderr).toMatch(/2 rows repeat an earlier row and were ignored: user 3\n/);
    expect(JSON.parse(stdout)).toMatchObject({
      users: 2,
      skipped: 2,
      skippedUsers: 2,
      skippedRows: 0,
      repeatedRows: 2,
    });
  });

  it('pairs that repeat, rows that are short, and users without a known item', async () => {
    const output = join(folder, 'pairs out.csv');
    const content = 'user,item,at\nann,item 1,1\nann,item 1,2\nbob\ncleo,what,3\n';
    const { stdout, stderr } = await batch('pairs.csv', content, '-o', output);
    expect(stderr).toMatch(
      /1 row skipped, without a user and an item in 3 columns, as in the first row: line 4\n/,
    );
    expect(stderr).toMatch(/no liked item is known to the model, so 1 user \(cleo\) gets popular items\n/);
    expect(stderr).toMatch(/1 row repeats an earlier row and was ignored: ann\n/);
    expect(stdout).toMatch(/for 2 users, 1 row skipped\nNext: npx graphex serve .*\n$/);
  });
});

it('titles and excluded items may be JSON lines too', async () => {
  const [first, second] = await recommend(model, { user: 'user 3' }, { n: 2 });
  const titles = join(folder, 'titles.jsonl');
  await writeFile(titles, `${JSON.stringify({ id: second.item, title: 'A tale' })}\n`);
  const out = join(folder, 'out.jsonl');
  await writeFile(out, `${JSON.stringify({ item: first.item })}\n`);
  const args = ['--user', 'user 3', '-n', '1', '--titles', titles, '--exclude', out, '--json'];
  const { stdout, stderr } = await graphex('recommend', path, ...args);
  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual([{ ...second, title: 'A tale' }]);
});

it('one new user: an unknown like is left out with a warning, and popular items are listed if none is known', async () => {
  const { stdout, stderr, status } = await graphex('recommend', path, '--likes', 'item 1,itm 2', '--json');
  expect(status).toBe(0);
  expect(stderr).toMatch(
    /1 liked item is unknown to the model and was left out: itm 2; did you mean item 2\?/,
  );
  expect(JSON.parse(stdout)).toEqual(await recommend(model, { likes: ['item 1'] }));
  const none = await graphex('recommend', path, '--likes', 'x,q');
  expect(none.status).toBe(0);
  expect(none.stderr).toMatch(/2 liked items are unknown to the model and were left out: x, q/);
  expect(none.stderr).toMatch(/no liked item is known to the model, so the list has popular items\n/);
  const { ids, degree } = model.items;
  const most = [...degree.keys()].sort((a, b) => degree[b] - degree[a] || a - b).slice(0, 20);
  const popular = most.map((item) => ({ item: ids.at(item), score: degree[item] }));
  const asked = ['recommend', path, '--likes', 'x,q', '--confidence', '--json'];
  expect(JSON.parse((await graphex(...asked)).stdout)).toEqual(popular);
  // The same in the library, which asks for a decision about unknown items.
  expect(await recommend(model, { likes: ['x', 'q'] }, { onUnknown: () => {} })).toEqual(popular);
  await expect(recommend(model, { likes: ['x', 'q'] })).rejects.toThrow(/items x, q are not in the model/);
});
