// Ranking metrics the slow way: score everything, sort everything, walk down the list. The oracle of the ranking tests.

import type { RowLists } from '../../src/predict/scoring/scorer.js';

export interface BruteTask {
  readonly rows: number;
  readonly candidates: readonly number[];
  readonly relevant: RowLists;
  readonly excluded?: RowLists | undefined;
  readonly score: (row: number, item: number) => number;
}

export interface BruteMetrics {
  readonly rows: number[];
  readonly recall: number[];
  readonly recallCapped: number[];
  readonly ndcg: number[];
  readonly hitRate: number[];
  readonly mrr: number[];
  readonly map: number[];
  readonly coverage: number;
}

export function listOf(lists: RowLists, row: number): number[] {
  return Array.from(lists.values.subarray(lists.offsets[row], lists.offsets[row + 1]));
}

export function ranking(task: BruteTask, row: number): number[] {
  const out = new Set(task.excluded ? listOf(task.excluded, row) : []);
  return task.candidates
    .filter((item) => !out.has(item))
    .sort((a, b) => task.score(row, b) - task.score(row, a) || a - b);
}

export function bruteForce(task: BruteTask, n: number, depth: number): BruteMetrics {
  const result = {
    rows: [],
    recall: [],
    recallCapped: [],
    ndcg: [],
    hitRate: [],
    mrr: [],
    map: [],
  } as Record<string, number[]>;
  const shown = new Set<number>();
  for (let row = 0; row < task.rows; row++) {
    const relevant = new Set(listOf(task.relevant, row));
    if (relevant.size === 0) continue;
    const order = ranking(task, row);
    for (const item of order.slice(0, n)) shown.add(item);
    let dcg = 0;
    let ideal = 0;
    let hits = 0;
    let precision = 0;
    let first = 0;
    for (const [i, item] of order.slice(0, depth).entries()) {
      if (!relevant.has(item)) continue;
      hits++;
      dcg += 1 / Math.log2(i + 2);
      precision += hits / (i + 1);
      first ||= 1 / (i + 1);
    }
    for (let i = 0; i < Math.min(depth, relevant.size); i++) ideal += 1 / Math.log2(i + 2);
    const early = order.slice(0, n).filter((item) => relevant.has(item)).length;
    result.rows!.push(row);
    result.recall!.push(early / relevant.size);
    result.recallCapped!.push(early / Math.min(n, relevant.size));
    result.ndcg!.push(dcg / ideal);
    result.hitRate!.push(early > 0 ? 1 : 0);
    result.mrr!.push(first);
    result.map!.push(precision / Math.min(depth, relevant.size));
  }
  return { ...(result as unknown as BruteMetrics), coverage: shown.size / task.candidates.length };
}
