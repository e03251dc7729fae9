import { type ModelParameters, PAPER_SIMULATION, SMALL_SIMULATION } from '../../process/parameters.js';
import { type Simulation, simulate } from '../../process/poisson-model.js';
import type { ReadOptions, ReadResult } from '../options.js';

/** The paper's simulated sets by name, with their parameters. */
export const PAPER_SETS = {
  '@simulated': PAPER_SIMULATION,
  '@simulated-small': SMALL_SIMULATION,
} as const satisfies Record<string, ModelParameters>;
export type PaperSet = keyof typeof PAPER_SETS;

/** Draws one of the paper's simulated sets, always the same; `truth` adds the parameters of every vertex. */
export async function drawPaperSet(
  name: PaperSet,
  { multigraph, threads, signal, onProgress }: ReadOptions,
  truth = false,
): Promise<ReadResult & Pick<Simulation, 'truth'>> {
  const model = { ...PAPER_SETS[name], multigraph: multigraph === true, seed: 1, truth };
  const drawn = await simulate({ ...model, threads, signal, onProgress });
  const { graph } = drawn;
  return {
    graph,
    truth: drawn.truth,
    read: { rows: graph.edges, kept: graph.edges, merged: 0, rejected: 0 },
    guess: { kind: 'simulated', format: 'simulated', columns: { users: 'user', items: 'item' } },
  };
}
