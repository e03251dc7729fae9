// Options of `graphex fit` and of `fit`. Each method has its own; an option of another method is refused, with the reason.

import {
  type AnyOption,
  column,
  type Declaration,
  decimal,
  flag,
  input,
  inputOrBare,
  list,
  oneOf,
  outputFile,
  text,
  whole,
  wholeOr,
} from '../declare.js';
import { type OptionWords, option, optionWords } from '../error.js';
import { BASELINES, COUNT_PRIORS, ENGINE_NAMES, MODEL_KINDS, PRECISIONS, USER_STORAGE } from '../names.js';
import { defaultWords, listOptions } from '../option-list.js';
import { BASELINE_TRIALS, FORCE, HYPER_NAMES, type HyperName, SEED, SIDE_INFO, sides } from '../shared.js';

/** The kernels hold at most 512 features of a row. */
export const FEATURES = {
  min: 1,
  max: 512,
  common: true,
  meaning: 'number of features',
  flag: '-k, --features',
} as const;

/** The number of features is chosen by the evidence. */
export const AUTO = 'auto';
const CHOSEN_FEATURES = {
  ...FEATURES,
  meaning: `number of features, or ${AUTO}`,
  details: `${AUTO}: chosen by the evidence.`,
} as const;
export const ONE_FEATURES = wholeOr([AUTO], CHOSEN_FEATURES);

const MODEL = {
  argument: 'kind',
  common: true,
  meaning: 'auto, sparse or dense',
  details:
    'auto: sparse or dense, chosen for each side by its degrees. sparse, dense: both sides as in the paper.',
} as const;
const ENGINE = {
  engine: oneOf(ENGINE_NAMES, {
    default: 'auto',
    common: true,
    meaning: 'engine, one of auto, cpu, gpu, reference',
    details:
      'auto: the GPU if there is one and the data are large enough to gain from it, otherwise the CPU.',
  }),
};
const ITERATIONS = { min: 1, max: 1e9, common: true, meaning: 'maximum number of iterations' } as const;
const TOLERANCE = {
  min: 0,
  max: 1,
  meaning: 'stop at a smaller relative change per iteration; 0: never',
  details: 'The change is that of the bound; for ranking, of the likelihood of left-out items.',
} as const;

/** Hyperparameters that can be learned, of both sides or of one: sigma, users.sigma. */
const LEARN = [
  ...HYPER_NAMES,
  ...(['users', 'items'] as const).flatMap((side) =>
    HYPER_NAMES.map((name): `users.${HyperName}` | `items.${HyperName}` => `${side}.${name}`),
  ),
];

/** Coordinate ascent of the bound and its start. */
export const BOUND = {
  features: whole({ ...FEATURES, default: 30 }),
  model: oneOf(MODEL_KINDS, { ...MODEL, default: 'auto' }),
  iterations: whole({ ...ITERATIONS, default: 400 }),
  tolerance: decimal({ ...TOLERANCE, default: 1e-5 }),
  start: oneOf(['warm', 'cold'], {
    default: 'warm',
    argument: 'kind',
    meaning: 'initial state, warm or cold',
    details: 'warm: from the data, with posterior means first. cold: from noise, with geometric means only.',
  }),
  learn: list(oneOf(LEARN, { meaning: 'a hyperparameter' }), {
    default: [],
    otherwise: 'none',
    meaning: 'hyperparameters to learn by the bound',
    details: `Any of ${HYPER_NAMES.join(', ')}; for one side users.${HYPER_NAMES[0]} and so on.`,
  }),
  sizes: oneOf(['bound', 'paper'], {
    default: 'bound',
    argument: 'way',
    meaning: 'how sizes are estimated, bound or paper',
    details:
      'bound: during the fit, by maximizing the bound. paper: before the fit, by simulation, as in the paper.',
  }),
  ...SEED,
  ...sides({
    sigma: 'estimated',
    size: 'estimated',
    tau: '1; auto: a dense side is matched to the data',
    shape: '0.1',
    rate: '0.1',
  }),
};

export const COUNTS = {
  counts: oneOf(COUNT_PRIORS, {
    default: 'auto',
    argument: 'kind',
    meaning: 'how the counts of a multigraph are modelled',
    details:
      'poisson: rates are those of counts. hurdle: edges by the simple model, counts by a separate prior. auto: hurdle if a Poisson model predicts too many pairs for held-back users.',
  }),
};

const ASCENT = {
  ...BOUND,
  ...COUNTS,
  features: wholeOr([AUTO], { ...CHOSEN_FEATURES, default: 30 }),
  ...ENGINE,
  restarts: whole({ min: 1, max: 1000, default: 1, meaning: 'fit from n starts and keep the best bound' }),
};

const RANKING = {
  // It has no unseen vertices, so the prior of a side matters little.
  model: oneOf(MODEL_KINDS, { ...MODEL, default: 'sparse' }),
  features: whole({ ...FEATURES, otherwise: 'by the size of the data' }),
  iterations: whole({ ...ITERATIONS, default: 40 }),
  tolerance: decimal({ ...TOLERANCE, default: 1e-3 }),
  ...ENGINE,
  ...SEED,
  folds: whole({
    min: 2,
    max: 100,
    default: 3,
    meaning: 'folds of the items; each is fitted to users computed without it',
  }),
  average: whole({ min: 1, max: 100, default: 1, meaning: 'fit from n seeds and add the scores' }),
  blend: flag({
    default: true,
    flag: '--blend',
    otherwise: 'on, or as for the previous model',
    meaning: 'add item weights and least-squares factors to the scores',
    offMeaning: 'do not add item weights and least-squares factors to the scores',
  }),
  halfLife: text({
    argument: 'span',
    otherwise: 'never, or as for the previous model',
    meaning: 'weigh edges by age, a span such as 90d, auto or never',
    details:
      'An edge that is one half-life older counts half. It needs times. auto: found by holding back the last interactions of some users.',
  }),
  ...sides({ sigma: 'estimated', tau: '1', shape: '1 / features', rate: '1 / features' }),
};

const GIBBS = {
  ...BOUND,
  keepDraws: whole({
    min: 0,
    max: 10_000,
    default: 0,
    meaning: 'draws of all rates to keep in the model',
    details: 'They give intervals of single rates: rateInterval in the library.',
  }),
};

/** The methods and their options. */
export const METHODS = {
  /** Coordinate ascent of the evidence bound: for checks, draws and evidence. */
  ascent: ASCENT,
  /** Cross-fitted, for recommending; it has no bound. */
  ranking: RANKING,
  /** The exact sampler, for small data. */
  gibbs: GIBBS,
} as const satisfies Record<string, Declaration>;
export type Method = keyof typeof METHODS;
const METHOD_NAMES = Object.keys(METHODS) as Method[];

/** Options that a method refuses, and why. */
export const REFUSED: Readonly<Record<Method, Readonly<Record<string, string | OptionWords>>>> = {
  ascent: {},
  ranking: {
    restarts: optionWords`it has no bound to choose the best fit by; ${option('average')} adds the scores of several fits`,
    learn: 'it has no bound to learn hyperparameters by',
    sizes: 'it has no unseen vertices, and so no sizes',
    start: 'it uses posterior means throughout, so it is always warm',
    'users.size': 'it has no unseen users; leave it out',
    'items.size': 'it has no unseen items; leave it out',
  },
  gibbs: {
    restarts: 'the exact sampler has no bound to choose by; it always runs several chains',
    engine: 'the exact sampler has only one engine',
  },
};

/** Why a method without a bound cannot choose the number of features. */
export const NO_AUTO: Readonly<Record<Exclude<Method, 'ascent'>, string>> = {
  ranking: 'it has no bound to choose by; leave it out, or give a number',
  gibbs: 'the exact sampler has no bound to choose by; give a number, such as the one that ascent chooses',
};

/** The methods that take an option, as in 'ascent and ranking'; empty if none does. */
export function takersOf(name: string): string {
  const takes = (method: Method) => listOptions(METHODS[method]).some(({ path }) => path.join('.') === name);
  return METHOD_NAMES.filter(takes).join(' and ');
}

const SEARCHED = optionWords`its settings are searched on held-back users; ${option('trials')} limits how many are tried`;

/** Options that a baseline refuses, and why. */
export const NOT_OF_BASELINES: Readonly<Record<string, string | OptionWords>> = {
  engine: 'baselines are computed on the CPU',
  features: SEARCHED,
  iterations: SEARCHED,
  tolerance: SEARCHED,
  average: optionWords`only ${option('method')} ranking adds the scores of several fits`,
  blend: optionWords`only ${option('method')} ranking has a blend`,
  halfLife: optionWords`only ${option('method')} ranking weighs edges by age`,
  time: optionWords`only ${option('method')} ranking weighs edges by age`,
  evidence: 'it has no bound to compare',
  from: 'it is always computed from the data alone',
  resume: 'it saves no state to continue from',
  checkpoint: 'it saves no state',
};
/** … of a baseline without settings. */
export const NO_SETTING = 'it is computed from the data alone and has no settings';

/** What chooses the method. */
export const METHOD = {
  method: oneOf(METHOD_NAMES, {
    default: 'ascent',
    common: true,
    meaning: 'ascent, ranking or gibbs',
    details:
      'ascent maximizes the evidence lower bound. ranking is cross-fitted for recommending and has no bound. gibbs samples the posterior of small data.',
  }),
};

/** All methods together, as the command line has them. */
export const FIT: Declaration = {
  method: oneOf([...METHOD_NAMES, ...BASELINES], {
    default: 'ascent',
    common: true,
    meaning: 'ascent, ranking, gibbs or a baseline',
    details: `${METHOD.method.details} Baselines, tuned on held-back users: ${BASELINES.join(', ')}.`,
  }),
  ...unionOf(METHODS),
};

/** Of `graphex fit` alone. */
export const FIT_COMMAND = {
  output: outputFile({
    required: true,
    meaning: 'model file to write (safetensors)',
  }),
  evidence: flag({
    default: true,
    meaning: 'compare the bounds of the sparse and the dense model',
    offMeaning: 'do not compare the bounds of the sparse and the dense model',
  }),
  resume: inputOrBare({
    common: true,
    meaning: 'continue a fit that was stopped',
    details: 'Without a file it continues from OUTPUT.partial.',
  }),
  from: input({
    argument: 'model',
    common: true,
    meaning: 'start from a previous model, for data that have grown',
    details:
      'Give all of the data, not only the new rows. Vertices are matched by id. Options that are left out stay as they were.',
  }),
  checkpoint: decimal({
    above: 0,
    max: 1e6,
    argument: 'minutes',
    otherwise: '5',
    meaning: 'minutes between two saves of the state in OUTPUT.partial',
  }),
  memory: text({
    argument: 'size',
    otherwise: 'hold all shards',
    meaning: 'partitioned data: memory limit, as in 800M or 4G',
    details: 'Shards that do not fit are read from disk in turn; the bits are the same.',
  }),
  byShard: flag({
    default: false,
    meaning: 'partitioned data: write a folder with the users by shard',
    details: 'For models larger than memory; `graphex merge` makes one file of it.',
  }),
  trials: whole({
    ...BASELINE_TRIALS,
    otherwise: '30',
    meaning: 'baseline: maximum number of settings to try',
  }),
  precision: oneOf(PRECISIONS, {
    default: 'float32',
    argument: 'type',
    meaning: 'ranker: how tables are stored, float32 or float16',
  }),
  usersInModel: oneOf(USER_STORAGE, {
    default: 'stored',
    argument: 'way',
    meaning: 'ranker: what the file stores of users, one of stored, folded, none',
    details:
      'stored: their tables. folded: the items they have, from which they are folded in. none: nothing.',
  }),
  time: column({
    otherwise: 'none',
    meaning: 'ranking: column of the times, for weights by age',
    details: 'Dates, or seconds since 1970. A split keeps the times of its data.',
  }),
  ...SIDE_INFO,
  ...FORCE,
};

/** One declaration for all methods. It names the methods of an option that only some take, and of defaults that differ. */
function unionOf(methods: Readonly<Record<string, Declaration>>): Declaration {
  const names = new Set(Object.values(methods).flatMap((declared) => Object.keys(declared)));
  const result: Record<string, AnyOption> = {};
  for (const name of names) {
    const having = Object.entries(methods).filter(([, declared]) => name in declared);
    const options = having.map(([, declared]) => declared[name]);
    const [first] = options;
    if (first.kind === 'section') {
      const fields = options.map((option) => (option.kind === 'section' ? option.fields : {}));
      const named = Object.fromEntries(having.map(([method], at) => [method, fields[at]]));
      result[name] = { ...first, fields: unionOf(named) };
      continue;
    }
    const only =
      having.length === Object.keys(methods).length ? '' : `${having.map(([m]) => m).join(' and ')}: `;
    if (first.kind === 'flag') {
      const off = first.offMeaning && { offMeaning: `${only}${first.offMeaning}` };
      result[name] = { ...first, meaning: `${only}${first.meaning}`, ...off };
      continue;
    }
    const { default: _, otherwise: __, ...about } = first;
    const usual = options.map(defaultWords);
    const differs = having.flatMap(([method], at) =>
      usual[at] === usual[0] ? [] : [`${method}: ${usual[at]}`],
    );
    const words = [usual[0], ...differs].join('; ');
    result[name] = {
      ...about,
      meaning: `${only}${first.meaning}`,
      ...(words === '' ? {} : { otherwise: words }),
    } as AnyOption;
  }
  return result;
}
