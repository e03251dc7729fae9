// Errors of the session name options by the labels of the page's controls.

import { InputError } from '../../errors.js';
import { OptionError, type WriteOption } from '../../options/error.js';
import { LABELS } from '../control-labels.js';

export function inLabels(error: unknown): unknown {
  return error instanceof OptionError ? new InputError(error.say(asLabel), { cause: error }) : error;
}

/** The label of an option's control, or the option's name if it has no control. */
export const asLabel: WriteOption = (path) =>
  Object.hasOwn(LABELS, path) ? `“${LABELS[path as keyof typeof LABELS]}”` : path;
