import { describe, expect, it } from 'vitest';
import * as library from '../../src/index.js';
import { serve } from '../../src/serve/serve.js';

// Every function of the library refuses unknown options and values of a wrong type before any work, in a sentence that
// names the option.

const graph = library.BipartiteGraph.fromPairs([
  ['ann', 'tea'],
  ['ann', 'milk'],
  ['bob', 'tea'],
  ['cem', 'milk'],
  ['cem', 'figs'],
]);
const cut = library.split(graph, { seed: 3, testUsers: 0.4, testItems: 0.4 });
const { model } = await library.fit(graph, { features: 1, iterations: 2, threads: 1, model: 'sparse' });
const recommender = library.createRecommender(model);
const prior = { sigma: 0.1, tau: 1, shape: 1, rate: 1 };
const unit = { mass: 1, sample: () => 0.5 };
const process = { users: unit, items: unit, sizes: { users: 2, items: 2 }, probability: () => 0.5 };

type Call = (options: object) => unknown;
/** Each function with options, and an option of it with a value of a wrong type. */
const DOORS: Readonly<Record<string, readonly [call: Call, wrong: object]>> = {
  fit: [(o) => library.fit(graph, o), { features: '3' }],
  'fit by ranking': [(o) => library.fit(graph, { ...o, method: 'ranking' }), { folds: '3' }],
  'fit by gibbs': [(o) => library.fit(graph, { ...o, method: 'gibbs' }), { iterations: [] }],
  sparsityEvidence: [
    async (o) => library.sparsityEvidence(graph, { model } as never, o),
    { iterations: 'many' },
  ],
  foldIn: [(o) => library.foldIn(model, graph, o), { eligible: [1, 0] }],
  split: [(o) => library.split(graph, o), { testUsers: '0.2' }],
  splitFolds: [(o) => library.splitFolds(graph, 2, o), { testItems: '0.2' }],
  checkSparsity: [(o) => library.checkSparsity(graph, o), { replicates: 1.5 }],
  simulate: [(o) => library.simulate(o), { multigraph: 1 }],
  sampleGraphex: [(o) => library.sampleGraphex({ ...process, ...o }), { decreasing: 'no' }],
  estimateSizes: [
    (o) => library.estimateSizes(graph, { users: prior, items: prior, features: 2, ...o }),
    { features: 0.5 },
  ],
  pqSample: [
    (o) => library.pqSample(graph, { users: 1, items: 1, ...o }, library.randomStream(1)),
    { users: '1' },
  ],
  thin: [(o) => library.thin(graph, o), { users: 2 }],
  evaluateModel: [(o) => library.evaluateModel(model, cut, o), { drawsGiven: 'mine' }],
  evaluateTables: [(o) => library.evaluateTables(cut, o), { metrics: 'recall' }],
  readBlob: [(o) => library.readBlob({ name: 'a.csv', blob: new Blob(['u,i\n']) }, o), { sep: 3 }],
  evaluateRanking: [(o) => library.evaluateRanking({} as never, {} as never, o), { n: 0 }],
  drawPredictive: [(o) => library.drawPredictive(model, model.users, cut, o), { sizes: 'guessed' }],
  fitBaseline: [(o) => library.fitBaseline(graph, 'popularity', o), { trials: 0 }],
  forecastGrowth: [(o) => library.forecastGrowth(graph, o), { times: [1, 2] }],
  auditSplit: [(o) => library.auditSplit(cut, o), { control: 'yes' }],
  decideAcrossSplits: [(o) => library.decideAcrossSplits(graph, o), { trials: -1 }],
  recommend: [(o) => library.recommend(model, { user: 'ann' }, o), { exclude: 'tea' }],
  recommendMany: [(o) => library.recommendMany(model, [{ user: 'ann' }], o), { includeSeen: 'yes' }],
  similarItems: [(o) => library.similarItems(model, 'tea', o), { n: '3' }],
  describeFeatures: [(o) => library.describeFeatures(model, o), { leastDegree: -1 }],
  'recommend of a recommender': [(o) => recommender.recommend({ user: 'ann' }, o), { onUnknown: 3 }],
  'recommendEach of a recommender': [
    (o) => recommender.recommendEach([{ user: 'ann' }], o).next(),
    { explain: 'yes' },
  ],
  'rank of a recommender': [(o) => recommender.rank({ user: 'ann' }, ['tea'], o), { explain: 1 }],
  'explain of a recommender': [(o) => recommender.explain({ user: 'ann' }, 'tea', o), { onUnknown: 'x' }],
  'confidence of a recommender': [
    (o) => recommender.confidence({ user: 'ann' }, ['tea'], o),
    { onUnknown: {} },
  ],
  'similar of a recommender': [(o) => recommender.similar('tea', o), { n: 0 }],
  'popular of a recommender': [(o) => recommender.popular(o), { exclude: 'tea' }],
  'features of a recommender': [(o) => recommender.features(o), { n: true }],
  study: [(o) => library.study(graph, o), { repeats: '2' }],
  readGraph: [(o) => library.readGraph('no.csv', o), { sep: 5 }],
  readWithValues: [(o) => library.readWithValues('no.csv', o, library.timeColumn('when')), { header: 'yes' }],
  modelToBytes: [(o) => library.modelToBytes(model, o), { precision: 'float8' }],
  saveModel: [(o) => library.saveModel('/nowhere/m.safetensors', model, o), { users: 'some' }],
  partitionGraph: [(o) => library.partitionGraph(graph, '/nowhere/parts', o), { shards: 0 }],
  saveSplit: [(o) => library.saveSplit('/nowhere/split', cut, {}, o), { force: 'yes' }],
  saveFolds: [(o) => library.saveFolds('/nowhere/folds', [cut, cut], {}, o), { format: 'xls' }],
  loadFolds: [(o) => library.loadFolds('/nowhere/folds', o), { threads: '2' }],
  loadSplit: [(o) => library.loadSplit('/nowhere/split', o), { threads: '2' }],
  serve: [(o) => serve('/nowhere/m.safetensors', o), { port: '80' }],
  'BipartiteGraph.fromPairs': [
    (o) => library.BipartiteGraph.fromPairs([['a', 'b']], o),
    { multigraph: 'yes' },
  ],
};

describe.each(Object.entries(DOORS))('%s', (_, [call, wrong]) => {
  const refusal = async (options: object): Promise<unknown> => {
    try {
      return await call(options);
    } catch (error) {
      return error;
    }
  };

  it('refuses an option that it does not have, by name', async () => {
    const error = await refusal({ colour: 'red' });
    expect(error).toBeInstanceOf(library.InputError);
    expect((error as Error).message).toContain('"colour": there is no such option');
  });

  it('refuses a value of a wrong type or range, and names the option', async () => {
    const error = await refusal(wrong);
    expect(error).toBeInstanceOf(library.InputError);
    expect((error as Error).message).toContain(`${Object.keys(wrong)[0]} `);
    expect((error as Error).message).toContain('expected');
  });
});

/** Values without which nothing can be done, as callers without types give them. */
const VALUES: Readonly<Record<string, readonly [call: (wrong: never) => unknown, wrong: unknown, RegExp]>> = {
  'a query for nobody': [
    (query) => library.recommend(model, query),
    {},
    /^no user is given: give \{ user: ID \}/,
  ],
  'a query that is undefined': [(query) => recommender.recommend(query), undefined, /^no user is given: /],
  'a query without an id': [
    (query) => recommender.rank(query, ['tea']),
    { user: undefined },
    /^user is not an id: /,
  ],
  'likes that are one id': [
    (query) => recommender.recommendMany([query]),
    { likes: 'tea' },
    /^likes is not a list of ids: /,
  ],
  'a fit instead of its model': [
    (fitted) => library.recommend(fitted, { user: 'ann' }),
    { model },
    /^expected a model, not an object of another kind; give the model of a fit/,
  ],
  'a model and a path the wrong way round': [
    (path) => library.saveModel(path, '/nowhere/m.safetensors' as never),
    model,
    /saveModel\(path, model\)/,
  ],
  'a path instead of a model': [
    (path) => library.saveModel('/nowhere/m.safetensors', path),
    'm.safetensors',
    /^expected a model, not string; /,
  ],
  'nothing to make bytes of': [
    (nothing) => library.modelToBytes(nothing),
    null,
    /^expected a model, not null; /,
  ],
};

it.each(Object.entries(VALUES))('%s is refused in a sentence', async (_, [call, wrong, said]) => {
  const error = await (async () => call(wrong as never))().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(library.InputError);
  expect((error as Error).message).toMatch(said);
});

/** Functions that take values and no options. */
const PLAIN = [
  'fitPartition', // checked as those of fit, once the folder is open
  'checkPredictive',
  'createRecommender',
  'filterColumns',
  'itemFilter',
  'loadCheckpoint',
  'loadModel',
  'modelFromBytes',
  'splitRankingTask',
  'randomStream',
  'rateInterval',
  'sideNames',
  'tailIndex',
  'timeColumn',
  'unfinishedFit',
  'writeEdges',
];

it('covers every function of the library: each checks its options, or has none', () => {
  const functions = Object.entries(library)
    .filter(([, value]) => typeof value === 'function' && !/^class\b/.test(String(value)))
    .map(([name]) => name)
    // Charts, pages and words turn results into text and pictures; their options only change how these look.
    .filter(
      (name) =>
        !/^(draw|render)[A-Z]|Chart$|Pictures$|[wW]ords$|Title$|^noPredictive|Verdicts$/.test(name) ||
        name in DOORS,
    );
  const known = new Set([...Object.keys(DOORS), ...PLAIN]);
  expect(functions.filter((name) => !known.has(name))).toEqual([]);
  expect(PLAIN.filter((name) => !functions.includes(name))).toEqual([]);
});
