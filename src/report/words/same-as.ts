// The commands and the lines of JavaScript that give the same numbers as the page.

import { command, shellArgument, toArguments } from '../../options/arguments.js';
import { AUDIT, AUDIT_COMMAND } from '../../options/commands/audit.js';
import { CHECK } from '../../options/commands/check.js';
import { EVALUATE } from '../../options/commands/evaluate.js';
import { FIT_COMMAND, METHOD, METHODS } from '../../options/commands/fit.js';
import { FORECAST, FORECAST_COMMAND } from '../../options/commands/forecast.js';
import { RECOMMEND, RECOMMEND_COMMAND } from '../../options/commands/recommend.js';
import { SPLIT, SPLIT_COMMAND } from '../../options/commands/split.js';
import { READ, READ_TABLES, SIDE_INFO } from '../../options/shared.js';
import { present } from '../../text/phrases.js';
import type { Purpose } from './page.js';

/** A step with a seed of its own. */
interface Seeded {
  readonly seed?: number | undefined;
}

/** What was asked of a forecast: a multiple of the users, or a period. */
export interface GrowthAsked {
  readonly usersTimes?: number | undefined;
  readonly next?: string | undefined;
  /** The column of times. */
  readonly time?: string | undefined;
}

/** A table of an audit, with its columns. */
interface AuditedTable {
  readonly file: string;
  readonly users: string;
  readonly items: string;
  readonly time?: string | undefined;
}

/** The tables of an audit by their part. */
type AuditedTables = Readonly<Partial<Record<'train' | 'foldIn' | 'test', AuditedTable>>>;

export interface Done {
  /** A file's name or a built-in set; undefined if only a model was opened. */
  readonly source?: string | undefined;
  /** The file of a model that was opened. */
  readonly file?: string | undefined;
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
  /** The length of the lists by which the ranker was evaluated. */
  readonly rankerLists?: number | undefined;
  readonly forecast?: (GrowthAsked & Seeded) | undefined;
  readonly audit?: ({ readonly tables: AuditedTables } & Seeded) | undefined;
  readonly likes?: readonly string[] | undefined;
  /** The held-out user who has the likes. The model does not know the user, so the list is made from them. */
  readonly heldOut?: string | undefined;
  /** A user of the model for whom a list was made, instead of somebody with these likes. */
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

/** The commands, one per line. */
export function sameCommands(done: Done): string {
  return present([...commandsOnData(done), ...listCommands(done), ...auditCommands(done)]).join('\n');
}

/** One command reads the same columns of all tables. */
function auditCommands({ audit, seed }: Done): string[] {
  if (!audit) return [];
  const parts = Object.entries(audit.tables);
  const [[, { file: _, ...columns }]] = parts;
  const isSame = parts.every(([, { users, items, time }]) =>
    [users === columns.users, items === columns.items, time === columns.time].every(Boolean),
  );
  if (!isSame) return ['# no command for the audit: its tables have different columns'];
  const files = Object.fromEntries(parts.map(([part, { file }]) => [part, file]));
  const declared = { ...AUDIT_COMMAND, ...READ_TABLES, ...AUDIT };
  return [command(['audit', ...toArguments(declared, { ...files, ...columns, seed: audit.seed ?? seed })])];
}

/** No command thins data, so a first line says that they are thinned. */
function commandsOnData(done: Done): (string | false | undefined)[] {
  const { source, read, seed, kept, split, fit, ranker, evaluate, time, itemInfo, forecast } = done;
  if (source === undefined) return [];
  const data = [source, ...toArguments(READ, read)];
  const fitted = split ? ['parts'] : data;
  const about = toArguments({ itemInfo: SIDE_INFO.itemInfo }, { itemInfo });
  const splitOptions = { ...SPLIT, time: SPLIT_COMMAND.time };
  const rankerOptions = { ...METHODS.ranking, method: METHOD.method, time: FIT_COMMAND.time };
  const growthOptions = { ...FORECAST, time: FORECAST_COMMAND.time };
  return [
    kept && '# on a thinned table, which only the library makes',
    command(['check', ...data, ...toArguments(CHECK, { seed })]),
    forecast &&
      command(['forecast', ...data, ...toArguments(growthOptions, { seed, ...forecast, draws: 0 })]),
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
    split &&
      ranker &&
      done.rankerLists !== undefined &&
      command(['evaluate', RANKER, 'parts', ...toArguments(EVALUATE, { seed, n: [done.rankerLists] })]),
  ];
}

/** The list that is shown, by a model of the page or by the one that was opened. */
function listCommands(done: Done): (string | false)[] {
  if (!isAsked(done)) return [];
  const { file, read, time, user, itemInfo, hidden = [] } = done;
  const { likes, confidence, exclude } = RECOMMEND_COMMAND;
  const listOptions = { ...RECOMMEND, likes, user: RECOMMEND_COMMAND.user, confidence, exclude };
  return [
    file !== undefined &&
      itemInfo !== undefined &&
      `# without the table ${JSON.stringify(itemInfo)}, which only fit --item-info adds to a model`,
    done.heldOut !== undefined &&
      `# the model does not know the held-out ${JSON.stringify(done.heldOut)}, who has these${read.multigraph || time !== undefined ? '; without their counts and times' : ''}`,
    hidden.length > 0 && `printf '%s\\n' ${hidden.map(shellArgument).join(' ')} > ${HIDDEN}`,
    command([
      'recommend',
      file ?? (done.by === 'recommend' ? RANKER : MODEL),
      ...toArguments(listOptions, {
        n: done.n,
        explain: true,
        ...(user === undefined ? { likes: done.likes } : { user }),
        confidence: true,
        filter: file !== undefined && itemInfo !== undefined ? undefined : done.filter,
        exclude: hidden.length > 0 ? HIDDEN : undefined,
      }),
    ]),
  ];
}

/** Whether a list was made, for a user or for likes. */
function isAsked({ user, likes = [] }: Done): boolean {
  return user !== undefined || likes.length > 0;
}

/** The same with the library. */
export function sameScript(done: Done): string {
  const { source, file, read, seed, kept, split, fit, ranker, likes, n, user, time, itemInfo } = done;
  const { forecast, audit, hidden = [] } = done;
  const tables = Object.entries(audit?.tables ?? {});
  const timedAudit = tables.some(([, table]) => table.time !== undefined);
  const evaluate = split && fit && done.evaluate;
  const lists = split && ranker && done.rankerLists;
  const asked = (fit || ranker || file !== undefined) && isAsked(done);
  const timed = time !== undefined;
  // `thin` keeps no times.
  const growth = forecast && !(kept && forecast.time !== undefined) && forecast;
  const byTime = growth && growth.time !== undefined;
  const data = source !== undefined;
  const names = present([
    file !== undefined && 'loadModel',
    ((data && !timed) || (audit && !timedAudit)) && 'readGraph',
    ((data && (timed || byTime)) || timedAudit) && 'readWithValues',
    ((data && (timed || byTime)) || timedAudit) && 'timeColumn',
    kept && 'thin',
    data && 'checkSparsity',
    growth && 'forecastGrowth',
    split && 'split',
    (fit || ranker) && 'fit',
    (evaluate || lists) && 'evaluateModel',
    asked && 'recommend',
    audit && 'auditSplit',
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
  const grown = (options: string) => (byTime ? options.replace(/ \}$/, ', times: timed.values }') : options);
  const query = {
    ...(user === undefined ? { likes } : { user }),
    ...(hidden.length > 0 && { exclude: hidden }),
  };
  const filter = file !== undefined && itemInfo === undefined ? done.filter : undefined;
  const list = { n, explain: true, filter };
  const readTable = ({ file: name, time: column, ...columns }: AuditedTable) =>
    column === undefined
      ? `readGraph(${JSON.stringify(name)}, ${said(columns)})`
      : `readWithValues(${JSON.stringify(name)}, ${said(columns)}, timeColumn(${JSON.stringify(column)}))`;
  const eachPart = (field: string) => `{ ${tables.map(([part]) => `${part}: ${part}.${field}`).join(', ')} }`;
  const auditing = audit && seeded({ seed: audit.seed });
  return present([
    `import { ${names.join(', ')} } from ${PACKAGE};`,
    '',
    file !== undefined && `const model = await loadModel(${JSON.stringify(file)});`,
    itemInfo !== undefined &&
      `// Only the command line reads a table about the items, here ${JSON.stringify(itemInfo)}.`,
    data && timed
      ? `const { graph, values } = await readWithValues(${JSON.stringify(source)}, ${said(read)}, ${times});`
      : data && `const { graph } = await readGraph(${JSON.stringify(source)}, ${said(read)});`,
    kept && `const part = thin(graph, ${seeded(kept)});`,
    data && `const { verdict } = await checkSparsity(${graph}, ${said({ seed })});`,
    byTime &&
      `const timed = await readWithValues(${JSON.stringify(source)}, ${said(read)}, timeColumn(${JSON.stringify(growth.time)}));`,
    growth &&
      `const growth = await forecastGrowth(${byTime ? 'timed.graph' : graph}, ${grown(seeded({ ...growth, time: undefined, draws: 0 } as Seeded))});`,
    split && `const parts = split(${graph}, ${withTimes(seeded(split), 'values')});`,
    fit && `const { model } = await fit(${fitted}, ${seeded(fit)});`,
    evaluate && `const evaluation = await evaluateModel(model, parts, ${seeded(evaluate)});`,
    ranker && `const { model: ranker } = await fit(${fitted}, ${ranking});`,
    lists && `const lists = await evaluateModel(ranker, parts, ${said({ n: lists, draws: 0, seed })});`,
    asked &&
      `const list = await recommend(${file === undefined && done.by === 'recommend' ? 'ranker' : 'model'}, ${said(query)}, ${said(list)});`,
    ...tables.map(([part, table]) => `const ${part} = await ${readTable(table)};`),
    auditing &&
      `const audit = await auditSplit(${eachPart('graph')}, ${timedAudit ? auditing.replace(/ \}$/, `, times: ${eachPart('values')} }`) : auditing});`,
  ]).join('\n');
}
