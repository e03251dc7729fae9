// Was growth exchangeable? A forecast assumes that later vertices resemble earlier ones. The times of the edges allow two tests.
// One forecast starts from all edges up to the time when 1/times of the growing side had arrived. The other starts from these
// vertices with all their edges, also later ones. Both are compared with the data.

import { type BipartiteGraph, otherSide, type SideName } from '../graph/graph.js';
import { selectEdges } from '../graph/subgraph.js';
import type { Random } from '../math/random.js';
import { DEFAULT_ESTIMATOR } from './estimators.js';
import { countInterval, type Foreseen, project } from './project.js';

/** `arrival`: the first vertices with all their edges. `calendar`: all edges up to that time. */
const TIME_CUTS = ['arrival', 'calendar'] as const;
/** The ways of cutting data in time. */
export type TimeCut = (typeof TIME_CUTS)[number];

/** How forecasts from the earlier data agree with the later data. */
export interface TimeTest {
  readonly cut: TimeCut;
  /** The side that grew. */
  readonly side: SideName;
  readonly times: number;
  /** Time of the cut, milliseconds since 1970. */
  readonly until: number;
  /** Of the other side: the number seen by then, the number forecast from it, and the number that came. */
  readonly seen: number;
  readonly foreseen: Foreseen;
  readonly actual: number;
  /** foreseen/actual − 1. */
  readonly error: number;
  readonly held: boolean;
}

/** Both cuts at 1/times of a side. `widening`: relative error beyond chance in the random back-tests. */
export function testByTime(
  graph: BipartiteGraph,
  times: Float64Array,
  side: SideName,
  multiple: number,
  widening: number,
  random: Random,
): readonly TimeTest[] {
  const counted = otherSide(side);
  const first = firstTimes(graph, times, side);
  const shuffle = Float64Array.from(first, () => random.uniform());
  const order = Uint32Array.from(first.keys()).sort((a, b) => first[a] - first[b] || shuffle[a] - shuffle[b]);
  const early = Math.max(2, Math.round(order.length / multiple));
  const until = first[order[early - 1]];
  const isEarly = new Uint8Array(order.length);
  for (const v of order.subarray(0, early)) isEarly[v] = 1;
  const vertices = edgeVertices(graph, side);
  const tests: TimeTest[] = [];
  for (const cut of TIME_CUTS) {
    const labels = Uint8Array.from(times, (time, edge) =>
      cut === 'arrival' ? isEarly[vertices[edge]] : time <= until ? 1 : 0,
    );
    const part = selectEdges(graph, labels, 1);
    const growth = graph[side].count / part[side].count;
    if (part.edges === 0 || growth <= 1) continue;
    const { projections } = project(
      { own: part[side], other: part[counted] },
      [growth],
      random.derive(tests.length),
    );
    const { value, error } = projections[0].vertices[DEFAULT_ESTIMATOR]!;
    const actual = graph[counted].count;
    const foreseen = countInterval(
      { value, error: Math.hypot(error, widening * value) },
      part[counted].count,
    );
    tests.push({
      cut,
      side,
      times: growth,
      until,
      seen: part[counted].count,
      foreseen,
      actual,
      error: value / actual - 1,
      held: actual >= foreseen.low && actual <= foreseen.high,
    });
  }
  return tests;
}

/** The first time of each vertex of a side; `times` are in the order of the users' edges. */
export function firstTimes(graph: BipartiteGraph, times: Float64Array, side: SideName): Float64Array {
  const first = new Float64Array(graph[side].count).fill(Number.POSITIVE_INFINITY);
  const vertices = edgeVertices(graph, side);
  for (let e = 0; e < vertices.length; e++) {
    if (times[e] < first[vertices[e]]) first[vertices[e]] = times[e];
  }
  return first;
}

/** The vertex of a side at each edge, in the order of the users' edges. */
function edgeVertices({ users }: BipartiteGraph, side: SideName): Uint32Array {
  if (side === 'items') return users.neighbors;
  const vertices = new Uint32Array(users.neighbors.length);
  for (let u = 0; u < users.count; u++) vertices.fill(u, users.offsets[u], users.offsets[u + 1]);
  return vertices;
}
