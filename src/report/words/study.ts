// A study's numbers in plain words. Every sentence here follows from a number in the results; where a method of ours
// loses, it says so.

import { type ModelKind, modelsOf } from '../../study/options.js';
import type { StudyResults } from '../../study/results.js';
import { many } from '../../text/phrases.js';
import { recommendSteps } from './advice.js';
import { command, fitCommand, forecastCommand, studyCommand } from './commands.js';
import { predictionVerdict } from './prediction.js';
import { rankingVerdict } from './ranking.js';
import { evidenceWords, sparsityWords } from './sparsity.js';

/** One finding of a study in words. */
export interface StudyVerdict {
  /** A few words. */
  readonly headline: string;
  /** A sentence or two. */
  readonly text: string;
  /** What else the numbers say, a sentence each. */
  readonly details: readonly string[];
}

/** All findings of a study in words. */
export interface StudyVerdicts {
  readonly sparsity: StudyVerdict;
  /** Null where no draws were asked for. */
  readonly prediction:
    | (StudyVerdict & {
        /** The model that comes closest, of several that are even the first; alike: all are. */
        readonly winner: ModelKind | 'alike' | null;
        /** Whether the closest predicts well at all. */
        readonly well: boolean;
      })
    | null;
  readonly ranking: StudyVerdict & {
    readonly winner: 'model' | 'baseline' | 'tie' | null;
    /** The row of the leaderboard that comes out first, ties going to ours. */
    readonly method: string;
    /** The best baseline; null where none was fitted. */
    readonly rival: string | null;
  };
  /** What to do next, most useful first. */
  readonly next: readonly NextStep[];
}

/** What to do next, and the command for it. */
export interface NextStep {
  readonly text: string;
  readonly command: string | null;
}

/** A study's verdicts, and what to do next, in words. */
export function studyVerdicts(results: StudyResults): StudyVerdicts {
  const prediction = predictionVerdict(results);
  const ranking = rankingVerdict(results);
  return {
    sparsity: sparsityVerdict(results),
    prediction,
    ranking,
    next: nextSteps(results, prediction),
  };
}

function sparsityVerdict({ check, evidence: all, chosen }: StudyResults): StudyVerdict {
  const { headline, advice, meanings } = sparsityWords(check);
  const evidence = all.find(({ features }) => features === chosen.features);
  return {
    headline,
    text: evidence ? `${advice} ${evidenceWords(evidence)}` : advice,
    details: [meanings.users, meanings.items],
  };
}

function nextSteps(results: StudyResults, prediction: StudyVerdicts['prediction']): NextStep[] {
  const { receipt, check } = results;
  const { settings } = receipt;
  const steps: NextStep[] = [];
  const add = (text: string, line: string | null = null) => steps.push({ text, command: line });
  // The kind that predicted best; where nobody knows or was asked, the first: auto, or the sparse one of the paper's two.
  const models = modelsOf(settings);
  const kind = models.find((model) => model === prediction?.winner) ?? models[0];
  const stopped = results.runs.flatMap((run) => run.fits).filter((fit) => !fit.converged);
  if (stopped.length > 0) {
    add(
      `${many(stopped.length, 'fit')} had not settled after ${many(settings.iterations, 'iteration')}. Run again with more:`,
      studyCommand(results, { iterations: 2 * settings.iterations }),
    );
  }
  if (!prediction) {
    add(
      'Nothing was drawn from the models. To see whether they predict the test set:',
      studyCommand(results, { draws: 100 }),
    );
  }
  add(
    `To predict how these data will grow, fit the ${kind} model to all of them:`,
    fitCommand(receipt, kind, results.chosen.features),
  );
  add(
    `To see how many ${check.names.items.many} there will be with twice as many ${check.names.users.many}:`,
    forecastCommand(receipt),
  );
  add(
    'To see whether a split of your own is fair, and whether another would have crowned another recommender:',
    command(['audit', '--train', 'TRAIN', '--test', 'TEST', '--decision']),
  );
  steps.push(...recommendSteps(results));
  if (settings.features.length === 1) {
    add(
      'Is K right? Compare a few; the bound says which explains the data best:',
      studyCommand(results, { features: [10, 30, 60] }),
    );
  }
  if (settings.repeats === 1) {
    add(
      'One split is one throw of the coins. To see how much the figures move, repeat it:',
      studyCommand(results, { repeats: 5 }),
    );
  }
  if (results.topics === null) {
    add(
      `To see what the features are about, give the ${check.names.items.many} titles:`,
      studyCommand(results, { titles: 'FILE' }),
    );
  }
  return steps;
}
