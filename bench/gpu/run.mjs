// The gpu engine on a large card: checked, then timed. Reads dist/ (npm run build) and golden files from the folder named
// by GRAPHEX_GOLDEN; writes gpu.json into the folder named by OUT. The environment variable PARTS picks parts.

import { existsSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { createCpuEngine } from '../../dist/engine/cpu/cpu-engine.js';
import { webgpuAvailability } from '../../dist/engine/webgpu/device.js';
import { createWebgpuEngine } from '../../dist/engine/webgpu/webgpu-engine.js';
import { fit as fitModel } from '../../dist/fit/fit.js';
import { VertexIds } from '../../dist/graph/ids.js';
import { digamma } from '../../dist/math/special.js';
import { ceilings } from './ceilings.mjs';
import { SHAPES, skewedGraph, startValues, withoutIsolated } from './graphs.mjs';
import { proveGolden, proveRows, proveVariants } from './prove.mjs';
import { timeRankings } from './rank.mjs';

const began = performance.now();
const parts = new Set((process.env.PARTS ?? 'prove,tune,netflix,fit,echonest,crossover,rank').split(','));
const fraction = Number(process.env.FRACTION ?? 1);
const HYPER = {
  users: { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: 2000 },
  items: { sigma: 0.1, tau: 1, shape: 0.1, rate: 0.1, size: 2000 },
};
const results = { card: await webgpuAvailability(), node: process.version, cpu: cpus()[0]?.model };
const elapsed = () => `${((performance.now() - began) / 1000).toFixed(1)} s`;
const say = (...words) => console.log(`[${elapsed()}]`, ...words);
say(results.card.description);

/** One part of the run; a part that fails is named, and the others go on. */
async function part(name, run) {
  if (!parts.has(name)) return;
  try {
    await run();
  } catch (error) {
    results.failed = [...(results.failed ?? []), { name, error: String(error.stack ?? error) }];
    say(`${name} FAILED:`, error);
    process.exitCode = 1;
  }
  writeFileSync(join(process.env.OUT ?? '.', 'gpu.json'), JSON.stringify(results, undefined, 1));
}

const table = (rows) => {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const show = (x) =>
    (typeof x === 'number' && !Number.isInteger(x) ? Number(x.toPrecision(4)) : (x ?? '')).toString();
  for (const line of [columns, ...rows.map((row) => columns.map((c) => show(row[c])))])
    console.log(line.join(' | '));
};

/** Drawing a start takes longer than what is timed, so the start of the last graph is kept. */
const starts = { graph: undefined, features: 0, values: undefined };

/** The engine with both tables and both indexes of a graph. */
async function load(engine, graph, features) {
  if (starts.graph !== graph || starts.features !== features) {
    const users = startValues(graph.users, features, HYPER.users, 2);
    const items = startValues(graph.items, features, HYPER.items, 3);
    Object.assign(starts, { graph, features, values: { users, items } });
  }
  const { values } = starts;
  const users = await engine.createTable(features, values.users, 'geometric');
  const items = await engine.createTable(features, values.items, 'geometric');
  const byUser = await engine.createIndex(graph.users);
  const byItem = await engine.createIndex(graph.items);
  const half = {
    users: (more) =>
      engine.update(users, byUser, items, { hyper: HYPER.users, activity: 'geometric', ...more }),
    items: (more) =>
      engine.update(items, byItem, users, { hyper: HYPER.items, activity: 'geometric', ...more }),
  };
  const wait = async () => {
    await engine.totals(users);
  };
  return { engine, users, items, byUser, byItem, half, wait, values };
}

async function iterate(fit, iterations, more) {
  const start = performance.now();
  for (let t = 0; t < iterations; t++) {
    await fit.half.users(more);
    await fit.half.items();
  }
  await fit.wait();
  return (performance.now() - start) / iterations;
}

const median = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];

/** Median GPU time of each kernel of each half-step, in ms, over iterations that run without a pause. */
async function kernelTimes(graph, features, tuning, flags, rounds = 8) {
  const times = new Map();
  let side = 'users';
  const engine = await createWebgpuEngine({
    tuning,
    ...(flags && { flags }),
    onKernelTime(kernel, ms) {
      const key = `${side}: ${kernel}`;
      if (!times.has(key)) times.set(key, []);
      times.get(key).push(ms);
      if (kernel === 'totals') side = side === 'users' ? 'items' : 'users';
    },
  });
  const fit = await load(engine, graph, features);
  await fit.wait();
  await new Promise((resolve) => setTimeout(resolve, 20));
  side = 'users';
  times.clear();
  const warm = 4;
  for (let t = 0; t < rounds + warm; t++) {
    await fit.half.users();
    await fit.half.items();
  }
  await fit.wait();
  await new Promise((resolve) => setTimeout(resolve, 20));
  await engine.close();
  const row = {};
  for (const [key, list] of times) {
    // A half-step may run a kernel several times: over bindings of the edge index.
    const runs = list.length / (rounds + warm);
    const perStep = Array.from({ length: rounds }, (_, t) => {
      const from = Math.round((t + warm) * runs);
      return list.slice(from, from + Math.round(runs)).reduce((total, ms) => total + ms, 0);
    });
    row[key] = median(perStep);
  }
  return row;
}

const sum = (row, test) => Object.entries(row).reduce((total, [key, ms]) => total + (test(key) ? ms : 0), 0);
const edgeSum = (row, side) => sum(row, (key) => key.startsWith(`${side}: edges`));

const VARIANTS = {
  default: {},
  'steps 1': { steps: 1 },
  'steps 8': { steps: 8 },
  'lanes 4': { lanes: 4 },
  'lanes 2, steps 2': { lanes: 2, steps: 2 },
  'team 16': { team: 16 },
  'no subgroups': { subgroups: false },
  'small blocks, tiles, chunks': { block: 32, tile: 4096, chunkEdges: 1024 },
};

await part('prove', async () => {
  const rows = await proveVariants(VARIANTS, [3, 8, 30, 32, 100]);
  rows.push(
    ...(await proveVariants(
      { default: {}, 'no subgroups': { subgroups: false } },
      [1, 16, 64, 128, 257, 512],
    )),
  );
  const bad = rows.filter(({ ok }) => !ok);
  results.variants = rows;
  const most = (field) => Math.max(...rows.map((row) => row[field]));
  say(
    `${rows.length} cases against the reference: state within ${most('state')}, bound within ${most('bound')}`,
  );
  if (bad.length > 0) {
    table(bad);
    say('NOT PROVED');
    process.exitCode = 1;
  }
  const golden = process.env.GRAPHEX_GOLDEN;
  if (golden && existsSync(golden)) {
    results.golden = await proveGolden(golden);
    table(results.golden);
  }
});

const graphs = new Map();
function graphOf(name) {
  if (!graphs.has(name)) {
    const graph = skewedGraph(name, SHAPES[name], fraction);
    graphs.set(name, graph);
    const { userCount, itemCount, edges, most } = graph;
    say(`${name}: ${edges} edges, ${userCount} × ${itemCount}, longest rows ${most.users} and ${most.items}`);
  }
  return graphs.get(name);
}

const MiB = 2 ** 20;
let best = JSON.parse(process.env.TUNING ?? '{}');

/** Tries one axis after the other, each from the best so far; every try goes into the results. */
async function tune(name, features, from, axes) {
  const graph = graphOf(name);
  const tried = [];
  const measure = async (tuning, flags) => {
    const row = await kernelTimes(graph, features, tuning, flags);
    const edges = { users: edgeSum(row, 'users'), items: edgeSum(row, 'items') };
    const all = sum(row, () => true);
    tried.push({ name, features, tuning: JSON.stringify(tuning), ...edges, all, flags: flags?.join(' ') });
    return all;
  };
  let chosen = from;
  let least = await measure(from);
  for (const choices of axes) {
    const base = chosen;
    for (const choice of choices) {
      const all = await measure({ ...base, ...choice });
      if (all < least) [least, chosen] = [all, { ...base, ...choice }];
    }
  }
  // Measures the best setting once more, to show the spread, and once without the driver's bounds checks.
  await measure(chosen);
  await measure(chosen, ['enable-dawn-features=disable_workgroup_init,disable_robustness']);
  results.tuning = [...(results.tuning ?? []), ...tried];
  table(tried);
  say('best:', JSON.stringify(chosen));
  return chosen;
}

await part('tune', async () => {
  best = await tune('netflix', 32, best, [
    [
      { lanes: 8, steps: 1 },
      { lanes: 8, steps: 2 },
      { lanes: 8, steps: 8 },
      { lanes: 4, steps: 2 },
      { lanes: 4, steps: 4 },
      { lanes: 2, steps: 2 },
    ],
    [{ workgroup: 32 }, { workgroup: 64 }, { workgroup: 256 }],
    [{ block: 128 }, { block: 256 }, { block: 1024 }, { block: 2048 }],
    [{ tile: 0 }, { tile: 4 * MiB }, { tile: 8 * MiB }, { tile: 32 * MiB }],
  ]);
});

async function time(name, features, tuning, iterations) {
  const graph = graphOf(name);
  const kernels = await kernelTimes(graph, features, tuning);
  const engine = await createWebgpuEngine({ tuning });
  const start = performance.now();
  const fit = await load(engine, graph, features);
  await fit.wait();
  const loading = performance.now() - start;
  await iterate(fit, 3);
  const runs = [];
  for (let r = 0; r < 5; r++) runs.push(await iterate(fit, 20));
  // It has other kernels, which are compiled at first use, so it is warmed up like the rest.
  await iterate(fit, 3, { edgeTerm: true });
  const withTerms = [];
  for (let r = 0; r < 5; r++) withTerms.push(await iterate(fit, 20, { edgeTerm: true }));
  const long = iterations ? (await iterate(fit, iterations)) * iterations : undefined;
  await engine.close();
  const bytes = graph.edges * (4 * 4 * Math.ceil(features / 4) + 4);
  const row = {
    graph: name,
    features,
    edges: graph.edges,
    'ms per iteration': median(runs),
    spread: `${Math.min(...runs).toFixed(2)}–${Math.max(...runs).toFixed(2)}`,
    'with edge term': median(withTerms),
    'user edges ms': edgeSum(kernels, 'users'),
    'item edges ms': edgeSum(kernels, 'items'),
    'other kernels ms': sum(kernels, (key) => !key.includes('edges')),
    'user gather TB/s': bytes / edgeSum(kernels, 'users') / 1e9,
    'item gather TB/s': bytes / edgeSum(kernels, 'items') / 1e9,
    'loading s': loading / 1000,
    [`${iterations ?? ''} iterations s`]: long && long / 1000,
  };
  results.timed = [...(results.timed ?? []), { ...row, kernels }];
  table([row]);
  table([kernels]);
}

await part('netflix', async () => {
  const graph = graphOf('netflix');
  const engine = await createWebgpuEngine({ tuning: best });
  const fit = await load(engine, graph, 32);
  await fit.half.users();
  const after = await engine.read(fit.users);
  const activity = (values) => (i, k) =>
    Math.exp(
      digamma(values.weightShape[i]) -
        Math.log(values.weightRate[i]) +
        digamma(values.featureShape[i * 32 + k]) -
        Math.log(values.featureRate[i * 32 + k]),
    );
  const { users, items } = fit.values;
  const cached = cacheActivity(activity(items), graph.itemCount, 32);
  results.sampledRows = proveRows(graph.users, cached, activity(users), users, items, HYPER.users, after, 32);
  say(`sampled rows of netflix after a user half-step: within ${results.sampledRows}`);
  await engine.close();
  await time('netflix', 32, best, fraction < 1 ? 20 : 400);
  results.ceilings = await ceilings(graph, 8);
  table([results.ceilings]);
});
/** The whole fit as a user calls it: sizes learned, the bound every five iterations, copies of the state. */
await part('fit', async () => {
  const { users, items, edges } = withoutIsolated(graphOf('netflix'));
  const side = (rows) => {
    const count = rows.offsets.length - 1;
    return { ...rows, count, ids: VertexIds.range(count) };
  };
  const graph = { users: side(users), items: side(items), edges, total: edges };
  const iterations = fraction < 1 ? 20 : 400;
  let first;
  let last;
  const { model, seconds, engine } = await fitModel(
    { ...graph, multigraph: false },
    {
      ...{ engine: 'gpu', features: 32, iterations, tolerance: 1e-300 },
      onProgress: ({ done }) => {
        last = { done, at: performance.now() };
        first ??= last;
      },
    },
  );
  const legs = (last.at - first.at) / (last.done - first.done);
  results.fit = { engine, iterations: model.provenance.iterations, seconds, 'ms per iteration': legs };
  table([results.fit]);
});
await part('echonest', async () => {
  graphs.delete('netflix');
  const tiles = [{ tile: 0 }, { tile: 8 * MiB }, { tile: 32 * MiB }];
  await time('echonest', 30, parts.has('tune') ? await tune('echonest', 30, best, [tiles]) : best);
  const { lanes: _lanes, steps: _steps, ...rest } = best;
  const shapes = [
    { lanes: 8, steps: 1 },
    { lanes: 16, steps: 2 },
    { lanes: 16, steps: 4 },
    { lanes: 32, steps: 4 },
    { lanes: 32, steps: 8 },
  ];
  await time('echonest', 100, parts.has('tune') ? await tune('echonest', 100, rest, [shapes, tiles]) : rest);
});

function cacheActivity(activity, rows, features) {
  const values = new Float64Array(rows * features);
  for (let i = 0; i < rows; i++) for (let k = 0; k < features; k++) values[i * features + k] = activity(i, k);
  return (i, k) => values[i * features + k];
}

await part('crossover', async () => {
  results.crossover = [];
  for (const edges of [1e4, 1e5, 1e6, 1e7].filter((n) => n <= Math.max(1e4, 1e7 * fraction))) {
    const graph = skewedGraph('crossover', SHAPES.echonest, edges / SHAPES.echonest.edges);
    const row = { edges: graph.edges };
    for (const [name, create] of [
      ['gpu', () => createWebgpuEngine({ tuning: best })],
      ['cpu', () => createCpuEngine({})],
      ['cpu, 2 threads', () => createCpuEngine({ threads: 2 })],
    ]) {
      const start = performance.now();
      const engine = await create();
      const fit = await load(engine, graph, 32);
      await iterate(fit, 1);
      row[`${name}: start ms`] = performance.now() - start;
      row[`${name}: ms per iteration`] = await iterate(fit, edges > 5e6 ? 10 : 30);
      await engine.close();
    }
    results.crossover.push(row);
  }
  say(`${availableParallelism()} cores`);
  table(results.crossover);
});

await part('rank', async () => {
  results.rank = [];
  const { users, items } = SHAPES.netflix;
  for (const share of [0.002, 0.02, 0.2, 1]) {
    const rows = Math.round(users.count * share * fraction);
    const columns = Math.max(100, Math.round(items.count * Math.min(1, 4 * fraction)));
    // Two threads would need minutes for the whole graph.
    results.rank.push(await timeRankings(rows, columns, 32, share < 1 ? [undefined, 2] : [undefined]));
  }
  table(results.rank);
});

say('done');
process.exit();
