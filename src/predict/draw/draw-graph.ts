// One posterior predictive draw of a test graph. The smaller side is drawn first, with an alias table for each feature. Then the
// vertices of the other side, the walking side, are drawn one by one: the number of edges, their features, and the vertices met.
// Edges come out grouped by walker, so one mark per met vertex finds repeated pairs and nothing is sorted. The features of the
// walkers are never drawn.

import { type BipartiteGraph, type BySide, degrees, otherSide, type SideName } from '../../graph/graph.js';
import { AliasTable } from '../../math/alias.js';
import { poisson } from '../../math/count-samplers.js';
import { gamma } from '../../math/distributions.js';
import { concat, grown } from '../../math/memory.js';
import type { Random } from '../../math/random.js';
import type { SizeMode } from '../../options/names.js';
import {
  type FeatureAtoms,
  missingMass,
  sampleTiltedAtoms,
  sampleTiltedWeights,
  type TiltedOptions,
} from '../../process/unseen.js';
import { countDegrees, type DegreeCounts } from '../../sparsity/degree-counts.js';
import { tailIndexAt } from '../../sparsity/tail-index.js';
import { CountTally, createCountDrawer } from './draw-counts.js';
import { type DrawPlan, knownCount, type UnseenPlan, type VertexGroup } from './draw-plan.js';
import {
  createEdgeSampler,
  createEdgesOfWeight,
  createVertexSampler,
  type EdgeSampler,
  type KnownVertices,
  type VertexSampler,
} from './draw-vertex.js';

/** The statistics that predictive checks compare test graphs by. Vertices without an edge do not count. */
export interface GraphStatistics {
  readonly users: number;
  readonly items: number;
  /** Distinct pairs. */
  readonly edges: number;
  /** Sum of counts; equals `edges` in a simple graph. */
  readonly total: number;
  /** The smallest number that 99 % of the pairs' counts do not exceed; 1 in a simple graph. */
  readonly tail: number;
  /** Tail index of each side, at one half. */
  readonly sigmaUsers: number;
  readonly sigmaItems: number;
  readonly degrees: { readonly users: DegreeCounts; readonly items: DegreeCounts };
}

/**
 * Edges of a draw, grouped by the vertices of one side. There is an entry for each unit of count, or, if counts have their own
 * prior, an entry with a count for each pair. Known vertices have the indexes of the plan; unseen ones follow.
 */
export interface DrawnEdges {
  readonly users: Uint32Array;
  readonly items: Uint32Array;
  readonly counts: Uint32Array | undefined;
  /** Number of vertices of each side that have an index. */
  readonly counted: BySide<number>;
}

export function graphStatistics(graph: BipartiteGraph): GraphStatistics {
  const { counts } = graph.users;
  if (!counts) return statistics(degrees(graph.users), degrees(graph.items), undefined);
  const tally = new CountTally();
  for (let e = 0; e < counts.length; e++) tally.add(counts[e]);
  return statistics(degrees(graph.users), degrees(graph.items), tally);
}

export interface OneDrawOptions {
  readonly sizes: SizeMode;
  /** Also return the edges. */
  readonly keep: boolean;
}

export interface TestGraphDraw {
  readonly statistics: GraphStatistics;
  readonly edges: DrawnEdges | undefined;
}

/** Returns a function that draws a test graph of the plan from a random stream. */
export function createDrawer(plan: DrawPlan): (random: Random, options: OneDrawOptions) => TestGraphDraw {
  // Counts with their own prior are drawn user by user.
  const byItem = !plan.counts && knownCount(plan.items) > knownCount(plan.users);
  const walking: SideName = byItem ? 'items' : 'users';
  const samplers = {
    walking: byGroup(plan[walking], (known) => createEdgeSampler(known, plan.features)),
    met: byGroup(plan[otherSide(walking)], (known) => createVertexSampler(known, plan.features)),
  };
  return (random, options) => drawTestGraph(plan, walking, samplers, random, options);
}

/** The sampler of a vertex, and the vertex within its group. */
type SamplerOf<S> = (vertex: number) => readonly [sampler: S, own: number];

function drawTestGraph(
  plan: DrawPlan,
  walking: SideName,
  samplers: { readonly walking: SamplerOf<EdgeSampler>; readonly met: SamplerOf<VertexSampler> },
  random: Random,
  { sizes, keep }: OneDrawOptions,
): TestGraphDraw {
  const K = plan.features;
  const other = drawMet(plan[otherSide(walking)], samplers.met, K, random, sizes);
  const unseen = drawUnseenWalkers(plan[walking], K, random, sizes);
  const known = knownCount(plan[walking]);
  const atoms = known + unseen.count;

  const mark = new Uint32Array(other.atoms); // 1 + the last walker that met the vertex
  const otherDegree = new Uint32Array(other.atoms);
  const degree = new Uint32Array(atoms);
  let otherBelowCut = 0;
  let belowCut = 0;
  const kept = keep ? createEdgeBuffer(plan.counts !== undefined) : undefined;
  const tally = plan.multigraph || plan.counts ? new CountTally() : undefined;
  const counting = plan.counts && createCountDrawer(plan.counts, plan, other.atoms, random);
  const units = tally && !counting ? new Uint32Array(other.atoms) : undefined;
  const met: number[] = []; // the vertices that the present walker met, if units are counted

  const connect = (walker: number, feature: number): number => {
    const vertex = other.tables[feature]!.sample(random);
    const fresh = vertex === other.atoms; // below the cut: a new vertex every time
    if (!fresh && mark[vertex] === walker + 1) {
      if (counting) return 0; // a pair has one count
      kept?.add(walker, vertex, 1);
      if (units) units[vertex]++;
      return 0;
    }
    const count = counting ? counting.edge(fresh ? undefined : vertex) : 1;
    kept?.add(walker, fresh ? other.atoms + otherBelowCut : vertex, count);
    if (fresh || counting) tally?.add(count);
    if (fresh) {
      otherBelowCut++;
      return 1;
    }
    mark[vertex] = walker + 1;
    otherDegree[vertex]++;
    if (units) {
      units[vertex] = 1;
      met.push(vertex);
    }
    return 1;
  };
  const endWalker = () => {
    if (!units) return;
    for (const vertex of met) tally!.add(units[vertex]);
    met.length = 0;
  };

  const counts = new Uint32Array(K);
  for (let walker = 0; walker < atoms; walker++) {
    const [drawEdges, vertex] = walker < known ? samplers.walking(walker) : unseen.samplerOf(walker - known);
    if (drawEdges(vertex, random, other.mass, counts) === 0) continue;
    counting?.user(walker);
    let own = 0;
    for (let k = 0; k < K; k++) for (let e = 0; e < counts[k]; e++) own += connect(walker, k);
    degree[walker] = own;
    endWalker();
  }
  // Walkers below the cut have one edge each.
  for (let k = 0; k < K; k++) {
    const n = poisson(random, unseen.missing[k] * other.mass[k]);
    for (let e = 0; e < n; e++) {
      counting?.user(undefined);
      connect(atoms + belowCut++, k);
      endWalker();
    }
  }
  const ends = {
    walking: { degree: withOnes(degree, belowCut), count: atoms + belowCut },
    met: { degree: withOnes(otherDegree, otherBelowCut), count: other.atoms + otherBelowCut },
  };
  const [users, items] = walking === 'users' ? [ends.walking, ends.met] : [ends.met, ends.walking];
  return {
    statistics: statistics(users.degree, items.degree, tally),
    edges: kept?.finish(walking, { users: users.count, items: items.count }),
  };
}

/**
 * The vertices that can be met: how many have an index, an alias table for each feature with some mass, and the mass of each feature.
 * Entry `atoms` of a table stands for all atoms below the cut.
 */
function drawMet(
  groups: readonly VertexGroup[],
  samplerOf: SamplerOf<VertexSampler>,
  K: number,
  random: Random,
  sizes: SizeMode,
) {
  const unseen = drawUnseen(groups, K, random, sizes);
  const known = knownCount(groups);
  const atoms = known + unseen.weights.length;
  // Feature-major, since tables are made by feature; the atoms below the cut come last.
  const width = atoms + 1;
  const activity = new Float64Array(K * width);
  const row = new Float64Array(K);
  for (let v = 0; v < atoms; v++) {
    if (v < known) {
      const [draw, own] = samplerOf(v);
      draw(own, random, row);
    } else {
      const at = v - known;
      for (let k = 0; k < K; k++) row[k] = unseen.weights[at] * unseen.features[at * K + k];
    }
    for (let k = 0; k < K; k++) activity[k * width + v] = row[k];
  }
  const mass = new Float64Array(K);
  const tables: (AliasTable | undefined)[] = [];
  for (let k = 0; k < K; k++) {
    const weights = activity.subarray(k * width, (k + 1) * width);
    weights[atoms] = unseen.missing[k];
    for (let v = 0; v < width; v++) mass[k] += weights[v];
    tables.push(mass[k] > 0 ? AliasTable.of(weights) : undefined);
  }
  return { atoms, tables, mass };
}

/** Makes a sampler for each group. Their vertices are numbered one group after another. */
function byGroup<S>(groups: readonly VertexGroup[], make: (known: KnownVertices) => S): SamplerOf<S> {
  return inGroups(groups.map(({ known }) => ({ count: known.count, sampler: make(known) })));
}

/** Finds the sampler of a vertex, and the vertex within its group; groups are numbered one after another. */
function inGroups<S>(groups: readonly { readonly count: number; readonly sampler: S }[]): SamplerOf<S> {
  return (vertex) => {
    let group = 0;
    let own = vertex;
    for (; own >= groups[group].count; group++) own -= groups[group].count;
    return [groups[group].sampler, own];
  };
}

/** The unseen atoms of all groups; empty if the side has none. */
function drawUnseen(
  groups: readonly VertexGroup[],
  K: number,
  random: Random,
  sizes: SizeMode,
): FeatureAtoms {
  const parts = groups.flatMap(({ unseen }) =>
    unseen ? [sampleTiltedAtoms(random, tiltedBy(unseen, random, sizes))] : [],
  );
  if (parts.length === 1) return parts[0];
  const missing = new Float64Array(K);
  for (const part of parts) for (let k = 0; k < K; k++) missing[k] += part.missing[k];
  const joined = (name: 'weights' | 'features') =>
    concat(
      Float64Array,
      parts.map((part) => part[name]),
    );
  return { weights: joined('weights'), features: joined('features'), missing };
}

/** Given the data, the size is Gamma(vertices, E[ψ]). Its mean is the estimate from the bound. */
function tiltedBy(plan: UnseenPlan, random: Random, sizes: SizeMode): TiltedOptions {
  const factor = sizes === 'posterior' ? gamma(random, plan.evidence) / plan.evidence : 1;
  const hyper = { ...plan.prior, size: plan.prior.size * factor };
  return { hyper, otherMass: plan.tilt, cut: plan.cut };
}

/** The unseen atoms of the walking side: their weights now, and their edges by feature on request. */
function drawUnseenWalkers(groups: readonly VertexGroup[], K: number, random: Random, sizes: SizeMode) {
  const missing = new Float64Array(K);
  const parts = groups.flatMap(({ unseen }) => {
    if (!unseen) return [];
    const tilted = tiltedBy(unseen, random, sizes);
    const weights = sampleTiltedWeights(random, tilted);
    const belowCut = missingMass(tilted.hyper, unseen.tilt, tilted.cut);
    for (let k = 0; k < K; k++) missing[k] += belowCut[k];
    const shapes = new Float64Array(K).fill(unseen.prior.shape);
    const draw = createEdgesOfWeight({ rate: unseen.prior.rate, otherMass: unseen.tilt }, K);
    const sampler: EdgeSampler = (v, random, mass, out) => draw(random, weights[v], shapes, 0, mass, out);
    return [{ count: weights.length, sampler }];
  });
  return { count: parts.reduce((sum, { count }) => sum + count, 0), missing, samplerOf: inGroups(parts) };
}

/** `counts` is undefined for a simple graph. */
function statistics(
  userDegree: Uint32Array,
  itemDegree: Uint32Array,
  counts: CountTally | undefined,
): GraphStatistics {
  const users = countDegrees(userDegree);
  const items = countDegrees(itemDegree);
  return {
    users: users.count,
    items: items.count,
    edges: users.sum,
    total: counts?.total ?? users.sum,
    tail: counts?.tail() ?? 1,
    sigmaUsers: tailIndexAt(users, 0.5),
    sigmaItems: tailIndexAt(items, 0.5),
    degrees: { users, items },
  };
}

function withOnes(degree: Uint32Array, ones: number): Uint32Array {
  const result = new Uint32Array(degree.length + ones).fill(1, degree.length);
  result.set(degree);
  return result;
}

function createEdgeBuffer(withCounts: boolean) {
  let walkers = new Uint32Array(1024);
  let met = new Uint32Array(1024);
  let counts = withCounts ? new Uint32Array(1024) : undefined;
  let length = 0;
  return {
    add(walker: number, other: number, count: number): void {
      if (length === walkers.length) {
        walkers = grown(walkers);
        met = grown(met);
        counts &&= grown(counts);
      }
      if (counts) counts[length] = count;
      walkers[length] = walker;
      met[length++] = other;
    },
    finish: (walking: SideName, counted: BySide<number>): DrawnEdges => ({
      users: (walking === 'users' ? walkers : met).slice(0, length),
      items: (walking === 'users' ? met : walkers).slice(0, length),
      counts: counts?.slice(0, length),
      counted,
    }),
  };
}
