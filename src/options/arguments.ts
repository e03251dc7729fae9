// Turns options back into the arguments of a command, and arguments into a line for a shell.

import { short } from './check-options.js';
import type { AnyOption, Declaration } from './declare.js';
import { type ListedOption, listOptions, shortFlag, valueAt } from './option-list.js';

interface ArgumentsOptions {
  /** Options that are written even if they have their default. */
  readonly always?: readonly string[];
  /** Defaults that depend on the data. */
  readonly usual?: Readonly<Record<string, unknown>>;
}

/** The flags in the order of the declaration; defaults are left out. */
export function toArguments(declared: Declaration, options: object, how: ArgumentsOptions = {}): string[] {
  return listOptions(declared).flatMap((leaf) => {
    const name = leaf.path.join('.');
    const value = valueAt(options, leaf.path);
    if (value === undefined) return [];
    const usual = how.usual?.[name] ?? leaf.option.default;
    const said = how.always?.includes(name) || JSON.stringify(value) !== JSON.stringify(usual);
    return said ? argumentsOf(leaf, value) : [];
  });
}

function argumentsOf({ option, flag, off }: ListedOption, value: unknown): string[] {
  if (value === false && option.kind === 'flag') return off === undefined ? [] : [off];
  if (flag === undefined) return [];
  const name = shortFlag(flag);
  if (option.kind === 'list' && option.repeated && Array.isArray(value)) {
    return value.flatMap((entry) => [name, spelled(option.of, entry)]);
  }
  return value === true && option.kind !== 'list' ? [name] : [name, spelled(option, value)];
}

/** A value as it is typed after its flag. */
function spelled(option: AnyOption, value: unknown): string {
  if (option.kind === 'list') {
    if (typeof value === 'boolean') return value ? 'all' : 'none';
    const entries = Array.isArray(value) ? value : [value];
    return entries.length === 0 && option.orAll
      ? 'none'
      : entries.map((entry) => spelled(option.of, entry)).join(',');
  }
  if (option.kind === 'pair') {
    const { users, items } = value as { readonly users: string; readonly items: string };
    return `${users},${items}`;
  }
  if (typeof value === 'number') return short(value);
  const spell = 'spell' in option ? option.spell : undefined;
  return spell ? spell(String(value)) : String(value);
}

/** An invocation as the README writes it, with every argument as a shell takes it. */
export function command(args: readonly string[]): string {
  return ['npx', 'graphex', ...args.map(shellArgument)].join(' ');
}

/** An argument as a shell takes it. */
export function shellArgument(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
