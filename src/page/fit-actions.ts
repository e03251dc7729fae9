// Fits on the page, and what is found with them: estimates, comparisons and predictions.

import { batch } from '@preact/signals';
import { learnAttributes, learnRate, type Need, needToFit, secondsOfAttributes } from './estimate.js';
import type { FitChoice, ModelSummary, Purpose } from './protocol.js';
import { ask } from './session-client.js';
import {
  compared,
  comparing,
  comparison,
  describedItems,
  evaluation,
  liveFit,
  models,
  opened,
  settings,
  timeOfEdges,
} from './state.js';
import { answerOf, perform } from './work.js';

function fitChoice(purpose: Purpose): FitChoice {
  const { holdOut, testUsers, testItems, ...others } = settings.value;
  const split = holdOut ? { testUsers, testItems, seed: others.seed } : undefined;
  return { ...others, purpose, time: timeOfEdges.value, split };
}

/** Whether a fit searches a half-life first, which takes about as long as the fit itself. */
function searchesHalfLife(purpose: Purpose): boolean {
  return purpose === 'recommend' && timeOfEdges.value !== undefined && settings.value.halfLife === 'auto';
}

export function needOf(purpose: Purpose): Need {
  const { users, items, edges } = opened.value!;
  const { features, iterations, holdOut, testUsers } = settings.value;
  const share = holdOut ? 1 - testUsers : 1;
  const threads = window.crossOriginIsolated ? navigator.hardwareConcurrency || 1 : 1;
  const fit = { purpose, users, items, edges: edges * share, features, iterations };
  const { bytes, seconds } = needToFit(fit, threads);
  const fits = searchesHalfLife(purpose) ? 2 : 1;
  return { bytes, seconds: fits * seconds + secondsOfAttributes(describedItems.value) };
}

/**
 * Fits a model, and compares its lists with those of the other one on the held-out users. What is there stays until the new
 * model is ready.
 */
export async function runFit(purpose: Purpose): Promise<void> {
  const choice = fitChoice(purpose);
  const [before, began] = [liveFit.value, performance.now()];
  const fitted = await perform('Fitting.', 'fit', choice, {
    expected: needOf(purpose).seconds,
    after: secondsOfAttributes(describedItems.value),
    onPartial: (live) => {
      liveFit.value = live;
    },
  });
  if (!fitted) {
    // Other data may have been opened, which forgets all fits.
    if (liveFit.value) liveFit.value = before;
    return;
  }
  const split = JSON.stringify(choice.split);
  const comparable = Object.values<ModelSummary>(models.value).filter(
    (other) => JSON.stringify(other.choice?.split) === split,
  );
  const kept = comparable.find((other) => other.purpose !== purpose);
  batch(() => {
    // The session forgets a model of another split, too.
    models.value = { ...(kept && { [kept.purpose]: kept }), [purpose]: fitted };
    comparison.value = undefined;
    // The draws of the model that describes the data stay those of the same model.
    if (kept?.purpose !== 'understand') evaluation.value = undefined;
    // The bound of a fit that has ended is that of the model.
    if (liveFit.value && fitted.bounds.length > 0)
      liveFit.value = { ...liveFit.value, bounds: fitted.bounds };
  });
  const { converged, features = 1, seconds = 0, time, split: parts } = fitted;
  const { users, items, edges } = parts?.train ?? opened.value!;
  const iterations = converged ? choice.iterations : fitted.iterations;
  const fits = time === undefined ? 1 : 2;
  learnRate({ purpose, users, items, edges, features, iterations }, seconds / fits);
  learnAttributes(describedItems.value, (performance.now() - began) / 1000 - seconds);
  if (fitted.split) void runComparison();
}

/** Compares the lists of the models. It does not stop other work, and other work does not stop it. */
export async function runComparison(): Promise<void> {
  const { seed, n } = settings.value;
  const asked = models.value;
  compared.value = asked;
  const found = await answerOf(ask('compare', { seed, n }), 'fit');
  if (models.value !== asked) return;
  batch(() => {
    compared.value = undefined;
    if (found) comparison.value = found;
  });
}

/** The draws of the model that describes the data against the test part, and the lists of all models. */
export async function runEvaluation(): Promise<void> {
  const { seed, draws } = settings.value;
  if (!comparison.value && !comparing.value) void runComparison();
  if (!models.value.understand) return;
  const found = await perform('Does it predict?', 'evaluate', { seed, draws });
  if (found) evaluation.value = found;
}
