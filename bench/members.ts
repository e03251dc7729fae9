// Members of a ranker, fitted one after the other and concurrently. Checks that the bits are the same, then prints seconds, CPU
// seconds and memory of each, in turns.
//
//   npm run build && node --expose-gc scripts/run-ts.js bench/members.ts [set] [features=512] [average=4] [engine=cpu] [threads=N] [rounds=2] [1 2 4 …]
//
// The last arguments are numbers of concurrent members; `auto` is what a fit chooses. Default: 1 2 4 auto.

import { cpus } from 'node:os';
import { fitRanking } from '../src/fit/ranking/fit-ranking.js';
import { readGraph } from '../src/ingest/read.js';
import { ENGINE_NAMES } from '../src/options/names.js';
import { modelState } from '../src/store/model-state.js';
import { SETS } from './sets.js';

const words = process.argv.slice(2);
const said = (name: string) => words.find((word) => word.startsWith(`${name}=`))?.split('=')[1];
const number = (name: string, otherwise: number) => Number(said(name) ?? otherwise);
const set = words.find((word) => word in SETS) ?? 'goodbooks';
const engine = ENGINE_NAMES.find((name) => name === said('engine')) ?? 'cpu';
const numbers = words.filter((word) => /^(\d+|auto)$/.test(word));
const laneCounts = numbers.length > 0 ? numbers : ['1', '2', '4', 'auto'];
const threads = said('threads') === undefined ? undefined : number('threads', 1);

const { graph } = await readGraph(SETS[set]);
const options = {
  ...{ features: number('features', 512), average: number('average', 4), seed: 1 },
  ...{ blend: false, engine, threads },
};
console.log(`${cpus()[0]?.model} × ${cpus().length}, Node ${process.version}; ${set}, ${graph.edges} edges`);
let proof: string | undefined;
for (let round = 0; round < number('rounds', 2); round++) {
  for (const lanes of laneCounts) {
    globalThis.gc?.();
    const cpu = process.cpuUsage();
    const began = performance.now();
    const result = await fitRanking(graph, options, lanes === 'auto' ? undefined : Number(lanes));
    const seconds = (performance.now() - began) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const state = modelState(result.model);
    proof ??= state;
    if (state !== proof) throw new Error(`${lanes} fitted concurrently have other bits`);
    console.log(
      JSON.stringify({
        concurrent: lanes,
        round,
        seconds: Number(seconds.toFixed(2)),
        cpuSeconds: Number(((user + system) / 1e6).toFixed(1)),
        residentMiB: Math.round(process.memoryUsage().rss / 2 ** 20),
        engine: result.engine,
        state: state.slice(0, 12),
      }),
    );
  }
}
process.exit(0);
