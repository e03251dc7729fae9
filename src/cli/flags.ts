// Declarations → flags of a command, and what was typed → options by declaration.

import { type Command, Option } from 'commander';
import { InputError } from '../errors.js';
import { parseValue } from '../options/check-options.js';
import type { Declaration, OptionsOf } from '../options/declare.js';
import {
  argumentOf,
  helpText,
  type Leaf,
  leaves,
  offText,
  putAt,
  spokenFlag,
} from '../options/option-list.js';
import { shown } from '../text/untrusted.js';

/** Adds a flag for every option that a command line can give, but for those that `elsewhere` declares too. */
export function addFlags(command: Command, declared: Declaration, elsewhere: Declaration = {}): Command {
  const others = new Set(leaves(elsewhere).map(({ flag }) => flag));
  for (const leaf of leaves(declared)) {
    const { option, flag, off } = leaf;
    if (flag !== undefined && others.has(flag)) continue;
    if (flag !== undefined) command.addOption(onFlag(leaf, flag));
    if (off !== undefined) command.addOption(offFlag(leaf, off));
    if (option.kind === 'output' && option.required) required(command, leaf);
  }
  return command;
}

function onFlag(leaf: Leaf, flag: string): Option {
  const { option } = leaf;
  const name = argumentOf(option);
  const bare = 'bare' in option && option.bare;
  const argument = option.kind === 'flag' ? '' : bare ? ` [${name}]` : ` <${name}>`;
  const choices = option.kind === 'choice' && !option.values.every((v) => option.meaning.includes(v));
  const meaning = choices ? `${option.meaning}: ${option.values.join(', ')}` : option.meaning;
  const made = grouped(new Option(flag + argument, helpText({ ...option, meaning })), option.group);
  if (option.kind !== 'flag') {
    made.argParser((typed: string, before: unknown) => {
      const read = parseValue(option, typed);
      if ('value' in read) {
        const again = option.kind === 'list' && option.repeated && Array.isArray(before);
        return again ? [...before, ...(read.value as unknown[])] : read.value;
      }
      throw new InputError(`${spokenFlag(flag)} ${shown(typed)}: expected ${read.expected}`);
    });
  }
  return made;
}

function offFlag(leaf: Leaf, off: string): Option {
  const { option, flag } = leaf;
  const made = grouped(new Option(off, offText(leaf)), option.group).default(undefined);
  return flag === undefined || isNegation(off) ? made : made.conflicts(attribute(flag));
}

function required(command: Command, { flag }: Leaf): void {
  const made = command.options.find((option) => option.flags.startsWith(flag!));
  made?.makeOptionMandatory();
}

function grouped(option: Option, group: string | undefined): Option {
  return group === undefined ? option : option.helpGroup(`${group}:`);
}

function isNegation(flag: string): boolean {
  return flag.startsWith('--no-');
}

function attribute(flag: string): string {
  return new Option(flag).attributeName();
}

/** Only what was typed; the library has the defaults. */
export function typedOptions<const D extends Declaration>(command: Command, declared: D): OptionsOf<D> {
  const options: Record<string, unknown> = {};
  for (const { path, flag, off } of leaves(declared)) {
    const typed = (name: string | undefined): unknown =>
      name !== undefined && command.getOptionValueSource(attribute(name)) === 'cli'
        ? command.getOptionValue(attribute(name))
        : undefined;
    // --no-header and --header are one value to commander, --simple and --multi two.
    const no = off !== undefined && !isNegation(off) && typed(off) === true ? false : typed(off);
    const value = typed(flag) ?? no;
    if (value !== undefined) putAt(options, path, value);
  }
  return options as OptionsOf<D>;
}
