// graphex search: items by words of their id or title.

import { catalogueOf } from '../../attributes/info.js';
import { InputError } from '../../errors.js';
import { withDefaults } from '../../options/check-options.js';
import { SEARCH } from '../../options/commands/search.js';
import { textTable } from '../../report/terminal/text-table.js';
import { grouped } from '../../text/numbers.js';
import { present } from '../../text/phrases.js';
import { USERS_AND_ITEMS } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import { declareCommand } from '../command.js';
import { openModel } from '../model-source.js';
import { readTitles, titled } from '../titles.js';

export const register = declareCommand(
  'search',
  {
    description: 'Finds items by words of their id or title, else by close spellings.',
    takes: {
      '<model>': 'a model file made by `graphex fit`',
      '<text>': 'words of an id or title; the last one may be unfinished',
    },
    examples: [
      'graphex search model.safetensors "harry potter"',
      'graphex search model.safetensors matrx --titles movies.dat -n 5',
    ],
  },
  async (context, { own: { titles: titleFile }, options }, path: string, text: string) => {
    const { n } = withDefaults(SEARCH, options);
    if (text.trim() === '') {
      throw new InputError('the text to search for is empty; give words of a title, or an id');
    }
    const { head: model } = await openModel(path);
    const titles = await readTitles(titleFile, model, context);
    const { degree } = catalogueOf(model);
    const list = titles
      .search(text, n)
      .map((item) => ({ item: titles.id(item), ...titled(titles.of(item)), users: degree[item] }));
    const { users, items } = model.names ?? USERS_AND_ITEMS;
    const named = list.some(({ title }) => title !== undefined);
    const rows = list.map(({ item, title = '', users: count }) =>
      present([shown(item), named && shown(title), grouped(count)]),
    );
    return {
      json: list,
      text:
        list.length === 0
          ? `no ${items.one} has ${shown(text)} or a close spelling in its id or title`
          : textTable([present([items.one, named && 'title', users.many]), ...rows]),
    };
  },
);
