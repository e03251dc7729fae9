// The reports of the command line, made in the page. This code is fetched with the first report.

import { type Chart, drawChart } from '../report/charts/chart.js';
import { checkPictures } from '../report/charts/degrees.js';
import { growthPictures } from '../report/charts/growth.js';
import { studyPicturesInTurn } from '../report/charts/study.js';
import { renderAuditPage } from '../report/pages/audit.js';
import { renderCheckPage } from '../report/pages/check.js';
import { renderForecastPage } from '../report/pages/forecast.js';
import { renderStudyPage } from '../report/pages/study.js';
import { resultsJson } from '../report/terminal/study.js';
import { thinnedWords } from '../report/words/reading.js';
import type { SparsityCheck } from '../sparsity/check.js';
import type { StudyResults } from '../study/results.js';
import { VERSION } from '../version.js';
import type { Audited, Forecast, Opened } from './protocol.js';
import { inOwnTask } from './work.js';

const newDocument = () => document.implementation.createHTMLDocument('');

/** Each chart is drawn in its own task, so that the page stays responsive. */
const draw = (chart: Chart) => inOwnTask(() => drawChart(newDocument(), chart));

/** The name of the data, which says whether they were thinned. */
const sourceOf = ({ source, kept, names }: Opened) =>
  kept ? `${source} (${thinnedWords(kept, names)})` : source;

export function checkReport(data: Opened, check: SparsityCheck, seed: number): string {
  return renderCheckPage({
    ...{ source: sourceOf(data), check, read: data.read, guess: data.guess },
    ...{ version: VERSION, seed, fingerprint: data.fingerprint },
    charts: checkPictures(newDocument(), check),
  });
}

export function forecastReport(data: Opened, { found, seed }: Forecast): string {
  const { names, fingerprint } = data;
  const charts = growthPictures(newDocument(), found, names);
  return renderForecastPage({ source: sourceOf(data), found, names, charts, seed, fingerprint });
}

export function auditReport(source: string, { audit, names, seed }: Audited): string {
  return renderAuditPage({ source, audit, names, seed });
}

export async function studyFiles(
  results: StudyResults,
): Promise<Record<'report.html' | 'results.json', string>> {
  return {
    'report.html': renderStudyPage(results, await studyPicturesInTurn(results, draw)),
    'results.json': resultsJson(results),
  };
}
