// What to recommend with, and the commands for it: the advice follows the figures of the ladder.

import type { BaselineName } from '../../options/names.js';
import type { LadderRow } from '../../study/ladder.js';
import type { StudyResults } from '../../study/results.js';
import {
  baselineFitCommand,
  fitCommand,
  rankingFitCommand,
  recommendCommand,
  serveCommand,
} from './commands.js';
import { methodPhrase } from './methods.js';
import type { NextStep, StudyVerdicts } from './study.js';

type RankingVerdict = StudyVerdicts['ranking'];

/** Fit the method that ranks best, ask it, serve it. */
export function recommendSteps(results: StudyResults, verdict: RankingVerdict): NextStep[] {
  const { receipt, check, runs } = results;
  const { ladder } = runs[0];
  const row = advisedRow(results, verdict);
  const [file, fit] = fitOf(results, row);
  const name = row ? methodPhrase(row, ladder, check.names) : 'the fit made for ranking';
  const why =
    verdict.winner === null || !row
      ? ''
      : row.id === verdict.method && verdict.winner !== 'tie'
        ? ', which ranks best here,'
        : ', which ranks as well as any here,';
  return [
    { text: `To recommend, use ${name}${why} on all of the data:`, command: fit },
    {
      text: `Then ask for any ${check.names.users.one}:`,
      command: recommendCommand(receipt, file, results.example.user),
    },
    { text: 'Or let programs ask over HTTP:', command: serveCommand(receipt, file) },
  ];
}

/**
 * The row to recommend with. A model that was fitted to explain is advised only where nothing made for ranking does as
 * well: where the fit for ranking or a baseline ties with it, that one. Undefined: the figures do not tell, and the fit
 * for ranking, which is made for it, was not among them.
 */
function advisedRow(
  { runs }: StudyResults,
  { winner, method, rival }: RankingVerdict,
): LadderRow | undefined {
  const { rows, best, comparisons } = runs[0].ladder;
  const first = rows.find((row) => row.id === method) as LadderRow;
  if (winner === 'baseline' || first.kind !== 'model') return first;
  const asGood = (row: LadderRow) =>
    (['recall', 'ndcg'] as const).every(
      (metric) =>
        row.id === best[metric] ||
        comparisons.some(
          (c) => c.metric === metric && c.row === row.id && c.to === best[metric] && c.high >= 0,
        ),
    );
  if (winner === null && !rows.some((row) => row.kind === 'ranker')) return undefined;
  const ranker = rows.find((row) => row.kind === 'ranker' && asGood(row));
  const baseline = winner === 'tie' ? rows.find((row) => row.id === rival) : undefined;
  return ranker ?? baseline ?? first;
}

function fitOf(
  { receipt, chosen }: StudyResults,
  row: LadderRow | undefined,
): readonly [file: string, command: string] {
  if (!row || row.kind === 'ranker') {
    return ['ranker.safetensors', rankingFitCommand(receipt, 'ranker.safetensors')];
  }
  if (row.kind === 'baseline') {
    const file = `${row.id}.safetensors`;
    return [file, baselineFitCommand(receipt, row.id as BaselineName, file)];
  }
  return ['model.safetensors', fitCommand(receipt, row.model ?? 'sparse', row.features ?? chosen.features)];
}
