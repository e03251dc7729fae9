// graphex features: what a model found.

import { FEATURES_PER_REQUEST } from '../../options/commands/features.js';
import { type DescribedFeature, describeFeatures } from '../../predict/features.js';
import { wrap } from '../../report/terminal/text-table.js';
import { loadModel } from '../../store/model-file.js';
import { grouped, percent } from '../../text/numbers.js';
import { present } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import { declareCommand } from '../command.js';
import { readTitles, titled } from '../titles.js';

/** A feature; if its items have titles, it is named by the first of them. */
type NamedFeature = Omit<DescribedFeature, 'items'> & {
  readonly name?: string;
  readonly items: readonly { readonly item: string; readonly weight: number; readonly title?: string }[];
};

/** Number of items in the name of a feature. */
const NAMED_BY = 3;

export const register = declareCommand(
  'features',
  {
    description: 'What a model found: the items and users of each feature, and how much it explains.',
    takes: { '<model>': 'a model file made by `graphex fit`' },
    examples: [
      'graphex features model.safetensors -n 10',
      'graphex features model.safetensors --titles movies.dat',
    ],
  },
  async (context, { own: { titles: titleFile, top }, options }, path: string) => {
    const model = await loadModel(path);
    const titles = await readTitles(titleFile, model, context);
    const all = await describeFeatures(model, options);
    const found = all.slice(0, top ?? all.length).map((feature): NamedFeature => {
      const items = feature.items.map((entry) => ({
        ...entry,
        ...titled(titles.ofId(entry.item)),
      }));
      if (!items.some(({ title }) => title !== undefined)) return { ...feature, items };
      const name = items.slice(0, NAMED_BY).map(({ item, title }) => title ?? item);
      return { ...feature, name: name.join(', '), items };
    });
    const names = model.names ?? USERS_AND_ITEMS;
    const printed = found.slice(0, top ?? FEATURES_PER_REQUEST);
    return {
      json: found,
      text: [
        ...printed.map((one) => describe(one, names)),
        ...legend(all.length, printed.length, names),
      ].join('\n\n'),
    };
  },
);

/** Says what the percentages mean, and what was left out. */
function legend(all: number, printed: number, { users, items }: SideNames): string[] {
  return present([
    `In brackets: the share of a feature’s expected edges that go to each of the ${items.many} and ${users.many}.`,
    printed < all &&
      `Shown: ${grouped(printed)} of ${grouped(all)} features, those that explain most; --top ${all} prints all.`,
  ]).map((note) => wrap(note));
}

function describe({ feature, name, share, items, users }: NamedFeature, names: SideNames): string {
  const label = Math.max(names.items.many.length, names.users.many.length);
  const line = (side: string, entries: readonly { readonly id: string; readonly weight: number }[]) =>
    entries.length > 0 &&
    wrap(
      entries.map(({ id, weight }) => `${shown(id)} (${percent(weight)})`).join(', '),
      `  ${side.padEnd(label)}  `,
      ' '.repeat(label + 4),
    );
  return present([
    `feature ${feature}: ${percent(share)} of the expected edges${name ? `: ${shown(name, 160)}` : ''}`,
    line(
      names.items.many,
      items.map(({ item, title, weight }) => ({ id: title ?? item, weight })),
    ),
    line(
      names.users.many,
      users.map(({ user, weight }) => ({ id: user, weight })),
    ),
  ]).join('\n');
}
