// Whether two ways of asking come to the same fit, known before either is made: a fit is decided by its first
// hyperparameters, by what moves them, and by settings that have nothing to do with the name of the model.

import { type BipartiteGraph, SIDES } from '../../graph/graph.js';
import { dataFacts } from '../ascent/data-facts.js';
import { firstHyper, learnedHyper, tausToMatch } from '../ascent/hyper.js';
import { type AscentOptions, type Counted, fitSettings } from '../options.js';

/** True where a fit with either options goes through the same states, to the same numbers. */
export async function isSameFit(
  graph: BipartiteGraph,
  first: Counted<AscentOptions>,
  second: Counted<AscentOptions>,
  signal?: AbortSignal | undefined,
): Promise<boolean> {
  const [a, b] = [first, second].map(fitSettings);
  if (!alike({ ...a, model: null }, { ...b, model: null })) return false;
  // Sizes that a simulation finds follow from the rest, and need not be found to compare it.
  const begin = { sizes: 'bound' } as const;
  const facts = dataFacts(graph);
  const hyper = await Promise.all([a, b].map((s) => firstHyper(facts, { ...s, ...begin }, signal)));
  if (!alike(hyper[0], hyper[1])) return false;
  const moving = [a, b].map((s, at) => ({
    learn: learnedHyper(s, hyper[at]),
    matchedTaus: tausToMatch(facts, s, hyper[at]),
  }));
  return (
    alike(moving[0].matchedTaus, moving[1].matchedTaus) &&
    SIDES.every((side) => alike(moving[0].learn[side], moving[1].learn[side]))
  );
}

function alike(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
