// graphex features: what a model found.

import type { Command } from 'commander';
import { COMMANDS } from '../options/verbs.js';
import { type DescribedFeature, describeFeatures } from '../predict/features.js';
import { loadModel } from '../store/model.js';
import { shown } from '../text/untrusted.js';
import { addOptions, runCommand } from './command.js';
import { typedOptions } from './flags.js';

export function register(program: Command): void {
  const command = program
    .command('features')
    .description('What a model found: the items and users of each feature, and how much it explains.')
    .argument('<model>', 'a model file made by `graphex fit`');
  addOptions(command, ['graphex features model.safetensors -n 10']);
  command.action(async (path: string) => {
    const options = typedOptions(command, COMMANDS.features.options);
    await runCommand(command, async () => {
      const found = await describeFeatures(await loadModel(path), options);
      return { json: found, text: found.map(describe).join('\n\n') };
    });
  });
}

function describe({ feature, share, items, users }: DescribedFeature): string {
  const line = (name: string, entries: readonly { readonly id: string; readonly weight: number }[]) =>
    entries.length === 0
      ? []
      : [`  ${name}  ${entries.map(({ id, weight }) => `${shown(id)} (${percent(weight)})`).join(', ')}`];
  return [
    `feature ${feature}: ${percent(share)} of the expected edges`,
    ...line(
      'items',
      items.map(({ item, weight }) => ({ id: item, weight })),
    ),
    ...line(
      'users',
      users.map(({ user, weight }) => ({ id: user, weight })),
    ),
  ].join('\n');
}

const percent = (share: number) => `${(100 * share).toPrecision(2)} %`;
