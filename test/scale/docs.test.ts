// docs/scale.md is for clusters that most tests do not have: its commands exist, and its manifest is valid.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { createProgram } from '../../src/cli/main.js';
import { MODEL_FOLDER_READERS } from '../../src/options/commands/merge.js';
import { PARTITION_READERS } from '../../src/options/commands/partition.js';

const text = readFileSync(join(import.meta.dirname, '../../docs/scale.md'), 'utf8');
const blocksOf = (kind: string) =>
  [...text.matchAll(/```(\w+)\n([\s\S]*?)```/g)]
    .filter((block) => block[1] === kind)
    .map((block) => block[2]);

interface Manifest {
  readonly kind: string;
  readonly spec: {
    readonly slotsPerWorker: number;
    readonly mpiReplicaSpecs: Readonly<
      Record<
        'Launcher' | 'Worker',
        {
          readonly replicas: number;
          readonly template: {
            readonly spec: {
              readonly containers: readonly { readonly command?: readonly string[] }[];
              readonly volumes: readonly { readonly name: string }[];
            };
          };
        }
      >
    >;
  };
}
const [manifest] = blocksOf('yaml').map((code) => parse(code) as Manifest);
const launched = manifest.spec.mpiReplicaSpecs.Launcher.template.spec.containers[0].command ?? [];

/** What follows the program's name in each line of the shell, without comments; a launcher may come before it. */
const commandLines = blocksOf('sh')
  .flatMap((code) => code.split('\n'))
  .map((line) => /(?:^|\s)graphex ([a-z]+ .*)$/.exec(line.replace(/\s#.*$/, '').trim())?.[1].split(/\s+/))
  .filter((words) => words !== undefined);

test.each(
  [...commandLines, launched.slice(launched.indexOf('graphex') + 1)].map(
    (words) => [words.join(' '), words] as const,
  ),
)('graphex %s is a command with these options', async (_, words) => {
  const program = await createProgram(words[0]);
  const command = program.commands.find((one) => one.name() === words[0])!;
  let ran = 0;
  // Options that are unknown, missing or without a value are refused before this.
  command.exitOverride().action(() => void ran++);
  await program.parseAsync(['node', 'graphex', ...words]);
  expect(ran).toBe(1);
});

test('shows every command that works on shards', () => {
  const shown = new Set(commandLines.map(([name]) => name));
  expect([...shown]).toEqual(
    expect.arrayContaining(['partition', ...PARTITION_READERS, ...MODEL_FOLDER_READERS]),
  );
});

test('the manifest starts as many processes as there are places for them, which see the same folder', () => {
  expect(manifest.kind).toBe('MPIJob');
  const { Launcher, Worker } = manifest.spec.mpiReplicaSpecs;
  expect(launched[launched.indexOf('-n') + 1]).toBe(String(Worker.replicas * manifest.spec.slotsPerWorker));
  expect(Launcher.template.spec.volumes).toEqual(Worker.template.spec.volumes);
});
