import { simulate } from '../../process/poisson-model.js';
import type { ReadOptions, ReadResult } from '../options.js';

/** The sets by name, and the size of both sides of each. */
export const PAPER_SIZES = { '@simulated': 1200, '@simulated-small': 120 } as const;

/** The paper's simulated set, always the same draw, at the given size of both sides. */
export async function drawPaperSet(size: number, options: ReadOptions): Promise<ReadResult> {
  const side = { sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, size };
  const { multigraph, threads, signal, onProgress } = options;
  const { graph } = await simulate({
    users: side,
    items: side,
    features: 30,
    multigraph,
    threads,
    signal,
    onProgress,
    seed: 1,
  });
  return {
    graph,
    read: { rows: graph.edges, kept: graph.edges, merged: 0, rejected: 0 },
    guess: { kind: 'simulated', format: 'simulated', columns: { users: 'user', items: 'item' } },
  };
}
