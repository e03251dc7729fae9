// The paper's simulated set, drawn on one and on all threads. Checks first that the threads do not change the graph and
// that its counts are those that the closed forms expect, then prints times and memory. An argument of --size N draws
// another size of both sides.

import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { fingerprint } from '../src/graph/fingerprint.js';
import { expectedLaplace } from '../src/math/quadrature.js';
import { randomStream } from '../src/math/random.js';
import { atomsAbove, sampleAtoms } from '../src/process/ggp.js';
import { expectSimulation, featureMass, PAPER_SIMULATION } from '../src/process/parameters.js';
import { simulate } from '../src/process/poisson-model.js';

const { values } = parseArgs({ options: { size: { type: 'string', default: '1200' } } });
const size = Number(values.size);
const model = {
  users: { ...PAPER_SIMULATION.users, size },
  items: { ...PAPER_SIMULATION.items, size },
  features: PAPER_SIMULATION.features,
};
const expected = expectSimulation(model, 1e-4);
/** Vertices with an edge; both sides of the model are alike. */
const vertices =
  size * expectedLaplace(model.users, new Float64Array(model.features).fill(featureMass(model.items)));

const runs = [];
for (const threads of [1, cpus().length]) {
  const start = performance.now();
  const used = process.cpuUsage();
  const { graph, belowCut } = await simulate({ ...model, threads });
  const { user, system } = process.cpuUsage(used);
  runs.push({
    threads,
    seconds: (performance.now() - start) / 1000,
    cpuSeconds: (user + system) / 1e6,
    users: graph.users.count,
    items: graph.items.count,
    edges: graph.edges,
    dust: belowCut,
    fingerprint: fingerprint(graph),
  });
}
const [one, all] = runs;
if (one.fingerprint !== all.fingerprint) throw new Error('the graph depends on the number of threads');
for (const side of ['users', 'items'] as const) {
  // The masses of the other side spread the count by 1 to 2 % at this size; 10 % would be an error.
  const ratio = one[side] / vertices;
  if (Math.abs(ratio - 1) > 0.1) throw new Error(`${one[side]} ${side}, expected ${vertices}`);
}

console.log(
  JSON.stringify({
    what: `simulate at sizes ${size}, ${expected.latentEdges.toPrecision(3)} latent edges`,
    machine: `${cpus()[0]?.model} × ${cpus().length}`,
    node: process.version,
    runs,
    peakMemoryMiB: Math.round(process.resourceUsage().maxRSS / 1024),
    nanosecondsPerAtom: timeAtoms(),
  }),
);

/** Time of one GGP atom of σ = 0.2, over about a million of them. */
function timeAtoms(): number {
  const ggp = { ...model.users, size: 10_000 };
  const cut = 1e-7;
  sampleAtoms(randomStream(1), { ...ggp, size: 1000 }, cut);
  const used = process.cpuUsage();
  const atoms = sampleAtoms(randomStream(2), ggp, cut).length;
  const { user, system } = process.cpuUsage(used);
  const nanoseconds = ((user + system) * 1000) / atoms;
  const mean = atomsAbove(ggp, cut);
  if (Math.abs(atoms - mean) > 6 * Math.sqrt(mean)) throw new Error(`${atoms} atoms, expected ${mean}`);
  return Math.round(nanoseconds);
}
