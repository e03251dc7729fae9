// The commands and the lines of JavaScript that give the same numbers as the page.

import { toArguments } from '../../options/arguments.js';
import { CHECK } from '../../options/commands/check.js';
import { EVALUATE } from '../../options/commands/evaluate.js';
import { FIT_COMMAND, METHOD, METHODS } from '../../options/commands/fit.js';
import { RECOMMEND, RECOMMEND_COMMAND } from '../../options/commands/recommend.js';
import { SPLIT, SPLIT_COMMAND } from '../../options/commands/split.js';
import { READ, SIDE_INFO } from '../../options/shared.js';
import { present } from '../../text/phrases.js';
import { command, shellArgument } from './next-commands.js';
import type { Purpose } from './page.js';

/** A step with a seed of its own. */
interface Seeded {
  readonly seed?: number | undefined;
}

export interface Done {
  /** A file's name or a built-in set. */
  readonly source: string;
  /** Options of the reader; `rejects` if bad rows were set aside. */
  readonly read: Readonly<Record<string, unknown>>;
  /** Of the check, and of every other step that has none of its own. */
  readonly seed: number;
  /** Shares that thinning kept. */
  readonly kept?: ({ readonly users: number; readonly items: number } & Seeded) | undefined;
  readonly fit?:
    | ({
        readonly features: number;
        readonly model: string;
        readonly iterations: number;
        readonly engine: string;
      } & Seeded)
    | undefined;
  /** The ranker, if one was fitted. */
  readonly ranker?:
    | ({ readonly engine: string; readonly halfLife?: string | undefined } & Seeded)
    | undefined;
  /** The column of times, if the ranker weighs edges by age. */
  readonly time?: string | undefined;
  /** The model that makes the lists. Default: the one that describes the data. */
  readonly by?: Purpose | undefined;
  readonly split?: ({ readonly testUsers: number; readonly testItems: number } & Seeded) | undefined;
  readonly evaluate?: ({ readonly draws: number; readonly n: number } & Seeded) | undefined;
  readonly likes?: readonly string[] | undefined;
  /** A user of the data for whom a list was made, instead of somebody with these likes. */
  readonly user?: string | undefined;
  /** The table about the items, and a condition on its attributes. */
  readonly itemInfo?: string | undefined;
  readonly filter?: string | undefined;
  /** Items that no list shows. */
  readonly hidden?: readonly string[] | undefined;
  readonly n: number;
}

const MODEL = 'model.safetensors';
const RANKER = 'ranker.safetensors';
/** The file of items that no list shows. */
const HIDDEN = 'hidden.txt';
const PACKAGE = "'graphex'";

/** The commands, one per line. No command thins data, so a first line says that they are thinned. */
export function sameCommands(done: Done): string {
  const { source, read, seed, kept, split, fit, ranker, evaluate, time, itemInfo, user, hidden = [] } = done;
  const data = [source, ...toArguments(READ, read)];
  const fitted = split ? ['parts'] : data;
  const about = toArguments({ itemInfo: SIDE_INFO.itemInfo }, { itemInfo });
  const splitOptions = { ...SPLIT, time: SPLIT_COMMAND.time };
  const rankerOptions = { ...METHODS.ranking, method: METHOD.method, time: FIT_COMMAND.time };
  const { likes, confidence, exclude } = RECOMMEND_COMMAND;
  const listOptions = { ...RECOMMEND, likes, user: RECOMMEND_COMMAND.user, confidence, exclude };
  const asksForList = isAsked(done);
  return present([
    kept && '# on a thinned table, which only the library makes',
    command(['check', ...data, ...toArguments(CHECK, { seed })]),
    split &&
      command(['split', ...data, ...toArguments(splitOptions, { seed, ...split, time }), '-o', 'parts']),
    fit &&
      command([
        'fit',
        ...fitted,
        ...toArguments(METHODS.ascent, { seed, ...fit }, { always: ['features'] }),
        ...about,
        '-o',
        MODEL,
      ]),
    ranker &&
      command([
        'fit',
        ...fitted,
        ...toArguments(rankerOptions, {
          seed,
          ...ranker,
          method: 'ranking',
          time: split ? undefined : time,
        }),
        ...about,
        '-o',
        RANKER,
      ]),
    split &&
      fit &&
      evaluate &&
      command(['evaluate', MODEL, 'parts', ...toArguments(EVALUATE, { seed, ...evaluate })]),
    asksForList && hidden.length > 0 && `printf '%s\\n' ${hidden.map(shellArgument).join(' ')} > ${HIDDEN}`,
    asksForList &&
      command([
        'recommend',
        done.by === 'recommend' ? RANKER : MODEL,
        ...toArguments(listOptions, {
          n: done.n,
          explain: true,
          ...(user === undefined ? { likes: done.likes } : { user }),
          confidence: true,
          filter: done.filter,
          exclude: hidden.length > 0 ? HIDDEN : undefined,
        }),
      ]),
  ]).join('\n');
}

/** Whether a list was made, for a user or for likes. */
function isAsked({ user, likes = [] }: Done): boolean {
  return user !== undefined || likes.length > 0;
}

/** The same with the library. */
export function sameScript(done: Done): string {
  const { source, read, seed, kept, split, fit, ranker, likes, n, user, time, itemInfo, hidden = [] } = done;
  const evaluate = split && fit && done.evaluate;
  const asked = (fit || ranker) && isAsked(done);
  const timed = time !== undefined;
  const names = present([
    timed ? 'readWithValues' : 'readGraph',
    timed && 'timeColumn',
    kept && 'thin',
    'checkSparsity',
    split && 'split',
    (fit || ranker) && 'fit',
    evaluate && 'evaluateModel',
    asked && 'recommend',
  ]);
  const said = (value: object) => {
    const known = Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined));
    return JSON.stringify(known)
      .replace(/"([A-Za-z_]\w*)":/g, '$1: ')
      .replace(/,(?=\w+: )/g, ', ')
      .replace(/^\{(.+)\}$/, '{ $1 }');
  };
  const seeded = (options: Seeded) => said({ ...options, seed: options.seed ?? seed });
  const graph = kept ? 'part' : 'graph';
  const fitted = split ? 'parts.train' : graph;
  // If a pair occurs several times, a split keeps its first time, and a fit of all rows its last one.
  const column = `timeColumn(${JSON.stringify(time)})`;
  const times = split ? column : `{ ...${column}, keep: 'largest' }`;
  /** The options with the times of the edges. */
  const withTimes = (options: string, values: string) =>
    timed ? options.replace(/ \}$/, `, times: ${values} }`) : options;
  const ranking = withTimes(
    seeded({ method: 'ranking', ...ranker } as Seeded),
    split ? 'parts.times.train' : 'values',
  );
  const query = user === undefined ? { likes } : { user };
  const list = { n, explain: true, ...(hidden.length > 0 && { exclude: hidden }) };
  return present([
    `import { ${names.join(', ')} } from ${PACKAGE};`,
    '',
    itemInfo !== undefined &&
      `// Only the command line reads a table about the items, here ${JSON.stringify(itemInfo)}.`,
    timed
      ? `const { graph, values } = await readWithValues(${JSON.stringify(source)}, ${said(read)}, ${times});`
      : `const { graph } = await readGraph(${JSON.stringify(source)}, ${said(read)});`,
    kept && `const part = thin(graph, ${seeded(kept)});`,
    `const { verdict } = await checkSparsity(${graph}, ${said({ seed })});`,
    split && `const parts = split(${graph}, ${withTimes(seeded(split), 'values')});`,
    fit && `const { model } = await fit(${fitted}, ${seeded(fit)});`,
    evaluate && `const evaluation = await evaluateModel(model, parts, ${seeded(evaluate)});`,
    ranker && `const { model: ranker } = await fit(${fitted}, ${ranking});`,
    asked &&
      `const list = await recommend(${done.by === 'recommend' ? 'ranker' : 'model'}, ${said(query)}, ${said(list)});`,
  ]).join('\n');
}
