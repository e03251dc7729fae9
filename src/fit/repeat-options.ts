// For fits that repeat another one: the options of a model's fit, and its users whom the new data lack.

import type { BipartiteGraph } from '../graph/graph.js';
import { grouped } from '../text/numbers.js';
import { many } from '../text/phrases.js';
import { USERS_AND_ITEMS } from '../text/sides.js';
import { type Model, needPosterior } from './model.js';
import type { AscentOptions, GibbsFitOptions } from './options.js';

/** The options of the fit that gave this posterior, as its record holds them. */
export function refitOptions(model: Model): AscentOptions | GibbsFitOptions {
  needPosterior(model, 'fits that are repeated on other data');
  return model.provenance.options as AscentOptions | GibbsFitOptions;
}

/** The largest share of the previous users that may be missing without a warning. */
const USUAL_LOSS = 0.2;

/**
 * The share of the previous users that are not in the data, and a text about them without a full stop. Undefined if they are few; they
 * are many if only new rows are given.
 */
export function missingUsers({ users, names }: Model, graph: BipartiteGraph) {
  const missing = graph.users.ids.findAll(users.ids).reduce((sum, at) => sum + Number(at < 0), 0);
  if (missing <= USUAL_LOSS * users.count) return undefined;
  const all = many(users.count, (names ?? USERS_AND_ITEMS).users);
  const text = `${grouped(missing)} of ${all} of the previous model are not in these data`;
  return { share: missing / users.count, text };
}
