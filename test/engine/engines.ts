// The engines under test: each case suite runs on all of them, to the tolerance that each declares.

import { createCpuEngine } from '../../src/engine/cpu/engine.js';
import type { Engine } from '../../src/engine/engine.js';
import { createReferenceEngine } from '../../src/engine/reference.js';

export interface EngineCase {
  readonly name: string;
  create(): Promise<Engine>;
}

export const ENGINES: readonly EngineCase[] = [
  { name: 'reference', create: async () => createReferenceEngine() },
  { name: 'cpu', create: () => createCpuEngine({ threads: 2 }) },
  // Windows so small that rows are cut into pieces and units hold few rows: the path of huge graphs, on small ones.
  { name: 'cpu, tiny windows', create: () => createCpuEngine({ threads: 2, limits: { edges: 4, rows: 2 } }) },
];
