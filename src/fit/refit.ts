// The options that a model was fitted with, to fit again in the same way.

import { SIDES } from '../graph/graph.js';
import { type Model, needPosterior } from './model.js';
import type { FitOptions } from './options.js';

/** What the model's file says of its fit by evidence: hyperparameters that were given, and everything else. */
export function refitOptions(model: Model): FitOptions & { readonly objective?: 'evidence' } {
  needPosterior(model, 'fits that are repeated on other data');
  const { provenance } = model;
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
