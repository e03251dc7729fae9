// Calls of the library whose options are valid in all but at most one field, so that most of them pass the first
// checks; and conditions, tables about items and search texts, both usual and absurd.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from './fuzz.js';
import { type Dice, mutate } from './mutate.js';

type Library = typeof import('../../src/index.js');
type Declaration = import('../../src/options/declare.js').Declaration;
type AnyOption = import('../../src/options/declare.js').AnyOption;

/** The declarations that the calls need, as bench/fuzz.ts imports them from what was built. */
export interface Declared {
  readonly methods: Readonly<Record<'ascent' | 'ranking' | 'gibbs', Declaration>>;
  readonly read: Declaration;
  readonly check: Declaration;
  readonly split: Declaration;
  readonly simulate: Declaration;
  readonly evaluate: Declaration;
  readonly tables: Declaration;
  readonly lists: Declaration;
  readonly forecast: Declaration;
  readonly audit: Declaration;
  readonly foldIn: Declaration;
  readonly thin: Declaration;
  readonly levels: Declaration;
  readonly sizes: Declaration;
  readonly baseline: Declaration;
  readonly describe: Declaration;
  readonly similar: Declaration;
  readonly storage: Declaration;
}

/** Readers of tables about items, filters and searches, which are not public. */
export interface About {
  readonly readSideInfo: typeof import('../../src/attributes/side-info.js').readSideInfo;
  readonly sideTable: typeof import('../../src/ingest/side-table.js').sideTable;
  readonly createItemSearch: typeof import('../../src/predict/search-index.js').createItemSearch;
}

/** After this time, a call is asked to stop. */
const PATIENCE_MS = 4000;
/** Options that decide how long a call takes stay small. */
const QUICK = { features: 2, iterations: 3, draws: 3, trials: 5, replicates: 1 };
/** Options that are not tried: their values belong to the caller, or they start many threads. */
const LEFT_OUT = new Set(['rejects', 'onProgress', 'signal', 'threads', 'database', 'calibrate']);

interface Call {
  readonly name: string;
  readonly declared: Declaration;
  /** Options that every call gets. */
  readonly base?: object;
  /** Whether the function takes neither threads nor a signal. */
  readonly short?: boolean;
  readonly run: (options: never) => unknown;
}

export async function libraryKinds(
  library: Library,
  declared: Declared,
  about: About,
  folder: string,
): Promise<Kind[]> {
  const { calls, model } = await callsOf(library, declared, folder);
  return [
    {
      name: 'library options',
      prepare(dice) {
        const { name, declared: known, base, short, run } = pick(calls, dice);
        const options = optionsFor(known, base, dice);
        // Two of three calls are wrong in one field.
        if (dice.below(3) > 0) spoil(options, known, dice);
        return async () => {
          try {
            const task = short ? {} : { threads: 1, signal: AbortSignal.timeout(PATIENCE_MS) };
            checkNumbers(name, await run({ ...options, ...task } as never));
          } catch (error) {
            const { name: kind } = error as Error;
            if (kind !== 'AbortError' && kind !== 'TimeoutError') throw error;
          }
        };
      },
    },
    {
      name: 'condition',
      prepare(dice, place) {
        const path = join(place, 'table.csv');
        writeFileSync(path, CONDITION_TABLE);
        const where = condition(SOUND_OF_TABLE, dice);
        return async () => {
          const { graph: kept } = await library.readGraph(path, { where, threads: 1 });
          check(kept.edges <= 60, 'more rows than there are');
        };
      },
    },
    {
      name: 'item info',
      prepare(dice) {
        const [one, other] = [pick(INFO_TABLES, dice), pick(INFO_TABLES, dice)];
        const bytes = mutate(encode(one), dice, encode(other));
        const where = dice.below(2) === 0 ? condition(SOUND_OF_INFO, dice) : undefined;
        const searched = Buffer.from(mutate(encode(pick(SEARCHED, dice)), dice, encode(one))).toString();
        return async () => {
          const rows = about.sideTable(bytes, 'items');
          const { info } = about.readSideInfo(model.items, { name: 'items', rows });
          const described = { ...model, info: { items: info } };
          const count = model.items.count + info.added.length;
          check(info.rows.offsets.length === count + 1, 'not a row for each item');
          const search = about.createItemSearch(
            model.items.ids,
            info.titles.slice(0, model.items.count),
            undefined,
          );
          const found = search(searched, 5);
          check(new Set(found).size === found.length && found.length <= 5, 'found twice or too many');
          const bytesOfModel = library.modelToBytes(described);
          const again = await library.modelFromBytes(bytesOfModel);
          const list = await library.recommend(
            again,
            { user: model.users.ids.at(0) },
            { n: 1000, threads: 1 },
          );
          for (const { item, score } of list) check(Number.isFinite(score), `${item} without a score`);
          await library.recommend(again, { user: model.users.ids.at(0) }, { filter: where, threads: 1 });
        };
      },
    },
  ];
}

async function callsOf(library: Library, declared: Declared, folder: string) {
  const side = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 12 };
  const drawn = { users: side, items: side, features: 2, seed: 4 };
  const { graph } = await library.simulate({ ...drawn, threads: 1 });
  const cut = library.split(graph, { seed: 2, testUsers: 0.4, testItems: 0.4 });
  const { model } = await library.fit(cut.train, { ...QUICK_FIT, model: 'sparse' });
  const { model: ranker } = await library.fit(cut.train, { ...QUICK_FIT, method: 'ranking' });
  const times = Float64Array.from({ length: graph.edges }, (_, edge) => (edge * 7919) % 1000);
  const data = join(folder, 'library-data.csv');
  writeFileSync(data, CONDITION_TABLE);
  const saved = join(folder, 'library-model.safetensors');
  const users = [{ user: model.users.ids.at(0) }, { likes: [model.items.ids.at(0), model.items.ids.at(1)] }];
  const { train, test } = cut;
  const calls: Call[] = [
    ...(['ascent', 'ranking', 'gibbs'] as const).map((method) => ({
      name: method,
      declared: declared.methods[method],
      base: { method },
      run: async (options: never) => (await library.fit(train, options)).model,
    })),
    { name: 'check', declared: declared.check, run: (o) => library.checkSparsity(graph, o) },
    { name: 'split', short: true, declared: declared.split, run: (o) => library.split(graph, o) },
    {
      name: 'timed split',
      short: true,
      declared: declared.split,
      base: { times },
      run: (o) => library.split(graph, o),
    },
    { name: 'read', declared: declared.read, run: (o) => library.readGraph(data, o) },
    { name: 'simulate', declared: declared.simulate, base: drawn, run: (o) => library.simulate(o) },
    { name: 'evaluate', declared: declared.evaluate, run: (o) => library.evaluateModel(model, cut, o) },
    {
      name: 'tables',
      declared: declared.tables,
      run: (o) => library.evaluateTables({ train, test }, { ...(o as object), model: ranker }),
    },
    { name: 'lists', declared: declared.lists, run: (o) => library.recommendMany(model, users, o) },
    { name: 'ranked lists', declared: declared.lists, run: (o) => library.recommendMany(ranker, users, o) },
    { name: 'forecast', declared: declared.forecast, run: (o) => library.forecastGrowth(graph, o) },
    { name: 'audit', declared: declared.audit, run: (o) => library.auditSplit({ train, test }, o) },
    { name: 'fold in', declared: declared.foldIn, run: (o) => library.foldIn(model, cut.foldIn, o) },
    { name: 'thin', short: true, declared: declared.thin, run: (o) => library.thin(graph, o) },
    { name: 'sizes', declared: declared.sizes, run: (o) => library.estimateSizes(graph, o) },
    {
      name: 'pq sample',
      short: true,
      declared: declared.levels,
      run: (o) => library.pqSample(graph, o, library.randomStream(1)),
    },
    {
      name: 'baseline',
      declared: declared.baseline,
      run: (o) => library.fitBaseline(train, 'knn', o),
    },
    {
      name: 'features',
      short: true,
      declared: declared.describe,
      run: (o) => library.describeFeatures(model, o),
    },
    {
      name: 'similar',
      short: true,
      declared: declared.similar,
      run: (o) => library.similarItems(model, model.items.ids.at(0), o),
    },
    {
      name: 'save',
      short: true,
      declared: declared.storage,
      run: (o) => library.saveModel(saved, ranker, o),
    },
  ];
  return { calls, model };
}

const QUICK_FIT = { features: 2, iterations: 4, threads: 1 };

/** Some valid options. */
function optionsFor(declared: Declaration, base: object | undefined, dice: Dice): Record<string, unknown> {
  const options: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(declared)) {
    if (LEFT_OUT.has(name) || option.kind === 'value') continue;
    const isQuick = name in QUICK;
    if (isQuick) options[name] = QUICK[name as keyof typeof QUICK] + dice.below(3);
    else if (option.required || dice.below(3) === 0) options[name] = validValue(option, dice);
  }
  return { ...options, ...base };
}

function validValue(option: AnyOption, dice: Dice): unknown {
  switch (option.kind) {
    case 'whole':
      if (option.words && dice.below(4) === 0) return pick(option.words, dice);
      return Math.min((option.min ?? 0) + dice.below(4), option.max ?? 1e9);
    case 'decimal': {
      const { min = -1e9, max = 1e9, above = -1e9, below = 1e9 } = option;
      const all = [min, 0.001, 0.25, 0.5, 0.9, 1, 2, max].filter(
        (v) => v >= min && v <= max && v > above && v < below,
      );
      // Extremes are valid too, but rarely useful in combination.
      return dice.below(4) === 0 ? pick(all, dice) : pick(all.slice(0, -1).concat(all[1] ?? all[0]), dice);
    }
    case 'choice':
      return pick(option.values, dice);
    case 'flag':
      return dice.below(2) === 0;
    case 'text':
    case 'input':
    case 'output':
      return pick(['rating >= 2', 'quarter', '90d', ',', 'x', 'id is not null', "user != '3'"], dice);
    case 'column':
      return pick([1, 2, 3, 'user', 'item', 'rating'], dice);
    case 'list': {
      const many = Array.from({ length: 1 + dice.below(3) }, () => validValue(option.of, dice));
      return option.orOne && dice.below(2) === 0 ? many[0] : many;
    }
    case 'pair':
      return { users: 'readers', items: 'books' };
    case 'section': {
      const fields = Object.entries(option.fields).filter(([, one]) => one.required || dice.below(3) === 0);
      return Object.fromEntries(fields.map(([name, one]) => [name, validValue(one, dice)]));
    }
    case 'value':
      return undefined;
  }
}

/** One field, at any depth, becomes something else: another type, just beyond its range, or a name that nobody declared. */
function spoil(options: Record<string, unknown>, declared: Declaration, dice: Dice): void {
  const names = Object.keys(declared).filter((name) => !LEFT_OUT.has(name));
  const name = pick(names, dice);
  const option = declared[name];
  if (option.kind === 'section' && dice.below(3) > 0) {
    const inner = { ...(options[name] as object) } as Record<string, unknown>;
    spoil(inner, option.fields, dice);
    options[name] = inner;
  } else if (dice.below(12) === 0) options[pick(['__proto__', 'constructor', `${name}x`, ''], dice)] = 1;
  else if (ArrayBuffer.isView(options[name]) || option.kind === 'value') options[name] = pick(ARRAYS, dice);
  else if (dice.below(2) === 0) options[name] = pick(edges(option), dice);
  else options[name] = pick(WRONG, dice);
}

/** At and just beyond the ends of a range. */
function edges(option: AnyOption): unknown[] {
  if (option.kind !== 'whole' && option.kind !== 'decimal') return [...WRONG];
  const { min = 0, max = 1, above = min, below = max } = option;
  return [min, max, min - 1, max + 1, above, below, min + 0.5, -0, Number.MIN_VALUE, String(min)];
}

const ARRAYS: readonly unknown[] = [
  new Float64Array(0),
  new Float64Array(3),
  new Float64Array(1000).fill(Number.NaN),
  new Float64Array(1000).fill(1e308),
  new Uint8Array(3).fill(7),
  new Uint8Array(0),
  [1, 2, 3],
  ['x', 'x', '__proto__'],
  new Array(5),
  { length: 2 ** 31 },
  () => {
    throw new TypeError('from the caller');
  },
];

const WRONG: readonly unknown[] = [
  ...[
    '',
    ' ',
    '0',
    '1',
    'x',
    'auto',
    '__proto__',
    'a\nb',
    '\x1b[2J',
    'x'.repeat(70_000),
    "user = '",
    'nul\0',
  ],
  ...[0, -1, 1, 0.5, 1e9, 1e308, -1e308, 2 ** 53, Number.NaN, Number.POSITIVE_INFINITY, 5n],
  ...[null, true, false, [], [1], [null], [[]], {}, { toString: 1 }, { sigma: 'x' }, { length: 1e9 }],
  ...[() => 1, Symbol('x'), new Date(0), new Map(), new Proxy({}, {})],
];

/** A result without NaN where a number is promised: lists, scores, counts. */
function checkNumbers(name: string, result: unknown): void {
  if (name !== 'lists' && name !== 'ranked lists') return;
  for (const list of result as readonly (readonly { item: string; score: number }[])[]) {
    for (const { item, score } of list) check(Number.isFinite(score), `${item} has the score ${score}`);
  }
}

const CONDITION_TABLE = `user,item,rating,day,note\n${Array.from({ length: 60 }, (_, r) => {
  const note = pick(['fine', '', 'it’s 1', '2019', '__proto__', '1e5'], { below: (n) => r % n });
  return `${r % 7},${(r * 3) % 11},${r % 5},20${10 + (r % 9)}-0${1 + (r % 9)}-11,${note}`;
}).join('\n')}\n`;

const INFO_TABLES = [
  `id,title,genre,year\n${[0, 1, 2, 3, 7].map((i) => `${i},Title ${i} (199${i}),Drama|Fantasy,199${i}`).join('\n')}\n`,
  `item\tname\ttags\n${[0, 1, 2, 5, 9].map((i) => `${i}\tNaïve ${i}\t"a, b","c"`).join('\n')}\n`,
  [0, 1, 2, 3, 4].flatMap((i) => ['x', 'y', `z${i}`].map((tag) => `${i}::${tag}`)).join('\n'),
];

const SEARCHED = ['Title 3', 'naive', 'titel', 'drama fantasy z', '7', '(1993)', 'Ｔｉｔｌｅ'];

const CONDITION_PARTS = [
  ...[
    'rating',
    'day',
    'note',
    '"user"',
    'item',
    '#3',
    '#9',
    'genre',
    'year',
    'id',
    'title',
    'nothing',
    '"a""b"',
  ],
  ...['=', '!=', '<', '<=', '>', '>=', '<>', '==', '(', ')', ',', '-', '+', '&', '|', "'", '"', ';', '%'],
  ...['and', 'or', 'not', 'in', 'like', 'between', 'is', 'null', 'true', 'AND', 'Not'],
  ...['1', '2.5', '.5', '1e9', '1e999', '9007199254740993', "'fine'", "'2012-01-01'", "'2012-13-45'", "''"],
  ...["'%a_%'", "'it''s'", "'10'", '1990', "'__proto__'", "'\u202e'", '\0', '\n', '　'],
];
const SOUND_OF_TABLE = [
  'rating >= 2',
  "note = 'fine'",
  "day > '2013-01-01'",
  'rating between 1 and 3',
  "note like 'f%'",
  'rating in (1, 2)',
  'note is not null',
];
const SOUND_OF_INFO = ['id is not null', "id != '3'", "genre = 'Drama'", 'year >= 1992', "title like '%1%'"];

/** A valid condition with one part exchanged, several valid ones joined, or parts in random order. */
function condition(sound: readonly string[], dice: Dice): string {
  const how = dice.below(5);
  if (how === 0) return Array.from({ length: dice.below(12) }, () => pick(CONDITION_PARTS, dice)).join(' ');
  let text = pick(sound, dice);
  for (let n = dice.below(4); n > 0; n--) {
    text = `${pick(['', 'not '], dice)}(${text})${pick([' and ', ' or ', ' and not '], dice)}${pick(sound, dice)}`;
  }
  if (how > 2) return text;
  if (how === 1) return Buffer.from(mutate(encode(text), dice, encode(text))).toString();
  const words = text.split(' ');
  words[dice.below(words.length)] = pick(CONDITION_PARTS, dice);
  return words.join(' ');
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function pick<T>(list: readonly T[], dice: Pick<Dice, 'below'>): T {
  return list[dice.below(list.length)];
}
