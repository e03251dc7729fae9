// graphex recommend: items for a known user, for a new one by what they like, or for a file of users.

import type { Command } from 'commander';
import { InputError, throwIfAborted } from '../errors.js';
import { titleList, titlesOf } from '../evaluate/titles.js';
import type { Model } from '../fit/model.js';
import { readSideTable } from '../ingest/side-table.js';
import type { OptionsOf } from '../options/kinds.js';
import { COMMANDS, type RECOMMEND, type RECOMMEND_COMMAND } from '../options/verbs.js';
import { basisOf, FEW_LIKES } from '../predict/basis.js';
import type { Asker, Recommendation } from '../predict/recommend.js';
import { createRecommender } from '../predict/recommender.js';
import { type TitleBook, titleBook } from '../predict/titles.js';
import { confidenceWords } from '../report/words/confidence.js';
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
  const model = await loadModel(path);
  const titles = titleBook(model.items.ids, await titlesFor(values.titles, model));
  const askers = (
    values.batch === undefined ? [single(values.user, likes)] : await readBatch(values.batch)
  ).map(({ name, asker }) => ({ name, asker: byTitle(asker, titles) }));
  const { items } = model.names ?? USERS_AND_ITEMS;
  const unknown = new Set<string>();
  const recommender = createRecommender(model);
  try {
    return await answer();
  } finally {
    await recommender.close();
  }

  async function answer() {
    const lists = await recommender.recommendMany(
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
    const results: Listing[] = [];
    for (const [a, { asker }] of askers.entries()) {
      throwIfAborted(context.signal);
      const sure = values.confidence
        ? await recommender.confidence(
            asker,
            lists[a].map(({ item }) => item),
            { onUnknown: () => {} },
          )
        : undefined;
      results.push({
        overlap: sure?.overlap,
        items: lists[a].map((entry, i) => ({
          ...entry,
          ...titled(titles.of(model.items.ids.find(entry.item))),
          ...(sure && { low: sure.intervals[i].low, high: sure.intervals[i].high }),
        })),
      });
    }
    if (values.batch === undefined)
      return { json: results[0].items, text: describe(results[0], model, titles) };
    return {
      json: askers.map(({ name, asker }, a) => ({
        user: name,
        ...results[a],
        basis: basisOf(knownItems(model, asker)),
      })),
      text: askers
        .map(({ name }, a) => `${shown(name)}\n${describe(results[a], model, titles)}\n`)
        .join('\n'),
    };
  }
}

/** One list as it is printed. */
interface Listing {
  /** With --confidence. */
  readonly overlap: number | undefined;
  readonly items: readonly (Recommendation & {
    readonly title?: string;
    readonly low?: number;
    readonly high?: number;
  })[];
}

function titled(title: string | undefined): { title?: string } {
  return title === undefined ? {} : { title };
}

async function titlesFor(path: string | undefined, { items: { ids } }: Model): Promise<string[]> {
  if (path === undefined) return [];
  return titleList(titlesOf(await readSideTable(path), ids, path), ids);
}

/** Likes that are titles become ids; one that several items share is refused. */
function byTitle(asker: Asker, titles: TitleBook): Asker {
  if (!('likes' in asker)) return asker;
  const likes = asker.likes.map((like) => {
    const found = titles.find(like);
    if (found === 'ambiguous') {
      throw new InputError(`several items are called ${shown(like)}; give the id of the one that is meant`);
    }
    return found === 'unknown' ? like : titles.id(found.item);
  });
  return { ...asker, likes };
}

/** Items of an asker that the model knows. */
function knownItems({ items, users, seen }: Model, asker: Asker): number {
  if ('likes' in asker) return new Set(asker.likes.filter((id) => items.ids.find(id) >= 0)).size;
  return users.degree[users.ids.find(asker.user)] ?? (seen ? 0 : FEW_LIKES);
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

function describe({ items: list, overlap }: Listing, model: Model, titles: TitleBook): string {
  const name = (id: string) => shown(titles.of(model.items.ids.find(id)) ?? id);
  const { items } = model.names ?? USERS_AND_ITEMS;
  if (list.length === 0) return `no ${items.one} is left of the ${grouped(model.items.count)} of the model`;
  const explained = list.some((entry) => entry.explanation);
  const named = list.some((entry) => entry.title !== undefined);
  const table = textTable([
    [
      '',
      items.one,
      ...(named ? ['title'] : []),
      'score',
      ...(overlap === undefined ? [] : ['90 %']),
      ...(explained ? ['because of'] : []),
    ],
    ...list.map(({ item, title, score, low, high, explanation }, rank) => [
      `${rank + 1}.`,
      shown(item),
      ...(named ? [shown(title ?? '')] : []),
      score.toPrecision(4),
      ...(low === undefined || high === undefined ? [] : [`${low.toPrecision(2)} … ${high.toPrecision(2)}`]),
      ...(explanation ? [reasons(explanation, score, name)] : []),
    ]),
  ]);
  return overlap === undefined ? table : `${table}\n\n${confidenceWords(overlap, list.length)}`;
}

/** The three largest parts of the score, in percent: own items, or the prior, which is the same for everyone. */
function reasons(
  { items, prior }: NonNullable<Recommendation['explanation']>,
  score: number,
  name: (id: string) => string,
): string {
  return [...items.map(({ item, share }) => ({ item: name(item), share })), { item: 'prior', share: prior }]
    .sort((a, b) => b.share - a.share)
    .slice(0, 3)
    .map(({ item, share }) => ({ item, percent: Math.round((100 * share) / score) }))
    .filter(({ percent }) => percent > 0)
    .map(({ item, percent }) => `${item} (${percent} %)`)
    .join(', ');
}
