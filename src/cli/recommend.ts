// graphex recommend: items for a known user, for a new one by what they like, or for a file of users.

import type { Command } from 'commander';
import { InputError } from '../errors.js';
import type { Model } from '../fit/model.js';
import { readSideTable } from '../ingest/side-table.js';
import type { OptionsOf } from '../options/kinds.js';
import { COMMANDS, type RECOMMEND, type RECOMMEND_COMMAND } from '../options/verbs.js';
import { type Asker, type Recommendation, recommendMany } from '../predict/recommend.js';
import { loadModel } from '../store/model.js';
import { grouped } from '../text/numbers.js';
import { many, were } from '../text/phrases.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { shown } from '../text/untrusted.js';
import { addOptions, type CommandContext, runCommand } from './command.js';
import { typedOptions } from './flags.js';
import { textTable } from './text-table.js';

type Values = OptionsOf<typeof RECOMMEND_COMMAND & typeof RECOMMEND>;

export function register(program: Command): void {
  const command = program
    .command('recommend')
    .description('Items for a user of the model, or for a new one by a few liked items.')
    .argument('<model>', 'a model file made by `graphex fit`');
  addOptions(command, [
    'graphex recommend model.safetensors --user 4711 -n 10',
    'graphex recommend model.safetensors --likes 112,235,4081 --explain',
    'graphex recommend model.safetensors --like "Crouching Tiger, Hidden Dragon" --like Heat',
  ]);
  command.action(async (path: string) => {
    const { own, options } = COMMANDS.recommend;
    const values = { ...typedOptions(command, own), ...typedOptions(command, options) };
    await runCommand(command, (context) => run(path, values, context));
  });
}

async function run(path: string, values: Values, context: CommandContext) {
  const likes = values.likes || values.like ? [...(values.likes ?? []), ...(values.like ?? [])] : undefined;
  const asked = (
    [
      ['--user', values.user],
      ['--likes', likes],
      ['--batch', values.batch],
    ] as const
  ).filter(([, value]) => value !== undefined);
  if (asked.length !== 1) {
    const given = asked.map(([flag]) => flag).join(' and ');
    throw new InputError(
      `${given && `${given} were both given; `}say for whom: one of --user ID, --likes ID,ID,… (or --like ID, as often as needed) or --batch FILE`,
    );
  }
  const exclude = values.exclude === undefined ? [] : await readLines(values.exclude);
  const askers = values.batch === undefined ? [single(values.user, likes)] : await readBatch(values.batch);
  const model = await loadModel(path);
  const { items } = model.names ?? USERS_AND_ITEMS;
  const unknown = new Set<string>();
  const lists = await recommendMany(
    model,
    askers.map(({ asker }) => asker),
    {
      n: values.n,
      exclude,
      includeSeen: values.includeSeen,
      explain: values.explain,
      threads: context.threads,
      signal: context.signal,
      onProgress: context.onProgress,
      // One typed by hand is a mistake to stop at; in a file of many, a warning.
      ...(values.batch === undefined
        ? {}
        : {
            onUnknown: (ids: readonly (string | number)[]) => {
              for (const id of ids) unknown.add(String(id));
            },
          }),
    },
  );
  if (unknown.size > 0) {
    context.warn(
      `${many(unknown.size, { one: `liked ${items.one} is`, many: `liked ${items.many} are` })} unknown to the model and ${were(unknown.size)} left out: ${some([...unknown])}`,
    );
  }
  const strange = exclude.filter((id) => model.items.ids.find(id) < 0);
  if (strange.length > 0) {
    context.warn(
      `${many(strange.length, { one: 'id of --exclude is', many: 'ids of --exclude are' })} not among the ${items.many} of the model: ${some(strange)}`,
    );
  }
  if (values.batch === undefined) return { json: lists[0], text: describe(lists[0], model) };
  return {
    json: askers.map(({ name }, a) => ({ user: name, items: lists[a] })),
    text: askers.map(({ name }, a) => `${shown(name)}\n${describe(lists[a], model)}\n`).join('\n'),
  };
}

function single(user: string | undefined, likes: readonly string[] = []): { name: string; asker: Asker } {
  return user === undefined ? { name: 'new user', asker: { likes } } : { name: user, asker: { user } };
}

/** An id a line, as it stands. */
async function readLines(path: string): Promise<string[]> {
  const rows = await readSideTable(path, ['\n']);
  return rows.map(({ fields }) => fields[0]);
}

/** A column of known users, or two columns: users who are folded in from the items beside them. */
async function readBatch(path: string): Promise<{ name: string; asker: Asker }[]> {
  const rows = await readSideTable(path, ['\t', ',']);
  if (rows.length === 0) throw new InputError(`--batch ${path}: the file is empty; give an id per line`);
  if (rows[0].fields.length === 1) {
    return rows.map(({ fields: [user] }) => ({ name: user, asker: { user } }));
  }
  const likes = new Map<string, string[]>();
  for (const { line, fields } of rows) {
    const [user, item, ...more] = fields;
    if (!user || !item || more.length > 0) {
      throw new InputError(
        `--batch ${path}, line ${line} (${shown(fields.join(', '))}): expected a user and an item, separated as in the first line`,
      );
    }
    const items = likes.get(user);
    if (items) items.push(item);
    else likes.set(user, [item]);
  }
  return Array.from(likes, ([name, items]) => ({ name, asker: { likes: items } }));
}

function some(ids: readonly string[]): string {
  return (
    ids
      .slice(0, 5)
      .map((id) => shown(id))
      .join(', ') + (ids.length > 5 ? ', …' : '')
  );
}

function describe(list: readonly Recommendation[], model: Model): string {
  const { items } = model.names ?? USERS_AND_ITEMS;
  if (list.length === 0) return `no ${items.one} is left of the ${grouped(model.items.count)} of the model`;
  const explained = list.some((entry) => entry.explanation);
  return textTable([
    ['', items.one, 'score', ...(explained ? ['because of'] : [])],
    ...list.map(({ item, score, explanation }, rank) => [
      `${rank + 1}.`,
      shown(item),
      score.toPrecision(4),
      ...(explanation ? [reasons(explanation, score)] : []),
    ]),
  ]);
}

/** The three largest parts of the score, in percent: own items, or the prior, which is the same for everyone. */
function reasons({ items, prior }: NonNullable<Recommendation['explanation']>, score: number): string {
  return [...items, { item: 'prior', share: prior }]
    .sort((a, b) => b.share - a.share)
    .slice(0, 3)
    .map(({ item, share }) => ({ item, percent: Math.round((100 * share) / score) }))
    .filter(({ percent }) => percent > 0)
    .map(({ item, percent }) => `${shown(item)} (${percent} %)`)
    .join(', ');
}
