import { describe, expect, it } from 'vitest';
import type { SharedAttribute } from '../../src/attributes/shared-attributes.js';
import {
  aboutTime,
  byteWords,
  type ComparedLists,
  comparisonWords,
  conditionOn,
  examplesOf,
  filtersInOrder,
  heldOutOfFile,
  itemTableWords,
  listerWords,
  machineWords,
  needWords,
  noMapWords,
  otherItemsWords,
  rowsWords,
} from '../../src/report/words/page.js';
import { mainReasons } from '../../src/report/words/reasons.js';
import { type Done, sameCommands, sameScript } from '../../src/report/words/same-as.js';
import { USERS_AND_ITEMS } from '../../src/text/sides.js';

describe('what the page says about the machine', () => {
  it('names what computes, and why', () => {
    expect(machineWords({ isolated: true, cores: 8 }).badge).toBe('8 threads');
    const alone = machineWords({ isolated: false, cores: 8 });
    expect(alone.badge).toBe('one thread');
    expect(alone.why).toMatch(/did not send the headers .* results are the same/);
    const gpu = { available: true, software: false, detail: 'a card' };
    expect(machineWords({ isolated: true, cores: 1, gpu })).toEqual({
      badge: 'GPU and 1 thread',
      why: 'Large fits run on the GPU (a card). This tab may share memory between threads, so it computes on the one core.',
    });
    expect(machineWords({ isolated: true, cores: 2, gpu: { ...gpu, software: true } }).badge).toBe(
      '2 threads',
    );
  });

  it('rounds time, memory and rows for people', () => {
    expect([1, 912_705].map(rowsWords)).toEqual(['about 1 row', 'about 910,000 rows']);
    expect([0.2, 12.4, 100, 7200].map(aboutTime)).toEqual([
      'about a second',
      'about 12 seconds',
      'about 2 minutes',
      'about 2 hours',
    ]);
    expect([999, 8.4e5, 2.34e6, 4.2e7, 1.5e9].map(byteWords)).toEqual([
      '999 bytes',
      '840 kB',
      '2.3 MB',
      '42 MB',
      '1.5 GB',
    ]);
    expect(needWords(1e9, 3, 2e9)).not.toContain('more than this browser');
    expect(needWords(3e9, 3, 2e9)).toContain('more than this browser is likely to give a tab (2.0 GB)');
  });
});

describe('the two models of the page', () => {
  const compared = (understand: number, recommend: number, tie: boolean): ComparedLists => {
    const more = { ndcg: 0.3, standardError: { recall: 0.01, ndcg: 0.01 } };
    const scores = [
      { purpose: 'understand', recall: understand, ...more },
      { purpose: undefined, recall: 0.2, ...more },
      { purpose: 'recommend', recall: recommend, ...more },
    ] as const;
    return { scores, best: 'recommend', tie, n: 20, users: 815, items: 674 };
  };

  it('are compared in a sentence that begins with the better one', () => {
    expect(comparisonWords(compared(0.41, 0.58, false), USERS_AND_ITEMS)).toBe(
      'For 815 users that no model saw, the first 20 items by the ranker contain 58 % of the hidden items, ' +
        'against 41 % by the model that describes the data and 20 % by a list of popular items. The lists are ranked among 674 test items.',
    );
  });

  it('that hardly differ have digits that differ, and the ranker makes the lists unless another was chosen', () => {
    const tied = compared(0.5213, 0.5209, true);
    expect(comparisonWords(tied, USERS_AND_ITEMS)).toContain(
      'contain 52.09 % of the hidden items, against 52.13 % by the model that describes the data and 20.00 % by a list of ' +
        'popular items. The two models do not differ clearly.',
    );
    expect(comparisonWords(compared(0.52, 0.524, true), USERS_AND_ITEMS)).toContain('contain 52.4 % of');
    expect(listerWords(tied, undefined)).toBe(
      'Recommend therefore uses the ranker, which is made for lists.',
    );
    expect(listerWords(compared(0.41, 0.58, false), undefined)).toBe('Recommend therefore uses the ranker.');
    expect(listerWords(tied, 'understand')).toBe(
      'Recommend uses the model that describes the data, as you chose.',
    );
  });
});

describe('a model that leaves or comes as a file', () => {
  it('lacks the held-out users, and the way to have all is named', () => {
    expect(heldOutOfFile(865, 'Keep a test part', USERS_AND_ITEMS)).toBe(
      'Saved without the 865 held-out users. To have all, untick “Keep a test part” in the settings of Fit and fit again.',
    );
  });

  it('can be followed by a fit only if there is a table', () => {
    expect(noMapWords(USERS_AND_ITEMS, true)).toMatch(/this page can fit one\.$/);
    expect(noMapWords(USERS_AND_ITEMS, false)).toMatch(/open your table to fit one\.$/);
  });
});

describe('the main reasons of a list', () => {
  const none = { contribution: 0, fraction: 0, usual: 0 };
  const reasoned = (item: string, usual: number, about: string[] = []) => ({
    item: 'cups',
    score: 1,
    reasons: {
      items: [{ item, contribution: 1, fraction: 1, usual }],
      others: { count: 0, ...none },
      features: about.length > 0 ? [{ feature: 1, contribution: 1, fraction: 1, usual: 1, about }] : [],
      otherFeatures: { count: 0, ...none },
      direct: none,
      rest: 0,
    },
  });
  const names = USERS_AND_ITEMS;

  it('name what contributes more than usual, and say once what many items share', () => {
    const list = [reasoned('tea', 0.3), reasoned('tea', 0.3), reasoned('milk', 0.3), reasoned('tea', 0.3)];
    expect(mainReasons(list, names, (id) => id)).toEqual({
      common: '3 of these 4: because of tea',
      each: ['', '', 'because of milk', ''],
    });
  });

  it('say what an item has in common only with the items that they name', () => {
    const shared = (value: string, items: string[]) => ({ column: 'genre', value, fraction: 0.3, items });
    const one = reasoned('Oblivion', 0.3);
    const attributes = [shared('Comedy', ['Up']), shared('2013', ['Oblivion', 'Up']), shared('Drama', [])];
    const said = (attributes: SharedAttribute[]) =>
      mainReasons([{ ...one, reasons: { ...one.reasons, attributes } }], names, (id) => id).each;
    expect(said(attributes)).toEqual(['because of Oblivion (in common: 2013)']);
    expect(said(attributes.slice(0, 1))).toEqual(['because of Oblivion']);
  });

  it('of a single like are the features, not the like on every line', () => {
    const list = [
      reasoned('tea', 1, ['cups', 'milk', 'sugar']),
      reasoned('tea', 1, ['books']),
      reasoned('tea', 1),
    ];
    expect(mainReasons(list, names, (id) => id).each).toEqual([
      'fits users who have milk and sugar',
      'fits users who have books',
      '',
    ]);
  });
});

describe('the same as', () => {
  const done: Done = {
    source: 'my ratings.csv',
    read: { users: 'user_id', items: 'movie', multigraph: true, count: 'plays', sep: undefined },
    seed: 7,
    fit: { features: 10, model: 'sparse', iterations: 400, engine: 'auto' },
    split: { testUsers: 0.3, testItems: 0.2 },
    evaluate: { draws: 100, n: 20 },
    likes: ["Ocean's Eleven", 'Up'],
    n: 20,
  };

  it('is the commands, quoted for a shell, with what differs from the defaults', () => {
    expect(sameCommands(done).split('\n')).toEqual([
      "npx graphex check 'my ratings.csv' --users user_id --items movie --count plays --multi --seed 7",
      "npx graphex split 'my ratings.csv' --users user_id --items movie --count plays --multi --test-users 0.3 --seed 7 -o parts",
      'npx graphex fit parts -k 10 --model sparse --seed 7 -o model.safetensors',
      'npx graphex evaluate model.safetensors parts --seed 7',
      "npx graphex recommend model.safetensors --explain --likes 'Ocean'\\''s Eleven' --likes Up --confidence",
    ]);
    expect(sameCommands({ ...done, fit: undefined, split: undefined, likes: [] })).not.toContain('fit');
  });

  it('gives every step the seed that its result was made with, and leaves hidden items out', () => {
    const own = {
      ...done,
      kept: { users: 0.5, items: 1, seed: 1 },
      split: { testUsers: 0.3, testItems: 0.2, seed: 2 },
      fit: { ...done.fit!, seed: 3 },
      ranker: { engine: 'auto', seed: 4 },
      evaluate: { draws: 100, n: 20, seed: 5 },
      hidden: ['POST', "it's"],
    };
    const commands = sameCommands(own).split('\n');
    const seedOf = (start: string) =>
      / --seed (\d+)/.exec(commands.find((line) => line.startsWith(`npx graphex ${start}`))!)?.[1];
    expect(['check', 'split', 'fit parts -k', 'fit parts --seed', 'evaluate'].map(seedOf)).toEqual([
      ...['7', '2', '3', '4', '5'],
    ]);
    expect(commands.at(-2)).toBe("printf '%s\\n' POST 'it'\\''s' > hidden.txt");
    expect(commands.at(-1)).toContain('--exclude hidden.txt');
    const script = sameScript(own);
    expect(script.match(/seed: \d/g)).toEqual(['1', '7', '2', '3', '5', '4'].map((seed) => `seed: ${seed}`));
    expect(script).toContain('exclude: ["POST","it\'s"]');
  });

  it('includes the ranker and the user', () => {
    const ranked = {
      ...done,
      ranker: { engine: 'auto' },
      by: 'recommend',
      user: 'ann',
      itemInfo: 'films.csv',
      filter: 'year > 1990',
    } as const;
    expect(sameCommands(ranked).split('\n').slice(-2)).toEqual([
      'npx graphex evaluate model.safetensors parts --seed 7',
      "npx graphex recommend ranker.safetensors --filter 'year > 1990' --explain --user ann --confidence",
    ]);
    expect(sameCommands(ranked)).toContain(
      'fit parts --seed 7 --method ranking --item-info films.csv -o ranker.safetensors',
    );
    expect(sameScript(ranked)).toContain('recommend(ranker, { user: "ann" }');
  });

  it('evaluates the ranker, and has the forecast and the list of a held-out user', () => {
    const all = {
      ...done,
      ranker: { engine: 'auto' },
      rankerLists: 10,
      by: 'recommend',
      forecast: { next: 'quarter', usersTimes: undefined, time: 'when', seed: 3 },
      heldOut: 'bob',
      filter: 'year > 1990',
    } as const;
    const commands = sameCommands(all).split('\n');
    expect(commands[1]).toBe(
      "npx graphex forecast 'my ratings.csv' --users user_id --items movie --count plays --multi --next quarter --draws 0 --seed 3 --time when",
    );
    expect(commands.slice(-3)).toEqual([
      'npx graphex evaluate ranker.safetensors parts -n 10 --seed 7',
      '# the model does not know the held-out "bob", who has these; without their counts and times',
      "npx graphex recommend ranker.safetensors --filter 'year > 1990' --explain --likes 'Ocean'\\''s Eleven' --likes Up --confidence",
    ]);
    const script = sameScript(all);
    expect(script).toContain('{ next: "quarter", seed: 3, draws: 0, times: timed.values }');
    expect(script).toContain('evaluateModel(ranker, parts, { n: 10, draws: 0, seed: 7 })');
    const twice = sameScript({ ...done, forecast: { usersTimes: 2 } });
    expect(twice).toContain('await forecastGrowth(graph, { usersTimes: 2, draws: 0, seed: 7 });');
  });

  it('has the audit, whose tables may have columns of their own', () => {
    const columns = { users: 'reader', items: 'book' };
    const table = (file: string, time?: string) => ({ file, ...columns, time });
    const tables = { train: table('my train.csv'), test: table('test.csv') };
    const audited = { ...done, audit: { tables, seed: 3 } };
    expect(sameCommands(audited).split('\n').at(-1)).toBe(
      "npx graphex audit --train 'my train.csv' --test test.csv --users reader --items book --seed 3",
    );
    const script = sameScript(audited).split('\n');
    expect(script[0]).toContain("recommend, auditSplit } from 'graphex';");
    expect(script.slice(-3)).toEqual([
      'const train = await readGraph("my train.csv", { users: "reader", items: "book" });',
      'const test = await readGraph("test.csv", { users: "reader", items: "book" });',
      'const audit = await auditSplit({ train: train.graph, test: test.graph }, { seed: 3 });',
    ]);
    const timed = { tables: { train: table('a.csv', 'when'), test: table('b.csv', 'when') }, seed: 3 };
    expect(sameCommands({ ...done, audit: timed })).toMatch(/ audit .* --time when/);
    expect(sameScript({ ...done, audit: timed })).toContain(
      'const audit = await auditSplit({ train: train.graph, test: test.graph }, { seed: 3, times: { train: train.values, test: test.values } });',
    );
    const other = { tables: { ...tables, test: { ...tables.test, users: 'customer' } }, seed: 3 };
    expect(sameCommands({ ...done, audit: other })).toContain(
      '# no command for the audit: its tables have different columns',
    );
  });

  it('of a model that was opened is only its list', () => {
    const only: Done = {
      file: 'my.safetensors',
      read: {},
      seed: 1,
      n: 5,
      user: 'ann',
      filter: 'year > 1990',
    };
    expect(sameCommands(only)).toBe(
      "npx graphex recommend my.safetensors -n 5 --filter 'year > 1990' --explain --user ann --confidence",
    );
    expect(sameScript(only).split('\n')).toEqual([
      "import { loadModel, recommend } from 'graphex';",
      '',
      'const model = await loadModel("my.safetensors");',
      'const list = await recommend(model, { user: "ann" }, { n: 5, explain: true, filter: "year > 1990" });',
    ]);
    const titled = sameCommands({ ...only, itemInfo: 'films.csv' });
    expect(titled).toMatch(/^# without the table "films.csv"/);
    expect(titled).not.toContain('--filter');
  });

  it('weighs edges by age with the times of the split, or of all rows', () => {
    const weighed = { ...done, ranker: { engine: 'cpu', halfLife: 'auto' }, time: 'when' };
    expect(sameCommands(weighed)).toMatch(/ split .* --time when -o parts\n/);
    expect(sameCommands(weighed)).toContain(
      'fit parts --engine cpu --seed 7 --half-life auto --method ranking -o ranker.safetensors',
    );
    const script = sameScript(weighed);
    expect(script).toContain('import { readWithValues, timeColumn, checkSparsity, split, fit,');
    expect(script).toMatch(/readWithValues\("my ratings.csv", \{.*\}, timeColumn\("when"\)\);/);
    expect(script).toContain('split(graph, { testUsers: 0.3, testItems: 0.2, seed: 7, times: values })');
    expect(script).toContain('halfLife: "auto", seed: 7, times: parts.times.train }');
    const whole = { ...weighed, split: undefined };
    expect(sameCommands(whole)).toMatch(/ fit 'my ratings.csv' .* --half-life auto .*--time when .*ranker/);
    expect(sameScript(whole)).toContain('{ ...timeColumn("when"), keep: \'largest\' });');
    expect(sameScript(whole)).toContain('halfLife: "auto", seed: 7, times: values }');
  });

  it('is a program, in which ids stay texts', () => {
    const script = sameScript({ ...done, kept: { users: 0.5, items: 1 }, likes: ['"); alert("a: 1'] });
    expect(script).toContain(
      "import { readGraph, thin, checkSparsity, split, fit, evaluateModel, recommend } from 'graphex';",
    );
    expect(script).toContain('thin(graph, { users: 0.5, items: 1, seed: 7 })');
    expect(script).toContain('fit(parts.train, { features: 10, model: "sparse",');
    expect(script).toContain(JSON.stringify('"); alert("a: 1'));
  });
});

describe('a table about the items', () => {
  const found: Parameters<typeof itemTableWords>[0] = {
    ...{ source: 'films.csv', matched: 1200, of: 1300, added: 1, title: 'name' },
    attributes: [
      { name: 'year', kind: 'number', range: { low: 1950, median: 1999, high: 2020 } },
      { name: 'genre', kind: 'category', values: [] },
    ],
  };

  it('is described in sentences', () => {
    expect(itemTableWords(found, USERS_AND_ITEMS, true)).toBe(
      '1,200 of 1,300 items have a title, from column name of films.csv. Lists can be filtered by genre and year. 1 item in it is new (nobody has it yet); its attributes give its score.',
    );
    const none = { ...found, title: undefined, added: 0, attributes: [] };
    expect(itemTableWords(none, USERS_AND_ITEMS, true)).toBe('No column of films.csv holds titles.');
  });

  it('says of items that a model from a file lacks only that the model does not know them', () => {
    expect(itemTableWords(found, USERS_AND_ITEMS, false)).toContain(
      '1 item in it is unknown to this model; its attributes give its score.',
    );
    expect(itemTableWords({ ...found, added: 26_737 }, USERS_AND_ITEMS, false)).toContain(
      '26,737 items in it are unknown to this model; their attributes give their scores.',
    );
  });

  it('is suspected to be about other items if next to none of the items are in it', () => {
    const words = (known: number | undefined, added: number) =>
      otherItemsWords({ source: 'movies.dat', known, of: 9986, added }, USERS_AND_ITEMS);
    expect(words(57, 37_956)).toBe(
      'Only 57 of 9,986 items are in movies.dat, and only 57 of its 38,013 ids are known. It may be a table of other items: replace or remove it.',
    );
    // A long catalogue, and a short list of titles, have known ids.
    expect(words(9000, 900_000)).toBeUndefined();
    expect(words(57, 3)).toBeUndefined();
    expect(words(undefined, 900)).toBeUndefined();
  });

  it('writes years without separators', () => {
    const examples = (low: number, high: number) =>
      examplesOf({ name: 'x', kind: 'number', range: { low, median: low, high } });
    expect([examples(1878, 2021), examples(1, 12_000)]).toEqual(['1878 to 2021', '1 to 12,000']);
  });

  it('offers categories, years and measures before other numbers, and ids last', () => {
    const number = (name: string, low: number, high: number) =>
      ({ name, kind: 'number', range: { low, median: low, high } }) as const;
    const attributes = [
      number('isbn13', 195_170_342, 9_790_007_672_390),
      number('books_count', 1, 3455),
      number('average_rating', 2.47, 4.82),
      number('original_publication_year', -1750, 2017),
      { name: 'authors', kind: 'category', values: [] },
      number('ratings_1', 11, 456_191),
    ] as const;
    expect(filtersInOrder(attributes).map(({ name }) => name)).toEqual([
      ...['authors', 'original_publication_year', 'average_rating', 'books_count', 'ratings_1', 'isbn13'],
    ]);
  });

  it('offers conditions that a filter understands', () => {
    const values = [{ value: "Mum's", items: 3 }];
    expect(conditionOn({ name: 'genre', kind: 'category', values })).toBe("genre = 'Mum''s'");
    expect(conditionOn({ name: '3', kind: 'number', range: { low: 1900, median: 1987, high: 2001 } })).toBe(
      '"3" >= 1987',
    );
    expect(conditionOn({ name: 'a "b"', kind: 'number', range: { low: 0, median: 0.25, high: 1 } })).toBe(
      '"a ""b""" >= 0.25',
    );
  });
});
