// All that the page knows, as signals. Settings live in the address, so that a reload or a link brings them back; data
// never do.

import { computed, effect, signal } from '@preact/signals';
import type { TablePreview } from '../ingest/preview.js';
import type { SparsityCheck } from '../sparsity/check.js';
import type {
  EvaluationSummary,
  LiveFit,
  Machine,
  ModelSummary,
  Opened,
  ReadChoice,
  Source,
} from './protocol.js';

export const STEPS = [
  'start',
  'columns',
  'verdict',
  'fit',
  'predict',
  'explore',
  'recommend',
  'report',
] as const;
export type StepName = (typeof STEPS)[number];

/** What decides the results, with the defaults of the command line. */
export interface Settings extends ReadChoice {
  readonly seed: number;
  readonly features: number;
  readonly model: 'auto' | 'sparse' | 'dense';
  readonly iterations: number;
  readonly engine: 'auto' | 'cpu' | 'gpu';
  /** Whether a test part is kept from the fit. */
  readonly holdOut: boolean;
  readonly testUsers: number;
  readonly testItems: number;
  readonly draws: number;
  readonly n: number;
  /** Shares that are kept of a large table. */
  readonly keepUsers: number;
  readonly keepItems: number;
}

export const DEFAULTS: Settings = {
  seed: 1,
  features: 30,
  model: 'auto',
  iterations: 400,
  engine: 'auto',
  holdOut: true,
  testUsers: 0.2,
  testItems: 0.2,
  draws: 100,
  n: 20,
  keepUsers: 1,
  keepItems: 1,
};

/** What an address may hold besides: the choice of columns. */
const CHOICES = ['users', 'items', 'count', 'sep'] as const;
const FLAGS = ['header', 'multigraph', 'setAside'] as const;

export const settings = signal<Settings>(DEFAULTS);
export const step = signal<StepName>('start');
export const source = signal<Source | undefined>(undefined);
export const preview = signal<TablePreview | undefined>(undefined);
export const opened = signal<Opened | undefined>(undefined);
export const check = signal<SparsityCheck | undefined>(undefined);
export const liveFit = signal<LiveFit | undefined>(undefined);
export const model = signal<ModelSummary | undefined>(undefined);
export const evaluation = signal<EvaluationSummary | undefined>(undefined);
export const likes = signal<readonly string[]>([]);
export const machine = signal<Machine | undefined>(undefined);
/** The model that the server of this page has; 'locked' where it asks for a key. */
export const offered = signal<ModelSummary | 'locked' | undefined>(undefined);
/** What went wrong, and in which step: it is said there alone. */
export const problem = signal<{ readonly step: StepName; readonly words: string } | undefined>(undefined);

/** Which steps can be entered now. */
export const reachable = computed<Readonly<Record<StepName, boolean>>>(() => ({
  start: true,
  columns: preview.value !== undefined,
  verdict: opened.value !== undefined,
  fit: opened.value !== undefined,
  predict: model.value?.split !== undefined,
  explore: model.value?.features !== undefined,
  recommend: model.value !== undefined,
  report: opened.value !== undefined || (model.value !== undefined && !model.value.served),
}));

export function change(part: Partial<Settings>): void {
  settings.value = { ...settings.value, ...part };
}

/** Says what went wrong in a step. Work may end after one has left it: whoever begins it keeps where that was. */
export function complain(words: string, at: StepName): void {
  problem.value = { step: at, words };
}

/** What is wrong in the step in view. */
export const problemHere = computed(() =>
  problem.value?.step === step.value ? problem.value.words : undefined,
);

/** Enters a step; what was wrong in the one before has been read. */
function enter(to: StepName): void {
  if (problem.value?.step === step.value) problem.value = undefined;
  step.value = to;
}

/** Goes to a step; the back button comes back from it. */
export function go(to: StepName): void {
  const from = step.value;
  enter(to);
  if (from === to) return;
  history.pushState(null, '', address());
  window.scrollTo({ top: 0 });
}

function address(): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(settings.value)) {
    if (value !== undefined && value !== DEFAULTS[name as keyof Settings])
      parameters.set(name, String(value));
  }
  const said = parameters.toString();
  return `#${step.peek()}${said ? `?${said}` : ''}`;
}

function readAddress(): void {
  const [, name = 'start', query = ''] = /^#([a-z]*)(?:\?(.*))?$/.exec(location.hash) ?? [];
  const wanted = STEPS.find((known) => known === name) ?? 'start';
  settings.value = settingsFrom(new URLSearchParams(query));
  enter(reachable.value[wanted] ? wanted : 'start');
}

/** Only what the page knows, within its bounds: an address may come from anyone. */
export function settingsFrom(parameters: URLSearchParams): Settings {
  const result: Record<string, unknown> = { ...DEFAULTS };
  for (const [name, usual] of Object.entries(DEFAULTS)) {
    const text = parameters.get(name);
    if (text === null) continue;
    if (typeof usual === 'number') {
      const value = Number(text);
      const [low, high] = BOUNDS[name] ?? [0, Number.MAX_SAFE_INTEGER - 1000];
      const whole = Number.isInteger(usual) && !(name in SHARES);
      if (value >= low && value <= high && (!whole || Number.isInteger(value))) result[name] = value;
    } else if (typeof usual === 'boolean') result[name] = text === 'true';
    else if (WORDS[name]?.includes(text)) result[name] = text;
  }
  for (const name of CHOICES) {
    const text = parameters.get(name);
    if (text !== null && text.length <= 200) result[name] = text;
  }
  for (const name of FLAGS) if (parameters.has(name)) result[name] = parameters.get(name) === 'true';
  return result as unknown as Settings;
}

const SHARES: Readonly<Record<string, true>> = { keepUsers: true, keepItems: true };
const BOUNDS: Readonly<Record<string, readonly [number, number]>> = {
  features: [1, 1024],
  iterations: [1, 100_000],
  testUsers: [0.01, 0.9],
  testItems: [0.01, 0.9],
  draws: [19, 2000],
  n: [1, 200],
  keepUsers: [0.01, 1],
  keepItems: [0.01, 1],
};
const WORDS: Readonly<Record<string, readonly string[]>> = {
  model: ['auto', 'sparse', 'dense'],
  engine: ['auto', 'cpu', 'gpu'],
};

/** Whether the address brought settings other than the usual ones. */
export const brought = signal(false);

/** Follows the address, and keeps it true. */
export function followAddress(): void {
  readAddress();
  brought.value = Object.keys(settings.value).some(
    (name) => settings.value[name as keyof Settings] !== DEFAULTS[name as keyof Settings],
  );
  window.addEventListener('popstate', readAddress);
  effect(() => {
    settings.value;
    history.replaceState(null, '', address());
  });
}
