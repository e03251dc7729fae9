// Does every seed reach the best optimum, on the CPU and on the GPU? First the golden files on the GPU, then fits of a fresh
// simulated set from several seeds: bound, iterations and seconds. SIZE 1250 has 10.8 million edges (default), 400 has 1.1 million.
// Reads dist/ (npm run build) and, if it is there, the folder named by GRAPHEX_GOLDEN.
//
//   SIZE=1250 SEEDS=4 ENGINES=gpu,cpu node bench/gpu/seeds.mjs

import { existsSync } from 'node:fs';
import { webgpuAvailability } from '../../dist/engine/webgpu/device.js';
import { fit } from '../../dist/fit/fit.js';
import { simulate } from '../../dist/process/poisson-model.js';
import { split } from '../../dist/sample/split.js';
import { proveGolden } from './prove.mjs';

const began = performance.now();
const seconds = (since) => ((performance.now() - since) / 1000).toFixed(1);
const say = (...words) => console.log(`[${seconds(began)} s]`, ...words);
const { SIZE = '1250', SEEDS = '4', ENGINES = 'gpu,cpu', GRAPHEX_GOLDEN: golden } = process.env;
const { available, description, reason } = await webgpuAvailability();
say(available ? description : `no GPU: ${reason}`);

if (golden && existsSync(golden)) {
  for (const { file, bound, fall, state } of await proveGolden(golden)) {
    say(
      `${file}: largest relative difference of a state ${state.toExponential(1)}, of the bound ${bound.toExponential(1)}`,
    );
    if (!(state < 1e-4 && bound < 1e-5 && fall < 1e-6)) process.exitCode = 1;
  }
}

const side = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size: Number(SIZE) };
const { graph } = await simulate({ users: side, items: side, features: 30, seed: 5 });
const { train } = split(graph, { testUsers: 0.2, testItems: 0.2, seed: 1 });
say(`${graph.edges} edges, ${train.edges} in the training part`);
const bounds = [];
for (const engine of ENGINES.split(',')) {
  for (let seed = 1; seed <= Number(SEEDS); seed++) {
    const start = performance.now();
    const { model, threads } = await fit(train, { features: 30, seed, engine });
    const { iterations, converged } = model.provenance;
    bounds.push(model.bound);
    say(
      `${engine}, seed ${seed}: bound ${Math.round(model.bound)}, ${iterations} iterations${converged ? '' : ' (not converged)'}, ` +
        `${seconds(start)} s, ${threads} threads`,
    );
  }
}
const best = Math.max(...bounds);
const below = bounds.map((bound) => (100 * (best - bound)) / Math.abs(best));
say(`the best bound is ${Math.round(best)}; the farthest fit is ${Math.max(...below).toFixed(4)} % below it`);
if (Math.max(...below) > 0.1) process.exitCode = 1;
process.exit();
