// Commands that go on from a study: they name its data and its options, so that they can be run as they stand.

import { BASELINES } from '../../evaluate/baselines/list.js';
import { SIDES } from '../../graph/graph.js';
import { fitOptionsOf, type ModelKind, type StudySettings } from '../../study/options.js';
import type { StudyReceipt } from '../../study/results.js';
import type { AskedNames } from '../../text/sides.js';

/** Flags of plain settings with the value that needs no saying, for `study` alone and for `fit` as well. */
const STUDY_FLAGS = [
  ['repeats', '--repeats', 1],
  ['draws', '--draws', 100],
  ['calibrate', '--calibrate', 0],
  ['protocol', '--protocol', 'unconditional'],
  ['testUsers', '--test-users', 0.2],
  ['testItems', '--test-items', 0.2],
  ['n', '-n', 20],
  ['depth', '--depth', 1000],
] as const;
const FIT_FLAGS = [
  ['engine', '--engine', 'auto'],
  ['iterations', '--iterations', 400],
  ['tolerance', '--tolerance', 1e-5],
  ['start', '--start', 'warm'],
  ['restarts', '--restarts', 1],
  ['sizes', '--sizes', 'bound'],
] as const;
const HYPER = ['sigma', 'size', 'tau', 'shape', 'rate'] as const;

/** The same study, but for these settings. */
export function studyCommand(
  receipt: StudyReceipt,
  changes: Partial<StudySettings> & { readonly titles?: string },
): string {
  const changed = { ...receipt.settings, ...changes };
  const settings = changed.models.includes('sparse') ? changed : { ...changed, calibrate: 0 };
  const { models, baselines, features, learn, given } = settings;
  const titles = changes.titles ?? receipt.origin?.titles?.source;
  return command([
    'study',
    ...dataArguments(receipt),
    ...(titles === undefined ? [] : ['--titles', titles]),
    '-k',
    features.join(','),
    ...(models.length === 1 ? ['--model', models[0]] : []),
    ...flags(settings, STUDY_FLAGS),
    ...(baselines.length < BASELINES.length ? ['--baselines', baselines.join(',') || 'none'] : []),
    ...flags(settings, FIT_FLAGS),
    ...seed(settings),
    ...hyper(learn, given),
    '-o',
    'DIR',
  ]);
}

/** A fit of all data with one of the study's models. */
export function fitCommand(receipt: StudyReceipt, kind: ModelKind, features: number): string {
  const { settings } = receipt;
  const { learn = [], users = {}, items = {} } = fitOptionsOf(settings, kind, features);
  return command([
    'fit',
    ...dataArguments(receipt),
    '-k',
    String(features),
    '--model',
    kind,
    ...flags(settings, FIT_FLAGS),
    ...seed(settings),
    ...hyper(learn, { users, items }),
    '-o',
    'model.safetensors',
  ]);
}

/** A fit of all data for ranking, whose other settings are its own. */
export function rankingFitCommand(receipt: StudyReceipt): string {
  const fitted = [...dataArguments(receipt), '--objective', 'ranking', ...seed(receipt.settings)];
  return command(['fit', ...fitted, '-o', 'ranker.safetensors']);
}

/** An invocation as the README writes it, with every argument as a shell takes it. */
export function command(args: readonly string[]): string {
  return ['npx', 'graphex', ...args.map(shellArgument)].join(' ');
}

function shellArgument(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** DATA and the options it was read with. */
function dataArguments({ origin }: StudyReceipt): string[] {
  if (!origin) return ['DATA'];
  const { users, items, count, sep, header, multigraph, rejects, commonWords, names } = origin.read;
  const called = names as AskedNames | undefined;
  const valued = [
    ['--users', users],
    ['--items', items],
    ['--count', count],
    // A tab goes by its name, which survives copying.
    ['--sep', sep === '\t' ? '\\t' : sep],
    ['--rejects', rejects],
    ['--common-words', commonWords],
    ['--names', called && `${called.users},${called.items}`],
  ] as const;
  return [
    origin.source,
    ...valued.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)])),
    ...(header === undefined ? [] : [header ? '--header' : '--no-header']),
    ...(multigraph === true ? ['--multi'] : []),
  ];
}

function flags(
  settings: StudySettings,
  known: readonly (readonly [keyof StudySettings, string, string | number])[],
): string[] {
  return known.flatMap(([name, flag, usual]) => {
    const value = settings[name];
    return value === usual ? [] : [flag, String(value)];
  });
}

function seed(settings: StudySettings): string[] {
  return flags(settings, [['seed', '--seed', 1]]);
}

function hyper(learn: readonly string[], given: StudySettings['given']): string[] {
  const named = SIDES.flatMap((side) =>
    HYPER.flatMap((name) => {
      const value = given[side][name];
      return value === undefined ? [] : [`--${name}-${side}`, String(value)];
    }),
  );
  return [...(learn.length > 0 ? ['--learn', learn.join(',')] : []), ...named];
}
