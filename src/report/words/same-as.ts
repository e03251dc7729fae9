// The commands and the lines of JavaScript that give the same numbers as the page.

import { toArguments } from '../../options/arguments.js';
import { CHECK } from '../../options/commands/check.js';
import { EVALUATE } from '../../options/commands/evaluate.js';
import { FIT_COMMAND, METHOD, METHODS } from '../../options/commands/fit.js';
import { RECOMMEND, RECOMMEND_COMMAND } from '../../options/commands/recommend.js';
import { SPLIT, SPLIT_COMMAND } from '../../options/commands/split.js';
import { READ, SIDE_INFO } from '../../options/shared.js';
import { command, shellArgument } from './next-commands.js';

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
  readonly by?: 'understand' | 'recommend' | undefined;
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

/** The commands, one per line. No command thins data, so a first line says that they are thinned. */
export function sameCommands(done: Done): string {
  const { source, read, seed, split, likes = [], n, user, itemInfo, filter, time, hidden = [] } = done;
  const data = [source, ...toArguments(READ, read)];
  const about = toArguments({ itemInfo: SIDE_INFO.itemInfo }, { itemInfo });
  const lines = [command(['check', ...data, ...toArguments(CHECK, { seed })])];
  if (split)
    lines.push(
      command([
        ...[
          'split',
          ...data,
          ...toArguments({ ...SPLIT, time: SPLIT_COMMAND.time }, { seed, ...split, time }),
        ],
        ...['-o', 'parts'],
      ]),
    );
  if (done.fit) {
    const options = [
      ...toArguments(METHODS.ascent, { seed, ...done.fit }, { always: ['features'] }),
      ...about,
    ];
    lines.push(command(['fit', ...(split ? ['parts'] : data), ...options, '-o', 'model.safetensors']));
  }
  if (done.ranker) {
    const options = [
      ...toArguments(
        { ...METHODS.ranking, method: METHOD.method, time: FIT_COMMAND.time },
        { seed, ...done.ranker, method: 'ranking', time: split ? undefined : time },
      ),
      ...about,
    ];
    lines.push(command(['fit', ...(split ? ['parts'] : data), ...options, '-o', RANKER]));
  }
  if (split && done.fit && done.evaluate) {
    const options = toArguments(EVALUATE, { seed, ...done.evaluate });
    lines.push(command(['evaluate', 'model.safetensors', 'parts', ...options]));
  }
  if (user !== undefined || likes.length > 0) {
    const { likes: liked, user: someone, confidence, exclude } = RECOMMEND_COMMAND;
    const query = user === undefined ? { likes } : { user };
    const options = toArguments(
      { ...RECOMMEND, likes: liked, user: someone, confidence, exclude },
      {
        n,
        explain: true,
        ...query,
        confidence: true,
        filter,
        exclude: hidden.length > 0 ? HIDDEN : undefined,
      },
    );
    if (hidden.length > 0) lines.push(`printf '%s\\n' ${hidden.map(shellArgument).join(' ')} > ${HIDDEN}`);
    lines.push(command(['recommend', done.by === 'recommend' ? RANKER : 'model.safetensors', ...options]));
  }
  if (done.kept) lines.unshift('# on a thinned table, which only the library makes');
  return lines.join('\n');
}

const RANKER = 'ranker.safetensors';
/** The file of items that no list shows. */
const HIDDEN = 'hidden.txt';
const PACKAGE = "'graphex'";

/** The same with the library. */
export function sameScript(done: Done): string {
  const { source, read, seed, kept, split, likes = [], n, user, time } = done;
  const asked = user !== undefined || likes.length > 0;
  const timed = time !== undefined;
  const names = [
    ...(timed ? ['readWithValues', 'timeColumn'] : ['readGraph']),
    ...(kept ? ['thin'] : []),
    'checkSparsity',
    ...(split ? ['split'] : []),
    ...(done.fit || done.ranker ? ['fit'] : []),
    ...(split && done.fit && done.evaluate ? ['evaluateModel'] : []),
    ...((done.fit || done.ranker) && asked ? ['recommend'] : []),
  ];
  const said = (value: object) => {
    const known = Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined));
    return JSON.stringify(known)
      .replace(/"([A-Za-z_]\w*)":/g, '$1: ')
      .replace(/,(?=\w+: )/g, ', ')
      .replace(/^\{(.+)\}$/, '{ $1 }');
  };
  const graph = kept ? 'part' : 'graph';
  // If a pair occurs several times, a split keeps its first time, and a fit of all rows its last one.
  const column = `timeColumn(${JSON.stringify(time)})`;
  const times = split ? column : `{ ...${column}, keep: 'largest' }`;
  /** The options with the times of the edges. */
  const withTimes = (options: string, values: string) =>
    timed ? options.replace(/ \}$/, `, times: ${values} }`) : options;
  return [
    `import { ${names.join(', ')} } from ${PACKAGE};`,
    '',
    ...(done.itemInfo
      ? [`// Only the command line reads a table about the items, here ${JSON.stringify(done.itemInfo)}.`]
      : []),
    timed
      ? `const { graph, values } = await readWithValues(${JSON.stringify(source)}, ${said(read)}, ${times});`
      : `const { graph } = await readGraph(${JSON.stringify(source)}, ${said(read)});`,
    ...(kept ? [`const part = thin(graph, ${said({ ...kept, seed: kept.seed ?? seed })});`] : []),
    `const { verdict } = await checkSparsity(${graph}, ${said({ seed })});`,
    ...(split
      ? [
          `const parts = split(${graph}, ${withTimes(said({ ...split, seed: split.seed ?? seed }), 'values')});`,
        ]
      : []),
    ...(done.fit
      ? [
          `const { model } = await fit(${split ? 'parts.train' : graph}, ${said({ ...done.fit, seed: done.fit.seed ?? seed })});`,
          ...(split && done.evaluate
            ? [
                `const evaluation = await evaluateModel(model, parts, ${said({ ...done.evaluate, seed: done.evaluate.seed ?? seed })});`,
              ]
            : []),
        ]
      : []),
    ...(done.ranker
      ? [
          `const { model: ranker } = await fit(${split ? 'parts.train' : graph}, ${withTimes(said({ method: 'ranking', ...done.ranker, seed: done.ranker.seed ?? seed }), split ? 'parts.times.train' : 'values')});`,
        ]
      : []),
    ...((done.fit || done.ranker) && asked
      ? [
          `const list = await recommend(${done.by === 'recommend' ? 'ranker' : 'model'}, ${said(user === undefined ? { likes } : { user })}, ${said({ n, explain: true, ...(done.hidden?.length && { exclude: done.hidden }) })});`,
        ]
      : []),
  ].join('\n');
}
