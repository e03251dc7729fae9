// graphex similar: items that are like an item.

import type { Command } from 'commander';
import { InputError } from '../errors.js';
import { COMMANDS } from '../options/verbs.js';
import { similarItems } from '../predict/similar.js';
import { loadModel } from '../store/model.js';
import { shown } from '../text/untrusted.js';
import { addOptions, runCommand } from './command.js';
import { typedOptions } from './flags.js';
import { textTable } from './text-table.js';

export function register(program: Command): void {
  const command = program
    .command('similar')
    .description('Items that are like an item: those that the same kinds of users have.')
    .argument('<model>', 'a model file made by `graphex fit`');
  addOptions(command, ['graphex similar model.safetensors --item 0133093 -n 10']);
  command.action(async (path: string) => {
    const { item } = typedOptions(command, COMMANDS.similar.own);
    const options = typedOptions(command, COMMANDS.similar.options);
    await runCommand(command, async () => {
      if (item === undefined) throw new InputError('say which item: --item ID');
      const list = await similarItems(await loadModel(path), item, options);
      const rows = list.map((entry, rank) => [
        `${rank + 1}.`,
        shown(entry.item),
        entry.similarity.toFixed(4),
      ]);
      return {
        json: list,
        text:
          list.length === 0
            ? `no item is like ${shown(item)}`
            : textTable([['', 'item', 'similarity'], ...rows]),
      };
    });
  });
}
