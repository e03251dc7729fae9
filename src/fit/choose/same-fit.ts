// Tells, before either runs, whether two sets of options give the same fit. A fit is determined by its first
// hyperparameters, the rules that change them, and its settings other than the name of the model.

import type { BipartiteGraph } from '../../graph/graph.js';
import { dataFacts, firstHyper, learnedHyper, tausToMatch } from '../ascent/hyper.js';
import { type AscentWithFeatures, fitSettings } from '../options.js';

/** True if both options lead to the same sequence of states. */
export async function isSameFit(
  graph: BipartiteGraph,
  first: AscentWithFeatures,
  second: AscentWithFeatures,
): Promise<boolean> {
  const facts = dataFacts(graph);
  const determinants = async (options: AscentWithFeatures) => {
    const settings = fitSettings(options);
    // Simulated sizes follow from the rest, so the comparison can skip the simulation.
    const hyper = await firstHyper(facts, { ...settings, sizes: 'bound' }, undefined);
    const learned = learnedHyper(settings, hyper);
    const matchedTaus = tausToMatch(facts, settings, hyper);
    return JSON.stringify({ ...settings, model: null, hyper, learned, matchedTaus });
  };
  return (await determinants(first)) === (await determinants(second));
}
