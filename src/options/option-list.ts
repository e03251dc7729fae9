// The options of a declaration one by one, with their flags: for command lines, receipts, forms and lists.

import { short } from './check-options.js';
import type { AnyOption, Declaration, SectionOption } from './declare.js';

type Plain = Exclude<AnyOption, SectionOption>;

/** One option: users.sigma of a fit has the path ['users', 'sigma']. */
export interface Leaf {
  readonly path: readonly string[];
  readonly option: Plain;
  /** The flag that gives it, as in '-k, --features'; undefined: for programs only. */
  readonly flag: string | undefined;
  /** The flag that says no. */
  readonly off: string | undefined;
}

export function leaves(declared: Declaration, within: readonly string[] = []): Leaf[] {
  return Object.entries(declared).flatMap(([name, option]) => {
    const path = [...within, name];
    return option.kind === 'section'
      ? leaves(option.fields, path)
      : [{ path, option, ...flagsOf(name, option) }];
  });
}

function flagsOf(name: string, option: Plain): Pick<Leaf, 'flag' | 'off'> {
  if (option.flag === null) return { flag: undefined, off: undefined };
  const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  const flag = option.flag ?? `--${dashed}`;
  if (option.kind !== 'flag') return { flag, off: undefined };
  if (option.default !== true) return { flag, off: option.off };
  // What is on unless switched off needs only the switch, but where something else than its default may have switched it off.
  return { flag: option.flag, off: option.off ?? `--no-${dashed}` };
}

/** The short form where there is one: that is what people type. */
export function spokenFlag(flag: string): string {
  return flag.split(', ')[0];
}

/** How a command names an option in messages: --test-users for testUsers, --no-header where that was `given`. */
export function flagName(declared: Declaration, path: string, given: object = {}): string | undefined {
  const found = leaves(declared).find((leaf) => leaf.path.join('.') === path);
  const no = found?.off !== undefined && valueAt(given, found.path) === false;
  const flag = no ? found.off : (found?.flag ?? found?.off);
  return flag === undefined ? undefined : spokenFlag(flag);
}

/** A default as people read it; empty where there is nothing to say. */
export function usualWords({ default: usual, otherwise }: AnyOption): string {
  if (otherwise !== undefined) return otherwise;
  if (usual === undefined || typeof usual === 'boolean') return '';
  return typeof usual === 'number' ? short(usual) : String(usual);
}

/** What the flag that says no means. */
export function offText({ option, flag, off }: Leaf): string | undefined {
  if (off === undefined || option.kind !== 'flag') return undefined;
  return option.offMeaning ?? (flag === undefined ? `do not ${option.meaning}` : `not ${spokenFlag(flag)}`);
}

/** What the help says of an option: its meaning and its default. */
export function helpText(option: AnyOption): string {
  const usual = usualWords(option);
  return usual === '' ? option.meaning : `${option.meaning} (default: ${usual})`;
}

/** What stands for the value behind a flag. */
export function argumentOf(option: Plain): string {
  if (option.argument !== undefined) return option.argument;
  switch (option.kind) {
    case 'whole':
      return 'n';
    case 'decimal':
      return 'x';
    case 'choice':
      return 'name';
    case 'list':
      return 'list';
    case 'column':
      return 'col';
    case 'pair':
      return 'users,items';
    default:
      return 'text';
  }
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
