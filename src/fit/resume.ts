// A resumed fit runs with the options of its checkpoint, resolved again. Given options that differ are refused by name.

import { SIDES } from '../graph/graph.js';
import { AUTO, type Method } from '../options/commands/fit.js';
import { OptionError, option, optionError, show } from '../options/error.js';
import { TASK } from '../options/shared.js';
import type { Checkpoint, FitOrigin } from './ascent/loop.js';
import { type FitOptions, learnLists, RESUME, TIMES } from './options.js';

/** Options that may differ: how long the fit continues, and on which engine. */
const FREE: readonly string[] = ['iterations', 'tolerance', 'engine', 'average'];
/** … and options that do not change the numbers. */
const OWN: readonly string[] = [...FREE, ...[TASK, RESUME, TIMES].flatMap((some) => Object.keys(some))];

interface Conflict {
  readonly path: string;
  readonly saved: unknown;
  readonly given: unknown;
}

/** The options of a resumed fit: those of its checkpoint, with the given ones that may differ. */
export function resumedOptions(ofData: () => string, given: FitOptions & { resume: Checkpoint }): FitOptions {
  const { resume } = given;
  const origin: Partial<FitOrigin> | undefined = resume?.origin;
  if (typeof origin?.options !== 'object' || (resume.method !== 'ascent' && resume.method !== 'ranking')) {
    throw optionError`${option('resume')}: expected the checkpoint of a stopped fit`;
  }
  const saved = origin.options as FitOptions;
  const conflicts = conflictsOf(given, saved, resume.method);
  if (conflicts.length > 0) throw conflictError(conflicts);
  if (origin.fingerprint !== ofData()) {
    throw optionError`${option('resume')}: the saved fit is of other data; resume it with the data it started with`;
  }
  const own = Object.entries(given).filter(([name, value]) => OWN.includes(name) && value !== undefined);
  return { ...saved, ...Object.fromEntries(own) } as FitOptions;
}

/** The given options that differ from the saved ones; an option that is left out never does. */
function conflictsOf(given: FitOptions, saved: FitOptions, method: Method): Conflict[] {
  const before: Record<string, unknown> = { ...saved };
  const conflicts: Conflict[] = [];
  const compare = (path: string, was: unknown, now: unknown) => {
    if (!isSame(was, now)) conflicts.push({ path, saved: was, given: now });
  };
  for (const [name, value] of Object.entries(given)) {
    // The saved choice stands.
    if ((name === 'features' || name === 'counts') && value === AUTO && method === 'ascent') continue;
    if (value === undefined || OWN.includes(name)) continue;
    if (name === 'users' || name === 'items') {
      const side = before[name] as Record<string, unknown> | undefined;
      for (const [hyper, now] of Object.entries(value as object)) {
        if (now !== undefined) compare(`${name}.${hyper}`, side?.[hyper], now);
      }
    } else if (name === 'learn') compare(name, inOrder(before.learn), inOrder(value));
    else compare(name, before[name], value);
  }
  return conflicts;
}

function conflictError(conflicts: readonly Conflict[]): OptionError {
  const list = conflicts.flatMap(({ path, saved, given }, n) => [
    n === 0 ? '' : ', ',
    // A switch has one flag for both values, so the sentence names the option instead.
    ...(typeof given === 'boolean'
      ? [`${saved === true ? 'with' : 'without'} the ${path}`]
      : ['with ', option(path), ` ${plain(saved)} (not ${plain(given)})`]),
  ]);
  return new OptionError([
    option('resume'),
    ': the saved fit was started ',
    ...list,
    '; leave out what differs, or start again without ',
    option('resume'),
  ]);
}

/** The names of learned hyperparameters, each with its side, sorted. */
function inOrder(names: unknown): unknown {
  if (!Array.isArray(names) || !names.every((name) => typeof name === 'string')) return names;
  const lists = learnLists(names);
  return SIDES.flatMap((side) => [...lists[side]].sort().map((name) => `${side}.${name}`));
}

function isSame(a: unknown, b: unknown): boolean {
  if (!Array.isArray(a) || !Array.isArray(b)) return Object.is(a, b);
  return a.length === b.length && a.every((value, at) => Object.is(value, b[at]));
}

function plain(value: unknown): string {
  if (value === undefined) return 'estimated';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(String).join(',');
  return typeof value === 'string' ? value : show(value);
}
