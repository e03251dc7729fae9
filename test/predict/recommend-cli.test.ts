import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fitBaseline } from '../../src/evaluate/baselines/fit-baseline.js';
import { fit } from '../../src/fit/fit.js';
import { VertexIds } from '../../src/graph/ids.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { describeFeatures } from '../../src/predict/features.js';
import { recommend } from '../../src/predict/recommend.js';
import { similarItems } from '../../src/predict/similar.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';
import { graphex } from '../cli/run.js';
import { fittedModel } from './recommend-model.js';

let folder: string;
let path: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-recommend-'));
  path = join(folder, 'model.safetensors');
  await saveModel(path, fittedModel(false));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a saved model', () => {
  it.each([false, true])('stores the items of its users (multigraph: %s)', async (multigraph) => {
    const model = fittedModel(multigraph);
    const file = join(folder, `seen-${multigraph}.safetensors`);
    await saveModel(file, model);
    const { seen } = await loadModel(file);
    expect(Array.from(seen!.offsets)).toEqual(Array.from(model.seen!.offsets));
    expect(Array.from(seen!.neighbors)).toEqual(Array.from(model.seen!.neighbors));
    expect(seen!.counts && Array.from(seen!.counts)).toEqual(
      model.seen!.counts && Array.from(model.seen!.counts),
    );
  });
});

describe('graphex recommend', () => {
  it('takes likes by title, shows titles, and states its confidence', async () => {
    const { items } = await loadModel(path);
    const rows = Array.from(
      { length: items.count },
      (_, i) => `${items.ids.at(i)}\tTale ${i < 2 ? 'twice' : i}`,
    );
    const titles = join(folder, 'titles.tsv');
    await writeFile(titles, `id\ttitle\n${rows.join('\n')}\n`);
    const byTitle = await graphex(
      'recommend',
      path,
      '--titles',
      titles,
      '--likes',
      'tale 4',
      '--confidence',
      '--json',
    );
    const byId = await graphex(
      'recommend',
      path,
      '--titles',
      titles,
      '--likes',
      items.ids.at(4),
      '--confidence',
      '--json',
    );
    expect(byTitle).toEqual(byId);
    for (const { title, low, high, score, confidence } of JSON.parse(byTitle.stdout)) {
      expect(confidence.overlap).toBeGreaterThan(0);
      expect(confidence.text).toMatch(/ would get about \d+ of these \d+\. .*not how good\.$/);
      expect(title).toMatch(/^Tale /);
      expect(low).toBeLessThan(score);
      expect(high).toBeGreaterThan(score);
    }
    const text = await graphex(
      'recommend',
      path,
      '--titles',
      titles,
      '--likes',
      'Tale 4',
      '--confidence',
      '--explain',
    );
    expect(text.stdout).toMatch(/because of Tale 4 \(\d+ %/);
    expect(text.stdout).toMatch(/unexplained\s+\(\d+\s+%\)/);
    expect(text.stdout).toMatch(/get\s+about\s+\d+\s+of\s+these\s+\d+\./);
    const everything = ['recommend', path, '--likes', items.ids.at(4), '-n', '1000', '--confidence'];
    expect((await graphex(...everything)).stdout).toMatch(/\n\nThe list holds every item that is left/);
    const rest = join(folder, 'all-but-two.txt');
    await writeFile(rest, Array.from({ length: items.count - 2 }, (_, i) => items.ids.at(i)).join('\n'));
    const two = await graphex(
      'recommend',
      path,
      '--likes',
      items.ids.at(4),
      '--exclude',
      rest,
      '--confidence',
    );
    expect(two.stdout).toMatch(/\n\nThe list holds every item that is left/);
    const words = await graphex('recommend', path, '--titles', titles, '--likes', 'tale');
    expect(words.stderr).toMatch(/tale fits several items: (Tale \w+ \(item \d+\), ){5}…; give the id/);
    const twice = await graphex('recommend', path, '--titles', titles, '--likes', 'Tale twice');
    expect(twice.status).toBe(2);
    expect(twice.stderr).toMatch(
      /Tale twice fits several items: Tale twice \(item 0\), Tale twice \(item 1\)/,
    );
  });

  it('answers with one JSON document for a known user, a new one and a file of users', async () => {
    const model = await loadModel(path);
    const known = await graphex('recommend', path, '--user', 'user 3', '-n', '4', '--json');
    expect(known.status).toBe(0);
    expect(JSON.parse(known.stdout)).toEqual(await recommend(model, { user: 'user 3' }, { n: 4 }));

    const fresh = await graphex('recommend', path, '--likes', 'item 1,item 2', '--json', '--explain');
    const want = await recommend(model, { likes: ['item 1', 'item 2'] }, { explain: true });
    // In brief: two items, no others, and the parts add up to the score.
    const said = JSON.parse(fresh.stdout);
    expect(said.map(({ item, score }: (typeof want)[number]) => [item, score])).toEqual(
      want.map(({ item, score }) => [item, score]),
    );
    for (const { score, explanation } of said) {
      const { items, others, rest, features, otherFeatures, direct } = explanation;
      expect([items.length, others.count]).toEqual([2, 0]);
      const parts = items.reduce(
        (sum: number, { contribution }: { contribution: number }) => sum + contribution,
        rest,
      );
      expect(parts).toBeCloseTo(score, 9);
      expect(features[0].about[0]).toHaveProperty('item');
      const byFeature = features.reduce(
        (sum: number, { contribution }: { contribution: number }) => sum + contribution,
        0,
      );
      expect(byFeature + otherFeatures.contribution + direct.contribution).toBeCloseTo(score, 9);
    }
    expect(want[0].explanation!.items.map((part) => part.item).sort()).toEqual(['item 1', 'item 2']);

    const users = join(folder, 'users.txt');
    await writeFile(users, 'user 3\nuser 5\n\n');
    const batch = JSON.parse(
      (await graphex('recommend', path, '--batch', users, '-n', '4', '--json')).stdout,
    );
    expect(batch.map((entry: { user: string }) => entry.user)).toEqual(['user 3', 'user 5']);
    expect(batch[0].items).toEqual(JSON.parse(known.stdout));

    const likes = join(folder, 'likes.tsv');
    await writeFile(likes, 'ann\titem 1\nbob\titem 9\nann\titem 2\nann\tnever seen\n');
    const folded = await graphex('recommend', path, '--batch', likes, '--json');
    expect(folded.stderr).toMatch(/1 liked item is unknown to the model and was left out: never seen/);
    const [ann, bob] = JSON.parse(folded.stdout);
    expect(ann).toEqual({
      user: 'ann',
      items: await recommend(model, { likes: ['item 1', 'item 2'] }),
      basis: 'few',
    });
    expect(bob).toEqual({
      user: 'bob',
      items: await recommend(model, { likes: ['item 9'] }),
      basis: 'few',
    });
  });

  it('explains contributions below 0 and above 100 % once, if there are any', async () => {
    const graph = BipartiteGraph.fromPairs(
      ['ab', 'abc', 'bc', 'cd', 'acd', 'bd', 'de', 'ae', 'ce', 'b'].flatMap((items, u) =>
        [...items].map((item) => [`u${u}`, item] as const),
      ),
    );
    const file = join(folder, 'ease.safetensors');
    await saveModel(file, (await fitBaseline(graph, 'ease', { setting: { lambda: 1 } })).model);
    const { stdout } = await graphex('recommend', file, '--likes', 'a,b', '--explain');
    expect(stdout).toMatch(/\(−\d+ %\)/);
    expect(stdout).not.toMatch(/-\d/);
    expect(stdout.match(/A contribution below 0 % lowers the score/g)).toHaveLength(1);
    const plain = await graphex('recommend', path, '--likes', 'item 1,item 2', '--explain');
    expect(plain.stdout).not.toContain('lowers the score');
  });

  it('leaves out excluded items, and prints a table', async () => {
    const model = await loadModel(path);
    const all = await recommend(model, { user: 'user 3' }, { n: 30, includeSeen: true });
    const out = join(folder, 'out.txt');
    await writeFile(out, `${all[0].item}\r\nno such item\r\n`);
    const args = ['recommend', path, '--user', 'user 3', '-n', '30', '--include-seen', '--exclude', out];
    const { stdout, stderr } = await graphex(...args, '--explain');
    const lines = stdout.trim().split('\n');
    expect(lines.filter((line) => /^\d+\./.test(line)).length).toBe(29);
    expect(lines[1]).toContain(all[1].item);
    // Why, on lines of its own below each item.
    expect(lines[2]).toMatch(/^ {6}because of .+\(\d+ %/);
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/ by feature \d+ \(item \d+, .+\): \d+ %, usually \d+ %/);
    expect(stdout.match(/“usually” is the/g)).toHaveLength(1);
    expect(stdout).not.toMatch(new RegExp(` ${all[0].item}  `));
    expect(stderr).toMatch(/1 id of --exclude is not among the items of the model: no such item/);
  });

  it('knows the items without edges of a table when it excludes', async () => {
    const [data, info, out, model] = ['d.csv', 'i.csv', 'x.txt', 'm.safetensors'].map((f) => join(folder, f));
    const pairs = Array.from({ length: 40 }, (_, e) => `u${e % 8},i${(e * 3) % 10}`);
    await writeFile(data, `user,item\n${pairs.join('\n')}\n`);
    const rows = Array.from({ length: 12 }, (_, i) => `i${i},${i % 2 ? 'red' : 'blue'}`);
    await writeFile(info, `item,colour\n${rows.join('\n')}\n`);
    await graphex('fit', data, '--method', 'popularity', '--item-info', info, '-o', model);
    await writeFile(out, 'i11\nnowhere\n');
    const { stderr } = await graphex('recommend', model, '--user', 'u1', '--exclude', out);
    expect(stderr).toMatch(/1 id of --exclude is not among the items of the model: nowhere/);
  });

  it('says what is wrong with status 2 and no stack', async () => {
    const cases: [string[], RegExp][] = [
      [[], /give one of --user ID, --likes ITEM,ITEM,…, --all-users and --batch FILE/],
      [['--user', 'user 1', '--likes', 'item 1'], /--user and --likes were both given; give one of/],
      [['--user', 'nobody'], /user nobody is not in the model .* name liked items/],
      [['--user', 'user 33'], /did you mean user 3\?/],
      [['--user', 'user 1', '--likes', 'item 1'], /--user and --likes were both given/],
      [['--user', 'user 1', '-n', '0'], /-n 0: expected a whole number, at least 1/],
      [['--user', 'user 1', '--exclude', join(folder, 'none')], /there is no such file/],
      [['--batch', folder], /this is a folder/],
    ];
    for (const [args, message] of cases) {
      const { status, stdout, stderr } = await graphex('recommend', path, ...args);
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/\n {4}at /);
      expect([status, stdout]).toEqual([2, '']);
    }
    const help = await graphex('recommend', '--help');
    expect(help.stdout).toMatch(/Example/);
  });
});

it('ids are taken as they are: with commas, and with spaces at their ends', async () => {
  const model = fittedModel(false);
  const names = ['a, b', ' lead', 'c'];
  const ids = VertexIds.texts(names.concat(Array.from({ length: 27 }, (_, v) => `item ${v}`)));
  const file = join(folder, 'odd.safetensors');
  const odd = { ...model, items: { ...model.items, ids } };
  await saveModel(file, odd);
  const likes = await graphex('recommend', file, '--likes', 'a, b', '--likes', ' lead', '--json');
  expect(JSON.parse(likes.stdout)).toEqual(await recommend(odd, { likes: ['a, b', ' lead'] }));
  const comma = await graphex('recommend', file, '--likes', ' lead,c', '--json');
  expect(JSON.parse(comma.stdout)).toEqual(await recommend(odd, { likes: [' lead', 'c'] }));
  const both = await graphex('recommend', file, '--likes', 'a, b', '--likes', ' lead,c', '--json');
  expect(JSON.parse(both.stdout)).toEqual(await recommend(odd, { likes: ['a, b', ' lead', 'c'] }));
  const batch = join(folder, 'odd.tsv');
  await writeFile(batch, 'ann\t lead\nann\tc\n');
  const many = await graphex('recommend', file, '--batch', batch, '--json');
  expect(JSON.parse(many.stdout)[0].items).toEqual(JSON.parse(comma.stdout));
});

it('graphex similar and graphex features answer as the library does', async () => {
  const model = await loadModel(path);
  const similar = await graphex('similar', path, '--item', 'item 7', '-n', '3', '--json');
  expect(JSON.parse(similar.stdout)).toEqual(await similarItems(model, 'item 7', { n: 3 }));
  expect((await graphex('similar', path, '--item', 'item 7', '-n', '3')).stdout).toMatch(/similarity\n1\. /);
  const features = await graphex('features', path, '-n', '2', '--json');
  expect(JSON.parse(features.stdout)).toEqual(await describeFeatures(model, { n: 2 }));
  expect((await graphex('features', path)).stdout).toMatch(
    /feature \d: \d+ % of the expected edges\n {2}items /,
  );
  const first = await graphex('features', path, '--top', '1');
  expect(first.stdout.match(/^feature /gm)).toHaveLength(1);
  expect(first.stdout).toMatch(/Shown: 1 of \d+ features, those that explain most; --top \d+ prints all/);
  expect(JSON.parse((await graphex('features', path, '--top', '1', '--json')).stdout)).toHaveLength(1);
  const single = join(folder, 'one-feature.safetensors');
  const graph = BipartiteGraph.fromPairs([
    ['ann', 'tea'],
    ['bob', 'tea'],
    ['bob', 'milk'],
  ]);
  await saveModel(single, (await fit(graph, { features: 1, iterations: 3, threads: 1 })).model);
  expect((await graphex('features', single)).stdout).toContain('feature 1: 100 % of the expected edges');
  const wrong = await graphex('similar', path);
  expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringContaining('--item ID')]);
});
