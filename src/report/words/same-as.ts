// The commands and the lines of JavaScript that give the same numbers as the page.

import { toArguments } from '../../options/arguments.js';
import { CHECK } from '../../options/commands/check.js';
import { EVALUATE } from '../../options/commands/evaluate.js';
import { METHOD, METHODS } from '../../options/commands/fit.js';
import { RECOMMEND, RECOMMEND_COMMAND } from '../../options/commands/recommend.js';
import { SPLIT } from '../../options/commands/split.js';
import { READ, SIDE_INFO } from '../../options/shared.js';
import { command } from './commands.js';

export interface Done {
  /** A file's name or a built-in set. */
  readonly source: string;
  /** Options of the reader; `rejects` if bad rows were set aside. */
  readonly read: Readonly<Record<string, unknown>>;
  readonly seed: number;
  /** Shares that thinning kept. */
  readonly kept?: { readonly users: number; readonly items: number } | undefined;
  readonly fit?:
    | {
        readonly features: number;
        readonly model: string;
        readonly iterations: number;
        readonly engine: string;
      }
    | undefined;
  /** The ranker, if one was fitted. */
  readonly ranker?: { readonly engine: string } | undefined;
  /** The model that makes the lists. Default: the one that describes the data. */
  readonly by?: 'understand' | 'recommend' | undefined;
  readonly split?: { readonly testUsers: number; readonly testItems: number } | undefined;
  readonly evaluate?: { readonly draws: number; readonly n: number } | undefined;
  readonly likes?: readonly string[] | undefined;
  /** A user of the data for whom a list was made, instead of somebody with these likes. */
  readonly user?: string | undefined;
  /** The table about the items, and a condition on its attributes. */
  readonly itemInfo?: string | undefined;
  readonly filter?: string | undefined;
  readonly n: number;
}

/** The commands, one per line. No command thins data, so a first line says that they are thinned. */
export function sameCommands(done: Done): string {
  const { source, read, seed, split, likes = [], n, user, itemInfo, filter } = done;
  const data = [source, ...toArguments(READ, read)];
  const about = toArguments({ itemInfo: SIDE_INFO.itemInfo }, { itemInfo });
  const lines = [command(['check', ...data, ...toArguments(CHECK, { seed })])];
  if (split)
    lines.push(command(['split', ...data, ...toArguments(SPLIT, { ...split, seed }), '-o', 'parts']));
  if (done.fit) {
    const options = [
      ...toArguments(METHODS.ascent, { ...done.fit, seed }, { always: ['features'] }),
      ...about,
    ];
    lines.push(command(['fit', ...(split ? ['parts'] : data), ...options, '-o', 'model.safetensors']));
  }
  if (done.ranker) {
    const options = [
      ...toArguments(
        { ...METHODS.ranking, method: METHOD.method },
        { ...done.ranker, method: 'ranking', seed },
      ),
      ...about,
    ];
    lines.push(command(['fit', ...(split ? ['parts'] : data), ...options, '-o', RANKER]));
  }
  if (split && done.fit && done.evaluate) {
    const options = toArguments(EVALUATE, { ...done.evaluate, seed });
    lines.push(command(['evaluate', 'model.safetensors', 'parts', ...options]));
  }
  if (user !== undefined || likes.length > 0) {
    const { likes: liked, user: someone, confidence } = RECOMMEND_COMMAND;
    const asker = user === undefined ? { likes } : { user };
    const options = toArguments(
      { ...RECOMMEND, likes: liked, user: someone, confidence },
      { n, explain: true, ...asker, confidence: true, filter },
    );
    lines.push(command(['recommend', done.by === 'recommend' ? RANKER : 'model.safetensors', ...options]));
  }
  if (done.kept) lines.unshift('# on a thinned table, which only the library makes');
  return lines.join('\n');
}

const RANKER = 'ranker.safetensors';
const PACKAGE = "'graphex'";

/** The same with the library. */
export function sameScript(done: Done): string {
  const { source, read, seed, kept, split, likes = [], n, user } = done;
  const asked = user !== undefined || likes.length > 0;
  const names = [
    'readGraph',
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
  return [
    `import { ${names.join(', ')} } from ${PACKAGE};`,
    '',
    ...(done.itemInfo
      ? [`// The command line alone reads a table about the items, here ${JSON.stringify(done.itemInfo)}.`]
      : []),
    `const { graph } = await readGraph(${JSON.stringify(source)}, ${said(read)});`,
    ...(kept ? [`const part = thin(graph, ${said({ ...kept, seed })});`] : []),
    `const { verdict } = await checkSparsity(${graph}, ${said({ seed })});`,
    ...(split ? [`const parts = split(${graph}, ${said({ ...split, seed })});`] : []),
    ...(done.fit
      ? [
          `const { model } = await fit(${split ? 'parts.train' : graph}, ${said({ ...done.fit, seed })});`,
          ...(split && done.evaluate
            ? [`const evaluation = await evaluateModel(model, parts, ${said({ ...done.evaluate, seed })});`]
            : []),
        ]
      : []),
    ...(done.ranker
      ? [
          `const { model: ranker } = await fit(${split ? 'parts.train' : graph}, ${said({ method: 'ranking', ...done.ranker, seed })});`,
        ]
      : []),
    ...((done.fit || done.ranker) && asked
      ? [
          `const list = await recommend(${done.by === 'recommend' ? 'ranker' : 'model'}, ${said(user === undefined ? { likes } : { user })}, ${said({ n, explain: true })});`,
        ]
      : []),
  ].join('\n');
}
