// A study's numbers in plain words. If a method of ours loses, the sentences say so.

import { command } from '../../options/arguments.js';
import { decideRanking, type RankingDecision } from '../../study/best-method.js';
import { type ModelKind, modelsOf } from '../../study/options.js';
import type { StudyResults, TooLittle } from '../../study/results.js';
import { decidePrediction } from '../../study/verdict.js';
import { described, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { recommendSteps } from './advice.js';
import { fitCommand, forecastCommand, studyCommand } from './next-commands.js';
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
  /** Null if the study has no predictive draws. */
  readonly prediction:
    | (StudyVerdict & {
        /** The model that comes closest, the first of several; 'alike' if all come as close. */
        readonly winner: ModelKind | 'alike' | null;
        /** Whether the closest predicts well at all. */
        readonly well: boolean;
      })
    | null;
  readonly ranking: StudyVerdict & {
    readonly winner: 'model' | 'baseline' | 'tie' | null;
    /** The row of the leaderboard that comes first; a tie goes to ours. */
    readonly method: string;
    /** The best baseline; null without baselines. */
    readonly rival: string | null;
  };
  /** What to do next, most useful first. */
  readonly next: readonly NextStep[];
}

/** What to do next, and the command for it. */
export interface NextStep {
  readonly text: string;
  readonly command: string;
}

export const TOO_LITTLE = 'Too little data to tell';

/** Why the test part cannot tell methods apart. */
export function tooLittleWords({ users, edges }: NonNullable<TooLittle>, names: SideNames): string {
  return `With ${many(users, described('test', names.users))} and ${many(edges, 'test edge')}, differences may well be chance.`;
}

/** A study's verdicts, and what to do next, in words. */
export function studyVerdicts(results: StudyResults): StudyVerdicts {
  const predicted = decidePrediction(results);
  const prediction = predicted && predictionVerdict(predicted, results);
  const ranked = decideRanking(results);
  return {
    sparsity: sparsityVerdict(results),
    prediction,
    ranking: rankingVerdict(ranked, results),
    next: nextSteps(results, prediction, ranked),
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

function nextSteps(
  results: StudyResults,
  prediction: StudyVerdicts['prediction'],
  ranking: RankingDecision,
): readonly NextStep[] {
  const { receipt, check } = results;
  const recommending = recommendSteps(ranking, results);
  // A study of a given split does not know the table that was split.
  if (receipt.origin?.parts) return recommending;
  const { settings } = receipt;
  // The kind that predicted best, else the first: auto, or the sparse one of the paper's two.
  const models = modelsOf(settings);
  const kind = models.find((model) => model === prediction?.winner) ?? models[0];
  const stopped = results.runs.flatMap((run) => run.fits).filter((fit) => !fit.converged);
  return present<NextStep>([
    stopped.length > 0 && {
      text: `${many(stopped.length, 'fit')} did not converge within ${many(settings.iterations, 'iteration')}. Run again with more:`,
      command: studyCommand(results, { iterations: 2 * settings.iterations }),
    },
    !prediction && {
      text: 'This study drew no test graphs. To see whether the models predict the test set:',
      command: studyCommand(results, { draws: 100 }),
    },
    {
      text: `To predict how these data will grow, fit the ${kind} model to all of them:`,
      command: fitCommand(receipt, kind, results.chosen.features),
    },
    {
      text: `To see how many ${check.names.items.many} there will be with twice as many ${check.names.users.many}:`,
      command: forecastCommand(receipt),
    },
    {
      text: 'To check a split of your own, and whether another split would have a different winner:',
      command: command(['audit', '--train', 'TRAIN', '--test', 'TEST', '--decision']),
    },
    ...recommending,
    settings.features.length === 1 && {
      text: 'To see whether K is right, compare a few; the highest bound explains the data best:',
      command: studyCommand(results, { features: [10, 30, 60] }),
    },
    settings.repeats === 1 && {
      text: 'This study has one random split. To see how much the figures vary, repeat it:',
      command: studyCommand(results, { repeats: 5 }),
    },
    results.topics === null && {
      text: `To see what the features are about, add titles of the ${check.names.items.many}:`,
      command: studyCommand(results, { titles: 'FILE' }),
    },
  ]);
}
