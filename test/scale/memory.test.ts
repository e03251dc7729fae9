// Splitting and evaluating shards takes the memory of one shard, not of all data, as the kernel counts it. stream.test.ts
// measures fits. The data must be large, so that their edges take more memory than the program: these tests run with
// GRAPHEX_LONG=1 only.

import { describe, expect, test } from 'vitest';
import { buildGraph } from '../../src/graph/build.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { scratchFolder } from '../ingest/scratch.js';
import { start } from './launchers.js';
import { peakIn, SAY_PEAK, SAYS_PEAK } from './peak.js';

const { path } = scratchFolder();
const SECONDS = 180;

/** Runs a command to its end and returns the most megabytes that it had at once. */
async function peakOf(...args: string[]): Promise<number> {
  const { status, stderr } = await start(undefined, [...args, '--threads', '1', '--quiet'], SAY_PEAK, SECONDS)
    .ended;
  expect(status, stderr).toBe(0);
  return peakIn(stderr);
}

describe.runIf(process.env.GRAPHEX_LONG && SAYS_PEAK)('the same data in one shard and in many', () => {
  const peaks = { split: [] as number[], evaluate: [] as number[] };

  test(
    'go through split and evaluate',
    async () => {
      const [users, items, each] = [12_000, 2000, 1300];
      const graph = buildGraph({
        users: Uint32Array.from({ length: users * each }, (_, e) => Math.floor(e / each)),
        items: Uint32Array.from(
          { length: users * each },
          (_, e) => (Math.floor(e / each) * 13 + (e % each) * 3) % items,
        ),
        userCount: users,
        itemCount: items,
      });
      for (const shards of [1, 32]) {
        const [parts, cut, model] = ['parts', 'split', 'model'].map((name) => path(`${name} ${shards}`));
        await partitionGraph(graph, parts, { shards });
        const halves = ['--test-users', '0.5', '--test-items', '0.5'];
        peaks.split.push(await peakOf('split', parts, '-o', cut, ...halves));
        const quick = ['-k', '2', '--iterations', '1', '--start', 'cold', '--engine', 'cpu'];
        await peakOf('fit', cut, '--by-shard', ...quick, '-o', model);
        peaks.evaluate.push(await peakOf('evaluate', model, cut, '--draws', '0', '--depth', '20', '-n', '5'));
      }
    },
    10 * 60_000,
  );

  test.each(['split', 'evaluate'] as const)('%s takes less than three quarters of it in many', (command) => {
    const [one, many] = peaks[command];
    process.stdout.write(`${command}: ${one.toFixed(0)} MB in one shard, ${many.toFixed(0)} in many\n`);
    expect(many).toBeLessThan(0.75 * one);
  });
});
