// graphex recommend: items for a known user, for a new one by what they like, or for a file of users.

import type { Command } from 'commander';
import { InputError, throwIfAborted } from '../errors.js';
import type { Model } from '../fit/model.js';
import { readSideTable } from '../ingest/side-table.js';
import type { OptionsOf } from '../options/kinds.js';
import { COMMANDS, type RECOMMEND, type RECOMMEND_COMMAND } from '../options/verbs.js';
import { basisOf } from '../predict/basis.js';
import { type Reasons, titledReasons } from '../predict/reasons.js';
import type { Asker, Recommendation } from '../predict/recommend.js';
import { createRecommender } from '../predict/recommender.js';
import type { TitleBook } from '../predict/titles.js';
import { confidenceWords } from '../report/words/confidence.js';
import { reasonWords } from '../report/words/reasons.js';
import { loadModel } from '../store/model.js';
import { grouped } from '../text/numbers.js';
import { many } from '../text/phrases.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { oneLine, shown } from '../text/untrusted.js';
import { addOptions, type CommandContext, runCommand } from './command.js';
import { typedOptions } from './flags.js';
import {
  type Askers,
  checkMany,
  everyUser,
  knownItems,
  listsToOutput,
  readBatch,
  some,
  warnOfSkipped,
} from './recommend-many.js';
import { textTable } from './text-table.js';
import { idByTitle, readTitles, titled } from './titles.js';

type Values = OptionsOf<typeof RECOMMEND_COMMAND & typeof RECOMMEND>;

export function register(program: Command): void {
  const command = program
    .command('recommend')
    .description('Items for a user of the model, or for a new one by a few liked items.')
    .argument('<model>', 'a model file made by `graphex fit`');
  addOptions(command, [
    'graphex recommend model.safetensors --user 4711 -n 10',
    'graphex recommend model.safetensors --likes 112,235,4081 --explain',
    'graphex recommend model.safetensors --all-users -n 20 -o lists.parquet',
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
      ['--all-users', values.allUsers || undefined],
    ] as const
  ).filter(([, value]) => value !== undefined);
  if (asked.length !== 1) {
    const given = asked.map(([flag]) => flag).join(' and ');
    throw new InputError(
      `${given && `${given} were both given; `}say for whom: one of --user ID, --likes ID,ID,… (or --like ID, as often as needed), --all-users or --batch FILE`,
    );
  }
  const toMany = values.batch !== undefined || values.allUsers === true;
  if (toMany) await checkMany(values, [path, values.batch, values.exclude, values.titles], context.json);
  else if (values.output !== undefined) {
    throw new InputError('-o is for the lists of many: add --all-users or --batch FILE, or leave it out');
  }
  const exclude = values.exclude === undefined ? [] : await readLines(values.exclude);
  const model = await loadModel(path);
  const titles = await readTitles(values.titles, model);
  const found: Askers = values.allUsers
    ? everyUser(model)
    : values.batch === undefined
      ? { askers: [single(values.user, likes)], skipped: [], unknownItems: [] }
      : await readBatch(values.batch, model, titles);
  warnOfSkipped(found, model, context.warn);
  const askers = found.askers.map(({ name, asker }) => ({ name, asker: byTitle(asker, titles) }));
  const { items } = model.names ?? USERS_AND_ITEMS;
  const recommender = createRecommender(model);
  try {
    warnOfExcluded();
    const { output } = values;
    if (toMany && output !== undefined) {
      const shownTitles = values.titles === undefined ? undefined : titles;
      return await listsToOutput(
        recommender,
        found,
        { ...values, output },
        { titles: shownTitles, exclude },
        context,
      );
    }
    return await answer();
  } finally {
    await recommender.close();
  }

  function warnOfExcluded(): void {
    const strange = exclude.filter((id) => model.items.ids.find(id) < 0);
    if (strange.length > 0) {
      context.warn(
        `${many(strange.length, { one: 'id of --exclude is', many: 'ids of --exclude are' })} not among the ${items.many} of the model: ${some(strange)}`,
      );
    }
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
      },
    );
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
        items: lists[a].map(({ explanation, ...entry }, i) => ({
          ...entry,
          ...titled(titles.of(model.items.ids.find(entry.item))),
          ...(explanation && { reasons: recommender.reasons({ ...entry, explanation }) }),
          ...(sure && { low: sure.intervals[i].low, high: sure.intervals[i].high }),
        })),
      });
    }
    const titleOf = (item: string) => titled(titles.of(model.items.ids.find(item)));
    const listed = ({ items: list }: Listing) =>
      list.map(({ reasons, ...entry }) => ({
        ...entry,
        ...(reasons && { explanation: titledReasons(reasons, titleOf) }),
      }));
    if (!toMany) return { json: listed(results[0]), text: describe(results[0], model, titles) };
    return {
      json: askers.map(({ name, asker }, a) => ({
        user: name,
        ...results[a],
        items: listed(results[a]),
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
  readonly items: readonly (Omit<Recommendation, 'explanation'> & {
    /** With --explain. */
    readonly reasons?: Reasons | undefined;
    readonly title?: string;
    readonly low?: number;
    readonly high?: number;
  })[];
}

/** Likes that are titles become ids; one that several items share is refused. */
function byTitle(asker: Asker, titles: TitleBook): Asker {
  if (!('likes' in asker)) return asker;
  const likes = asker.likes.map((like) => idByTitle(String(like), titles));
  return { ...asker, likes };
}

function single(user: string | undefined, likes: readonly string[] = []): { name: string; asker: Asker } {
  return user === undefined ? { name: 'new user', asker: { likes } } : { name: user, asker: { user } };
}

/** An id a line, as it stands. */
async function readLines(path: string): Promise<string[]> {
  const rows = await readSideTable(path, ['\n']);
  return rows.map(({ fields }) => fields[0]);
}

function describe({ items: list, overlap }: Listing, model: Model, titles: TitleBook): string {
  const name = (id: string) => shown(titles.of(model.items.ids.find(id)) ?? id);
  const { items } = model.names ?? USERS_AND_ITEMS;
  if (list.length === 0) return `no ${items.one} is left of the ${grouped(model.items.count)} of the model`;
  const named = list.some((entry) => entry.title !== undefined);
  const table = textTable([
    ['', items.one, ...(named ? ['title'] : []), 'score', ...(overlap === undefined ? [] : ['90 %'])],
    ...list.map(({ item, title, score, low, high }, rank) => [
      `${rank + 1}.`,
      shown(item),
      ...(named ? [shown(title ?? '')] : []),
      score.toPrecision(4),
      ...(low === undefined || high === undefined ? [] : [`${low.toPrecision(2)} … ${high.toPrecision(2)}`]),
    ]),
  ]);
  const [heading, ...rows] = table.split('\n');
  const lines = rows.flatMap((row, at) => {
    const { score, reasons } = list[at];
    const why = reasons ? reasonWords(reasons, score, model.names ?? USERS_AND_ITEMS, name) : [];
    return [row, ...why.map((line) => `      ${oneLine(line)}`)];
  });
  const text = [heading, ...lines].join('\n');
  return overlap === undefined ? text : `${text}\n\n${confidenceWords(overlap, list.length)}`;
}
