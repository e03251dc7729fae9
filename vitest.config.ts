import { defineConfig } from 'vitest/config';

// Tests import src/*.ts; workers are started from the dist/ that `pretest` has just built.
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
