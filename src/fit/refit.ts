// The options that a model was fitted with, to fit again in the same way.

import { type Model, needPosterior } from './model.js';
import type { AscentOptions, GibbsFitOptions } from './options.js';
import { beginningOptions } from './resume.js';

/** What the model's file says of its fit by evidence: hyperparameters that were given, and everything else. */
export function refitOptions(model: Model): AscentOptions | GibbsFitOptions {
  needPosterior(model, 'fits that are repeated on other data');
  const { options: settings, fingerprint } = model.provenance;
  const method = settings.engine === 'gibbs' ? 'gibbs' : 'ascent';
  return beginningOptions({ settings, fingerprint }, method) as AscentOptions | GibbsFitOptions;
}
