// The options that a model was fitted with, to fit again in the same way.

import { InputError } from '../errors.js';
import { SIDES } from '../graph/graph.js';
import type { Model } from './model.js';
import type { FitOptions } from './options.js';

/** What the model's file says of its fit by evidence: hyperparameters that were given, and everything else. */
export function refitOptions({ objective, provenance }: Model): FitOptions {
  if (objective === 'ranking') {
    throw new InputError(
      'only a fit by evidence can be repeated on other data: fit with --objective evidence',
    );
  }
  const { given, learn, ...settings } = provenance.options as {
    given?: Pick<FitOptions, 'users' | 'items'>;
    learn?: { users: string[]; items: string[] };
  };
  return {
    ...(settings as Record<string, unknown>),
    learn: SIDES.flatMap((side) => (learn?.[side] ?? []).map((name) => `${side}.${name}`)),
    users: given?.users ?? {},
    items: given?.items ?? {},
  };
}
