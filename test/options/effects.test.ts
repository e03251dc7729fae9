import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readSideInfo } from '../../src/attributes/side-info.js';
import * as library from '../../src/index.js';
import { sideTable } from '../../src/ingest/side-table.js';
import { CHECK } from '../../src/options/commands/check.js';
import { EVALUATE } from '../../src/options/commands/evaluate.js';
import { METHODS } from '../../src/options/commands/fit.js';
import { PARTITION } from '../../src/options/commands/partition.js';
import { RECOMMEND } from '../../src/options/commands/recommend.js';
import { SIMULATE } from '../../src/options/commands/simulate.js';
import { SPLIT } from '../../src/options/commands/split.js';
import type { Declaration } from '../../src/options/declare.js';

// No dead options: for each option of each declaration another value changes what comes out. Options of coordinate
// ascent and of a study are tested with these.

const prior = { sigma: 0.2, tau: 1, size: 12, shape: 0.3, rate: 0.3 };
const drawn = { users: prior, items: prior, features: 2, seed: 4, threads: 1 } as const;
const { graph } = await library.simulate(drawn);
const times = Float64Array.from({ length: graph.edges }, (_, edge) => edge);
const cut = library.split(graph, { seed: 2, testUsers: 0.4, testItems: 0.4 });
const fitted = library.fit(cut.train, { features: 2, iterations: 15, threads: 1, model: 'sparse' });

type Change = readonly [change: object, base?: object];
interface Verb {
  readonly declared: Declaration;
  /** The result, in a form that can be compared. */
  readonly run: (options: object) => unknown;
  /** For each option, another value and the options that it needs. */
  readonly changes: Readonly<Record<string, Change>>;
}

const side = (hyper: object): Change => [{ users: hyper }];

const VERBS: Readonly<Record<string, Verb>> = {
  ranking: {
    declared: METHODS.ranking,
    run: async (options) => {
      const { model, engine } = await library.fit(cut.train, {
        method: 'ranking',
        features: 2,
        iterations: 6,
        threads: 1,
        ...options,
      });
      if (model.type !== 'ranker' || model.scores.kind !== 'factors') throw new Error('no ranker');
      return [engine, model.scores.members.map(({ items, iterations }) => [iterations, ...items])];
    },
    changes: {
      model: [{ model: 'dense' }],
      features: [{ features: 3 }],
      iterations: [{ iterations: 3 }],
      tolerance: [{ tolerance: 1e-9 }, { iterations: 30 }],
      engine: [{ engine: 'reference' }],
      seed: [{ seed: 9 }],
      folds: [{ folds: 2 }],
      average: [{ average: 2 }],
      blend: [{ blend: false }],
      halfLife: [
        { halfLife: '9s', times: Float64Array.from({ length: cut.train.edges }, (_, e) => 1000 * e) },
      ],
      users: side({ shape: 3 }),
      items: [{ items: { rate: 3 } }],
    },
  },
  gibbs: {
    declared: METHODS.gibbs,
    run: async (options) => {
      const { model } = await library.fit(cut.train, {
        method: 'gibbs',
        features: 2,
        iterations: 12,
        threads: 1,
        model: 'sparse',
        ...options,
      });
      return [
        [...model.items.featureShape],
        model.users.hyper,
        model.items.hyper,
        model.provenance.iterations,
        model.users.draws?.length,
      ];
    },
    changes: {
      features: [{ features: 3 }],
      keepDraws: [{ keepDraws: 3 }],
      model: [{ model: 'dense' }],
      iterations: [{ iterations: 16 }],
      tolerance: [{ tolerance: 0.5 }, { iterations: 80 }],
      start: [{ start: 'cold' }],
      learn: [{ learn: ['tau'] }],
      sizes: [{ sizes: 'paper' }],
      seed: [{ seed: 9 }],
      users: side({ tau: 3 }),
      items: [{ items: { tau: 3 } }],
    },
  },
  evaluate: {
    declared: EVALUATE,
    run: async (options) => {
      const { model } = await fitted;
      const found = await library.evaluateModel(model, cut, { draws: 8, threads: 1, seed: 1, ...options });
      const { ranking, drawsGiven, predictive, folded } = found;
      const shapes = folded && [...folded.featureShape];
      return JSON.stringify([shapes, ranking.n, ranking.depth, ranking.all.mean, drawsGiven, predictive]);
    },
    changes: {
      n: [{ n: 2 }],
      depth: [{ depth: 25 }],
      draws: [{ draws: 9 }],
      drawsGiven: [{ drawsGiven: 'paper' }],
      calibrate: [{ calibrate: 5 }],
      seed: [{ seed: 2 }],
      correct: [{ correct: true }],
      sizes: [{ sizes: 'point' }],
      engine: [{ engine: 'reference' }],
    },
  },
  check: {
    declared: CHECK,
    run: async (options) => JSON.stringify(await library.checkSparsity(graph, { replicates: 2, ...options })),
    changes: {
      replicates: [{ replicates: 3 }],
      levels: [{ levels: [0.5, 1] }],
      seed: [{ seed: 2 }],
    },
  },
  split: {
    declared: SPLIT,
    run: (options) => {
      const { train, test, foldIn, seed, method } = library.split(graph, options);
      return [seed, method, ...[train, test, foldIn].map((part) => library.BipartiteGraph.fingerprint(part))];
    },
    changes: {
      testUsers: [{ testUsers: 0.5 }],
      testItems: [{ testItems: 0.5 }],
      method: [{ method: 'edges' }],
      last: [
        { method: 'last', times, last: 2 },
        { method: 'last', times },
      ],
      seed: [{ seed: 2 }],
    },
  },
  partition: {
    declared: PARTITION,
    run: async (options) => {
      const folder = mkdtempSync(join(tmpdir(), 'graphex-effects-'));
      try {
        const { shards } = await library.partitionGraph(graph, join(folder, 'parts'), options);
        return shards;
      } catch (error) {
        return (error as Error).message;
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
    // test/shard tests the effect of `memory` on data that do not fit.
    changes: { shards: [{ shards: 3 }], memory: [{ memory: '1K' }] },
  },
  simulate: {
    declared: SIMULATE,
    run: async (options) => {
      const { graph: made, truth } = await library.simulate({ ...drawn, ...options });
      return [made.multigraph, truth === undefined, library.BipartiteGraph.fingerprint(made)];
    },
    changes: {
      users: [{ users: { ...prior, sigma: 0.4 } }],
      items: [{ items: { ...prior, sigma: 0.4 } }],
      features: [{ features: 3 }],
      multigraph: [{ multigraph: true }],
      tolerance: [{ tolerance: 0.1 }],
      seed: [{ seed: 5 }],
      truth: [{ truth: true }],
    },
  },
  recommend: {
    declared: RECOMMEND,
    run: async (options) => {
      const { model } = await fitted;
      const rows = Array.from({ length: model.items.count }, (_, i) => `${model.items.ids.at(i)},g${i % 2}`);
      const table = sideTable(new TextEncoder().encode(['id,genre', ...rows].join('\n')), 'items');
      const { info } = readSideInfo(model.items, { name: 'items', rows: table });
      const described = { ...model, info: { items: info } };
      return library.recommend(described, { user: model.users.ids.at(0) }, { n: 3, threads: 1, ...options });
    },
    changes: {
      n: [{ n: 2 }],
      includeSeen: [{ includeSeen: true, n: 1000 }, { n: 1000 }],
      explain: [{ explain: true }],
      filter: [{ filter: "genre = 'g1'" }],
    },
  },
};

describe.each(Object.entries(VERBS))('%s', (_, { declared, run, changes }) => {
  /** The result of each base, computed once. */
  const plain = new Map<string, { readonly base: object; readonly result: Promise<unknown> }>();
  const resultOf = (base: object) => {
    const key = JSON.stringify(base);
    const made = plain.get(key) ?? { base, result: Promise.resolve(run(base)) };
    plain.set(key, made);
    return made.result;
  };
  test('every option is tested', () => {
    expect(Object.keys(changes).sort()).toEqual(Object.keys(declared).sort());
  });
  test.each(Object.entries(changes))('%s has an effect', async (_name, [change, base = {}]) => {
    const before = await resultOf(base);
    expect(await run({ ...base, ...change })).not.toEqual(before);
  });
  test('options leave no state: afterwards the results are the same as before', async () => {
    for (const { base, result } of plain.values()) expect(await run(base)).toEqual(await result);
  });
});
