// graphex evaluate as people run it, on a split and a model in a scratch folder.

import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { simulate } from '../../src/process/poisson-model.js';
import { split } from '../../src/sample/split.js';
import { saveModel } from '../../src/store/model-file.js';
import { loadSplit, saveSplit } from '../../src/store/split-folder.js';
import { graphex as command } from '../cli/run.js';

let folder: string;
let model: string;
let parts: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-evaluate-'));
  model = join(folder, 'sparse.model');
  parts = join(folder, 'parts');
  const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 40 };
  const { graph } = await simulate({ users: side, items: side, features: 3, seed: 4, threads: 1 });
  const cut = split(graph, { seed: 4 });
  await saveSplit(parts, cut);
  const options = { features: 3, model: 'sparse', iterations: 30, threads: 1 } as const;
  await saveModel(model, (await fit(cut.train, options)).model);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function run(...args: string[]): ReturnType<typeof graphex> {
  return graphex('evaluate', ...args);
}

async function graphex(...args: string[]): Promise<{ status: number | null; out: string; err: string }> {
  const { status, stdout: out, stderr: err } = await command(...args);
  return { status, out, err };
}

test('--json is one document with the fields of the contract', async () => {
  const { status, out, err } = await run(model, parts, '--json', '--draws', '20', '-n', '5', '--quiet');
  expect([status, err]).toEqual([0, '']);
  const document = JSON.parse(out);
  expect(document.recommendation).toMatchObject({ n: 5, depth: 1000 });
  for (const name of ['recall', 'recallUnpopular', 'ndcg', 'ndcgUnpopular', 'users']) {
    expect(document.recommendation[name], name).toBeTypeOf('number');
  }
  const { observed, draws, count, drawsGiven } = document.predictive;
  expect([count, drawsGiven]).toEqual([20, 'unconditional']);
  for (const name of ['users', 'items', 'edges', 'sigmaUsers', 'sigmaItems']) {
    expect(observed[name], name).toBeTypeOf('number');
    expect(Object.keys(draws[name])).toEqual(['mean', 'low', 'high', 'pValue']);
  }
  expect(document.dropped.foldIn.edges).toBeTypeOf('number');
  expect(document.fittedToTrain).toBe(true);
  const again = await run(model, parts, '--json', '--draws', '20', '-n', '5', '--quiet', '--threads', '1');
  expect(again.out).toBe(out);
});

test('--against compares two models on the same users, and refuses what cannot be compared', async () => {
  const other = join(folder, 'other.model');
  expect((await graphex('fit', parts, '--method', 'popularity', '-o', other)).status).toBe(0);
  const judged = async (...args: string[]) =>
    JSON.parse((await run(...args, parts, '--draws', '0', '--json', '--quiet')).out);
  const { recommendation, against } = await judged(model, '--against', other);
  // Every model is compared with popularity. Both ways to ask for it give the same figures.
  expect(against).toEqual({ model: other, ...recommendation.popularity });
  const turned = await judged(other, '--against', model);
  expect(turned.against.difference.recall.difference).toBeCloseTo(-against.difference.recall.difference, 12);
  const same = await judged(model, '--against', model);
  expect(same.against.difference.ndcg).toMatchObject({ difference: 0, low: 0, high: 0 });
  const { out } = await run(model, parts, '--draws', '0', '--against', other);
  expect(out.replaceAll(/\s+/g, ' ')).toContain(`${other} has recall@20 0.`);

  const elsewhere = join(folder, 'elsewhere.model');
  const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 40 };
  const { graph } = await simulate({ users: side, items: side, features: 3, seed: 5, threads: 1 });
  await saveModel(elsewhere, (await fit(graph, { features: 2, iterations: 2, threads: 1 })).model);
  const refused = await run(model, parts, '--against', elsewhere);
  expect(refused.status).toBe(2);
  expect(refused.err).toContain('the two models know different items');
});

test('--against takes several rivals, models and tables of lists, and says how they compare', async () => {
  const other = join(folder, 'rival.model');
  expect((await graphex('fit', parts, '--method', 'popularity', '-o', other)).status).toBe(0);
  const { rivals } = JSON.parse(
    (await run(model, parts, '--draws', '0', '--against', other, '--against', model, '--json', '--quiet'))
      .out,
  );
  expect(rivals.map((rival: { model: string }) => rival.model)).toEqual([other, model]);
  expect(rivals[1].difference.recall.difference).toBe(0);

  const { train, test } = await loadSplit(parts);
  const lists = join(folder, 'lists.csv');
  const rows = Array.from(
    { length: test.users.count },
    (_, u) => `${test.users.ids.at(u)},${train.items.ids.at(0)},1`,
  );
  writeFileSync(lists, `user,item,rank\n${rows.join('\n')}\n`);
  const both = JSON.parse(
    (
      await run(
        model,
        parts,
        '--against',
        other,
        '--against',
        lists,
        '--metrics',
        'recall',
        '--json',
        '--quiet',
      )
    ).out,
  );
  expect(both.protocol).toBe('all-items');
  expect(both.leaderboard.map((row: { name: string }) => row.name)).toEqual([
    'popularity',
    other,
    lists,
    'model',
  ]);
  expect(both.comparisons.map((row: { name: string }) => row.name)).toEqual(['popularity', other, lists]);
  // Popularity as a model and the same list for everyone agree for every user.
  expect(both.leaderboard[1].metrics).toEqual(both.leaderboard[0].metrics);
  const { all, withHistory, withoutHistory } = both.recommendation;
  expect(all.users).toBe(withHistory.users + (withoutHistory?.users ?? 0));
  const twice = await run(model, parts, '--against', lists, '--against', lists);
  expect([twice.status, twice.err]).toEqual([2, expect.stringContaining('is given twice')]);
  writeFileSync(lists, 'user,item,rank\nnobody,nothing,1\n');
  const strangers = await run(model, parts, '--against', lists);
  expect([strangers.status, strangers.err]).toEqual([2, expect.stringContaining('none of the 1 users')]);
});

test('compares the model with popularity on the same users, and says what to recommend with', async () => {
  const popular = join(folder, 'popular.model');
  const fitted = await graphex('fit', parts, '--method', 'popularity', '-o', popular);
  expect(fitted.status).toBe(0);
  const { recommendation } = JSON.parse((await run(model, parts, '--draws', '0', '--json')).out);
  const alone = JSON.parse((await run(popular, parts, '--json')).out).recommendation;
  expect(recommendation.popularity).toMatchObject({ recall: alone.recall, ndcg: alone.ndcg });
  expect(recommendation.popularity.difference.recall.difference).toBeCloseTo(
    recommendation.recall - alone.recall,
    12,
  );
  expect(alone.popularity).toBeNull();
  const { out } = await run(model, parts, '--draws', '0');
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(
    /Popularity, the same list for everyone, has recall@20 0\.\d+ and nDCG 0\.\d+\./,
  );
  expect(out).toContain(`npx graphex fit ${parts} --method ranking -o ranker.safetensors`);
});

test('each protocol says what it ranks and which recall it means', async () => {
  const definition = {
    all: /Protocol: all items\. Every item that the user does not have yet is ranked/,
    split: /Protocol: split\. The items of the test part/,
  };
  const folded = (text: string) => text.replaceAll(/\s+/g, ' ');
  expect(folded((await run(model, parts, '--draws', '0')).out)).toMatch(definition.split);
  const { out } = await run(model, parts, '--metrics', 'recall,recallCapped');
  expect(folded(out)).toMatch(definition.all);
  expect(folded(out)).toMatch(/\d+ users? of the test part (has|have) no history: no edge in training/);
  const whole = JSON.parse((await run(model, parts, '--draws', '0', '--json')).out);
  expect(whole.recommendation.definition).toMatch(definition.split);
  expect(whole.protocol).toBe('split');
  const why =
    'The protocol is all items because of --metrics; without this option, a split folder is evaluated by';
  expect(folded(out)).toContain(why);
  expect(folded((await run(model, parts, '--protocol', 'all-items')).out)).not.toContain('because of --');
  const asked = JSON.parse((await run(model, parts, '--protocol', 'all-items', '--json')).out);
  expect(asked).toMatchObject({ protocol: 'all-items', definition: expect.stringMatching(definition.all) });
  const some = JSON.parse((await run(model, parts, '--metrics', 'recall', '--json')).out);
  expect(some.definition).toBe(asked.definition);
  expect(some.metrics.recall).toEqual(asked.metrics.recall);
  const refused = await run(model, parts, '--protocol', 'split', '--metrics', 'recall');
  expect([refused.status, refused.err]).toEqual([2, expect.stringContaining('needs --protocol all-items')]);
});

test('a model of other data: how many test pairs it was fitted to, and refused if it knows held-out users', async () => {
  const tables = [join(folder, 'before.csv'), join(folder, 'after.csv'), join(folder, 'all.csv')];
  const rows = (from: number, to: number) =>
    Array.from({ length: 40 }, (_, u) => u).flatMap((u) =>
      Array.from({ length: to - from }, (_, i) => `u${u},b${(u * (1 + (u % 3)) + 3 * (from + i)) % 29}`),
    );
  const write = (path: string, lines: readonly string[]) =>
    writeFile(path, `customer,product\n${lines.join('\n')}\n`);
  await write(tables[0], rows(0, 6));
  await write(tables[1], rows(6, 8));
  await write(tables[2], rows(0, 8));
  const other = join(folder, 'other.model');
  const fitted = await graphex('fit', tables[2], '--method', 'knn', '--trials', '1', '-o', other, '--quiet');
  expect(fitted.status, fitted.err).toBe(0);
  const asked = [other, '--train', tables[0], '--test', tables[1], '--metrics', 'recall'];
  const { err } = await run(...asked);
  expect(err).toContain('which have 80 test pairs of 40 customers: its figures are too good');
  await write(tables[0], rows(0, 6).slice(60));
  const refused = await run(...asked);
  expect(refused.status).toBe(2);
  expect(refused.err).toContain(
    'the model was fitted to 10 customers of the test part that training does not have',
  );
});

test('a model that shares nothing with the tables is refused, and tables that share nothing with each other', async () => {
  const tables = [join(folder, 'train.csv'), join(folder, 'test.csv')];
  await writeFile(tables[0], 'user,item\nx,p\nx,q\ny,q\n');
  for (const [rows, says] of [
    [
      'x,r\ny,1\n',
      /none of the 2 items of the test part is in training; check that both tables are of the same data/,
    ],
    ['x,r\ny,1\ny,p\n', /the model knows none of the .+: give a model fitted to the training part/],
  ] as const) {
    await writeFile(tables[1], `user,item\n${rows}`);
    const { status, err } = await run(model, '--train', tables[0], '--test', tables[1]);
    expect(status).toBe(2);
    expect(err).toMatch(says);
  }
});

test('prints both tables and what was dropped, and other options have an effect', async () => {
  const { status, out } = await run(model, parts, '--draws', '10', '--draws-given', 'paper', '--depth', '30');
  expect(status).toBe(0);
  expect(out).toMatch(/nDCG@30 +0\.\d{4} ± 0\.\d{4}/);
  expect(out).toMatch(/Predictive checks \(10 draws, paper\)\ntest graph +test +mean/);
  expect(out.replace(/\s+/g, ' ')).toMatch(/leave out \d+ test edges? to items/);
  const none = await run(model, parts, '--draws', '0');
  expect(none.out).toContain('No predictive check');
});

test('--calibrate corrects the intervals in text and JSON; without it the text says how often they hold', async () => {
  const { status, out } = await run(model, parts, '--draws', '20', '--calibrate', '5');
  expect(status).toBe(0);
  expect(out).toMatch(/corrected 90 % +p-value/);
  expect(out).toMatch(/replicas\s+held/);
  expect(out).toMatch(/edges .* \d of 5\n/);
  const document = JSON.parse((await run(model, parts, '--draws', '20', '--calibrate', '5', '--json')).out);
  expect(document.predictive.calibration.replicas).toBe(5);
  expect(Object.keys(document.predictive.calibration.statistics.edges)).toEqual([
    'held',
    'replicas',
    'low',
    'high',
    'pValue',
  ]);
  const plain = await run(model, parts, '--draws', '20');
  expect(plain.out).toMatch(/The option --calibrate\s+measures\s+this\s+on\s+replicas/);
  const few = await run(model, parts, '--calibrate', '3');
  expect([few.status, few.err]).toEqual([2, expect.stringMatching(/give 5 or more, or 0 for none/)]);
}, 60_000);

test('a fit describes each side, and its draws are corrected by known data', async () => {
  const auto = join(folder, 'auto.model');
  const said = await graphex('fit', parts, '-o', auto, '-k', '3', '--iterations', '30');
  expect(said.out).toContain('auto model, 3 features');
  expect(said.out).toMatch(/The number of users has no upper limit: [\d,]+ are seen so far/);
  const fitted = JSON.parse(
    (await graphex('fit', parts, '-o', auto, '-k', '3', '--iterations', '30', '--json')).out,
  );
  expect(fitted.model).toBe('auto');
  for (const side of ['users', 'items']) {
    expect(Object.keys(fitted.sides[side])).toEqual([
      'kind',
      'sigma',
      'tau',
      'size',
      'tauMatched',
      'standardError',
      'sizeInterval',
      'unseen',
    ]);
    expect(fitted.sides[side]).toMatchObject({ kind: 'sparse', sigma: fitted.sigma[side], unseen: null });
  }
  const other = join(folder, 'dense.model');
  const dense = await graphex('fit', parts, '-o', other, '-k', '3', '--model', 'dense', '--json');
  expect(JSON.parse(dense.out).sides.users).toMatchObject({
    kind: 'dense',
    unseen: { mean: 0, low: 0, high: 0 },
  });
  const corrected = await run(auto, parts, '--draws', '20');
  expect(corrected.out).toMatch(
    /Predictive checks \(20 draws, unconditional\)\ntest graph +test +corrected mean +corrected 90 % +p-value/,
  );
  expect(corrected.out).toMatch(/The\s+option\s+--no-correct/);
  const document = JSON.parse((await run(auto, parts, '--draws', '20', '--json')).out);
  const { internal, draws } = document.predictive;
  expect(internal.parts).toEqual({ users: 4, items: 4 });
  expect(Object.keys(internal.statistics.edges)).toEqual(['drawn', 'shift', 'scale']);
  const plain = JSON.parse(
    (await run(auto, parts, '--draws', '20', '--no-correct', '--json')).out,
  ).predictive;
  expect(plain.internal).toBeNull();
  expect(plain.draws.edges).toEqual(internal.statistics.edges.drawn);
  expect(plain.draws.edges).not.toEqual(draws.edges);
}, 120_000);

test('bad input is status 2 and a sentence', async () => {
  const missing = await run(join(folder, 'none.model'), parts);
  expect(missing.status).toBe(2);
  expect(missing.err).toMatch(/no such file/);
  const wrong = await run(model, folder);
  expect(wrong.status).toBe(2);
  expect(wrong.err).toMatch(/no split\.json in it; give the folder of a split/);
});
