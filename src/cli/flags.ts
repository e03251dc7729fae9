// Turns declarations into the flags of a command, and typed flags into options.

import { type Command, Option } from 'commander';
import { InputError } from '../errors.js';
import { parseValue } from '../options/check-options.js';
import type { Declaration, OptionsOf } from '../options/declare.js';
import {
  argumentOf,
  helpText,
  type ListedOption,
  listOptions,
  offText,
  putAt,
  shortFlag,
} from '../options/option-list.js';
import { shown } from '../text/untrusted.js';

/** Which help is shown: the options that most people need, or all with their details. */
export type HelpLevel = 'common' | 'all';

/** Adds a flag for every option that a command line can give, except those that `elsewhere` declares too. */
export function addFlags(
  command: Command,
  declared: Declaration,
  level: HelpLevel,
  elsewhere: Declaration = {},
): void {
  const others = new Set(listOptions(elsewhere).map(({ flag }) => flag));
  for (const listed of listOptions(declared)) {
    const { option, flag, off } = listed;
    if (flag !== undefined && others.has(flag)) continue;
    const offOption = off && new Option(off, offText(listed)).default(undefined);
    for (const made of [flag && onFlag(listed, flag, level), offOption]) {
      if (!made) continue;
      if (option.group !== undefined) made.helpGroup(`${option.group}:`);
      made.hideHelp(level === 'common' && !option.common);
      command.addOption(made);
      if (option.kind !== 'list' || !option.repeated) refuseRepeats(command, made);
    }
  }
}

function onFlag({ option }: ListedOption, flag: string, level: HelpLevel): Option {
  const name = argumentOf(option);
  const bare = 'bare' in option && option.bare;
  const argument = option.kind === 'flag' ? '' : bare ? ` [${name}]` : ` <${name}>`;
  const meaning =
    option.kind === 'choice' && !option.meaning.includes(option.values[0])
      ? `${option.meaning}: ${option.values.join(', ')}`
      : option.meaning;
  const made = new Option(flag + argument, helpText({ ...option, meaning }, { details: level === 'all' }));
  if (option.kind === 'output' && option.required) made.makeOptionMandatory();
  if (option.kind === 'flag') return made;
  return made.argParser((typed: string, before: unknown) => {
    const read = parseValue(option, typed);
    if (!('value' in read)) {
      throw new InputError(`${shortFlag(flag)} ${shown(typed)}: expected ${read.expected}`);
    }
    const again = option.kind === 'list' && option.repeated && Array.isArray(before);
    return again ? [...before, ...(read.value as unknown[])] : read.value;
  });
}

/** A second value would silently replace the first. */
function refuseRepeats(command: Command, made: Option): void {
  let given = 0;
  command.on(`option:${made.name()}`, () => {
    if (++given > 1) throw new InputError(`${made.short ?? made.long} is given twice; give it once`);
  });
}

/** Refuses an option that needs a value and is followed by another option, which commander would take for the value. */
export function refuseMissingValues(command: Command, words: readonly string[]): void {
  const optionAt = (at: number) =>
    command.options.find(({ short, long }) => words[at] === short || words[at] === long);
  for (let at = 0; at < words.length && words[at] !== '--'; at++) {
    const made = optionAt(at);
    if (!made?.required) continue;
    const next = optionAt(++at);
    if (!next) continue;
    const remedy = made.long ? `; if ${words[at]} is the value, write ${made.long}=${words[at]}` : '';
    throw new InputError(`${words[at - 1]} needs a value, and ${words[at]} is another option${remedy}`);
  }
}

function attribute(flag: string): string {
  return new Option(flag).attributeName();
}

/** Only the options that were typed; the library fills in the defaults. */
export function typedOptions<const D extends Declaration>(command: Command, declared: D): OptionsOf<D> {
  const options: Record<string, unknown> = {};
  for (const { path, flag = '', off = '' } of listOptions(declared)) {
    // --header and --no-header are one value to commander.
    const name = [flag, off].find((one) => one && command.getOptionValueSource(attribute(one)) === 'cli');
    if (name) putAt(options, path, command.getOptionValue(attribute(name)));
  }
  return options as OptionsOf<D>;
}
