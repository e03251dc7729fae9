import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose tests compute in their own process and leave nothing behind there: they share processes and loaded modules. */
const TOGETHER = [
  ...[
    'attributes',
    'audit',
    'bench',
    'cli',
    'evaluate',
    'events',
    'fit',
    'forecast',
    'graph',
    'ingest',
    'load',
  ],
  ...[
    'math',
    'options',
    'predict',
    'process',
    'refit',
    'report',
    'sample',
    'scale',
    'serve',
    'shard',
    'solvers',
  ],
  ...['sparsity', 'store', 'study', 'text'],
];
/** In these, a test stands for the process: it replaces modules, opens a GPU or measures memory. */
const APART = [
  'test/fit/hierarchical-engines.test.ts',
  'test/ingest/bad-input.test.ts',
  'test/predict/gpu-lists.test.ts',
  'test/scale/stream.test.ts',
  'test/solvers/scratch-room.test.ts',
  'test/store/table.test.ts',
  'test/study/threads.test.ts',
];

const folders = readdirSync(new URL('test', import.meta.url), { withFileTypes: true });
const others = folders.filter((entry) => entry.isDirectory() && !TOGETHER.includes(entry.name));
const testsIn = (name: string) => `test/${name}/**/*.test.ts`;

/** Files that start processes take longest and go first, so that at the end no core waits for the other. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const together = (file: TestSpecification) => file.project.name === 'together';
    return [...sorted.filter((file) => !together(file)), ...sorted.filter(together)];
  }
}

// Tests import src/*.ts; workers are started from the dist/ that `pretest` has just built.
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A page on a busy machine takes seconds to show what is waited for.
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'apart',
          include: ['test/*.test.ts', ...others.map(({ name }) => testsIn(name)), ...APART],
        },
      },
      {
        extends: true,
        test: { name: 'together', include: TOGETHER.map(testsIn), exclude: APART, isolate: false },
      },
    ],
  },
});
