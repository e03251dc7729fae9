// One posterior predictive draw of a test graph. Items are drawn first and make an alias table per feature; then users
// one by one: how many edges, by which features, to which items. Edges come out grouped by user, so equal ones are
// found with one mark per item and nothing is sorted; a user's features are forgotten once its edges are drawn.

import { type BipartiteGraph, degrees } from '../graph/graph.js';
import { AliasTable } from '../math/alias.js';
import { multinomial, poisson } from '../math/counts.js';
import { gamma } from '../math/distributions.js';
import type { Random } from '../math/random.js';
import type { SizeMode } from '../options/names.js';
import { type FeatureAtoms, sampleTiltedAtoms } from '../process/unseen.js';
import { countDegrees, type DegreeCounts } from '../sparsity/degree-counts.js';
import { tailIndexAt } from '../sparsity/tail-index.js';
import { CountTally, createCountDrawer } from './draw-counts.js';
import type { DrawPlan, UnseenPlan, VertexGroup } from './draw-plan.js';
import {
  createEdgeSampler,
  createVertexSampler,
  type EdgeSampler,
  type VertexSampler,
} from './draw-vertex.js';

/** What predictive checks compare a test graph by. Vertices without an edge do not count. */
export interface GraphStatistics {
  readonly users: number;
  readonly items: number;
  /** Distinct pairs. */
  readonly edges: number;
  /** Sum of counts; equals `edges` in a simple graph. */
  readonly total: number;
  /** The smallest number that 99 % of the pairs' counts do not exceed; 1 in a simple graph. */
  readonly tail: number;
  /** Tail index at one half of each side. */
  readonly sigmaUsers: number;
  readonly sigmaItems: number;
  readonly degrees: { readonly users: DegreeCounts; readonly items: DegreeCounts };
}

/**
 * Edges of a draw grouped by user, one entry per unit of count, or with counts where these have a law. Known vertices have the indexes of the plan; unseen
 * ones follow.
 */
export interface DrawnEdges {
  readonly users: Uint32Array;
  readonly items: Uint32Array;
  readonly counts: Uint32Array | undefined;
  readonly userCount: number;
  readonly itemCount: number;
}

export type { SizeMode };

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

/** A function that draws test graphs of a plan, each from the random stream that it is given. */
export function createDrawer(plan: DrawPlan): (random: Random, options: OneDrawOptions) => TestGraphDraw {
  const samplers = {
    users: edgeSampler(plan.users, plan.features),
    items: vertexSampler(plan.items, plan.features),
  };
  return (random, options) => drawTestGraph(plan, samplers, random, options);
}

function drawTestGraph(
  plan: DrawPlan,
  samplers: { readonly users: EdgeSampler; readonly items: VertexSampler },
  random: Random,
  { sizes, keep }: OneDrawOptions,
): TestGraphDraw {
  const K = plan.features;
  const items = drawItems(plan.items, samplers.items, K, random, sizes);
  const unseen = drawUnseen(plan.users, K, random, sizes);
  const known = knownCount(plan.users);
  const atoms = known + unseen.weights.length;

  const mark = new Uint32Array(items.atoms); // 1 + the last user that met the item
  const itemDegree = new Uint32Array(items.atoms);
  const userDegree = new Uint32Array(atoms);
  let itemDust = 0;
  let userDust = 0;
  const kept = keep ? createEdgeBuffer(plan.counts !== undefined) : undefined;
  const tally = plan.multigraph || plan.counts ? new CountTally() : undefined;
  const counting = plan.counts && createCountDrawer(plan.counts, plan, items.atoms, random);
  const units = tally && !counting ? new Uint32Array(items.atoms) : undefined;
  const met: number[] = []; // by the present user, where units are counted

  const connect = (user: number, feature: number): number => {
    const item = items.tables[feature]!.sample(random);
    const dust = item === items.atoms; // a fresh item every time
    if (!dust && mark[item] === user + 1) {
      if (counting) return 0; // a pair has one count
      kept?.add(user, item, 1);
      if (units) units[item]++;
      return 0;
    }
    const count = counting ? counting.edge(dust ? undefined : item) : 1;
    kept?.add(user, dust ? items.atoms + itemDust : item, count);
    if (dust || counting) tally?.add(count);
    if (dust) {
      itemDust++;
      return 1;
    }
    mark[item] = user + 1;
    itemDegree[item]++;
    if (units) {
      units[item] = 1;
      met.push(item);
    }
    return 1;
  };
  const endUser = () => {
    if (!units) return;
    for (const item of met) tally!.add(units[item]);
    met.length = 0;
  };

  const counts = new Uint32Array(K);
  for (let user = 0; user < atoms; user++) {
    const n =
      user < known
        ? samplers.users(user, random, items.mass, counts)
        : unseenEdges(unseen, user - known, items.mass, random, counts);
    if (n === 0) continue;
    counting?.user(user);
    let degree = 0;
    for (let k = 0; k < K; k++) for (let e = 0; e < counts[k]; e++) degree += connect(user, k);
    userDegree[user] = degree;
    endUser();
  }
  // Dust among the users: every edge has a fresh user.
  for (let k = 0; k < K; k++) {
    const n = poisson(random, unseen.missing[k] * items.mass[k]);
    for (let e = 0; e < n; e++) {
      counting?.user(undefined);
      connect(atoms + userDust++, k);
      endUser();
    }
  }
  return {
    statistics: statistics(withOnes(userDegree, userDust), withOnes(itemDegree, itemDust), tally),
    edges: kept?.finish(atoms + userDust, items.atoms + itemDust),
  };
}

interface DrawnItems {
  /** Items that have an index; entry `atoms` of a table is dust. */
  readonly atoms: number;
  /** By feature; undefined where the feature has no mass. */
  readonly tables: readonly (AliasTable | undefined)[];
  readonly mass: Float64Array;
}

function drawItems(
  groups: readonly VertexGroup[],
  sampler: VertexSampler,
  K: number,
  random: Random,
  sizes: SizeMode,
): DrawnItems {
  const unseen = drawUnseen(groups, K, random, sizes);
  const known = knownCount(groups);
  const atoms = known + unseen.weights.length;
  // Feature-major, for the tables; the dust comes last.
  const width = atoms + 1;
  const activity = new Float64Array(K * width);
  const row = new Float64Array(K);
  for (let item = 0; item < atoms; item++) {
    if (item < known) sampler(item, random, row);
    else copyRow(unseen, item - known, K, row);
    for (let k = 0; k < K; k++) activity[k * width + item] = row[k];
  }
  const mass = new Float64Array(K);
  const tables: (AliasTable | undefined)[] = [];
  for (let k = 0; k < K; k++) {
    const weights = activity.subarray(k * width, (k + 1) * width);
    weights[atoms] = unseen.missing[k];
    for (let item = 0; item < width; item++) mass[k] += weights[item];
    tables.push(mass[k] > 0 ? AliasTable.of(weights) : undefined);
  }
  return { atoms, tables, mass };
}

function knownCount(groups: readonly VertexGroup[]): number {
  return groups.reduce((sum, { known }) => sum + known.count, 0);
}

/** The known vertices of all groups, one group after another. */
function vertexSampler(groups: readonly VertexGroup[], features: number): VertexSampler {
  const samplers = groups.map(({ known }) => createVertexSampler(known, features));
  return (vertex, random, out) => {
    const group = groupOf(groups, vertex);
    samplers[group](vertex - firstOf(groups, group), random, out);
  };
}

function edgeSampler(groups: readonly VertexGroup[], features: number): EdgeSampler {
  const samplers = groups.map(({ known }) => createEdgeSampler(known, features));
  return (vertex, random, mass, out) => {
    const group = groupOf(groups, vertex);
    return samplers[group](vertex - firstOf(groups, group), random, mass, out);
  };
}

function groupOf(groups: readonly VertexGroup[], vertex: number): number {
  let group = 0;
  for (let end = groups[0].known.count; vertex >= end; end += groups[group].known.count) group++;
  return group;
}

function firstOf(groups: readonly VertexGroup[], group: number): number {
  let first = 0;
  for (let g = 0; g < group; g++) first += groups[g].known.count;
  return first;
}

/** The unseen atoms of all groups together; none where a side has no unseen vertices. */
function drawUnseen(
  groups: readonly VertexGroup[],
  K: number,
  random: Random,
  sizes: SizeMode,
): Omit<FeatureAtoms, 'cut'> {
  const parts = groups.flatMap(({ unseen }) => (unseen ? [drawAtoms(unseen, random, sizes)] : []));
  if (parts.length === 1) return parts[0];
  const missing = new Float64Array(K);
  for (const part of parts) for (let k = 0; k < K; k++) missing[k] += part.missing[k];
  const joined = (name: 'weights' | 'features') => {
    const result = new Float64Array(parts.reduce((sum, part) => sum + part[name].length, 0));
    let at = 0;
    for (const part of parts) {
      result.set(part[name], at);
      at += part[name].length;
    }
    return result;
  };
  return { weights: joined('weights'), features: joined('features'), missing };
}

/** Unseen atoms of a group. Given the data a size is Gamma(vertices, E[ψ]), whose mean is the estimate from the bound. */
function drawAtoms(plan: UnseenPlan, random: Random, sizes: SizeMode): FeatureAtoms {
  const factor = sizes === 'posterior' ? gamma(random, plan.evidence) / plan.evidence : 1;
  const hyper = { ...plan.law, size: plan.law.size * factor };
  return sampleTiltedAtoms(random, { hyper, otherMass: plan.tilt, cut: plan.cut });
}

/** The edges of an unseen user by feature. */
function unseenEdges(
  { weights, features }: Pick<FeatureAtoms, 'weights' | 'features'>,
  row: number,
  mass: Float64Array,
  random: Random,
  out: Uint32Array,
): number {
  const K = mass.length;
  let rate = 0;
  for (let k = 0; k < K; k++) rate += features[row * K + k] * mass[k];
  const n = poisson(random, weights[row] * rate);
  if (n === 0) return 0;
  const rates = Float64Array.from(mass, (value, k) => features[row * K + k] * value);
  multinomial(random, n, rates, out);
  return n;
}

function copyRow(
  { weights, features }: Pick<FeatureAtoms, 'weights' | 'features'>,
  row: number,
  K: number,
  out: Float64Array,
): void {
  for (let k = 0; k < K; k++) out[k] = weights[row] * features[row * K + k];
}

/** `counts` undefined: a simple graph. */
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
  let users = new Uint32Array(1024);
  let items = new Uint32Array(1024);
  let counts = withCounts ? new Uint32Array(1024) : undefined;
  let length = 0;
  const grown = (values: Uint32Array) => {
    const larger = new Uint32Array(2 * values.length);
    larger.set(values);
    return larger;
  };
  return {
    add(user: number, item: number, count: number): void {
      if (length === users.length) {
        users = grown(users);
        items = grown(items);
        counts &&= grown(counts);
      }
      if (counts) counts[length] = count;
      users[length] = user;
      items[length++] = item;
    },
    finish: (userCount: number, itemCount: number): DrawnEdges => ({
      users: users.slice(0, length),
      items: items.slice(0, length),
      counts: counts?.slice(0, length),
      userCount,
      itemCount,
    }),
  };
}
