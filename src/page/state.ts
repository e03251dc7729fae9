// The state of the page, as signals. Settings are kept in the address, so that a reload or a link restores them. Data never
// are.

import { batch, computed, effect, type Signal, signal } from '@preact/signals';
import type { NamedBlob } from '../ingest/blob.js';
import type { TablePreview } from '../ingest/preview.js';
import type { SparsityCheck } from '../sparsity/check.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import {
  type Audited,
  type AuditFiles,
  type Comparison,
  type EvaluationSummary,
  type Forecast,
  type FoundItemTable,
  type LiveFit,
  type Machine,
  type ModelSummary,
  type Opened,
  PURPOSES,
  type Purpose,
  type ShownList,
  type Source,
} from './protocol.js';
import { DEFAULTS, type Settings, settingsFrom } from './settings.js';

export const STEPS = [
  'start',
  'columns',
  'verdict',
  'fit',
  'predict',
  'explore',
  'recommend',
  'forecast',
  'audit',
  'report',
] as const;
export type StepName = (typeof STEPS)[number];

/** What a signal is about: data, or models of them and their results. */
const SUBJECTS = ['data', 'models'] as const;
type Subject = (typeof SUBJECTS)[number];
const resets: { readonly subject: Subject; reset(): void }[] = [];

/** A signal that returns to its first value when its subject is forgotten. */
function signalOf<T>(subject: Subject, first: T): Signal<T> {
  const made = signal(first);
  const reset = () => {
    made.value = first;
  };
  resets.push({ subject, reset });
  return made;
}

/** Forgets a subject and what comes from it. */
export function forget(from: Subject): void {
  const gone = SUBJECTS.slice(SUBJECTS.indexOf(from));
  batch(() => {
    for (const { subject, reset } of resets) if (gone.includes(subject)) reset();
  });
}

export const settings = signal<Settings>(DEFAULTS);
export const step = signal<StepName>('start');
export const source = signal<Source | undefined>(undefined);
export const preview = signal<TablePreview | undefined>(undefined);
export const opened = signalOf<Opened | undefined>('data', undefined);
export const check = signalOf<SparsityCheck | undefined>('data', undefined);
/** The seed of the check that is shown. */
export const checkSeed = signal<number>(DEFAULTS.seed);
export const liveFit = signalOf<LiveFit | undefined>('models', undefined);
export const models = signalOf<Readonly<Partial<Record<Purpose, ModelSummary>>>>('models', {});
/** The same as a list, first the one that describes the data. */
export const ready = computed(() => PURPOSES.flatMap((purpose) => models.value[purpose] ?? []));
/** The model to explore: the one that describes the data, else the ranker. */
export const model = computed(() => ready.value[0]);
/** The names of the two sides, in the data or in a model that was opened. */
export const names = computed(() => (opened.value ?? model.value)?.names ?? USERS_AND_ITEMS);
export const evaluation = signalOf<EvaluationSummary | undefined>('models', undefined);
export const comparison = signalOf<Comparison | undefined>('models', undefined);
/** The models whose lists are being compared. */
export const compared = signalOf<typeof models.value | undefined>('models', undefined);
/** Whether those are the models that are there now. */
export const comparing = computed(() => compared.value === models.value);
/** The model that the visitor wants the lists of. */
export const preferred = signalOf<Purpose | undefined>('models', undefined);
/** The model that makes the lists: the preferred one, else the clearly better one on held-out users, else the ranker. */
export const lister = computed<Purpose>(() => {
  const { understand, recommend } = models.value;
  if (!understand || !recommend) return recommend ? 'recommend' : 'understand';
  return preferred.value ?? comparison.value?.best ?? 'recommend';
});
export const likes = signalOf<readonly string[]>('models', []);
/** The user to recommend for; undefined: somebody new. */
export const customer = signalOf<string | undefined>('models', undefined);
/** Whether lists are for somebody new, who has the likes. */
export const isNew = signalOf('models', false);
export const shownList = signalOf<ShownList | undefined>('models', undefined);
/** The file of a model that was opened. */
export const modelFile = signalOf<string | undefined>('models', undefined);
/** The forecast of the data, and the audit of two tables. */
export const forecast = signalOf<Forecast | undefined>('data', undefined);
export const audited = signal<Audited | undefined>(undefined);
export const auditFiles = signal<AuditFiles>({});
/** The table about the items, and what was found in it. */
export const itemTableFile = signal<NamedBlob | undefined>(undefined);
export const itemTable = signalOf<Omit<FoundItemTable, 'ids' | 'titles'> | undefined>('data', undefined);
/** Items of the data and of the table that get scores from its attributes. */
export const describedItems = computed(() => {
  const found = itemTable.value;
  return found && found.attributes.length > 0 ? found.of + found.added : 0;
});
/** Items that no list shows. */
export const hidden = signalOf<readonly string[]>('data', []);
/** A condition on the attributes of the items that are listed. */
export const filter = signalOf('data', '');
/** How far the data grow. A period needs a column of times. */
export const growth = computed<Settings['growth']>(() => {
  const { growth: wanted, time } = settings.value;
  return time === undefined && PERIODS.some((period) => period === wanted) ? 'twice' : wanted;
});
/**
 * The column of times by which a ranker can weigh edges. A thinned table has none: `thin` of the library keeps no times, so
 * the script of the report could not repeat the fit.
 */
export const timeOfEdges = computed(() =>
  preview.value && !opened.value?.kept ? settings.value.time : undefined,
);
export const PERIODS = ['month', 'quarter', 'year'] as const;
export const machine = signal<Machine | undefined>(undefined);
/** The model of the server that sent this page; 'locked' if the server asks for a key. */
export const offered = signal<ModelSummary | 'locked' | undefined>(undefined);
/** The last problem and its step. It is shown in that step only. */
export const problem = signal<{ readonly step: StepName; readonly words: string } | undefined>(undefined);

export const reachable = computed<Readonly<Record<StepName, boolean>>>(() => ({
  start: true,
  columns: preview.value !== undefined,
  verdict: opened.value !== undefined,
  fit: opened.value !== undefined,
  predict: model.value?.split !== undefined,
  explore: model.value?.features !== undefined,
  recommend: model.value !== undefined,
  forecast: opened.value !== undefined,
  audit: true,
  report: opened.value !== undefined || (model.value !== undefined && !model.value.served),
}));

export function change(part: Partial<Settings>): void {
  settings.value = { ...settings.value, ...part };
}

/** Shows a problem in a step. Work may end after its step was left, so the caller names the step. */
export function complain(words: string, at: StepName): void {
  problem.value = { step: at, words };
}

export const problemHere = computed(() =>
  problem.value?.step === step.value ? problem.value.words : undefined,
);

/** Opens a step, and clears the problem of the one before. */
function enter(to: StepName): void {
  if (problem.value?.step === step.value) problem.value = undefined;
  step.value = to;
}

/** Goes to a step, so that the back button returns from it. */
export function go(to: StepName): void {
  const from = step.value;
  enter(to);
  if (from === to) return;
  history.pushState({ step: to }, '', address());
  window.scrollTo({ top: 0 });
}

function address(): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(settings.value)) {
    if (value !== undefined && value !== DEFAULTS[name as keyof Settings])
      parameters.set(name, String(value));
  }
  const query = parameters.toString();
  return `#${step.peek()}${query && `?${query}`}`;
}

function readAddress(): void {
  const [, name = 'start', query = ''] = /^#([a-z]*)(?:\?(.*))?$/.exec(location.hash) ?? [];
  batch(() => {
    settings.value = settingsFrom(new URLSearchParams(query));
    enterIfReachable(name);
  });
}

function enterIfReachable(name: string): void {
  const wanted = STEPS.find((known) => known === name) ?? 'start';
  enter(reachable.value[wanted] ? wanted : 'start');
}

function replaceAddress(): void {
  history.replaceState({ step: step.peek() }, '', address());
}

/** Back and Forward go to another step and change no settings. An address that was typed has settings of its own. */
function follow({ state }: PopStateEvent): void {
  if (state === null) readAddress();
  else enterIfReachable(state.step);
  replaceAddress();
}

/** Whether the address has settings other than the defaults. */
export const brought = signal(false);

/** Follows the address, and keeps it up to date. */
export function followAddress(): void {
  readAddress();
  brought.value = Object.keys(settings.value).some(
    (name) => settings.value[name as keyof Settings] !== DEFAULTS[name as keyof Settings],
  );
  window.addEventListener('popstate', follow);
  effect(() => {
    settings.value;
    replaceAddress();
  });
}
