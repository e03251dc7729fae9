// Does a list change as much as its stated confidence says? Held-out users' items are cut at random into two histories of m
// items; the overlap of the two lists is compared with the confidence of the first list.
//
//   npm run build && node scripts/run-ts.js bench/confidence.ts [movietweetings|online-retail|goodbooks …]

import { existsSync } from 'node:fs';
import { fit } from '../src/fit/fit.js';
import type { BipartiteGraph } from '../src/graph/graph.js';
import { readGraph } from '../src/ingest/read.js';
import { randomStream } from '../src/math/random.js';
import { createRecommender } from '../src/predict/recommender.js';
import { split } from '../src/sample/split.js';
import { setsNamed } from './sets.js';

const SETS = setsNamed('movietweetings', 'online-retail', 'goodbooks');
const LENGTHS = [1, 2, 5, 10, 20, 40, 100];
const USERS = 60;
const N = 20;

const wanted = process.argv.slice(2);
const names = Object.keys(SETS).filter((name) => wanted.length === 0 || wanted.includes(name));
for (const name of names) {
  const path = SETS[name];
  if (!existsSync(path)) {
    process.stdout.write(`${name}: ${path} is not there: left out\n`);
    continue;
  }
  const { graph } = await readGraph(path);
  const { train, foldIn, test } = split(graph, { seed: 1 });
  for (const method of ['ascent', 'ranking'] as const) {
    const { model } =
      method === 'ranking'
        ? await fit(train, { method, features: 30 })
        : await fit(train, { method, features: 30 });
    const recommender = createRecommender(model);
    const histories = itemsOf([foldIn, test], (id) => model.items.ids.find(id) >= 0);
    const random = randomStream(7, 1);
    for (const m of LENGTHS) {
      const users = histories.filter((items) => items.length >= 2 * m);
      const taken = Math.min(USERS, users.length);
      if (taken < 20) continue;
      let seen = 0;
      let stated = 0;
      for (let u = 0; u < taken; u++) {
        const items = [...users[Math.floor((u * users.length) / taken)]];
        for (let i = 0; i < 2 * m; i++) {
          const j = i + random.below(items.length - i);
          [items[i], items[j]] = [items[j], items[i]];
        }
        const [first, second] = [items.slice(0, m), items.slice(m, 2 * m)];
        const ask = { likes: first, exclude: second };
        const [a, b] = await recommender.recommendMany([ask, { likes: second, exclude: first }], { n: N });
        const ids = a.map(({ item }) => item);
        const others = new Set(b.map(({ item }) => item));
        seen += ids.filter((id) => others.has(id)).length / N / taken;
        stated += (await recommender.confidence(ask, ids)).overlap / taken;
      }
      process.stdout.write(
        `${name}, ${method}, m = ${m}: ${taken} users, seen ${seen.toFixed(3)}, stated ${stated.toFixed(3)}\n`,
      );
    }
    await recommender.close();
  }
}

/** The known items of each user over several parts. */
function itemsOf(parts: readonly BipartiteGraph[], known: (id: string) => boolean): string[][] {
  const byUser = new Map<string, string[]>();
  for (const { users, items } of parts) {
    for (let u = 0; u < users.count; u++) {
      const id = users.ids.at(u);
      const list = byUser.get(id) ?? [];
      byUser.set(id, list);
      for (let e = users.offsets[u]; e < users.offsets[u + 1]; e++) {
        const item = items.ids.at(users.neighbors[e]);
        if (known(item)) list.push(item);
      }
    }
  }
  return [...byUser.values()];
}
