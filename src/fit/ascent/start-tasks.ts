// Worker task for the start of a fit: draws the features of some rows, each from its own random stream.

import type { SideName } from '../../graph/graph.js';
import { SIDES } from '../../graph/graph.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import { serveTasks } from '../../parallel/worker.js';
import { writeFeatures } from './start.js';

export interface StartTask {
  readonly side: SideName;
  readonly seed: number;
  readonly features: number;
  readonly shape: number;
  readonly noisy: number;
  readonly first: number;
  readonly last: number;
  /** Two 32-bit hash words for the id of each row. */
  readonly names: Uint32Array;
  readonly strengths: Float64Array;
  /** Shared with the caller. */
  readonly values: { readonly featureShape: Float64Array; readonly featureRate: Float64Array };
}

export function begin({ side, seed, first, last, names, strengths, values, ...rest }: StartTask): void {
  const random = randomStream(seed, STREAMS.start, SIDES.indexOf(side));
  for (let i = first; i < last; i++) {
    const ofVertex = random.derive(names[2 * i], names[2 * i + 1]);
    writeFeatures(values, i, { ...rest, strength: strengths[i], random: ofVertex });
  }
}

serveTasks('start-tasks', { begin });
