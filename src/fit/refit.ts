// The options that a model was fitted with, to fit again in the same way.

import { SIDES } from '../graph/graph.js';
import { METHODS } from '../options/fit.js';
import { type Model, needPosterior } from './model.js';
import type { AscentOptions, GibbsFitOptions } from './options.js';

/** What the model's file says of its fit by evidence: hyperparameters that were given, and everything else. */
export function refitOptions(model: Model): AscentOptions | GibbsFitOptions {
  needPosterior(model, 'fits that are repeated on other data');
  const { provenance } = model;
  const { given, learn, ...saved } = provenance.options as {
    given?: Pick<AscentOptions, 'users' | 'items'>;
    learn?: { users: string[]; items: string[] };
    engine?: string;
  };
  const method = saved.engine === 'gibbs' ? 'gibbs' : 'ascent';
  const known = Object.entries(saved).filter(([name]) => Object.hasOwn(METHODS[method], name));
  return {
    ...Object.fromEntries(known),
    method,
    learn: SIDES.flatMap((side) => (learn?.[side] ?? []).map((name) => `${side}.${name}`)),
    users: given?.users ?? {},
    items: given?.items ?? {},
  } as AscentOptions | GibbsFitOptions;
}
