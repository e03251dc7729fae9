// Tells, before either runs, whether two sets of options give the same fit. A fit is determined by its first
// hyperparameters, the rules that change them, and its settings other than the name of the model.

import { type BipartiteGraph, SIDES } from '../../graph/graph.js';
import { dataFacts } from '../ascent/data-facts.js';
import { firstHyper, learnedHyper, tausToMatch } from '../ascent/hyper.js';
import { type AscentWithFeatures, fitSettings } from '../options.js';

/** True if both options lead to the same sequence of states. */
export async function isSameFit(
  graph: BipartiteGraph,
  first: AscentWithFeatures,
  second: AscentWithFeatures,
  signal?: AbortSignal | undefined,
): Promise<boolean> {
  const [a, b] = [first, second].map(fitSettings);
  if (!alike({ ...a, model: null }, { ...b, model: null })) return false;
  // Simulated sizes follow from the rest, so the comparison can skip the simulation.
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
