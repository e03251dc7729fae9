// Which method to recommend with, and the commands for it.

import { attributeBaselineTitle } from '../../evaluate/baselines/attribute-baselines.js';
import type { BaselineName } from '../../options/names.js';
import type { RankingDecision } from '../../study/best-method.js';
import type { LeaderboardRow } from '../../study/leaderboard.js';
import type { StudyResults } from '../../study/results.js';
import { listsPhrase, type NamedLeaderboard, namedLeaderboard } from './methods.js';
import {
  baselineFitCommand,
  fitCommand,
  rankingFitCommand,
  recommendCommand,
  serveCommand,
} from './next-commands.js';
import type { NextStep } from './study.js';

/** Fit the method that ranks best, ask it, serve it. */
export function recommendSteps(decision: RankingDecision, results: StudyResults): NextStep[] {
  const { receipt, check } = results;
  const named = namedLeaderboard(results);
  const { row, why } = advised(decision, named);
  const [file, fit] = fitOf(results, row);
  const name = row ? named.phrase(row) : 'the ranker';
  return [
    {
      text: `To recommend${otherwise(decision)}, use ${name}${why && `, ${why},`} on all of ${yourData(results)}:`,
      command: fit,
    },
    {
      text: `Then ask for any ${check.names.users.one}:`,
      command: recommendCommand(receipt, file, results.example.user),
    },
    { text: 'Or let programs ask over HTTP:', command: serveCommand(receipt, file) },
  ];
}

/** Lists made elsewhere that rank better than every method here. */
function otherwise({ listsAhead }: RankingDecision): string {
  return listsAhead.length === 0
    ? ''
    : ` with graphex instead of ${listsPhrase(listsAhead)}, which rank better`;
}

/** The data to fit. A study of a split does not know the table that was split. */
function yourData({ receipt: { origin } }: StudyResults): string {
  if (!origin?.parts) return 'the data';
  const fitted = `the training data${origin.parts.folds ? ' of the first fold' : ''}`;
  return `your data. This command fits ${fitted} only; name your whole table instead`;
}

/** The method that the headline names, and why. No row: the ranker, if the study did not fit it. */
function advised(decision: RankingDecision, { leaderboard, metric }: NamedLeaderboard) {
  const ranker = leaderboard.rows.find((row) => row.kind === 'ranker');
  if (decision.tooLittle) return { row: ranker, why: '' };
  const title = attributeBaselineTitle(decision.advised.id);
  if (title !== undefined) return { row: ranker, why: `because ${title} is only a comparison` };
  if (!decision.pairs && !ranker) return { row: undefined, why: 'which this study did not fit' };
  return { row: decision.advised, why: reason(decision, metric) };
}

/** 'which ranks best here', 'which ranks as well as any here by nDCG'. */
function reason(
  { winner, places, advised: row, listsAhead }: RankingDecision,
  metric: NamedLeaderboard['metric'],
): string {
  const { first, metrics } = places.find((place) => place.first.includes(row))!;
  const by = places.every((place) => place.first.includes(row)) ? '' : ` by ${metric(metrics[0])}`;
  const alone = first.length === 1 && (winner !== 'tie' || places.length > 1);
  return `which ranks ${alone ? 'best' : 'as well as any'} ${listsAhead.length === 0 ? 'here' : 'of the methods here'}${by}`;
}

function fitOf(
  { receipt, chosen, runs }: StudyResults,
  row: LeaderboardRow | undefined,
): readonly [file: string, command: string] {
  if (!row || row.kind === 'ranker') {
    return ['ranker.safetensors', rankingFitCommand(receipt, 'ranker.safetensors')];
  }
  if (row.kind === 'baseline') {
    const file = `${row.id}.safetensors`;
    return [file, baselineFitCommand(receipt, row.id as BaselineName, file)];
  }
  const fit = fitCommand(receipt, row.model ?? 'sparse', row.features ?? chosen.features, {
    described: runs[0].split.method === 'new-items',
  });
  return ['model.safetensors', fit];
}
