// A study's numbers in plain words. If a method of ours loses, the sentences say so.

import type { RankingDecision } from '../../study/best-method.js';
import { type ModelKind, modelsOf } from '../../study/options.js';
import type { StudyResults, TooLittle } from '../../study/results.js';
import { decideStudy } from '../../study/verdict.js';
import { many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { recommendSteps } from './advice.js';
import { command, fitCommand, forecastCommand, studyCommand } from './next-commands.js';
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
  readonly command: string | null;
}

export const TOO_LITTLE = 'Too little data to tell';

/** Why the test part cannot tell methods apart. */
export function tooLittleWords({ users, edges }: NonNullable<TooLittle>, names: SideNames): string {
  const noun = { one: `test ${names.users.one}`, many: `test ${names.users.many}` };
  return `With ${many(users, noun)} and ${many(edges, 'test edge')}, differences may well be chance.`;
}

/** A study's verdicts, and what to do next, in words. */
export function studyVerdicts(results: StudyResults): StudyVerdicts {
  const decisions = decideStudy(results);
  const prediction = decisions.prediction && predictionVerdict(decisions.prediction, results);
  return {
    sparsity: sparsityVerdict(results),
    prediction,
    ranking: rankingVerdict(decisions.ranking, results),
    next: nextSteps(results, prediction, decisions.ranking),
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
): NextStep[] {
  const { receipt, check } = results;
  const { settings } = receipt;
  const steps: NextStep[] = [];
  const add = (text: string, line: string | null = null) => steps.push({ text, command: line });
  // The kind that predicted best, else the first: auto, or the sparse one of the paper's two.
  const models = modelsOf(settings);
  const kind = models.find((model) => model === prediction?.winner) ?? models[0];
  const stopped = results.runs.flatMap((run) => run.fits).filter((fit) => !fit.converged);
  if (stopped.length > 0 && !receipt.origin?.parts) {
    add(
      `${many(stopped.length, 'fit')} did not converge within ${many(settings.iterations, 'iteration')}. Run again with more:`,
      studyCommand(results, { iterations: 2 * settings.iterations }),
    );
  }
  if (receipt.origin?.parts) return [...steps, ...recommendSteps(ranking, results)];
  if (!prediction) {
    add(
      'This study drew no test graphs. To see whether the models predict the test set:',
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
    'To check a split of your own, and whether another split would have a different winner:',
    command(['audit', '--train', 'TRAIN', '--test', 'TEST', '--decision']),
  );
  steps.push(...recommendSteps(ranking, results));
  if (settings.features.length === 1) {
    add(
      'To see whether K is right, compare a few; the highest bound explains the data best:',
      studyCommand(results, { features: [10, 30, 60] }),
    );
  }
  if (settings.repeats === 1) {
    add(
      'This study has one random split. To see how much the figures vary, repeat it:',
      studyCommand(results, { repeats: 5 }),
    );
  }
  if (results.topics === null) {
    add(
      `To see what the features are about, add titles of the ${check.names.items.many}:`,
      studyCommand(results, { titles: 'FILE' }),
    );
  }
  return steps;
}
