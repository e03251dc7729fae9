// A study's numbers in plain words. Every sentence here follows from a number in the results; where a method of ours
// loses, it says so.

import type { Judgement } from '../../sparsity/verdict.js';
import type { ModelKind } from '../../study/options.js';
import type { StudyResults } from '../../study/results.js';
import { command, fitCommand, rankingFitCommand, studyCommand } from './commands.js';
import { grouped } from './phrases.js';
import { predictionVerdict } from './prediction.js';
import { rankingVerdict } from './ranking.js';

export interface StudyVerdict {
  /** A few words. */
  readonly headline: string;
  /** A sentence or two. */
  readonly text: string;
  /** What else the numbers say, a sentence each. */
  readonly details: readonly string[];
}

export interface StudyVerdicts {
  readonly sparsity: StudyVerdict;
  /** Null where no draws were asked for. */
  readonly prediction: (StudyVerdict & { readonly winner: ModelKind | 'alike' | null }) | null;
  readonly ranking: StudyVerdict & { readonly winner: 'model' | 'baseline' | 'tie' | null };
  /** What to do next, most useful first. */
  readonly next: readonly NextStep[];
}

export interface NextStep {
  readonly text: string;
  readonly command: string | null;
}

export function studyVerdicts(results: StudyResults): StudyVerdicts {
  const prediction = predictionVerdict(results);
  const ranking = rankingVerdict(results);
  return {
    sparsity: sparsityVerdict(results),
    prediction,
    ranking,
    next: nextSteps(results, prediction, ranking.winner),
  };
}

function sparsityVerdict({ check, evidence: all, chosen }: StudyResults): StudyVerdict {
  const { users, items } = check.verdict;
  const evidence = all.find(({ features }) => features === chosen.features);
  const headline: Record<`${Judgement} ${Judgement}`, string> = {
    'sparse sparse': 'Sparse on both sides',
    'dense dense': 'Dense on both sides',
    'unclear unclear': 'The degrees cannot tell',
    'sparse dense': 'Sparse users, dense items',
    'dense sparse': 'Dense users, sparse items',
    'sparse unclear': 'Sparse users; items unclear',
    'unclear sparse': 'Sparse items; users unclear',
    'dense unclear': 'Dense users; items unclear',
    'unclear dense': 'Dense items; users unclear',
  };
  const parts = [check.verdict.advice];
  if (evidence) {
    const { difference } = evidence;
    const nats = grouped(Math.abs(difference));
    parts.push(
      difference > 0
        ? `The fits speak for sparsity, by ${nats} nats of evidence.`
        : `The fits speak for density, by ${nats} nats of evidence.`,
    );
  }
  const { meanings } = check.verdict;
  return {
    headline: headline[`${users} ${items}`],
    text: parts.join(' '),
    details: [meanings.users, meanings.items],
  };
}

function nextSteps(
  results: StudyResults,
  prediction: StudyVerdicts['prediction'],
  ranking: StudyVerdicts['ranking']['winner'],
): NextStep[] {
  const { receipt } = results;
  const { settings } = receipt;
  const steps: NextStep[] = [];
  const add = (text: string, line: string | null = null) => steps.push({ text, command: line });
  // The kind that predicted better; as the check advises, the sparse one, where nobody knows or was asked.
  const { models } = settings;
  const kind = models.length === 1 ? models[0] : prediction?.winner === 'dense' ? 'dense' : 'sparse';
  const stopped = results.runs.flatMap((run) => run.fits).filter((fit) => !fit.converged);
  if (stopped.length > 0) {
    add(
      `${stopped.length === 1 ? 'One fit' : `${stopped.length} fits`} had not settled after ${settings.iterations} iterations. Run again with more:`,
      studyCommand(receipt, { iterations: 2 * settings.iterations }),
    );
  }
  if (!prediction) {
    add(
      'Nothing was drawn from the models. To see whether they predict the test set:',
      studyCommand(receipt, { draws: 100 }),
    );
  }
  add(
    `To predict how these data will grow, fit all of them with the ${kind} model:`,
    fitCommand(receipt, kind, results.chosen.features),
  );
  if (ranking === 'baseline') {
    add(
      'To recommend, use the winning baseline, or the fit made for ranking and see whether it is close enough:',
      rankingFitCommand(receipt),
    );
  } else {
    add(
      'To recommend with that model:',
      command(['recommend', 'model.safetensors', '--user', 'ID', '-n', '20']),
    );
  }
  if (settings.features.length === 1) {
    add(
      'Is K right? Compare a few; the bound says which explains the data best:',
      studyCommand(receipt, { features: [10, 30, 60] }),
    );
  }
  if (settings.repeats === 1) {
    add(
      'One split is one throw of the coins. See how much the figures move over several:',
      studyCommand(receipt, { repeats: 5 }),
    );
  }
  if (results.topics === null) {
    add(
      'To see what the features are about, give the items names:',
      studyCommand(receipt, { titles: 'FILE' }),
    );
  }
  return steps;
}
