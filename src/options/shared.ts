// Options that several verbs share: the data's reader, what every command takes, the hyperparameters of the two sides.

import type { Progress } from '../progress.js';
import {
  column,
  type Decimal,
  decimal,
  flag,
  inGroup,
  input,
  listOrOne,
  output,
  pair,
  repeated,
  section,
  text,
  value,
  whole,
} from './declare.js';

/** Two numbers are left free above it, so that a study can count up from its seed. */
const LARGEST_SEED = Number.MAX_SAFE_INTEGER - 1000;

export const SEED = {
  seed: whole({ min: 0, max: LARGEST_SEED, default: 1, meaning: 'seed of every random draw' }),
};

/** Settings of one baseline that are tried, at most. */
export const BASELINE_TRIALS = { min: 1, max: 1000 } as const;

export const THREADS = {
  threads: whole({
    min: 1,
    max: 1024,
    otherwise: 'all cores',
    meaning: 'worker threads; their number never changes a result',
  }),
};

/** What every long function of the library takes; threads are a flag of every command. */
export const TASK = {
  ...THREADS,
  onProgress: value<(progress: Progress) => void>('function', 'called now and then; must return quickly'),
  signal: value<AbortSignal>('object', 'an AbortSignal that ends the work', {
    only: {
      is: (given) => typeof (given as Partial<AbortSignal>).aborted === 'boolean',
      words: 'an AbortSignal',
    },
  }),
};

/** Of every command. */
export const COMMON = {
  json: flag({ meaning: 'print one JSON document on stdout and nothing else' }),
  ...SEED,
  ...THREADS,
  quiet: flag({ meaning: 'no progress and no warnings on stderr' }),
};

/** Of every command that writes. */
export const FORCE = {
  force: flag({
    default: false,
    meaning: 'replace files that are there also where graphex has not written them',
  }),
};

/** The heading of the reader's options. */
export const DATA_GROUP = 'Data';

/** How a table is read. */
export const READ = inGroup(DATA_GROUP, {
  users: column({
    otherwise: '1',
    argument: 'col',
    meaning: 'column of the users: header name or 1-based number',
  }),
  items: column({ otherwise: '2', argument: 'col', meaning: 'column of the items' }),
  count: column({ otherwise: 'none', argument: 'col', meaning: 'column of the counts, which --multi keeps' }),
  weight: column({
    otherwise: 'none',
    argument: 'col',
    meaning: 'column of weights such as hours, rounded to counts for --multi',
  }),
  where: text({
    otherwise: 'every row',
    argument: 'condition',
    meaning: 'keep only such rows, as in "rating >= 7 and time > \'2013-01-01\'"',
  }),
  dropUsers: repeated(text({ meaning: 'a user' }), {
    flag: '--drop-user',
    argument: 'id',
    meaning: 'leave this user out, a bot for instance; may be given again',
  }),
  dropItems: repeated(text({ meaning: 'an item' }), {
    flag: '--drop-item',
    argument: 'id',
    meaning: 'leave this item out; may be given again',
  }),
  minDegree: listOrOne(whole({ min: 1, max: 1e9, meaning: 'a number of edges' }), {
    argument: 'n',
    otherwise: '1',
    meaning: 'leave out, again and again, who has fewer edges; 5,1 for users,items',
  }),
  table: text({
    argument: 'name',
    otherwise: 'the only one',
    meaning: 'DuckDB database: its table or view',
  }),
  database: input({ argument: 'file', meaning: 'sql: a DuckDB database whose tables it may name' }),
  sep: text({
    otherwise: 'guessed',
    argument: 'str',
    meaning: 'separator of the columns, one character or more',
    // A tab goes by its name, which survives copying.
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
    off: '--simple',
    meaning: 'keep counts, adding those of equal pairs',
    offMeaning: 'an edge or none: counts are ignored (default)',
  }),
  rejects: output({ meaning: 'set bad rows aside in FILE and go on', otherwise: 'stop at the first' }),
  commonWords: decimal({
    above: 0,
    max: 1,
    otherwise: '0.5',
    argument: 'share',
    meaning: 'text: leave out words in more documents than this',
  }),
  names: pair({
    otherwise: 'by the header',
    meaning: 'what to call the two sides, as in customers,products',
  }),
});

/** How the parts of a split are read: who has few edges in a part may have many in the whole. */
export const READ_TABLES = (({ minDegree: _, ...parts }) => parts)(READ);

/** How a table in a Blob is read: no database is in one. */
export const READ_BLOB = (({ table: _, database: __, ...blob }) => blob)(READ);

/** What each of the five hyperparameters means ($: users or items) and may be; nothing within reach of float64 hangs or overflows there. */
export const HYPER = {
  sigma: {
    min: -1000,
    below: 1,
    why: 'from 1 on the number of edges is infinite',
    meaning: 'tail index of the GGP of the $: below 0 dense, 0 to below 1 sparse',
  },
  size: { min: 0, max: 1e12, meaning: 'size of the GGP of the $; 0: no unseen $' },
  tau: {
    min: 1e-9,
    max: 1e9,
    why: 'without a tilt the number of edges is infinite',
    meaning: 'exponential tilt of the GGP of the $',
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

interface HyperChoice<N extends HyperName> {
  readonly names: readonly N[];
  /** Defaults in words. */
  readonly otherwise: Readonly<Partial<Record<HyperName, string>>>;
  readonly group?: string;
}

/** Hyperparameters of both sides: users.sigma is --sigma-users. */
export function sides<const N extends HyperName>({ names, otherwise, group }: HyperChoice<N>): Sides<N> {
  const one = (side: Side) => {
    const fields = names.map((name) => [name, hyper(name, side, otherwise[name], group)]);
    return section(Object.fromEntries(fields) as Hypers<N>, `hyperparameters of the ${side} that are given`);
  };
  return { users: one('users'), items: one('items') };
}

function hyper(
  name: HyperName,
  side: Side,
  otherwise: string | undefined,
  group: string | undefined,
): Decimal {
  const { meaning, ...range } = HYPER[name];
  return decimal({
    ...range,
    meaning: meaning.replaceAll('$', side),
    flag: `--${name}-${side}`,
    ...(otherwise === undefined ? {} : { otherwise }),
    ...(group === undefined ? {} : { group }),
  });
}
