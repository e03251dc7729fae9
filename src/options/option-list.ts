// The options of a declaration as a flat list, with their flags: for the command line, receipts, forms and pages.

import { short } from './check-options.js';
import type { AnyOption, Declaration, SectionOption } from './declare.js';

type Plain = Exclude<AnyOption, SectionOption>;

/** One option: users.sigma of a fit has the path ['users', 'sigma']. */
export interface ListedOption {
  readonly path: readonly string[];
  readonly option: Plain;
  /** Its flag, as in '-k, --features'; undefined: only programs can set it. */
  readonly flag: string | undefined;
  /** The flag that turns it off. */
  readonly off: string | undefined;
}

export function listOptions(declared: Declaration, within: readonly string[] = []): ListedOption[] {
  return Object.entries(declared).flatMap(([name, option]) => {
    const path = [...within, name];
    return option.kind === 'section'
      ? listOptions(option.fields, path)
      : [{ path, option, ...flagsOf(name, option) }];
  });
}

function flagsOf(name: string, option: Plain): Pick<ListedOption, 'flag' | 'off'> {
  if (option.flag === null) return { flag: undefined, off: undefined };
  const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const flag = option.flag ?? `--${dashed}`;
  if (option.kind !== 'flag') return { flag, off: undefined };
  if (option.default !== true) return { flag, off: option.off };
  // An option that is on by default needs only the flag that turns it off, unless it declares its own flag.
  return { flag: option.flag, off: option.off ?? `--no-${dashed}` };
}

/** The short form of a flag, if there is one: that is what people type. */
export function shortFlag(flag: string): string {
  return flag.split(', ')[0];
}

/** How a command names an option in messages: --test-users for testUsers, --no-header if that was `given`. */
export function flagName(declared: Declaration, path: string, given: object = {}): string | undefined {
  const found = listOptions(declared).find((leaf) => leaf.path.join('.') === path);
  const no = found?.off !== undefined && valueAt(given, found.path) === false;
  const flag = no ? found.off : (found?.flag ?? found?.off);
  return flag === undefined ? undefined : shortFlag(flag);
}

/** A default as people read it; empty if there is none to show. */
export function defaultWords({ default: usual, otherwise }: AnyOption): string {
  if (otherwise !== undefined) return otherwise;
  if (usual === undefined || typeof usual === 'boolean') return '';
  return typeof usual === 'number' ? short(usual) : String(usual);
}

/** What the flag that turns an option off means. */
export function offText({ option, flag, off }: ListedOption): string | undefined {
  if (off === undefined || option.kind !== 'flag') return undefined;
  return option.offMeaning ?? (flag === undefined ? `do not ${option.meaning}` : `not ${shortFlag(flag)}`);
}

/** A line of the help: meaning and default. With `details`, also what else there is to know. */
export function helpText(option: AnyOption, { details = false } = {}): string {
  const { meaning, details: more } = option;
  const usual = defaultWords(option);
  const line = usual === '' ? meaning : `${meaning} (default: ${usual})`;
  return details && more !== undefined ? `${line}. ${more}` : line;
}

const ARGUMENTS: Readonly<Partial<Record<Plain['kind'], string>>> = {
  whole: 'n',
  decimal: 'x',
  choice: 'name',
  list: 'list',
  column: 'col',
  pair: 'users,items',
};

/** The placeholder of the value after a flag. */
export function argumentOf({ argument, kind }: Plain): string {
  return argument ?? ARGUMENTS[kind] ?? 'text';
}

/** The value at a path of an options object. */
export function valueAt(options: object, path: readonly string[]): unknown {
  let at: unknown = options;
  for (const name of path) at = (at as Record<string, unknown> | undefined)?.[name];
  return at;
}

/** Puts a value at a path, making the objects on the way. */
export function putAt(options: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let at = options;
  for (const name of path.slice(0, -1)) at = (at[name] ??= {}) as Record<string, unknown>;
  at[path.at(-1)!] = value;
}
