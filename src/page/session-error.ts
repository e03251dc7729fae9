// A wrong option as somebody at the page knows it: by the label of its control, or where it has none by its flag.

import { InputError } from '../errors.js';
import { COMMANDS } from '../options/commands.js';
import { OptionError, type WriteOption, withArgument } from '../options/error.js';
import { flagName } from '../options/option-list.js';
import { LABELS } from './control-labels.js';

export function inLabels(error: unknown): unknown {
  return error instanceof OptionError ? new InputError(error.say(write), { cause: error }) : error;
}

const write: WriteOption = (path, argument) => {
  // What a command line wants behind a flag, a control has itself.
  if (Object.hasOwn(LABELS, path)) return `“${LABELS[path as keyof typeof LABELS]}”`;
  const flags = Object.values(COMMANDS).flatMap((parts) =>
    Object.values(parts).map((declared) => flagName(declared, path)),
  );
  return withArgument(flags.find((flag) => flag !== undefined) ?? path, argument);
};
