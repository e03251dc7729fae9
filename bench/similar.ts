// Which items are similar to an item? Of each held-out user, one item is given, and the user's other items should be found.
// Similarities are compared on the training part first (fitted on a part of it), then on the test part.
//
//   npm run build && node scripts/run-ts.js bench/similar.ts [movietweetings|online-retail|goodbooks …] [training|test]
//
// recall: of the user's other items (at most 10), the fraction among the 10 most similar ones. rare: the same for items outside the
// most popular tenth only, because a list of popular items finds many without being similar.

import { existsSync } from 'node:fs';
import { fit } from '../src/fit/fit.js';
import type { Model } from '../src/fit/model.js';
import type { BipartiteGraph } from '../src/graph/graph.js';
import { readGraph } from '../src/ingest/read.js';
import { largest } from '../src/math/nth-largest.js';
import { randomStream } from '../src/math/random.js';
import { memberScorers } from '../src/predict/scoring/member-scorer.js';
import { split } from '../src/sample/split.js';
import { setsNamed } from './sets.js';

const SETS = setsNamed('movietweetings', 'online-retail', 'goodbooks');
const N = 10;
const QUERIES = 1500;
/** Numbers added to the degree of each item in the cosine, so that items with few users are not similar by chance. */
const ADDED = [3, 10, 30];

/** Scores of all items for one item; larger is more similar. */
type Alike = (item: number) => Float64Array;

function modelCosine(model: Model): Alike {
  const members = memberScorers(model) ?? [];
  const { count } = model.items;
  const products = (item: number) => {
    const sums = new Float64Array(count);
    for (const { items, features } of members) {
      for (let j = 0; j < count; j++) {
        let sum = 0;
        for (let k = 0; k < features; k++) sum += items[j * features + k] * items[item * features + k];
        sums[j] += sum;
      }
    }
    return sums;
  };
  const norms = Float64Array.from({ length: count }, (_, j) => {
    let sum = 0;
    for (const { items, features } of members) {
      for (let k = 0; k < features; k++) sum += items[j * features + k] ** 2;
    }
    return Math.sqrt(sum);
  });
  return (item) => products(item).map((product, j) => product / (norms[item] * norms[j]) || 0);
}

/** Common users over the root of the products of users, each with `shrink` more. */
function cooccurrence({ items, users }: BipartiteGraph, shrink: number): Alike {
  const degree = (item: number) => items.offsets[item + 1] - items.offsets[item] + shrink;
  return (item) => {
    const scores = new Float64Array(items.count);
    for (let e = items.offsets[item]; e < items.offsets[item + 1]; e++) {
      const user = items.neighbors[e];
      for (let f = users.offsets[user]; f < users.offsets[user + 1]; f++) scores[users.neighbors[f]]++;
    }
    for (let j = 0; j < scores.length; j++) scores[j] /= Math.sqrt(degree(item) * degree(j));
    return scores;
  };
}

function popularity({ items }: BipartiteGraph): Alike {
  const scores = Float64Array.from(
    { length: items.count },
    (_, j) => items.offsets[j + 1] - items.offsets[j],
  );
  return () => scores;
}

/** The mean of two similarities, each divided by its largest value for the item. */
function both(a: Alike, b: Alike): Alike {
  return (item) => {
    const [x, y] = [a(item), b(item)].map((scores) => {
      scores = scores.slice();
      scores[item] = 0;
      const most = scores.reduce((m, s) => Math.max(m, s), 0) || 1;
      return scores.map((s) => s / most);
    });
    return x.map((value, j) => value + y[j]);
  };
}

interface Query {
  readonly item: number;
  readonly others: ReadonlySet<number>;
}

/** One item of each held-out user, chosen at random, and the rest. */
function queriesOf(parts: readonly BipartiteGraph[], train: BipartiteGraph): Query[] {
  const byUser = new Map<string, number[]>();
  for (const { users, items } of parts) {
    for (let u = 0; u < users.count; u++) {
      const list = byUser.get(users.ids.at(u)) ?? [];
      byUser.set(users.ids.at(u), list);
      for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) {
        const item = train.items.ids.find(items.ids.at(users.neighbors[e]));
        if (item >= 0) list.push(item);
      }
    }
  }
  const random = randomStream(15, 4);
  const lists = [...byUser.values()].filter((list) => list.length > 1);
  const step = Math.max(1, lists.length / QUERIES);
  return Array.from({ length: Math.min(QUERIES, lists.length) }, (_, q) => {
    const list = lists[Math.floor(q * step)];
    const item = list[random.below(list.length)];
    return { item, others: new Set(list.filter((other) => other !== item)) };
  });
}

function evaluate(alike: Alike, queries: readonly Query[], rare: (item: number) => boolean) {
  const found = { all: 0, rare: 0, wantedAll: 0, wantedRare: 0 };
  for (const { item, others } of queries) {
    const scores = alike(item);
    const count = scores.length;
    const listed = largest(count, N, (j) => (j === item ? Number.NEGATIVE_INFINITY : scores[j]));
    const hits = listed.filter((j) => others.has(j));
    const rareOthers = [...others].filter(rare);
    found.all += hits.length;
    found.wantedAll += Math.min(N, others.size);
    const rareListed = largest(count, N, (j) =>
      j === item || !rare(j) ? Number.NEGATIVE_INFINITY : scores[j],
    );
    found.rare += rareListed.filter((j) => others.has(j)).length;
    found.wantedRare += Math.min(N, rareOthers.length);
  }
  return { recall: found.all / found.wantedAll, rare: found.rare / found.wantedRare };
}

async function compare(name: string, stage: string, graph: BipartiteGraph) {
  const { train, foldIn, test } = split(graph, { seed: 1 });
  const degrees = Array.from(
    { length: train.items.count },
    (_, j) => train.items.offsets[j + 1] - train.items.offsets[j],
  );
  const limit = [...degrees].sort((a, b) => b - a)[Math.floor(degrees.length / 10)];
  const queries = queriesOf([foldIn, test], train);
  const evidence = (await fit(train, { method: 'ascent', features: 30 })).model;
  const ranking = (await fit(train, { method: 'ranking', features: 30 })).model;
  const common = cooccurrence(train, 30);
  const ways: Record<string, Alike> = {
    popularity: popularity(train),
    'cosine of common users': cooccurrence(train, 0),
    ...Object.fromEntries(ADDED.map((added) => [`the same, ${added} more each`, cooccurrence(train, added)])),
    'cosine of means, evidence': modelCosine(evidence),
    'cosine of means, ranking': modelCosine(ranking),
    'ranking and common users': both(modelCosine(ranking), common),
  };
  for (const [way, alike] of Object.entries(ways)) {
    const { recall, rare } = evaluate(alike, queries, (item) => degrees[item] < limit);
    process.stdout.write(
      `${name}, ${stage}, ${queries.length} users: ${way.padEnd(28)} recall ${recall.toFixed(4)}  rare ${rare.toFixed(4)}\n`,
    );
  }
}

const asked = process.argv.slice(2);
const only = asked.find((word) => word === 'training' || word === 'test');
const wanted = asked.filter((word) => word !== only);
for (const [name, path] of Object.entries(SETS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  if (!existsSync(path)) {
    process.stdout.write(`${name}: ${path} is not there: left out\n`);
    continue;
  }
  const { graph } = await readGraph(path);
  const stages = { 'training part': () => split(graph, { seed: 1 }).train, 'test part': () => graph };
  for (const [stage, part] of Object.entries(stages)) {
    if (only === undefined || stage.startsWith(only)) await compare(name, stage, part());
  }
}
