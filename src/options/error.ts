// Errors that name options. A program knows testUsers, a person at a terminal --test-users: the message keeps the
// options that it names, and the command line writes them as flags.

import { InputError } from '../errors.js';
import { shown } from '../text/untrusted.js';

/** An option within a message; options of a side are written users.sigma. */
class OptionName {
  constructor(
    readonly path: string,
    /** The placeholder after its flag, such as FILE. */
    readonly argument?: string | undefined,
  ) {}
}

/** Writes an option the way its reader knows it. */
export type WriteOption = (path: string, argument?: string) => string;

/** 'rejects FILE' for a program, '--rejects FILE' at a terminal. */
export function withArgument(name: string, argument?: string): string {
  return argument === undefined ? name : `${name} ${argument}`;
}

/** A text that names options. */
export type OptionWords = readonly (string | OptionName)[];

export class OptionError extends InputError {
  readonly #parts: OptionWords;

  constructor(parts: OptionWords) {
    super(written(parts, withArgument));
    this.#parts = parts;
  }

  /** The message with every option as `write` writes it. */
  say(write: WriteOption): string {
    return written(this.#parts, write);
  }
}

function written(parts: OptionWords, write: WriteOption): string {
  return parts.map((part) => (typeof part === 'string' ? part : write(part.path, part.argument))).join('');
}

export function option(path: string, argument?: string): OptionName {
  return new OptionName(path, argument);
}

type Inserted = OptionName | OptionWords | string | number;

/** As a template: optionWords`${option('average')} adds the scores of several fits`. */
export function optionWords(strings: TemplateStringsArray, ...values: readonly Inserted[]): OptionWords {
  return strings.flatMap((text, at) => {
    const inserted = values[at];
    if (inserted === undefined) return [text];
    if (inserted instanceof OptionName) return [text, inserted];
    return typeof inserted === 'object' ? [text, ...inserted] : [text, String(inserted)];
  });
}

/** As a template: optionError`${option('folds')} belongs to ${option('method')} ranking`. */
export function optionError(strings: TemplateStringsArray, ...values: readonly Inserted[]): OptionError {
  return new OptionError(optionWords(strings, ...values));
}

/** A value as a message shows it: short, and without anything that a terminal would act on. */
export function show(value: unknown): string {
  let text: string;
  if (typeof value === 'string') text = JSON.stringify(value);
  else if (typeof value === 'function') text = 'a function';
  else if (typeof value === 'bigint') text = `${value}n`;
  else if (Array.isArray(value)) text = value.length === 0 ? 'an empty list' : 'a list';
  else if (typeof value === 'object' && value !== null) text = 'an object';
  else text = String(value);
  return shown(text);
}
