// What benches of the server share: a model of random means, users, a server in a process of its own, and clients who send
// the next request immediately.

import { type ChildProcess, spawn } from 'node:child_process';
import autocannon from 'autocannon';
import type { Ranker } from '../src/fit/model.js';
import { VertexIds } from '../src/graph/ids.js';
import { gamma } from '../src/math/distributions.js';
import { allocate } from '../src/math/memory.js';
import { randomStream } from '../src/math/random.js';
import { VERSION } from '../src/version.js';

export const LIKES = 20;
export const N = 20;
export const CLIENTS = 16;

/** A ranker of random means. The work of a server does not depend on their values. */
export function randomRanker(items: number, features: number): Ranker {
  const random = randomStream(1, items, features);
  const means = allocate(Float32Array, items * features);
  for (let i = 0; i < means.length; i++) means[i] = gamma(random, 0.3) * 0.01;
  const hyper = { sigma: 0.2, tau: 1, shape: 1 / features, rate: 1, size: 1000 };
  return {
    type: 'ranker',
    method: 'ranking',
    multigraph: false,
    users: { count: 1, ids: VertexIds.range(1), degree: Uint32Array.of(items) },
    items: { count: items, ids: VertexIds.range(items), degree: new Uint32Array(items).fill(1) },
    scores: {
      kind: 'factors',
      members: [
        {
          features,
          items: means,
          users: undefined,
          userMass: new Float64Array(features).fill(1),
          fold: { kind: 'poisson', steps: 3, hyper: { users: hyper, items: hyper } },
          seed: 1,
          iterations: 1,
          converged: true,
        },
      ],
    },
    seen: {
      offsets: Uint32Array.of(0, items),
      neighbors: Uint32Array.from({ length: items }, (_, item) => item),
      counts: undefined,
    },
    provenance: {
      version: VERSION,
      seed: 1,
      fingerprint: '0',
      options: {},
      iterations: 1,
      converged: true,
    },
  };
}

export function histories(items: number, count: number): number[][] {
  const random = randomStream(2, items);
  return Array.from({ length: count }, () => [
    ...new Set(Array.from({ length: LIKES }, () => random.below(items))),
  ]);
}

/** `graphex serve` in a process of its own. */
export async function startServer(
  path: string,
  flags: readonly string[] = [],
  program = 'bin/graphex.js',
): Promise<{ process: ChildProcess; url: string }> {
  const child = spawn(
    process.execPath,
    [program, 'serve', path, '--port', '0', '--json', '--quiet', ...flags],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const line = await new Promise<string>((resolve) =>
    child.stdout?.once('data', (data) => resolve(String(data))),
  );
  return { process: child, url: JSON.parse(line).url };
}

export const body = (likes: readonly number[]) => JSON.stringify({ likes, n: N });

export async function shoot(
  url: string,
  path: string,
  bodies: readonly string[],
  options: Partial<autocannon.Options> & { readonly duration: number },
) {
  let next = 0;
  return autocannon({
    url: `${url}${path}`,
    connections: CLIENTS,
    requests: [
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        setupRequest: (request) => ({ ...request, body: bodies[next++ % bodies.length] }),
      },
    ],
    ...options,
  });
}
