// How often is the verdict of `graphex check` right? Simulated graphs of known σ, everything else drawn at random: the
// other side's σ, the number of features, their shapes, the ratio of the sizes, and 10,000 edges or more.
//
//   npm run build && node scripts/run-ts.js bench/verdict.ts [graphs] [seed] [least edges]
//
// Prints, for each true σ, the share of the sides called sparse, dense and unclear, and the middle 90 % of the
// estimates. The rates in docs/sparsity.md come from it.

import { type BipartiteGraph, degrees } from '../src/graph/graph.js';
import { randomStream } from '../src/math/random.js';
import { simulate } from '../src/process/poisson-model.js';
import { countDegrees } from '../src/sparsity/degree-counts.js';
import { type TailIndex, tailIndexOfCounts } from '../src/sparsity/tail-index.js';
import { type SideVerdict, sparsityVerdict } from '../src/sparsity/verdict.js';

const [graphs = 300, seed = 2, leastEdges = 10_000] = process.argv.slice(2).map(Number);
const SIGMAS = [-0.5, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.6];

interface Outcome {
  readonly verdict: SideVerdict;
  readonly index: TailIndex;
}
const outcomes = new Map<number, Outcome[]>(SIGMAS.map((sigma) => [sigma, []]));

for (let g = 0; g < graphs; g++) {
  const random = randomStream(seed, g);
  const pick = (values: readonly number[]) => values[random.below(values.length)];
  const sigma = { users: pick(SIGMAS), items: pick(SIGMAS) };
  const shape = { users: pick([0.1, 0.3, 1]), items: pick([0.1, 0.3, 1]) };
  const features = pick([5, 10, 30, 100]);
  const ratio = 4 ** (random.uniform() - 0.5);
  const edges = leastEdges * 10 ** random.uniform();
  const draw = async (size: number) => {
    const side = (name: 'users' | 'items', own: number) => ({
      sigma: sigma[name],
      tau: 1,
      shape: shape[name],
      rate: shape[name],
      size: own,
    });
    const users = side('users', size * ratio);
    const items = side('items', size / ratio);
    return (await simulate({ users, items, features, seed: seed * 1_000_003 + g, threads: 1 })).graph;
  };
  const graph = await growUntil(edges, Math.sqrt(edges / features), draw);
  const counts = { users: countDegrees(degrees(graph.users)), items: countDegrees(degrees(graph.items)) };
  const index = { users: tailIndexOfCounts(counts.users), items: tailIndexOfCounts(counts.items) };
  const verdict = sparsityVerdict(counts, index);
  for (const side of ['users', 'items'] as const) {
    outcomes.get(sigma[side])!.push({ verdict: verdict[side], index: index[side] });
  }
}

/** Finds the sizes that give the wanted number of edges by trying, because equal edges merge. */
async function growUntil(
  edges: number,
  start: number,
  draw: (size: number) => Promise<BipartiteGraph>,
): Promise<BipartiteGraph> {
  for (let size = start; ; ) {
    const graph = await draw(size);
    if (graph.edges >= edges) return graph;
    size *= Math.min(2, Math.max(1.1, 1.05 * Math.sqrt(edges / Math.max(1, graph.edges))));
  }
}

const percent = (list: readonly Outcome[], verdict: SideVerdict) =>
  `${((100 * list.filter((o) => o.verdict === verdict).length) / list.length).toFixed(1)} %`;
const range = (values: readonly (number | undefined)[]) => {
  const sorted = values.filter((v) => v !== undefined).sort((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(2);
  return `${at(0.05)} … ${at(0.95)}`;
};
console.log(`${graphs} graphs of ${leastEdges} edges or more, both sides of each, seed ${seed}\n`);
console.log('| true σ | sides | sparse | dense | unclear | σ̂ at ½ | all degrees | low degrees |');
console.log('|---|---|---|---|---|---|---|---|');
for (const [sigma, list] of outcomes) {
  if (list.length === 0) continue;
  const row = [
    sigma,
    list.length,
    percent(list, 'sparse'),
    percent(list, 'dense'),
    percent(list, 'unclear'),
    range(list.map((o) => o.index.half)),
    range(list.map((o) => o.index.likelihood?.estimate)),
    range(list.map((o) => o.index.lowDegrees?.estimate)),
  ];
  console.log(`| ${row.join(' | ')} |`);
}
const share = (test: (sigma: number) => boolean, verdict: SideVerdict) => {
  const list = [...outcomes].filter(([sigma]) => test(sigma)).flatMap(([, found]) => found);
  const right = list.filter((o) => o.verdict === verdict).length;
  const wrong = list.filter((o) => o.verdict !== verdict && o.verdict !== 'unclear').length;
  return `${right} of ${list.length} right (${((100 * right) / list.length).toFixed(1)} %), ${wrong} wrong`;
};
console.log(`\ndense, σ ≤ −0.1: ${share((s) => s <= -0.1, 'dense')}`);
console.log(`sparse, σ ≥ 0.2: ${share((s) => s >= 0.2, 'sparse')}`);
