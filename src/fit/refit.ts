// The options of a model's fit, to repeat it on other data.

import { type Model, needPosterior } from './model.js';
import type { AscentOptions, GibbsFitOptions } from './options.js';

/** The options of the fit that gave this posterior, as its record holds them. */
export function refitOptions(model: Model): AscentOptions | GibbsFitOptions {
  needPosterior(model, 'fits that are repeated on other data');
  return model.provenance.options as AscentOptions | GibbsFitOptions;
}
