// graphex similar: items similar to an item.

import { itemFilter } from '../../attributes/item-filter.js';
import { InputError } from '../../errors.js';
import { similarItems } from '../../predict/similar.js';
import { textTable } from '../../report/terminal/text-table.js';
import { loadModel } from '../../store/model-file.js';
import { present } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import { declareCommand } from '../command.js';
import { idByTitle, readTitles, titled } from '../titles.js';

export const register = declareCommand(
  'similar',
  {
    description: 'Items similar to an item: those that the same kinds of users have.',
    takes: { '<model>': 'a model file made by `graphex fit`' },
    examples: [
      'graphex similar model.safetensors --item 0133093 -n 10',
      `graphex similar model.safetensors --item 0133093 --filter "year >= 1990"`,
      'graphex similar my.model --item "The Matrix (1999)" --titles movies.dat',
    ],
  },
  async (context, { own: { item, titles: titleFile }, options }, path: string) => {
    if (item === undefined) throw new InputError('the item is missing: give --item ID');
    const model = await loadModel(path);
    const titles = await readTitles(titleFile, model, context);
    const found = await similarItems(model, idByTitle(item, titles), options);
    const list = found.map((entry) => ({ ...entry, ...titled(titles.ofId(entry.item)) }));
    const { items } = model.names ?? USERS_AND_ITEMS;
    const named = list.some(({ title }) => title !== undefined);
    const rows = list.map(({ item: id, title = '', similarity }, rank) =>
      present([`${rank + 1}.`, shown(id), named && shown(title), similarity.toFixed(4)]),
    );
    const heading = present(['', items.one, named && 'title', 'similarity']);
    return {
      json: list,
      text:
        list.length > 0
          ? textTable([heading, ...rows])
          : options.filter !== undefined && itemFilter(model, options.filter).count === 0
            ? `no ${items.one} meets the filter`
            : `no ${items.one}${options.filter === undefined ? '' : ' that meets the filter'} is similar to ${shown(item)}`,
    };
  },
);
