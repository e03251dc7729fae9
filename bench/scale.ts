// What shards cost: the sharded engine on one rank against the plain one, on the same graph with the same threads.
//
//   npm run build && node scripts/run-ts.js bench/scale.ts [edges] [-k 32] [--items 10000] [--threads 1]
//
// Both are proved to agree first. Then their iterations are timed in turn, so that whatever else the machine does slows both,
// and the ratio of the CPU times is printed for several numbers of shards, with the edges of an item in a shard.

import { ALONE } from '../src/comm/communicator.js';
import { createCpuEngine } from '../src/engine/cpu/engine.js';
import type { Engine, SideHyper, TableValues } from '../src/engine/engine.js';
import { createShardedEngine } from '../src/engine/sharded/engine.js';
import { buildGraph } from '../src/graph/build.js';
import { AliasTable } from '../src/math/alias.js';
import { gamma } from '../src/math/distributions.js';
import { randomStream } from '../src/math/random.js';
import { flag } from './flag.js';

const edges = /^[\d.e]+$/.test(process.argv[2] ?? '') ? Number(process.argv[2]) : 2e6;
const features = Number(flag('-k', '32'));
const items = Number(flag('--items', '10000'));
const threads = Number(flag('--threads', '1'));
const users = 4 * items;
const hyper: SideHyper = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 1000 };
const ROUNDS = 7;

const random = randomStream(1, edges);
const weights = (n: number) => AliasTable.of(Float64Array.from({ length: n }, (_, i) => (i + 10) ** -0.6));
const [ofUsers, ofItems] = [weights(users), weights(items)];
const graph = buildGraph({
  // Degrees do not follow the order of users, so that shards are alike.
  users: Uint32Array.from({ length: edges }, () => (ofUsers.sample(random) * 7919) % users),
  items: Uint32Array.from({ length: edges }, () => ofItems.sample(random)),
  userCount: users,
  itemCount: items,
});

function values(rows: number, path: number): TableValues {
  const stream = randomStream(2, path);
  const draw = (n: number, low: number) => Float32Array.from({ length: n }, () => low + gamma(stream, 1));
  return {
    weightShape: draw(rows, 1),
    weightRate: draw(rows, 1),
    featureShape: draw(rows * features, 0.1),
    featureRate: draw(rows * features, 5),
  };
}

async function open(engine: Engine) {
  const own = await engine.createTable(features, values(users, 0), 'exact', true);
  const other = await engine.createTable(features, values(items, 1), 'exact');
  const byUser = await engine.createIndex(graph.users, { side: 'own', rows: users });
  const byItem = await engine.createIndex(graph.items, { side: 'other', rows: users });
  return {
    async iterate() {
      await engine.update(own, byUser, other, { hyper, activity: 'exact' });
      await engine.update(other, byItem, own, { hyper, activity: 'exact' });
    },
    edgeTerm: () => engine.edgeTerm(own, byUser, other),
  };
}

/** CPU milliseconds of all threads. */
async function timed(work: () => Promise<void>): Promise<number> {
  const used = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(used);
  return (user + system) / 1000;
}

const plainEngine = await createCpuEngine({ threads });
const plain = await open(plainEngine);
console.log(`${graph.edges} edges, ${users} × ${items}, ${features} features, threads ${threads}`);
for (const shards of [1, 4, 8, 32]) {
  const engine = createShardedEngine(await createCpuEngine({ threads }), ALONE, () => ({
    shards,
    first: 0,
    bounds: Array.from({ length: shards + 1 }, (_, s) => Math.floor((s * users) / shards)),
  }));
  const sharded = await open(engine);
  const fresh = await open(plainEngine);
  for (let t = 0; t < 2; t++) {
    await sharded.iterate();
    await fresh.iterate();
  }
  const gap = Math.abs((await sharded.edgeTerm()) / (await fresh.edgeTerm()) - 1);
  if (!(gap < 1e-5)) throw new Error(`${shards} shards differ from one piece by ${gap}`);
  const ratios: number[] = [];
  for (let r = 0; r < ROUNDS; r++) {
    const one = await timed(plain.iterate);
    ratios.push((await timed(sharded.iterate)) / one);
  }
  ratios.sort((a, b) => a - b);
  const each = graph.edges / (items * shards);
  console.log(
    `${String(shards).padStart(3)} shards, ${each.toFixed(1)} edges an item and shard: ` +
      `${ratios[ROUNDS >> 1].toFixed(3)} times the plain engine (${ratios[0].toFixed(3)} to ${ratios[ROUNDS - 1].toFixed(3)}), proved to ${gap.toExponential(0)}`,
  );
  await engine.close();
}
await plainEngine.close();
