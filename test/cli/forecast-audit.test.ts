import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { randomStream } from '../../src/math/random.js';
import { BASELINES } from '../../src/options/names.js';
import { graphex, scratch, writeTable } from './run.js';

const folder = scratch();
const at = (name: string) => join(folder, name);
const data = at('data.csv');
writeTable(data, 3000);

/** Rows with a time. The test part has those of the last fifth of the time. */
const random = randomStream(6);
const rows = Array.from({ length: 2500 }, () => ({
  user: Math.floor(120 * random.uniform() ** 1.4),
  item: Math.floor(150 * random.uniform() ** 2),
  time: 1_500_000_000 + Math.floor(1e7 * random.uniform()),
}));
const first = new Map<string, (typeof rows)[number]>();
for (const row of rows) {
  const key = `${row.user} ${row.item}`;
  const before = first.get(key);
  if (!before || row.time < before.time) first.set(key, row);
}
const distinct = [...first.values()].sort((a, b) => a.time - b.time);
const cut = Math.floor(0.8 * distinct.length);
const write = (
  name: string,
  part: readonly (typeof rows)[number][],
  time = (row: (typeof rows)[number]) => String(row.time),
) =>
  writeFileSync(
    at(name),
    `customer,product,when\n${part.map((row) => `${row.user},${row.item},${time(row)}`).join('\n')}\n`,
  );
const [early, late] = [distinct.slice(0, cut), distinct.slice(cut)];

beforeAll(() => {
  write('all.csv', distinct, (row) => new Date(1000 * row.time).toISOString());
  write('train.csv', early);
  write('test.csv', late);
});

describe('graphex forecast', () => {
  it('answers in words, in JSON and as a page with two curves', async () => {
    const out = at('forecast');
    const { status, stdout, stderr } = await graphex(
      'forecast',
      data,
      '--draws',
      '0',
      '--until',
      '3',
      '-o',
      out,
    );
    expect([status, stderr.includes('error')]).toEqual([0, false]);
    expect(stdout).toMatch(
      /With twice as many people there will be about [\d,]+ \([\d,]+ to [\d,]+\) things/,
    );
    expect(stdout).toMatch(/Back-test: from 50 % of the people, drawn 20 times/);
    const page = readFileSync(join(out, 'forecast.html'), 'utf8');
    expect(page).toContain('How will data.csv grow?');
    expect(page.match(/<svg /g)).toHaveLength(2);
    expect(readFileSync(join(out, 'items.svg'), 'utf8')).toContain('Things seen as the people grow');
    expect(readFileSync(join(out, 'users.svg'), 'utf8')).toContain('People seen as the things grow');
  });

  it('--next takes the growth from the times, and warns that counts are ignored', async () => {
    const asked = ['--time', 'when', '--next', '10d', '--multi', '--draws', '0'];
    const { status, stdout, stderr } = await graphex('forecast', at('all.csv'), ...asked);
    expect([status, stderr]).toEqual([0, expect.stringContaining('the counts of the edges are ignored')]);
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /In the 10 days after \d{4}-\d\d-\d\d, (about )?[\d,]+ .*new customers are expected/,
    );
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      'The tables take each growth as given. The intervals above are wider',
    );
  });

  it('--json has the documented fields', async () => {
    const asked = ['--users-times', '2', '--items-times', '1.5', '--until', '2', '--draws', '0', '--json'];
    const { stdout } = await graphex('forecast', data, ...asked);
    const found = JSON.parse(stdout);
    expect(Object.keys(found.observed)).toEqual(['users', 'items', 'edges', 'density']);
    for (const name of ['users', 'items', 'edges'] as const) {
      const { mean, low, high } = found.forecast[name];
      expect(low).toBeLessThanOrEqual(mean);
      expect(high).toBeGreaterThanOrEqual(mean);
    }
    expect(found.forecast.edges.mean).toBe(3 * found.observed.edges);
    expect(found.estimators.lowDegrees.items.mean).toBe(found.forecast.items.mean);
    expect(found.estimators.goodToulmin.items.mean).toBeGreaterThan(0);
    expect(found.backtest).toMatchObject({ trials: 20 });
    expect(found.refused).toBeNull();
  });

  it('draws from the model, and says so in the table', async () => {
    const thin = at('thin.csv');
    writeTable(thin, 300, 300, 300);
    const { stdout } = await graphex(
      'forecast',
      thin,
      '--draws',
      '5',
      '-k',
      '2',
      '--iterations',
      '5',
      '--until',
      '2',
      '--trials',
      '5',
      '--all',
    );
    expect(stdout).toMatch(/draws from the model +[\d,]+/);
  });

  it('reads dates, and says whether growth was exchangeable', async () => {
    const { status, stdout } = await graphex(
      'forecast',
      at('all.csv'),
      '--time',
      'when',
      '--draws',
      '0',
      '--until',
      '2',
    );
    expect(status).toBe(0);
    expect(stdout).toMatch(/From all edges up to 2017-\d\d-\d\d/);
    expect(stdout).toMatch(/twice as many customers .* products/s);
    expect(stdout).toMatch(/Growth (looks exchangeable|was not exchangeable)/);
  });

  it('refuses with a sentence, and with a reason in --json', async () => {
    const few = at('few.csv');
    writeFileSync(few, 'user,item\n1,2\n2,3\n3,2\n');
    const { status, stdout } = await graphex('forecast', few, '--draws', '0', '--until', '2');
    expect(status).toBe(0);
    expect(stdout).toMatch(/No forecast for twice as many users: the back-test failed; .* too few are left/s);
    const found = JSON.parse(
      (await graphex('forecast', few, '--draws', '0', '--until', '2', '--json')).stdout,
    );
    expect(found.forecast).toBeNull();
    expect(found.refused).toMatchObject({ reason: 'few' });
    expect(found.refused.text).toMatch(/No forecast/);
  });

  it.each([
    [['--users-times', '0.5'], /--users-times 0.5: expected a number, at least 1/],
    [['--time', 'soon'], /no column "soon" for --time/],
    [['--trials', '1'], /--trials 1: expected a whole number, at least 5/],
  ])('%s is refused by name', async (args, message) => {
    const { status, stderr } = await graphex('forecast', data, ...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe('graphex audit', () => {
  it('of a split folder: every check, a verdict, a page', async () => {
    const parts = at('parts');
    await graphex('split', data, '-o', parts);
    const { stdout, status } = await graphex('audit', parts, '--json', '-o', at('audit'));
    expect(status).toBe(0);
    const found = JSON.parse(stdout);
    expect(found.checks.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining([
        'overlap',
        'degreeBias',
        'falseZeros',
        'lost',
        'filtering',
        'sampledCandidates',
      ]),
    );
    for (const check of found.checks) {
      expect(['fine', 'look', 'broken']).toContain(check.verdict);
      expect(typeof check.value).toBe('number');
      expect(typeof check.expected).toBe('number');
    }
    const page = readFileSync(join(at('audit'), 'audit.html'), 'utf8');
    expect(page).toContain('Is the split');
    // Each verdict is in the column of verdicts.
    const cells = [...page.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row]) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/g)].map(([, cell]) => cell.replace(/<[^>]+>/g, '')),
    );
    const [head, ...rows] = cells;
    const verdicts = rows.slice(0, 3).map((row) => row[head.indexOf('verdict')]);
    expect(verdicts.every((verdict) => /^(fine|look|broken)$/.test(verdict))).toBe(true);
  });

  it('of tables by time is fine; shuffled it is broken, and the words say why', async () => {
    const tables = ['--train', at('train.csv'), '--test', at('test.csv'), '--time', 'when', '--no-control'];
    const clean = await graphex('audit', ...tables);
    const told = clean.stdout.replace(/\s+/g, ' ');
    expect(told).toMatch(
      /false zeros: .* rightly: they had not happened yet\. Every split by time has this\./,
    );
    expect(clean.stdout).not.toMatch(/broken/);
    write(
      'train-mixed.csv',
      distinct.filter((_, i) => i % 5 !== 0),
    );
    write(
      'test-mixed.csv',
      distinct.filter((_, i) => i % 5 === 0),
    );
    const mixed = [
      '--train',
      at('train-mixed.csv'),
      '--test',
      at('test-mixed.csv'),
      '--time',
      'when',
      '--no-control',
    ];
    const { stdout } = await graphex('audit', ...mixed);
    expect(stdout).toMatch(/This split is biased/);
    expect(stdout).toMatch(/the\s+same\s+customer\s+has\s+a\s+later\s+pair\s+in\s+training/);
    expect(stdout).toMatch(/Cut\s+at\s+a\s+date/);
  });

  it('--decision puts the leaderboards of three splits side by side', async () => {
    const tables = ['--train', at('train.csv'), '--test', at('test.csv'), '--time', 'when', '--no-control'];
    const { stdout, status } = await graphex('audit', ...tables, '--decision', '--json');
    expect(status).toBe(0);
    const { decision } = JSON.parse(stdout);
    expect(decision.leaderboards.map(({ split }: { split: string }) => split)).toEqual([
      'pq',
      'edges',
      'time',
    ]);
    for (const { rows, skipped } of decision.leaderboards) {
      expect(rows.length + skipped.length).toBe(BASELINES.length + 1); // and the fit for ranking
      expect(rows[0].behind).toBeUndefined();
      expect(rows[1].behind.low).toBeLessThanOrEqual(rows[1].behind.difference);
    }
    expect(decision.agreement).toHaveLength(3);
    expect(['no', 'perhaps', 'yes']).toContain(decision.another);
  }, 120_000);

  it.each([
    [[], /give a split folder, or both --train and --test/],
    [['--train', at('train.csv')], /give a split folder, or both --train and --test/],
    [['parts', '--train', at('train.csv')], /--train: a split folder already has its tables/],
    [['parts', '--fold-in', at('train.csv')], /--fold-in: a split folder already has its tables/],
    [['parts', '--users', 'customer'], /--users: parts is a split, which was read when it was made/],
    [['parts', '--time', '3'], /--time: parts is a split, which keeps the times of its data/],
    [
      ['--train', at('train.csv'), '--test', at('test.csv'), '--time', 'product'],
      /holds ids and cannot be --time/,
    ],
  ])('%s is refused in words', async (args, message) => {
    const { status, stderr } = await graphex('audit', ...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
  });
});

describe('graphex evaluate on any split', () => {
  const parts = ['--train', at('train.csv'), '--test', at('test.csv')];
  it('evaluates popularity without a model, at several lengths', async () => {
    const { stdout, status } = await graphex(
      'evaluate',
      ...parts,
      '-n',
      '5,10',
      '--metrics',
      'recall,ndcg',
      '--json',
    );
    expect(status).toBe(0);
    const found = JSON.parse(stdout);
    expect(Object.keys(found.metrics)).toEqual(['recall', 'ndcg']);
    expect(Object.keys(found.metrics.recall)).toEqual(['5', '10']);
    expect(found.metrics.recall[10]).toBeGreaterThan(found.metrics.recall[5]);
    expect(found.missing).toBe(0);
    expect(found.users).toBe(new Set(late.map(({ user }) => user)).size);
  });

  it('compares a model and lists made elsewhere with it, and reports problems of the lists', async () => {
    const model = at('m.safetensors');
    await graphex('fit', at('train.csv'), '-k', '3', '--iterations', '10', '-o', model);
    const users = [...new Set(late.map(({ user }) => user))];
    const lists = users.slice(1).flatMap((user) =>
      [
        [user, 1, 0.5],
        [user, 1, 0.4],
        [user, 'nothing', 0.3],
      ].map((row) => row.join(',')),
    );
    writeFileSync(at('lists.csv'), `customer,product,score\n${lists.join('\n')}\n99999,1,1\n`);
    const { stdout, status, stderr } = await graphex(
      'evaluate',
      model,
      ...parts,
      '--recommendations',
      at('lists.csv'),
      '-n',
      '10',
    );
    expect([status, stderr.match(/error/)]).toEqual([0, null]);
    expect(stdout).toMatch(/popularity +the model +the given lists/);
    expect(stdout).toMatch(/the given lists − the model, recall@10/);
    expect(stdout).toMatch(new RegExp(`The given lists: 1 customer of ${users.length} had no list`));
    expect(stdout).toMatch(/more than once: the best rank counts/);
    expect(stdout).toMatch(/products of neither part/);
    expect(stdout).toMatch(/shorter than 10/);
    expect(stdout).toMatch(/1 customer of the lists was not in the test part/);
  });

  it('takes a split folder with lists, which count in the order of their rows', async () => {
    const split = at('parts-2');
    await graphex('split', data, '-o', split);
    const { train } = JSON.parse(readFileSync(join(split, 'split.json'), 'utf8')).parts;
    expect(train.edges).toBeGreaterThan(0);
    const plain = JSON.parse((await graphex('evaluate', split, '--metrics', 'recall', '--json')).stdout);
    expect(plain.users).toBeGreaterThan(0);
    expect(plain.leaderboard.map(({ source }: { source: string }) => source)).toEqual(['popularity']);
  });

  it.each([
    [['--train', at('train.csv')], /--train is given alone; give both/],
    [['--metrics', 'recall'], /there is no test data: give --train and --test/],
    [[...parts, '--metrics', 'recal'], /--metrics recal: expected/],
    [[...parts, 'a', 'b'], /replace the split folder/],
    [['m', 'd', '-n', '5,10'], /evaluated at one length/],
    [[], /give a model and a split folder, or two tables/],
    [
      [...parts, '--recommendations', at('train.csv'), '--rank', 'when', '--score', 'when'],
      /give the one by which lists are ordered/,
    ],
  ])('%s is refused in words', async (args, message) => {
    const { status, stderr } = await graphex('evaluate', ...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
  });
});
