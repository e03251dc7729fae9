// How often is the audit right? The bench plants faults of known kinds in splits of simulated and real data, and makes clean
// splits for comparison. It prints hits (the right check reports the fault) and false alarms (a clean split with any verdict but
// "fine"). The table of docs/audit.md comes from it.
//   node scripts/run-ts.js bench/audit.ts [--seeds 10] [SET …]

import { existsSync } from 'node:fs';
import { type AuditOptions, auditSplit } from '../src/audit/audit.js';
import type { CheckName } from '../src/audit/checks.js';
import type { SplitTables } from '../src/evaluate/table-task.js';
import { buildGraph } from '../src/graph/build.js';
import { type BipartiteGraph, degrees } from '../src/graph/graph.js';
import { VertexIds } from '../src/graph/ids.js';
import { selectEdges, selectVertices } from '../src/graph/subgraph.js';
import { readGraph } from '../src/ingest/read.js';
import { randomStream } from '../src/math/random.js';
import { simulate } from '../src/process/poisson-model.js';
import { drawAssignment } from '../src/sample/pq.js';
import { split } from '../src/sample/split.js';
import { setsNamed } from './sets.js';

const SETS: Readonly<Record<string, string>> = {
  '@sotu': '@sotu',
  ...setsNamed('online-retail', 'julia-general', 'movietweetings'),
  simulated: '@',
};
const args = process.argv.slice(2);
const at = args.indexOf('--seeds');
const seeds = at < 0 ? 10 : Number(args.splice(at, 2)[1]);
const names = args.length > 0 ? args : Object.keys(SETS);

interface Planted {
  readonly parts: SplitTables;
  readonly options?: AuditOptions;
}
interface Case {
  readonly title: string;
  /** The checks that should report a fault. Empty: none should. */
  readonly wanted: readonly CheckName[];
  readonly make: (graph: BipartiteGraph, seed: number) => Planted | undefined;
}

const CASES: readonly Case[] = [
  {
    title: 'clean: users and items at random, with the assignment',
    wanted: [],
    make: (graph, seed) => {
      const parts = split(graph, { seed });
      return { parts, options: { assignment: parts.assignment } };
    },
  },
  {
    title: 'clean: the same, the three tables alone',
    wanted: [],
    make: (graph, seed) => ({ parts: split(graph, { seed }) }),
  },
  {
    title: 'clean: by time, everything after a date is test',
    wanted: [],
    make: (graph, seed) => byTime(graph, seed, false),
  },
  {
    title: '2 % of the test pairs are in training too',
    wanted: ['overlap'],
    make: (graph, seed) => {
      const { train, foldIn, test } = split(graph, { seed });
      const copied = selectEdges(test, drawAssignment(test.edges, 0.02, randomStream(seed, 1)), 1);
      return copied.edges === 0 ? undefined : { parts: { train: union(train, copied), foldIn, test } };
    },
  },
  {
    title: 'pairs held out at random: preferred vertices',
    wanted: ['degreeBias'],
    make: (graph, seed) => edges(graph, seed),
  },
  {
    title: 'pairs held out at random: false zeros',
    wanted: ['falseZeros'],
    make: (graph, seed) => edges(graph, seed),
  },
  {
    title: 'users with many pairs preferred as test users',
    wanted: ['degreeBias'],
    make: (graph, seed) => {
      const degree = degrees(graph.users);
      const random = randomStream(seed, 4);
      const mean = graph.edges / graph.users.count;
      const held = Uint8Array.from(degree, (d) =>
        random.uniform() < Math.min(0.9, (0.2 * d) / mean) ? 1 : 0,
      );
      const items = drawAssignment(graph.items.count, 0.2, random);
      const not = (mask: Uint8Array) => mask.map((m) => 1 - m);
      const every = new Uint8Array(graph.items.count).fill(1);
      return {
        parts: {
          train: selectVertices(graph, not(held), every),
          foldIn: selectVertices(graph, held, not(items)),
          test: selectVertices(graph, held, items),
        },
      };
    },
  },
  {
    title: '5-core before the split',
    wanted: ['filtering'],
    make: (graph, seed) => {
      const cut = core(graph, 5);
      return cut.edges > 0.1 * graph.edges && cut.edges < 0.995 * graph.edges
        ? { parts: split(cut, { seed }) }
        : undefined;
    },
  },
  {
    title: 'split by time, the times shuffled',
    wanted: ['timeWithin', 'timeAcross'],
    make: (graph, seed) => byTime(graph, seed, true),
  },
  {
    title: 'one test pair and 99 sampled ones for each user',
    wanted: ['sampledCandidates'],
    make: (graph, seed) => {
      if (graph.items.count < 400) return undefined;
      const { train, test } = edges(graph, seed).parts;
      const random = randomStream(seed, 6);
      const users: number[] = [];
      const items: number[] = [];
      for (let u = 0; u < Math.min(500, test.users.count); u++) {
        const chosen = new Set([
          graph.items.ids.find(test.items.ids.at(test.users.neighbors[test.users.offsets[u]])),
        ]);
        while (chosen.size < 100) chosen.add(random.below(graph.items.count));
        for (const item of chosen) {
          users.push(graph.users.ids.find(test.users.ids.at(u)));
          items.push(item);
        }
      }
      return { parts: { train, test: named(graph, users, items) } };
    },
  },
];

const tally = CASES.map(() => ({ of: 0, reported: 0, alarms: new Map<string, number>() }));
for (const name of names) {
  if (!SETS[name].startsWith('@') && !existsSync(SETS[name])) continue;
  for (let seed = 1; seed <= seeds; seed++) {
    const graph = name === 'simulated' ? await drawn(seed) : (await readGraph(SETS[name])).graph;
    const known = new Set(
      (await auditSplit(split(graph, { seed: 99 }), { control: false })).checks
        .filter((c) => c.name === 'filtering' && c.verdict !== 'fine')
        .map((c) => `${c.name} ${c.side}`),
    );
    for (const [c, { title, wanted, make }] of CASES.entries()) {
      const planted = make(graph, seed);
      if (!planted) continue;
      const control = graph.edges < 50_000;
      const { checks } = await auditSplit(planted.parts, { control, ...planted.options, seed });
      // An alarm is right if the whole data set was filtered.
      const reporting = checks.filter(
        (check) =>
          check.verdict !== 'fine' && !(wanted.length === 0 && known.has(`${check.name} ${check.side}`)),
      );
      tally[c].of++;
      const hit =
        wanted.length === 0 ? reporting.length > 0 : reporting.some((check) => wanted.includes(check.name));
      if (hit) tally[c].reported++;
      if (wanted.length === 0) {
        for (const { name: check, side, value, low, high } of reporting) {
          const key = `${check} ${side ?? ''}`;
          tally[c].alarms.set(key, (tally[c].alarms.get(key) ?? 0) + 1);
          console.error(`# ${name} ${seed} ${title}: ${key} ${value} [${low}, ${high}]`);
        }
      } else if (!hit) console.error(`# missed: ${name} ${seed} ${title}`);
    }
  }
}
console.log('| split | reported | of | |\n|---|---|---|---|');
for (const [c, { title, wanted }] of CASES.entries()) {
  const { of, reported, alarms } = tally[c];
  const detail =
    wanted.length > 0 ? wanted.join(' or ') : [...alarms].map(([key, n]) => `${key}: ${n}`).join(', ');
  console.log(`| ${title} | ${reported} (${((100 * reported) / of).toFixed(0)} %) | ${of} | ${detail} |`);
}

async function drawn(seed: number): Promise<BipartiteGraph> {
  const random = randomStream(seed, 7);
  const side = () => ({
    sigma: 0.5 * random.uniform() - 0.1,
    tau: 1,
    shape: 0.3,
    rate: 0.3,
    size: 60 + 60 * random.uniform(),
  });
  return (await simulate({ users: side(), items: side(), features: 8, seed })).graph;
}

function edges(graph: BipartiteGraph, seed: number): Planted {
  const { train, test } = split(graph, { method: 'edges', testUsers: 0.2, seed });
  return { parts: { train, test } };
}

/** Each user arrives at a random time and takes items soon after; the last fifth of the pairs is test. */
function byTime(graph: BipartiteGraph, seed: number, shuffled: boolean): Planted {
  const random = randomStream(seed, 5);
  const { offsets, count } = graph.users;
  const times = new Float64Array(graph.edges);
  for (let u = 0; u < count; u++) {
    const start = random.uniform();
    for (let e = offsets[u]; e < offsets[u + 1]; e++) times[e] = 1e12 + 1e10 * (start + random.uniform());
  }
  const cut = times.slice().sort()[Math.floor(0.8 * times.length)];
  const late = Uint8Array.from(times, (time) => (time > cut ? 1 : 0));
  const part = (label: number) => {
    const own = times.filter((_, e) => late[e] === label);
    if (shuffled) {
      // Over both parts: each keeps its number of times.
      for (let i = 0; i < own.length; i++) own[i] = times[random.below(times.length)];
    }
    return own;
  };
  return {
    parts: { train: selectEdges(graph, late, 0), test: selectEdges(graph, late, 1) },
    options: { times: { train: part(0), test: part(1) } },
  };
}

function union(a: BipartiteGraph, b: BipartiteGraph): BipartiteGraph {
  const users = new Map<string, number>();
  const items = new Map<string, number>();
  const number = (map: Map<string, number>, id: string) => {
    if (!map.has(id)) map.set(id, map.size);
    return map.get(id)!;
  };
  const pairs: [number, number][] = [];
  for (const graph of [a, b]) {
    for (let u = 0; u < graph.users.count; u++) {
      for (let e = graph.users.offsets[u]; e < graph.users.offsets[u + 1]; e++) {
        pairs.push([
          number(users, graph.users.ids.at(u)),
          number(items, graph.items.ids.at(graph.users.neighbors[e])),
        ]);
      }
    }
  }
  const ids = (map: Map<string, number>) => VertexIds.texts([...map.keys()]);
  return buildGraph({
    users: pairs.map((p) => p[0]),
    items: pairs.map((p) => p[1]),
    userCount: users.size,
    itemCount: items.size,
    userIds: ids(users),
    itemIds: ids(items),
  });
}

function named(graph: BipartiteGraph, users: number[], items: number[]): BipartiteGraph {
  const whole = buildGraph({
    users,
    items,
    userCount: graph.users.count,
    itemCount: graph.items.count,
    userIds: graph.users.ids,
    itemIds: graph.items.ids,
  });
  return selectEdges(whole, new Uint8Array(whole.edges), 0);
}

function core(graph: BipartiteGraph, least: number): BipartiteGraph {
  let now = graph;
  for (;;) {
    const keep = (side: 'users' | 'items') =>
      Uint8Array.from(degrees(now[side]), (d) => (d >= least ? 1 : 0));
    const next = selectVertices(now, keep('users'), keep('items'));
    if (next.edges === now.edges) return next;
    now = next;
  }
}
