// Is the graph sparse? Computes a sparsity check from the graph alone.

import { InputError, throwIfAborted } from '../errors.js';
import { type BipartiteGraph, type BySide, bySide, degrees, otherSide, SIDES } from '../graph/graph.js';
import { randomStream } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { withDefaults } from '../options/check-options.js';
import { CHECK } from '../options/commands/check.js';
import type { OptionsOf } from '../options/declare.js';
import { option, optionError } from '../options/error.js';
import { TASK } from '../options/shared.js';
import { createTurns } from '../parallel/turns.js';
import type { TaskOptions } from '../progress.js';
import { present } from '../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../text/sides.js';
import {
  type CurvePoint,
  expectedDensity,
  MOST_LEVELS,
  REPLICATES_PER_PASS,
  sampledDensities,
} from './curves.js';
import { countDegrees, type DegreeCounts, degreeQuantile } from './degree-counts.js';
import { type TailIndex, tailIndexOfCounts } from './tail-index.js';
import { sparsityVerdict, type Verdict } from './verdict.js';

/** Replicates, levels and seed of a check; declared in options/commands/check.ts. */
export interface CheckOptions extends OptionsOf<typeof CHECK>, TaskOptions {}

/** How the degrees of one side are spread. */
export interface DegreeSummary {
  readonly min: number;
  readonly median: number;
  readonly mean: number;
  readonly max: number;
  /** Fraction of the vertices that have a single edge. */
  readonly single: number;
  /** [degree, number of vertices], ascending. */
  readonly histogram: readonly (readonly [number, number])[];
}

/** What a check found: degrees, tail indices, curves and the verdict. */
export interface SparsityCheck {
  readonly users: number;
  readonly items: number;
  readonly edges: number;
  readonly total: number;
  /** edges / (users × items). */
  readonly density: number;
  readonly degrees: BySide<DegreeSummary>;
  readonly sigma: BySide<TailIndex>;
  /** By the side that is *sampled*; each curve describes the other side. */
  readonly curves: BySide<readonly CurvePoint[]>;
  readonly verdict: Verdict;
  /** The names of the two sides. */
  readonly names: SideNames;
}

export const DEFAULT_LEVELS: readonly number[] = Array.from({ length: 20 }, (_, i) => (i + 1) / 20);

/**
 * Density curves, tail indexes and a verdict for both sides. The same seed gives the same result.
 * @example
 * import { checkSparsity, simulate } from 'graphex';
 * const { graph } = await simulate({ features: 4, users: { size: 30 }, items: { size: 30 }, seed: 1 });
 * const { verdict } = await checkSparsity(graph);
 * console.log(verdict.users, verdict.items);
 */
export async function checkSparsity(
  graph: BipartiteGraph,
  options: CheckOptions = {},
): Promise<SparsityCheck> {
  const {
    replicates,
    seed,
    signal,
    onProgress,
    levels: asked,
  } = withDefaults({ ...CHECK, ...TASK }, options);
  const levels = orderedLevels(asked ?? DEFAULT_LEVELS);
  if (graph.edges === 0) throw new InputError('the graph has no edges: there is nothing to check');

  const random = randomStream(seed, STREAMS.check);
  const sampled = bySide((): (number | undefined)[][] => []);
  const turn = createTurns();
  for (let done = 0; done < replicates; done += REPLICATES_PER_PASS) {
    for (const side of SIDES) {
      await turn();
      throwIfAborted(signal);
      onProgress?.({ stage: 'sampling', done, total: replicates, unit: 'replicates' });
      const streams = Array.from({ length: Math.min(REPLICATES_PER_PASS, replicates - done) }, (_, r) =>
        random.derive(done + r, SIDES.indexOf(side)),
      );
      sampled[side].push(...sampledDensities(graph[side], graph[otherSide(side)], levels, streams));
    }
  }
  const counts = bySide((side) => countDegrees(degrees(graph[side])));
  return checkDegreeCounts(counts, graph, levels, sampled);
}

/** A check from the degrees of both sides; without `sampled` densities, by replicate and level, it has only the exact curves. */
export function checkDegreeCounts(
  counts: BySide<DegreeCounts>,
  { total, names }: { readonly total: number; readonly names?: SideNames | undefined },
  levels: readonly number[] = DEFAULT_LEVELS,
  sampled: BySide<readonly (readonly (number | undefined)[])[]> = { users: [], items: [] },
): SparsityCheck {
  const sigma = bySide((side) => tailIndexOfCounts(counts[side]));
  const curves = bySide((side) =>
    levels.map((level, l) =>
      Object.freeze({
        level,
        expected: expectedDensity(counts[side], counts[otherSide(side)], level),
        sampled: present(sampled[side].map((replicate) => replicate[l])),
      }),
    ),
  );
  const [users, items, edges] = [counts.users.count, counts.items.count, counts.users.sum];
  return Object.freeze({
    users,
    items,
    edges,
    total,
    density: edges / (users * items),
    degrees: bySide((side) => summarize(counts[side])),
    sigma,
    curves,
    verdict: sparsityVerdict(counts, sigma),
    names: names ?? USERS_AND_ITEMS,
  });
}

function orderedLevels(levels: readonly number[]): readonly number[] {
  const distinct = [...new Set(levels)].sort((a, b) => a - b);
  if (distinct.length === 0 || distinct.length > MOST_LEVELS) {
    throw optionError`${option('levels')}: ${distinct.length} sampling levels; expected 1 to ${MOST_LEVELS}`;
  }
  return distinct;
}

function summarize(counts: DegreeCounts): DegreeSummary {
  return Object.freeze({
    min: counts.degree[0],
    median: degreeQuantile(counts, 0.5),
    mean: counts.sum / counts.count,
    max: counts.degree.at(-1)!,
    single: (counts.degree[0] === 1 ? counts.vertices[0] : 0) / counts.count,
    histogram: Array.from(counts.degree, (degree, n) => [degree, counts.vertices[n]] as const),
  });
}
