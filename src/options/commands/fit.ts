// What a fit can be told. Each method has options of its own; what it does not take is refused by name, with the reason.

import {
  type AnyOption,
  type Declaration,
  decimal,
  decimalOrBare,
  flag,
  input,
  inputOrBare,
  list,
  oneOf,
  output,
  text,
  whole,
  wholeOr,
} from '../declare.js';
import { type OptionWords, option, optionWords } from '../error.js';
import { BASELINES, COUNT_PRIORS, ENGINE_NAMES, MODEL_KINDS, PRECISIONS, USER_STORAGE } from '../names.js';
import { leaves, usualWords } from '../option-list.js';
import { BASELINE_TRIALS, FORCE, HYPER_NAMES, type HyperName, SEED, sides } from '../shared.js';

/** 512 is what the kernels hold of a row at once. */
export const FEATURES = { min: 1, max: 512, meaning: 'number of features', flag: '-k, --features' } as const;

/** The number of features that the evidence speaks for. */
export const AUTO = 'auto';
/** … where there is a bound to choose it by. */
const CHOSEN_FEATURES = {
  ...FEATURES,
  meaning: `number of features; ${AUTO}: the one that the evidence speaks for`,
} as const;
/** As one of a list. */
export const ONE_FEATURES = wholeOr([AUTO], CHOSEN_FEATURES);

const MODEL = {
  argument: 'kind',
  meaning: 'auto: for each side the law that its degrees speak for; sparse, dense: as the paper has them',
} as const;
const ENGINE = { engine: oneOf(ENGINE_NAMES, { default: 'auto', meaning: 'what computes' }) };
const ITERATIONS = { min: 1, max: 1e9, meaning: 'most iterations' } as const;
const TOLERANCE = {
  min: 0,
  max: 1,
  meaning:
    'stop when the bound (for ranking the likelihood of items given users who never saw them) changes by less than ' +
    'this, relatively, per iteration; 0: never, all iterations',
} as const;
const HYPERPARAMETERS = 'Hyperparameters';

/** Hyperparameters that the bound can be maximized over, of both sides or of one: sigma, users.sigma. */
const LEARN = [
  ...HYPER_NAMES,
  ...(['users', 'items'] as const).flatMap((side) =>
    HYPER_NAMES.map((name): `users.${HyperName}` | `items.${HyperName}` => `${side}.${name}`),
  ),
];

/** Coordinate ascent of the bound and what it begins with. */
export const BOUND = {
  features: whole({ ...FEATURES, default: 30 }),
  model: oneOf(MODEL_KINDS, { ...MODEL, default: 'auto' }),
  iterations: whole({ ...ITERATIONS, default: 400 }),
  tolerance: decimal({ ...TOLERANCE, default: 1e-5 }),
  start: oneOf(['warm', 'cold'], { default: 'warm', argument: 'kind', meaning: 'where to begin' }),
  learn: list(oneOf(LEARN, { meaning: 'a hyperparameter' }), {
    default: [],
    otherwise: 'none',
    meaning: `maximize the bound over these: ${HYPER_NAMES.join(',')}, or users.${HYPER_NAMES[0]}, …`,
  }),
  sizes: oneOf(['bound', 'paper'], {
    default: 'bound',
    argument: 'way',
    meaning: 'how sizes that are not given are found: with the fit, or by simulation before it',
  }),
  ...SEED,
  ...sides({
    names: HYPER_NAMES,
    group: HYPERPARAMETERS,
    otherwise: { sigma: 'estimated', size: 'estimated', tau: '1', shape: '0.1', rate: '0.1' },
  }),
};

export const COUNTS = {
  counts: oneOf(COUNT_PRIORS, {
    default: 'auto',
    argument: 'law',
    meaning:
      'of a multigraph: poisson: rates are those of counts; hurdle: edges by the simple model, counts by a law of their own; auto: hurdle where a Poisson law expects too many pairs of held-back users',
  }),
};

const ASCENT = {
  ...BOUND,
  ...COUNTS,
  features: wholeOr([AUTO], { ...CHOSEN_FEATURES, default: 30 }),
  ...ENGINE,
  restarts: whole({ min: 1, max: 1000, default: 1, meaning: 'fit from n seeds, keep the best bound' }),
  levels: whole({
    min: 1,
    max: 2,
    otherwise: '2 from 300,000 edges on, unless a GPU computes or the fit is short',
    meaning:
      '1: begin with all of the data; 2: try starts on a sample of the users first and go on from the best',
  }),
};

const RANKING = {
  // It has no unseen vertices, so the law of a side matters little.
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
    meaning: 'folds of the items, each fitted to users who never saw it',
  }),
  average: whole({ min: 1, max: 100, default: 1, meaning: 'add the scores of fits from n seeds' }),
  blend: flag({
    default: true,
    flag: '--blend',
    otherwise: 'added, or as for the model that the fit begins from',
    meaning: 'add weights between items and factors by least squares to the scores',
    offMeaning: 'add neither to the scores',
  }),
  ...sides({
    names: ['sigma', 'tau', 'shape', 'rate'],
    group: HYPERPARAMETERS,
    otherwise: { sigma: 'estimated', tau: '1', shape: '1 / features', rate: '1 / features' },
  }),
};

/** How a model can be fitted, with the options of each way. */
export const METHODS = {
  /** Coordinate ascent of the evidence bound: for checks, draws and evidence. */
  ascent: ASCENT,
  /** Cross-fitted, for recommending; has no bound. */
  ranking: RANKING,
  /** The exact sampler, for small data. */
  gibbs: BOUND,
} as const satisfies Record<string, Declaration>;
export type Method = keyof typeof METHODS;
export const METHOD_NAMES = Object.keys(METHODS) as Method[];

/** Options of one method that another has no meaning for, and why. */
export const REFUSED: Readonly<Record<Method, Readonly<Record<string, string | OptionWords>>>> = {
  ascent: {},
  ranking: {
    restarts: optionWords`there is no bound to choose the best by; ${option('average')} adds the scores of several fits`,
    levels: 'there is no bound to choose the best of several starts by',
    learn: 'hyperparameters are learned by the bound, which it does not have; tune them on held-back users',
    sizes: 'it has no unseen vertices, and so no sizes',
    start: 'it uses posterior means throughout, so it is always warm',
    'users.size': 'it has no unseen users; leave it out',
    'items.size': 'it has no unseen items; leave it out',
  },
  gibbs: {
    restarts: 'they keep the best bound, and the exact sampler has none: it runs several chains as it is',
    engine: 'the exact sampler has only one',
  },
};

/** Why the methods without a bound cannot choose the number of features. */
export const NO_AUTO: Readonly<Record<Exclude<Method, 'ascent'>, string | OptionWords>> = {
  ranking: optionWords`it has no bound to choose by; leave it out, or search it on held-back users with ${option('tune')}`,
  gibbs: 'the exact sampler has no bound to choose by; give a number, such as the one that ascent chooses',
};

/** The methods that take an option, as in 'ascent and ranking'; empty: none does. */
export function takersOf(name: string): string {
  const takes = (method: Method) => leaves(METHODS[method]).some(({ path }) => path.join('.') === name);
  return METHOD_NAMES.filter(takes).join(' and ');
}

const SEARCHED = optionWords`its setting is searched on held-back users, and ${option('trials')} says how many are tried`;

/** Why a baseline does not take an option that is no matter of one of the methods alone. */
export const NOT_OF_BASELINES: Readonly<Record<string, string | OptionWords>> = {
  engine: 'baselines are computed on the CPU',
  objective: 'it tells fits of the model apart, and a baseline is none',
  features: SEARCHED,
  tune: SEARCHED,
  iterations: SEARCHED,
  tolerance: SEARCHED,
  average: optionWords`scores of several fits are added by ${option('method')} ranking alone`,
  blend: optionWords`it is about what ${option('method')} ranking adds to its scores`,
  evidence: 'it has no bound to compare',
  from: 'it is computed anew in one go',
  resume: 'it is computed in one go, and leaves no state to go on from',
  checkpoint: 'it is computed in one go, and keeps no state',
};
/** … where there is nothing to search. */
export const NO_SETTING = 'it is computed from the data alone and has no setting';

/** What chooses the method: its own name, or one of the former names of ranking and gibbs. */
export const CHOICE = {
  method: oneOf(METHOD_NAMES, {
    default: 'ascent',
    meaning:
      'ascent: the Bayesian fit; ranking: cross-fitted for recommending; gibbs: the exact sampler, for small data',
  }),
  objective: oneOf(['evidence', 'ranking'], {
    meaning: 'evidence or ranking; ranking is another name of --method ranking',
  }),
};

/** All methods together, as a command line has them; gibbs was once chosen as an engine. */
export const FIT: Declaration = {
  ...CHOICE,
  method: oneOf([...METHOD_NAMES, ...BASELINES], {
    default: 'ascent',
    meaning: `${CHOICE.method.meaning}; ${BASELINES.join(', ')}: a baseline, tuned on held-back users`,
  }),
  ...together(METHODS),
  engine: oneOf([...ENGINE_NAMES, 'gibbs'], {
    meaning: 'ascent, ranking: what computes; gibbs is another name of --method gibbs',
    otherwise: 'auto',
  }),
};

/** Of `graphex fit` alone. */
export const FIT_COMMAND = {
  output: output({ flag: '-o, --output', required: true, meaning: 'the model file to write (safetensors)' }),
  tune: decimalOrBare({
    above: 0,
    max: 1e6,
    argument: 'minutes',
    otherwise: 'no search; 10 minutes if no number is given',
    meaning:
      'ranking: first search features and shapes on held-back users, beginning no fit after so many minutes',
  }),
  evidence: flag({
    default: true,
    meaning: 'compare the bound of a sparse fit with that of a dense one',
    offMeaning: 'do not compare the bound of a sparse fit with that of a dense one',
  }),
  resume: inputOrBare({
    otherwise: 'begin anew; OUTPUT.partial if no file is given',
    meaning: 'go on from the state that a stopped or killed fit has left',
  }),
  from: input({
    argument: 'model',
    otherwise: 'begin anew',
    meaning:
      'begin where a former model ended, for data that have grown since: vertices are matched by id, and what is not said ' +
      'stays as it was for that model',
  }),
  checkpoint: decimal({
    above: 0,
    max: 1e6,
    argument: 'minutes',
    otherwise: '5',
    meaning: 'keep the state of a long fit in OUTPUT.partial this often',
  }),
  memory: text({
    argument: 'size',
    otherwise: 'hold all shards',
    meaning:
      'of a fit to parts: most memory, as in 800M or 4G; shards that do not fit are read in turn from disk, to the same bits',
  }),
  byShard: flag({
    default: false,
    meaning:
      'of a fit to parts: write a folder, the items once and the users by shard, for models beyond memory; graphex merge makes one file of it',
  }),
  trials: whole({
    ...BASELINE_TRIALS,
    otherwise: '30',
    meaning: 'of a baseline: settings tried, at most',
  }),
  precision: oneOf(PRECISIONS, {
    default: 'float32',
    argument: 'type',
    meaning: 'of a ranker: how its tables are stored, float32 or float16',
  }),
  usersInModel: oneOf(USER_STORAGE, {
    default: 'stored',
    argument: 'way',
    meaning:
      'of a ranker: stored; folded in on demand from the items they have; or none, who then name what they like',
  }),
  ...FORCE,
};

/** One declaration for the options of several: defaults that differ are said by method, as is what only some take. */
function together(methods: Readonly<Record<string, Declaration>>): Declaration {
  const names = new Set(Object.values(methods).flatMap((declared) => Object.keys(declared)));
  const result: Record<string, AnyOption> = {};
  for (const name of names) {
    const having = Object.entries(methods).filter(([, declared]) => name in declared);
    const options = having.map(([, declared]) => declared[name]);
    const [first] = options;
    if (first.kind === 'section') {
      const fields = options.map((option) => (option.kind === 'section' ? option.fields : {}));
      const named = Object.fromEntries(having.map(([method], at) => [method, fields[at]]));
      result[name] = { ...first, fields: together(named) };
      continue;
    }
    const only =
      having.length === Object.keys(methods).length ? '' : `${having.map(([m]) => m).join(', ')}: `;
    if (first.kind === 'flag') {
      // Whether it is on decides whether its flag switches it on or off.
      const off = first.offMeaning && { offMeaning: `${only}${first.offMeaning}` };
      result[name] = { ...first, meaning: `${only}${first.meaning}`, ...off };
      continue;
    }
    const { default: _, otherwise: __, ...about } = first;
    const usual = options.map(usualWords);
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
