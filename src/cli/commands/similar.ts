// graphex similar: items similar to an item.

import type { Command } from 'commander';
import { InputError } from '../../errors.js';
import { COMMANDS } from '../../options/commands.js';
import { similarItems } from '../../predict/similar.js';
import { textTable } from '../../report/terminal/text-table.js';
import { loadModel } from '../../store/model-file.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import { addOptions, runCommand } from '../command.js';
import { typedOptions } from '../flags.js';
import { idByTitle, readTitles, titled } from '../titles.js';

export function register(program: Command): void {
  const command = program
    .command('similar')
    .description('Items similar to an item: those that the same kinds of users have.')
    .argument('<model>', 'a model file made by `graphex fit`');
  addOptions(command, [
    'graphex similar model.safetensors --item 0133093 -n 10',
    `graphex similar model.safetensors --item 0133093 --filter "year >= 1990"`,
    'graphex similar my.model --item "The Matrix (1999)" --titles movies.dat',
  ]);
  command.action(async (path: string) => {
    const { item, titles: titleFile } = typedOptions(command, COMMANDS.similar.own);
    const options = typedOptions(command, COMMANDS.similar.options);
    await runCommand(command, async ({ signal }) => {
      if (item === undefined) throw new InputError('the item is missing: give --item ID');
      const model = await loadModel(path);
      const titles = await readTitles(titleFile, model, signal);
      const found = await similarItems(model, idByTitle(item, titles), options);
      const list = found.map((entry) => ({ ...entry, ...titled(titles.ofId(entry.item)) }));
      const { items } = model.names ?? USERS_AND_ITEMS;
      const named = list.some(({ title }) => title !== undefined);
      const rows = list.map(({ item: id, title, similarity }, rank) => [
        `${rank + 1}.`,
        shown(id),
        ...(named ? [shown(title ?? '')] : []),
        similarity.toFixed(4),
      ]);
      const heading = ['', items.one, ...(named ? ['title'] : []), 'similarity'];
      return {
        json: list,
        text:
          list.length === 0 ? `no ${items.one} is similar to ${shown(item)}` : textTable([heading, ...rows]),
      };
    });
  });
}
