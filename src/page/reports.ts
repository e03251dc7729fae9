// The reports of the command line, made in the page; fetched when one is asked for.

import { drawChart } from '../report/charts/chart.js';
import { degreesChart } from '../report/charts/degrees.js';
import { densityChart } from '../report/charts/density.js';
import { studyPictures } from '../report/charts/study.js';
import { renderCheckPage } from '../report/pages/check.js';
import { renderStudyPage } from '../report/pages/study.js';
import type { SparsityCheck } from '../sparsity/check.js';
import type { StudyResults } from '../study/results.js';
import { VERSION } from '../version.js';
import type { Opened } from './protocol.js';

const beside = () => document.implementation.createHTMLDocument('');

export function checkReport(data: Opened, check: SparsityCheck, seed: number): string {
  const { degrees, sigma, names } = check;
  const page = beside();
  return renderCheckPage({
    ...{ source: data.source, check, read: data.read, guess: data.guess },
    ...{ version: VERSION, seed, fingerprint: data.fingerprint },
    charts: {
      density: drawChart(page, densityChart(check)),
      degrees: drawChart(
        page,
        degreesChart(
          {
            users: { histogram: degrees.users.histogram, fit: sigma.users.likelihood },
            items: { histogram: degrees.items.histogram, fit: sigma.items.likelihood },
          },
          names,
        ),
      ),
    },
  });
}

export function studyReport(results: StudyResults): string {
  return renderStudyPage(results, studyPictures(beside(), results));
}
