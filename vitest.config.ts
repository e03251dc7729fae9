import { readdirSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Folders whose test files share processes and loaded modules: each cleans up after itself. */
const SHARED_FOLDERS = [
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
/** Files in those folders that need a process of their own: they replace modules, open a GPU or measure memory. */
const ISOLATED_FILES = [
  'test/fit/hierarchical-engines.test.ts',
  'test/ingest/bad-input.test.ts',
  'test/predict/gpu-failed.test.ts',
  'test/predict/gpu-lists.test.ts',
  'test/scale/stream.test.ts',
  'test/solvers/scratch-room.test.ts',
  'test/store/table.test.ts',
  'test/study/threads.test.ts',
];

const folders = readdirSync(new URL('test', import.meta.url), { withFileTypes: true });
const others = folders.filter((entry) => entry.isDirectory() && !SHARED_FOLDERS.includes(entry.name));
const testsIn = (name: string) => `test/${name}/**/*.test.ts`;

/** Files that start processes take longest. They run first, so that no core is idle at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isShared = (file: TestSpecification) => file.project.name === 'shared';
    return [...sorted.filter((file) => !isShared(file)), ...sorted.filter(isShared)];
  }
}

// Tests import src/*.ts; workers are started from the dist/ that `pretest` has just built.
export default defineConfig({
  test: {
    pool: 'forks',
    // One more than the cores of a small machine: many tests wait for processes, browsers and timers.
    maxWorkers: 3,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // On a busy machine a page takes seconds to show a change.
    expect: { poll: { timeout: 30_000 } },
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'isolated',
          include: ['test/*.test.ts', ...others.map(({ name }) => testsIn(name)), ...ISOLATED_FILES],
        },
      },
      {
        extends: true,
        test: {
          name: 'shared',
          include: SHARED_FOLDERS.map(testsIn),
          exclude: ISOLATED_FILES,
          isolate: false,
        },
      },
    ],
  },
});
