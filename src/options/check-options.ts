// Checks the options of a function: type and range of each. Unknown names are refused, with the nearest known one.

import { InputError } from '../errors.js';
import { editDistance } from '../text/edit-distance.js';
import { grouped, numberOf } from '../text/numbers.js';
import type { AnyOption, Declaration, NumberOption, OptionsOf, Range, SettingsOf } from './declare.js';
import { type OptionError, option, optionError, show } from './error.js';

/**
 * The options as given, without those that are undefined. Throws an InputError that names the option, its value and
 * what is allowed. Unknown names are refused, with the nearest known one.
 */
export function checkOptions<const D extends Declaration>(
  declared: D,
  given: OptionsOf<D> | undefined,
): OptionsOf<D> {
  return checkFields(declared, given ?? {}, '') as OptionsOf<D>;
}

/** Checks the options and fills in the defaults. A required option that is missing is refused. */
export function withDefaults<const D extends Declaration>(
  declared: D,
  given: OptionsOf<D> | undefined,
): SettingsOf<D> {
  return fillDefaults(declared, checkOptions(declared, given) as Record<string, unknown>) as SettingsOf<D>;
}

/** The fields of an object that a declaration knows: for passing options on to another function. */
export function partFor<const D extends Declaration>(declared: D, given: object): OptionsOf<D> {
  return Object.fromEntries(
    Object.entries(given).filter(([name]) => Object.hasOwn(declared, name)),
  ) as OptionsOf<D>;
}

function fillDefaults(
  declared: Declaration,
  given: Readonly<Record<string, unknown>>,
  within = '',
): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [name, known] of Object.entries(declared)) {
    const path = within === '' ? name : `${within}.${name}`;
    const said = given[name] ?? known.default;
    if (known.kind === 'section') {
      const fields = fillDefaults(known.fields, (said ?? {}) as Record<string, unknown>, path);
      if (said !== undefined || Object.keys(fields).length > 0) result[name] = fields;
    } else if (said !== undefined) {
      result[name] = said;
    } else if (known.required) {
      throw optionError`${option(path)} is missing: give ${describe(known)} (${known.meaning})`;
    }
  }
  return result;
}

function checkFields(declared: Declaration, given: unknown, within: string): Record<string, unknown> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    if (within === '')
      throw new InputError(`options: expected an object of named options, not ${show(given)}`);
    throw optionError`${option(within)} ${show(given)}: expected an object of ${Object.keys(declared).join(', ')}`;
  }
  const result: Record<string, unknown> = {};
  for (const name of Object.keys(given)) {
    const path = within === '' ? name : `${within}.${name}`;
    const known = Object.hasOwn(declared, name) ? declared[name] : undefined;
    if (!known) throw unknownOption(path, name, Object.keys(declared));
    const value = (given as Record<string, unknown>)[name];
    if (value === undefined) continue;
    result[name] =
      known.kind === 'section' ? checkFields(known.fields, value, path) : checkValue(known, value, path);
  }
  return result;
}

function checkValue(known: AnyOption, value: unknown, path: string): unknown {
  if (known.kind === 'list' && Array.isArray(value)) {
    const wrong = value.find((entry) => !isRight(known.of, entry));
    if (wrong !== undefined)
      throw optionError`${option(path)} ${show(wrong)}: expected ${describe(known.of)}`;
  }
  if (isRight(known, value)) return value;
  throw optionError`${option(path)} ${show(value)}: expected ${describe(known, value)}`;
}

function isRight(known: AnyOption, value: unknown): boolean {
  switch (known.kind) {
    case 'whole':
      if (isWord(known, value)) return true;
      return Number.isSafeInteger(value) && inRange(value as number, known);
    case 'decimal':
      return Number.isFinite(value) && inRange(value as number, known);
    case 'choice':
      return typeof value === 'string' && known.values.includes(value);
    case 'flag':
      return typeof value === 'boolean';
    case 'column':
      return isText(value) || (Number.isSafeInteger(value) && (value as number) >= 1);
    case 'text':
    case 'input':
    case 'output':
      return (known.bare && value === true) || isText(value);
    case 'pair':
      return isPair(value);
    case 'list':
      if (known.orAll && typeof value === 'boolean') return true;
      if (known.orOne && isRight(known.of, value)) return true;
      if (!Array.isArray(value) || value.length > LONGEST_LIST) return false;
      return !(known.orOne && value.length === 0) && value.every((entry) => isRight(known.of, entry));
    case 'value':
      return typeof value === known.type && value !== null && (known.only?.is(value) ?? true);
    case 'section':
      return typeof value === 'object' && value !== null;
  }
}

function isWord({ words }: NumberOption, value: unknown): value is string {
  return words !== undefined && typeof value === 'string' && words.includes(value);
}

/** No column, separator or path is longer. */
const LONGEST_TEXT = 65_536;
const LONGEST_LIST = 100_000;

function isText(value: unknown): boolean {
  return typeof value === 'string' && value.length <= LONGEST_TEXT && !value.includes('\0');
}

function isPair(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Object.keys(value).length !== 2) return false;
  const { users, items } = value as { users?: unknown; items?: unknown };
  return isText(users) && isText(items);
}

function inRange(value: number, { min, max, above, below }: Range): boolean {
  return (
    (min === undefined || value >= min) &&
    (max === undefined || value <= max) &&
    (above === undefined || value > above) &&
    (below === undefined || value < below)
  );
}

/** What an option takes. `value`: what was given; if it is too large, the largest number is named. */
function describe(known: AnyOption, value?: unknown): string {
  switch (known.kind) {
    case 'whole':
    case 'decimal':
      return (
        (known.words ?? []).map((word) => `${word}, or `).join('') +
        `a ${known.kind === 'whole' ? 'whole number' : 'number'}${describeRange(known, value)}${known.why ? `; ${known.why}` : ''}`
      );
    case 'choice':
      return `one of ${known.values.join(', ')}`;
    case 'flag':
      return 'true or false';
    case 'column':
      return 'the name of a column or its number, from 1';
    case 'text':
      return 'a text';
    case 'input':
    case 'output':
      return 'a path';
    case 'pair':
      return 'two words, one for the users and one for the items, as in customers,products';
    case 'list': {
      const of = describe(known.of);
      if (known.orAll) return `true, false or a list of values, each ${of}`;
      return known.orOne ? `${of}, or a list of at least one` : `a list of values, each ${of}`;
    }
    case 'section':
      return `an object of ${Object.keys(known.fields).join(', ')}`;
    case 'value':
      return known.only?.words ?? (known.type === 'function' ? 'a function' : 'an object');
  }
}

export function describeRange({ min, max, above, below }: Range, value?: unknown): string {
  const largest = max ?? Number.MAX_SAFE_INTEGER;
  const isTooLarge = Number.isInteger(value) && (value as number) > largest;
  const parts: string[] = [];
  if (min !== undefined) parts.push(`at least ${bound(min)}`);
  if (above !== undefined) parts.push(`above ${bound(above)}`);
  if (isTooLarge || largest < Number.MAX_SAFE_INTEGER - 1000) parts.push(`at most ${bound(largest)}`);
  if (below !== undefined) parts.push(`below ${bound(below)}`);
  return parts.length > 0 ? `, ${parts.join(' and ')}` : '';
}

const bound = (value: number): string =>
  Number.isInteger(value) && value >= 1000 ? grouped(value) : short(value);

/** As a person writes it: 1e-5, not 0.00001. */
export function short(value: number): string {
  const plain = String(value);
  const power = value.toExponential().replace('e+', 'e');
  return Math.abs(value) >= 1e-3 && Math.abs(value) < 1e6
    ? plain
    : power.length < plain.length
      ? power
      : plain;
}

/** Reads the text after a flag. */
export function parseValue(
  known: AnyOption,
  typed: string,
): { readonly value: unknown } | { readonly expected: string } {
  const value = readText(known, typed);
  if (isRight(known, value)) return { value };
  // On a command line a list has commas, and `all` and `none` stand for true and false.
  if (known.kind !== 'list') return { expected: describe(known, value) };
  const words = known.orAll ? 'all, none, or some of' : 'a list separated by commas, each';
  return {
    expected: `${words} ${known.orAll ? (known.of as { values: readonly string[] }).values.join(',') : describe(known.of)}`,
  };
}

function readText(known: AnyOption, typed: string): unknown {
  switch (known.kind) {
    case 'whole':
      if (isWord(known, typed.trim())) return typed.trim();
      return /^[+-]?\d+(e\d+)?$/i.test(typed.trim()) ? Number(typed) : Number.NaN;
    case 'decimal':
      return numberOf(typed);
    case 'pair': {
      const [users, items, ...more] = typed.split(',').map((part) => part.trim());
      return more.length === 0 ? { users, items } : undefined;
    }
    case 'list': {
      if (known.orAll && (typed === 'all' || typed === 'none')) return typed === 'all';
      if (known.repeated) return [readText(known.of, typed)];
      // Texts are not trimmed: an id may begin with a space.
      const parts = typed.split(',').map((part) => (known.of.kind === 'text' ? part : part.trim()));
      return parts.filter((part) => part !== '').map((part) => readText(known.of, part));
    }
    default:
      return typed;
  }
}

function unknownOption(path: string, name: string, known: readonly string[]): OptionError {
  const meant = nearest(name, known);
  const advice = meant === undefined ? `the options are ${known.join(', ')}` : `did you mean ${meant}?`;
  return optionError`${show(path)}: there is no such option; ${advice}`;
}

/** The known name with the smallest edit distance, if it is close enough to be meant. */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const wanted = name.toLowerCase().slice(0, 64);
  let best: string | undefined;
  let fewest = Math.max(1, Math.ceil(name.length * 0.4));
  for (const candidate of known) {
    const changes = editDistance(wanted, candidate.toLowerCase(), fewest);
    if (changes <= fewest && (best === undefined || changes < fewest)) {
      best = candidate;
      fewest = changes;
    }
  }
  return best;
}
