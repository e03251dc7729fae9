// The reports of the command line, made in the page; fetched when one is asked for.

import { checkPictures } from '../report/charts/check.js';
import { studyPictures } from '../report/charts/study.js';
import { renderCheckPage } from '../report/pages/check.js';
import { renderStudyPage } from '../report/pages/study.js';
import type { SparsityCheck } from '../sparsity/check.js';
import type { StudyResults } from '../study/results.js';
import { VERSION } from '../version.js';
import type { Opened } from './protocol.js';

const beside = () => document.implementation.createHTMLDocument('');

export function checkReport(data: Opened, check: SparsityCheck, seed: number): string {
  const page = beside();
  return renderCheckPage({
    ...{ source: data.source, check, read: data.read, guess: data.guess },
    ...{ version: VERSION, seed, fingerprint: data.fingerprint },
    charts: checkPictures(page, check),
  });
}

export function studyReport(results: StudyResults): string {
  return renderStudyPage(results, studyPictures(beside(), results));
}
