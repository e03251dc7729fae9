// How good are the forecasts? One side of each data set is thinned at random to 1/2, 1/5 and 1/10. From what is left, every
// estimator predicts how many vertices of the other side the whole set has, with the interval that `graphex forecast` would
// give: widened by its own back-tests on what is left. Prints the tables of docs/appendix/forecast.md.
//   node scripts/run-ts.js bench/forecast.ts [--thinnings 20] [--model THINNINGS] [SET …]

import { existsSync } from 'node:fs';
import { fit } from '../src/fit/fit.js';
import { backtest, unexplainedError } from '../src/forecast/backtest.js';
import { ESTIMATOR_NAMES, type EstimatorName } from '../src/forecast/estimators.js';
import { drawGrowth } from '../src/forecast/model-draws.js';
import { countInterval, project } from '../src/forecast/project.js';
import { type BipartiteGraph, otherSide, SIDES, type SideName } from '../src/graph/graph.js';
import { selectVertices } from '../src/graph/subgraph.js';
import { readGraph } from '../src/ingest/read.js';
import { randomStream } from '../src/math/random.js';
import { drawAssignment } from '../src/sample/pq.js';
import { setsNamed } from './sets.js';

const SETS: Readonly<Record<string, string>> = {
  '@sotu': '@sotu',
  ...setsNamed('online-retail', 'julia-general', 'movietweetings', 'goodbooks', 'acl-abstracts'),
  '@simulated': '@simulated',
  '@simulated-small': '@simulated-small',
};
const TIMES = [2, 5, 10];
const TRIALS = 10;

const args = process.argv.slice(2);
const option = (name: string, otherwise: number) => {
  const at = args.indexOf(name);
  return at < 0 ? otherwise : Number(args.splice(at, 2)[1]);
};
const thinnings = option('--thinnings', 20);
const modelThinnings = option('--model', 0);
const names = args.length > 0 ? args : Object.keys(SETS);

type Name = EstimatorName | 'model';
interface Cell {
  readonly errors: number[];
  held: number;
}
const overall = new Map<string, { held: number; of: number }>();
const worse: string[] = [];

for (const name of names) {
  if (!SETS[name].startsWith('@') && !existsSync(SETS[name])) continue;
  const { graph } = await readGraph(SETS[name]);
  for (const growing of SIDES) {
    for (const times of TIMES) report(name, graph, growing, times, await tryThinnings(graph, growing, times));
  }
}
console.log('\n| estimator | ×2 | ×5 | ×10 |\n|---|---|---|---|');
for (const name of [...ESTIMATOR_NAMES, 'model']) {
  const cell = (times: number) => {
    const found = overall.get(`${name} ${times}`);
    return found ? `${((100 * found.held) / found.of).toFixed(0)} % of ${found.of}` : '–';
  };
  console.log(`| ${name} | ${TIMES.map(cell).join(' | ')} |`);
}
console.log(`\nlowDegrees worse than a smoothed Good–Toulmin at ×5: ${worse.join('; ') || 'nowhere'}`);

async function tryThinnings(
  graph: BipartiteGraph,
  growing: SideName,
  times: number,
): Promise<Map<Name, Cell>> {
  const counted = otherSide(growing);
  const cells = new Map<Name, Cell>();
  const add = (name: Name, value: number, low: number, high: number) => {
    const cell = cells.get(name) ?? { errors: [], held: 0 };
    const truth = graph[counted].count;
    cell.errors.push(value / truth - 1);
    if (truth >= low && truth <= high) cell.held++;
    cells.set(name, cell);
  };
  for (let thinning = 0; thinning < thinnings; thinning++) {
    const random = randomStream(17, times, thinning);
    const kept = drawAssignment(graph[growing].count, 1 / times, random);
    const all = new Uint8Array(graph[counted].count).fill(1);
    const part = growing === 'users' ? selectVertices(graph, kept, all) : selectVertices(graph, all, kept);
    const growth = graph[growing].count / kept.reduce((sum, k) => sum + k, 0);
    const side = { own: part[growing], other: part[counted] };
    const { projections } = project(side, [growth], random.derive(1));
    const [tried] = await backtest(side, [times], TRIALS, random.derive(2));
    for (const estimator of ESTIMATOR_NAMES) {
      const predicted = projections[0].vertices[estimator];
      if (!predicted) continue;
      const error = Math.hypot(
        predicted.error,
        predicted.value * unexplainedError(tried.estimators[estimator]),
      );
      const { low, high } = countInterval({ value: predicted.value, error }, part[counted].count);
      add(estimator, predicted.value, low, high);
    }
    if (thinning < modelThinnings) {
      const { model } = await fit(part, { features: 10, iterations: 60 });
      const [drawn] = await drawGrowth(model, growing, [growth], { draws: 20, seed: thinning + 1 });
      add('model', drawn.mean, drawn.low, drawn.high);
    }
  }
  return cells;
}

function report(
  set: string,
  graph: BipartiteGraph,
  growing: SideName,
  times: number,
  cells: Map<Name, Cell>,
): void {
  const counted = otherSide(growing);
  const rms = (name: Name) => {
    const errors = cells.get(name)?.errors ?? [];
    return Math.sqrt(errors.reduce((sum, e) => sum + e * e, 0) / errors.length);
  };
  const columns = ([...ESTIMATOR_NAMES, 'model'] as Name[]).map((name) => {
    const cell = cells.get(name);
    if (!cell) return '–';
    const n = cell.errors.length;
    const total = overall.get(`${name} ${times}`) ?? { held: 0, of: 0 };
    overall.set(`${name} ${times}`, { held: total.held + cell.held, of: total.of + n });
    const mean = cell.errors.reduce((sum, e) => sum + e, 0) / n;
    const spread = Math.sqrt(cell.errors.reduce((sum, e) => sum + (e - mean) ** 2, 0) / Math.max(1, n - 1));
    const percent = (x: number) => (100 * x).toFixed(1).replace('-', '−');
    return `${percent(mean)} ± ${percent(spread)} (${Math.round((100 * cell.held) / n)})`;
  });
  console.log(`| ${set}, ${counted} (${graph[counted].count}) | ×${times} | ${columns.join(' | ')} |`);
  if (times === 5) {
    for (const other of ['efronThisted', 'smoothedBinomial', 'smoothedPoisson'] as const) {
      if (rms('lowDegrees') > rms(other))
        worse.push(`${set} ${counted}: ${rms('lowDegrees').toFixed(4)} > ${other} ${rms(other).toFixed(4)}`);
    }
  }
}
