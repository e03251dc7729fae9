// Options that several commands share: how data are read, what every command takes, hyperparameters of the two sides.

import type { Progress } from '../progress.js';
import {
  type About,
  column,
  type Decimal,
  decimal,
  flag,
  inGroup,
  input,
  list,
  listOrOne,
  output,
  pair,
  repeated,
  section,
  text,
  value,
  whole,
} from './declare.js';

/** Numbers above it stay free, so that a study can count up from its seed. */
const LARGEST_SEED = Number.MAX_SAFE_INTEGER - 1000;

export const SEED = {
  seed: whole({ min: 0, max: LARGEST_SEED, default: 1, common: true, meaning: 'seed of every random draw' }),
};

/** Bounds on the number of settings that are tried for one baseline. */
export const BASELINE_TRIALS = { min: 1, max: 1000 } as const;

export const THREADS = {
  threads: whole({
    min: 1,
    max: 1024,
    otherwise: 'all cores',
    common: true,
    meaning: 'worker threads',
    details: 'Any number gives the same result.',
  }),
};

/** What every long function of the library takes. */
export const TASK = {
  ...THREADS,
  onProgress: value<(progress: Progress) => void>('function', 'called with progress; must return quickly'),
  signal: value<AbortSignal>('object', 'stops the work: the function rejects with the reason of the signal', {
    only: {
      is: (given) => typeof (given as Partial<AbortSignal>).aborted === 'boolean',
      words: 'an AbortSignal',
    },
  }),
};

/** The time of each edge, for the library. */
export const edgeTimes = (meaning: string) =>
  value<Float64Array>('object', meaning, {
    only: { is: (given) => given instanceof Float64Array, words: 'a Float64Array' },
  });

/** The heading of what every command takes. */
export const COMMON_GROUP = 'Every command';

/** What every command takes. */
export const COMMON = inGroup(COMMON_GROUP, {
  json: flag({ common: true, meaning: 'print one JSON document on stdout, nothing else' }),
  ...SEED,
  ...THREADS,
  quiet: flag({ common: true, meaning: 'print no progress and no warnings' }),
});

/** What every command that writes takes. */
export const FORCE = {
  force: flag({
    default: false,
    meaning: 'replace existing files even if graphex did not write them',
  }),
};

/** Tables about the two sides. */
export const SIDE_INFO = inGroup('About users and items', {
  itemInfo: input({
    common: true,
    meaning: 'table about the items: titles, genres, authors, words, years',
    details:
      'Any table, with a row for each item, or for each item and attribute. Columns are recognised by what they hold. Items of the table without edges can be recommended.',
  }),
  userInfo: input({
    meaning: 'table about the users: country, age group, plan',
    details:
      'Users of the table who have no items get lists by their attributes, if these predict items better than popularity does.',
  }),
  infoColumns: list(text({ meaning: 'a column' }), {
    argument: 'columns',
    otherwise: 'recognised',
    meaning: 'columns of the table to use, as in genre,year:number,notes:text',
    details: 'A kind after a colon (text, category, number) says what a column holds.',
  }),
});

/** The heading of the options that say how data are read. */
export const DATA_GROUP = 'Data';

/** How a table is read. */
export const READ = inGroup(DATA_GROUP, {
  users: column({
    otherwise: '1',
    common: true,
    meaning: 'column of the users: header or number',
  }),
  items: column({ otherwise: '2', common: true, meaning: 'column of the items' }),
  count: column({
    otherwise: 'none',
    meaning: 'column of the counts',
    details: 'They matter for a multigraph only.',
  }),
  weight: column({
    otherwise: 'none',
    meaning: 'column of weights, such as hours, rounded to counts',
    details: 'They matter for a multigraph only.',
  }),
  where: text({
    otherwise: 'all',
    argument: 'condition',
    common: true,
    meaning: 'rows to keep, as in "rating >= 7"',
    details: 'Conditions can be joined: "rating >= 7 and time > \'2013-01-01\'".',
  }),
  dropUsers: repeated(text({ meaning: 'a user' }), {
    flag: '--drop-user',
    argument: 'id',
    meaning: 'user to leave out, for instance a bot; may be repeated',
  }),
  dropItems: repeated(text({ meaning: 'an item' }), {
    flag: '--drop-item',
    argument: 'id',
    meaning: 'item to leave out; may be repeated',
  }),
  minDegree: listOrOne(whole({ min: 1, max: 1e9, meaning: 'a number of edges' }), {
    argument: 'n',
    otherwise: '1',
    meaning: 'minimum number of edges of a user and of an item, as in 5 or 5,1',
    details: 'Users and items with fewer edges are left out, repeatedly, until all that remain have enough.',
  }),
  table: text({
    argument: 'name',
    otherwise: 'the only one',
    meaning: 'table or view of a DuckDB database',
  }),
  database: input({ meaning: 'DuckDB database that a query (sql:) may use' }),
  sep: text({
    otherwise: 'guessed',
    argument: 'str',
    meaning: 'separator of the columns',
    // A tab is written as \\t, which survives copying.
    spell: (separator: string) => (separator === '\t' ? '\\t' : separator),
  }),
  header: flag({
    otherwise: 'guessed',
    off: '--no-header',
    meaning: 'the first row is a header',
    offMeaning: 'the first row is data',
  }),
  multigraph: flag({
    default: false,
    flag: '--multi',
    common: true,
    meaning: 'keep counts: a multigraph',
    details: 'The counts of equal pairs add up.',
  }),
  rejects: output({
    meaning: 'file for bad rows; reading goes on',
    otherwise: 'stop at the first bad row',
  }),
  commonWords: decimal({
    above: 0,
    max: 1,
    otherwise: '0.5',
    argument: 'share',
    meaning: 'text: words in a larger share of the documents are left out',
  }),
  names: pair({
    otherwise: 'from the header',
    meaning: 'what to call the two sides, as in customers,products',
  }),
});

/** How the parts of a split are read. Degrees in one part say little, so there is no `minDegree`. */
export const READ_TABLES = (({ minDegree: _, ...parts }) => parts)(READ);

/** How a table in a Blob is read: it cannot be a database. */
export const READ_BLOB = (({ table: _, database: __, ...blob }) => blob)(READ);

/** Meaning ($: users or items) and range of the five hyperparameters. Within these ranges nothing hangs or overflows in float64. */
export const HYPER = {
  sigma: {
    min: -1000,
    below: 1,
    why: 'at 1 and above, the number of edges is infinite',
    meaning: 'tail index σ of the $: below 0 dense, otherwise sparse',
  },
  size: { min: 0, max: 1e12, meaning: 'size of the process of the $; 0: no unseen $' },
  tau: {
    min: 1e-9,
    max: 1e9,
    why: 'at 0 the number of edges is infinite',
    meaning: 'exponential tilt τ of the $',
  },
  shape: { min: 1e-9, max: 1e9, meaning: 'Gamma shape of the features of the $' },
  rate: { min: 1e-9, max: 1e9, meaning: 'Gamma rate of the features of the $' },
} as const;
export type HyperName = keyof typeof HYPER;
export const HYPER_NAMES = Object.keys(HYPER) as HyperName[];

/** The two sides, as options spell them. */
const SIDES = ['users', 'items'] as const;
type Side = (typeof SIDES)[number];

type Hypers<N extends HyperName> = { readonly [K in N]: Decimal };
type Sides<N extends HyperName> = { readonly [S in Side]: ReturnType<typeof section<Hypers<N>>> };

/** Hyperparameters of both sides with their defaults in words: users.sigma is --sigma-users. */
export function sides<const N extends HyperName>(otherwise: Readonly<Record<N, string>>): Sides<N> {
  const one = (side: Side) => {
    const fields = (Object.entries(otherwise) as [N, string][]).map(([name, usual]) => [
      name,
      hyper(name, side, { otherwise: usual, group: 'Hyperparameters' }),
    ]);
    return section(Object.fromEntries(fields) as Hypers<N>, `hyperparameters of the ${side}`);
  };
  return { users: one('users'), items: one('items') };
}

/** A hyperparameter of a side, and what else is declared of it. */
export function hyper<const A extends Partial<About>>(name: HyperName, side: Side, more: A): Decimal & A {
  const meaning = HYPER[name].meaning.replaceAll('$', side);
  return decimal({ ...HYPER[name], flag: `--${name}-${side}`, meaning, ...more });
}
