// The reports of the command line, made in the page; fetched when one is asked for.

import { type Chart, drawChart } from '../report/charts/chart.js';
import { checkPictures } from '../report/charts/check.js';
import { studyPicturesInTurn } from '../report/charts/study.js';
import { renderCheckPage } from '../report/pages/check.js';
import { renderStudyPage } from '../report/pages/study.js';
import type { SparsityCheck } from '../sparsity/check.js';
import type { StudyResults } from '../study/results.js';
import { VERSION } from '../version.js';
import { inTurn } from './components/in-turn.js';
import type { Opened } from './protocol.js';

const beside = () => document.implementation.createHTMLDocument('');

/** In a task of its own, so that the page answers before the next. */
const draw = (chart: Chart) => inTurn(() => drawChart(beside(), chart));

export function checkReport(data: Opened, check: SparsityCheck, seed: number): string {
  return renderCheckPage({
    ...{ source: data.source, check, read: data.read, guess: data.guess },
    ...{ version: VERSION, seed, fingerprint: data.fingerprint },
    charts: checkPictures(beside(), check),
  });
}

export async function studyReport(results: StudyResults): Promise<string> {
  return renderStudyPage(results, await studyPicturesInTurn(results, draw));
}
