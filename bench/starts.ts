// Which start is best? It compares starts by the bound they reach and by recall on held-out users.
//
//   node scripts/run-ts.js bench/starts.ts [set …]      (simulated-small, online-retail, movietweetings, goodbooks, …)

import { existsSync } from 'node:fs';
import { evaluateModel } from '../src/evaluate/evaluate.js';
import { ascend } from '../src/fit/ascent/ascent.js';
import type { AscentOptions } from '../src/fit/options.js';
import { readGraph } from '../src/ingest/read.js';
import { split } from '../src/sample/split.js';
import { setsNamed } from './sets.js';

const SETS = setsNamed('simulated-small', 'online-retail', 'movietweetings', 'julia-general', 'goodbooks');
const STARTS: Record<string, Omit<AscentOptions, 'features'>> = {
  cold: { start: 'cold' },
  warm: { start: 'warm' },
  'warm, best of 4': { start: 'warm', restarts: 4 },
};
const wanted = process.argv.slice(2);

console.log(
  '| set | start | bound | iterations | capped recall@20 | nDCG | seconds |\n|---|---|---|---|---|---|---|',
);
for (const [name, source] of Object.entries(SETS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  if (!source.startsWith('@') && !existsSync(source)) {
    console.log(`| ${name} | skipped: no ${source} | | | | | |`);
    continue;
  }
  const { graph } = await readGraph(source);
  const parts = split(graph, { testUsers: 0.2, testItems: 0.2, seed: 1 });
  for (const [start, options] of Object.entries(STARTS)) {
    const began = performance.now();
    const { model } = await ascend(parts.train, { features: 30, engine: 'cpu', ...options });
    const seconds = (performance.now() - began) / 1000;
    const { ranking } = await evaluateModel(model, parts, { draws: 0 });
    const { recallCapped: recall, ndcg } = ranking.all.mean;
    console.log(
      `| ${name} | ${start} | ${model.bound!.toFixed(0)} | ${model.provenance.iterations} | ${recall.toFixed(4)} | ` +
        `${ndcg.toFixed(4)} | ${seconds.toFixed(1)} |`,
    );
  }
}
