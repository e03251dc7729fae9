// Gives a folder of shards or a model by shard to every command that takes a file, a table or a model. A command that cannot
// use it says so in one sentence, with what to do instead.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { ALONE } from '../../src/comm/communicator.js';
import { MODEL_FOLDER_READERS } from '../../src/options/commands/merge.js';
import { PARTITION_READERS } from '../../src/options/commands/partition.js';
import { COMMANDS, type CommandName } from '../../src/options/commands.js';
import { saveModelShards } from '../../src/shard/model-folder.js';
import { fitAscentShards } from '../../src/shard/partition-ascent.js';
import { openPartition } from '../../src/shard/partition-folder.js';
import { partitionGraph } from '../../src/shard/partition-graph.js';
import { graphex, scratch } from './run.js';

const folder = scratch();
const [parts, model] = [join(folder, 'parts'), join(folder, 'model')];
const out = join(folder, 'out');

beforeAll(async () => {
  const rows = Array.from({ length: 300 }, (_, i) => `${(i * 7) % 40},${(i * 13) % 25}`);
  writeFileSync(join(folder, 'rows.csv'), rows.join('\n'));
  await partitionGraph(join(folder, 'rows.csv'), parts, { shards: 2 });
  const opened = await openPartition(parts);
  const fitted = await fitAscentShards(opened, ALONE, { features: 2, iterations: 5, threads: 1 });
  await saveModelShards(model, opened, ALONE, fitted, false);
});

/** The arguments of each command in addition to the folder; undefined: it takes no data and no model. */
const REST: Record<CommandName, readonly string[] | undefined> = {
  simulate: undefined,
  check: [],
  split: ['-o', out],
  partition: ['-o', out],
  fit: ['-o', out],
  merge: ['-o', out],
  evaluate: [parts],
  forecast: [],
  audit: [],
  recommend: ['--user', '1'],
  search: ['x'],
  similar: ['--item', '1'],
  features: [],
  serve: ['--port', '0'],
  load: undefined,
  study: ['-o', out],
};
const names = (Object.keys(COMMANDS) as CommandName[]).filter((name) => REST[name]);
const refusing = (readers: readonly string[]) => names.filter((name) => !readers.includes(name));

describe('a folder of shards', () => {
  test.concurrent.each(refusing(PARTITION_READERS))(
    'graphex %s',
    async (name) => {
      const { status, stdout, stderr } = await graphex(name, parts, ...REST[name]!);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(/^error: .*parts: this is a folder of shards.*; .*\n$/);
      expect(stderr.trim().split('\n')).toHaveLength(1);
    },
    60_000,
  );
});

describe('a model by shard', () => {
  /** Commands that take data say that it is a folder. Commands that take a model say what to do with it. */
  const takesData = (name: CommandName) => 'read' in COMMANDS[name] && name !== 'evaluate';
  test.concurrent.each(refusing(MODEL_FOLDER_READERS).filter((name) => !takesData(name)))(
    'graphex %s',
    async (name) => {
      const { status, stdout, stderr } = await graphex(name, model, ...REST[name]!);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toContain(
        'this is a model by shard, which only recommend, search, evaluate and merge read; merge it into one file first',
      );
    },
    60_000,
  );
});

describe('what a fit to shards cannot do', () => {
  test.concurrent.each([
    ['--method', 'gibbs'],
    ['--method', 'ease'],
    ['-k', 'auto'],
    ['--restarts', '3'],
    ['--method', 'ranking', '--memory', '4G'],
    ['--method', 'ranking', '--by-shard', '--precision', 'float16'],
    ['--from', join(model, 'head.safetensors')],
    ['--precision', 'float16'],
  ])(
    'fit parts/ %s %s %s',
    async (...flags) => {
      const { status, stderr } = await graphex('fit', parts, ...flags.filter(Boolean), '-o', out);
      expect(status, stderr).toBe(2);
      expect(stderr).toMatch(/^error: .*(leave|give|choose|run).*\n$/);
    },
    60_000,
  );
});

test('a ranking fit of shards cannot have a blend, which needs the data in one piece', async () => {
  const { status, stderr } = await graphex('fit', parts, '--method', 'ranking', '--blend', '-o', out);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^error: --blend needs the data in one piece, and .* is in shards; leave it out\n$/);
});
