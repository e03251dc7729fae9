// What tuned constants are worth: fits with each constant at other values, on held-back users of training parts.
//
//   DIST=dist DATA=../shared/data SEED=1 node bench/constants.mjs [seconds=330] [lanes=16] [only=NAME,…] [sets=NAME,…]
//
// A variant is a copy of DIST in which one constant has another value. Each process runs one fit on one thread. The table has one
// row a variant: quality and CPU time compared with the built-in value, on each set.

import { execFileSync, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const DIST = resolve(process.env.DIST ?? 'dist');
const DATA = process.env.DATA ?? '../shared/data';
const SEED = Number(process.env.SEED ?? 1);
const SETS = {
  'online-retail': `${DATA}/online-retail/customer_product_qty.tsv.gz`,
  'julia-general': `${DATA}/julia-general/package_depends.tsv.gz`,
  movietweetings: `${DATA}/movietweetings/ratings.dat.gz`,
  citeulike: `${DATA}/citeulike/user_article.tsv.gz`,
  sotu: '@sotu',
  'simulated-small': '@simulated-small',
};

/** What is measured, the file, the text of the constant, and the text that replaces it. */
const RANK = 'rank';
const CONSTANTS = [
  [RANK, 'fit/ranking/member', 'const LEAST_SWEEPS = 15', ['0', '30']],
  [RANK, 'fit/ranking/blend/held-back', 'most: 2000', ['most: 500', 'most: 8000']],
  [RANK, 'fit/ranking/blend/held-back', 'const EDGES = 1e6', ['5e4', '1e5']],
  [RANK, 'fit/ranking/blend/blend', 'export const LEAST_TO_LEAVE_OUT = 200', ['0', '1e9']],
  [RANK, 'fit/ranking/blend/item-weights', 'const SIMILAR = 400', ['200', '800']],
  [RANK, 'fit/ranking/blend/item-weights', 'const EXPONENTS = 0.8', ['0.4', '1.2']],
  [
    RANK,
    'fit/ranking/blend/item-weights',
    'neighbours: 10, dropout',
    ['neighbours: 5, dropout', 'neighbours: 20, dropout'],
  ],
  [
    RANK,
    'fit/ranking/blend/item-weights',
    'neighbours: 10, dropout: 0.5',
    ['neighbours: 10, dropout: 0.25', 'neighbours: 10, dropout: 1'],
  ],
  [RANK, 'fit/fold-in/fold-in', 'const RANKING_STEPS = 3', ['2', '6']],
  [RANK, 'solvers/least-squares', 'const STEPS = 3', ['2', '6']],
  [RANK, 'solvers/least-squares', 'const FOLD_TOLERANCE = 1e-5', ['1e-3', '1e-7']],
  [RANK, 'solvers/item-regression', 'const TOLERANCE = 1e-4', ['1e-3', '1e-5']],
  [RANK, 'solvers/item-regression', 'const MAX_STEPS = 200', ['25', '1000']],
  [RANK, 'solvers/item-regression-tasks', 'const SAMPLE = 1024', ['256', '4096']],
  [RANK, 'solvers/item-regression-inputs', 'const TYPICAL_NEIGHBOURS = 100', ['25', '400']],
  [RANK, 'solvers/pair-counts', 'const MASKS_PER_COUNT = 1.5', ['0.5', '4.5']],
  [RANK, 'solvers/pair-counts', 'const COLUMNS_PER_COUNT = 0.014', ['0.004', '0.05']],
  [RANK, 'solvers/user-weights', 'const CLASSES = 8', ['4', '12']],
  [RANK, 'solvers/user-weights', 'const HEAVY = 0.99', ['0.9', '1']],
  ['refit', 'fit/ranking/member', 'const PREVIOUS_SWEEPS = 2', ['1', '8']],
  ['refit', 'fit/ranking/member', 'const PREVIOUS_CHANGE = 20', ['5', '80']],
  [
    'refit',
    'fit/ranking/blend/blend',
    'iterations: 2, momentum',
    ['iterations: 1, momentum', 'iterations: 6, momentum'],
  ],
  ['features', 'fit/choose/features', 'const KEPT = 0.5', ['0.35', '0.7']],
  ['features', 'fit/choose/features', 'const SWEEPS = 30', ['15', '60']],
  ['evidence', 'fit/choose/sparsity-evidence', 'const MOST_ITERATIONS = 100', ['50', '200']],
  ['sides', 'fit/sides/side-prior', 'const CLEAR = 2', ['1', '4']],
  ['sides', 'fit/sides/side-prior', 'const INTERVAL_DRAWS = 2000', ['500', '8000']],
  ['sides', 'fit/sides/size-posterior', 'const STEP = 0.2', ['0.1', '0.4']],
  ['sides', 'fit/sides/size-posterior', 'const PRIOR_SPREAD = 1.5', ['0.75', '3']],
  ['sides', 'fit/sides/size-posterior', 'const POINTS = 200', ['100', '400']],
  ['sides', 'fit/sides/size-posterior', 'const RANGE = 25', ['12', '50']],
  ['counts', 'fit/choose/counts', 'const MOST_EDGES = 40_000', ['20_000', '80_000']],
  ['counts', 'fit/choose/counts', 'const TOO_MANY = 0.07', ['0.035', '0.14']],
  ['counts', 'fit/choose/counts', 'const SWEEPS = 40', ['20', '80']],
  ['counts', 'fit/choose/counts', 'const MOST_FEATURES = 30', ['15', '60']],
  ['counts', 'fit/choose/counts', 'const HELD_BACK = 0.2', ['0.1', '0.4']],
  ['counts', 'fit/sides/count-prior', 'const TOLERANCE = 1e-6', ['1e-5', '1e-7']],
];
const SETS_OF = {
  rank: ['online-retail', 'julia-general', 'movietweetings', 'citeulike', 'sotu'],
  refit: ['online-retail', 'julia-general', 'movietweetings'],
  features: ['online-retail', 'julia-general', 'movietweetings', 'simulated-small'],
  evidence: ['online-retail', 'julia-general', 'movietweetings', 'simulated-small'],
  sides: ['online-retail', 'julia-general', 'movietweetings', 'sotu', 'simulated-small'],
  counts: ['online-retail', 'sotu'],
};

if (process.argv[2] === 'child') await measure(...process.argv.slice(3));
else await main();

/** One fit: prints quality, outcome and CPU seconds as JSON. */
async function measure(dist, kind, set) {
  const library = await import(join(dist, 'index.js'));
  const at = (path) => import(join(dist, path));
  const counted = kind === 'counts';
  const { graph } = await library.readGraph(SETS[set], { threads: 1, multigraph: counted });
  const options = { engine: 'cpu', threads: 1, seed: SEED };
  // Constants are not chosen on test parts: the training part is split again.
  const inner = library.split(library.split(graph, { seed: 1 }).train, { seed: SEED + 1 });
  const ranking = { ...options, method: 'ranking', features: 50, average: 1 };
  let began = process.cpuUsage();
  let quality;
  let outcome = '';
  if (kind === 'rank' || kind === 'refit') {
    let fitted;
    if (kind === 'rank') fitted = await library.fit(inner.train, ranking);
    else {
      const before = await library.fit(library.thin(inner.train, { users: 0.8, seed: 3 }), ranking);
      began = process.cpuUsage();
      fitted = await library.fit(inner.train, { ...ranking, from: before.model });
    }
    const spent = process.cpuUsage(began);
    const { ranking: found } = await library.evaluateModel(fitted.model, inner, { threads: 1, draws: 0 });
    quality = (found.all.mean.recall + found.all.mean.ndcg) / 2;
    return say(quality, '', spent);
  }
  if (kind === 'features') {
    const { model } = await library.fit(inner.train, { ...options, features: 'auto' });
    outcome = `K = ${model.features}`;
    quality = model.bound;
  } else if (kind === 'evidence') {
    const asked = { ...options, features: 10 };
    const fitted = await library.fit(inner.train, asked);
    const evidence = await library.sparsityEvidence(inner.train, fitted, asked);
    quality = evidence?.difference ?? 0;
    outcome = quality > 0 ? 'sparse' : 'dense';
  } else if (kind === 'sides') {
    const { model } = await library.fit(inner.train, { ...options, features: 10 });
    const { describeSides } = await at('fit/sides/side-prior.js');
    began = process.cpuUsage();
    const report = describeSides(model);
    const { low, high } = report.users.sizeInterval ?? {};
    outcome = `${report.users.kind}, ${report.items.kind}`;
    quality = low === undefined ? model.bound : Math.log(high / low);
  } else {
    const { chooseCounts } = await at('fit/choose/counts-model.js');
    const { fitCounts } = await at('fit/sides/count-prior.js');
    const choice = await chooseCounts(inner.train, { ...options, features: 20 });
    outcome = choice.model;
    quality = choice.evidence?.pairs ?? fitCounts(inner.train).bound;
  }
  say(quality, outcome, process.cpuUsage(began));
}

function say(quality, outcome, { user, system }) {
  console.log(JSON.stringify({ quality, outcome, seconds: (user + system) / 1e6 }));
  process.exit(0);
}

async function main() {
  const said = (name) => process.argv.find((word) => word.startsWith(`${name}=`))?.slice(name.length + 1);
  const end = Date.now() + 1000 * Number(said('seconds') ?? 330);
  const only = said('only')?.split(',');
  const sets = said('sets')?.split(',');
  const root = mkdtempSync(join(tmpdir(), 'graphex-constants-'));
  let modules = dirname(DIST);
  while (!existsSync(join(modules, 'node_modules')) && modules !== '/') modules = dirname(modules);
  symlinkSync(join(modules, 'node_modules'), join(root, 'node_modules'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  const first = join(root, 'first');
  cpSync(DIST, join(first, 'dist'), { recursive: true });

  const variant = (name, file, from, to) => {
    const folder = join(root, name);
    mkdirSync(folder);
    execFileSync('cp', ['-al', join(first, 'dist'), join(folder, 'dist')]);
    const path = join(folder, 'dist', `${file}.js`);
    const text = readFileSync(path, 'utf8');
    if (text.split(from).length !== 2)
      throw new Error(`${file}: "${from}" stands there ${text.split(from).length - 1} times`);
    rmSync(path);
    writeFileSync(path, text.replace(from, to));
    return join(folder, 'dist');
  };
  const jobs = [];
  let variants = 0;
  const wanted = ([, , from]) => !only || only.some((name) => from.includes(name));
  const chosen = CONSTANTS.filter(wanted);
  for (const kind of new Set(chosen.map(([kind]) => kind)))
    for (const set of SETS_OF[kind])
      jobs.push({ kind, set, row: `${kind} as built`, dist: join(first, 'dist') });
  for (const [kind, file, from, values] of chosen) {
    for (const value of values) {
      const [, name] = /^const (\w+) = /.exec(from) ?? [];
      const to = name ? `const ${name} = ${value}` : value;
      const row = `${file}: ${from.replace('const ', '')} → ${value}`;
      try {
        const dist = variant(`v${variants++}`, file, from, to);
        for (const set of SETS_OF[kind]) jobs.push({ kind, set, row, dist });
      } catch (error) {
        console.log(`not measured: ${error.message}`);
      }
    }
  }
  const results = new Map();
  const queue = jobs.filter(({ set }) => !sets || sets.includes(set));
  // Runs the sets one after the other, so that compared variants run at the same time.
  queue.sort((a, b) => Object.keys(SETS).indexOf(a.set) - Object.keys(SETS).indexOf(b.set));
  const lane = async () => {
    for (let job = queue.shift(); job && Date.now() < end; job = queue.shift()) {
      const out = await run(job, end - Date.now());
      results.set(`${job.row} ${job.set}`, out);
    }
  };
  await Promise.all(Array.from({ length: Number(said('lanes') ?? availableParallelism()) }, lane));
  const percent = (x) => `${x >= 0 ? '+' : '−'}${Math.abs(100 * x).toFixed(2)} %`;
  for (const kind of new Set(chosen.map(([kind]) => kind))) {
    const names = SETS_OF[kind].filter((set) => !sets || sets.includes(set));
    console.log(`\n${kind}\n| constant | ${names.join(' | ')} |`);
    for (const row of new Set(jobs.filter((job) => job.kind === kind).map((job) => job.row))) {
      const cells = names.map((set) => {
        const base = results.get(`${kind} as built ${set}`);
        const one = results.get(`${row} ${set}`);
        if (!one || !base) return '';
        if (one.error) return one.error;
        if (row.endsWith('as built'))
          return `${one.quality?.toPrecision(5)} ${one.outcome}, ${one.seconds.toFixed(1)} s`;
        const same = one.outcome === base.outcome ? '' : ` ${one.outcome}`;
        return `${percent((one.quality - base.quality) / Math.abs(base.quality))}${same}, ${(one.seconds / base.seconds).toFixed(2)}`;
      });
      console.log(`| ${row} | ${cells.join(' | ')} |`);
    }
  }
  console.log(`${queue.length} fits were left for want of time`);
  rmSync(root, { recursive: true, force: true });
  process.exit(0);
}

function run({ dist, kind, set }, left) {
  return new Promise((done) => {
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), 'child', dist, kind, set], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, DIST: dist },
    });
    let out = '';
    let errors = '';
    child.stdout.on('data', (text) => (out += text));
    child.stderr.on('data', (text) => (errors += text));
    const timer = setTimeout(() => child.kill('SIGKILL'), Math.max(1000, left));
    child.on('close', () => {
      clearTimeout(timer);
      try {
        done(JSON.parse(out));
      } catch {
        done({
          error:
            errors
              .split('\n')
              .find((line) => /^\w*Error/.test(line))
              ?.slice(0, 80) ?? 'stopped',
        });
      }
    });
  });
}
