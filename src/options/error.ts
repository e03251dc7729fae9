// A wrong option, said so that everyone understands it: a program knows it as testUsers, a person at a terminal as
// --test-users. The message keeps the places where it names options, and whoever shows it says how.

import { InputError } from '../errors.js';
import { shown } from '../text/untrusted.js';

/** An option within a message; options of a side are written users.sigma. */
export class OptionName {
  constructor(readonly path: string) {}
}

export class OptionError extends InputError {
  readonly #parts: readonly (string | OptionName)[];

  constructor(parts: readonly (string | OptionName)[]) {
    super(parts.map((part) => (typeof part === 'string' ? part : part.path)).join(''));
    this.#parts = parts;
  }

  /** The message with every option as `write` writes it. */
  say(write: (path: string) => string): string {
    return this.#parts.map((part) => (typeof part === 'string' ? part : write(part.path))).join('');
  }
}

export function option(path: string): OptionName {
  return new OptionName(path);
}

/** As a template: optionError`${option('folds')} belongs to ${option('method')} ranking`. */
export function optionError(
  strings: TemplateStringsArray,
  ...values: readonly (OptionName | string | number)[]
): OptionError {
  return new OptionError(
    strings.flatMap((text, at) => {
      const inserted = values[at];
      if (inserted === undefined) return [text];
      return [text, inserted instanceof OptionName ? inserted : String(inserted)];
    }),
  );
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
