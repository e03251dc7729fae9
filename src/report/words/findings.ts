// Each result of a study in one line, as soon as it is known.

import { checkedFits, type StudyFinding } from '../../study/results.js';
import { heldFigures, shownStatistics } from '../../study/verdict.js';
import { metricPhrase } from '../../text/figures.js';
import { fixed } from '../../text/numbers.js';
import type { SideNames } from '../../text/sides.js';
import { methodPhrase, startOf } from './methods.js';
import { sparsityWords } from './sparsity.js';

export function findingWords(finding: StudyFinding, names: SideNames): string {
  if (finding.kind === 'check') {
    const { headline, meanings } = sparsityWords(finding.check);
    return `Is it sparse?  ${headline}. ${meanings.users} ${meanings.items}`;
  }
  const { row, several, n, recall, ndcg, fit, run } = finding;
  const features = several && row.kind === 'model' ? ` (K = ${row.features})` : '';
  const who = startOf(methodPhrase(row, { rows: [] }, names)) + features;
  const ranks = `${metricPhrase('recall', n, names)} ${fixed(recall, 3)}, ${metricPhrase('ndcg', n, names)} ${fixed(ndcg, 3)}`;
  if (fit && fit.sameAs !== null) {
    return `${run === null ? '' : `Split ${run + 1}: `}${who}: the same fit as the ${fit.sameAs} model.`;
  }
  const [checked] = checkedFits(fit ? [fit] : []);
  const statistics = checked ? shownStatistics([checked]) : [];
  const predicts = checked
    ? `; its 90 % intervals contain ${heldFigures(checked, statistics)} of ${statistics.length} figures of the test set`
    : '';
  return `${run === null ? '' : `Split ${run + 1}: `}${who}: ${ranks}${predicts}.`;
}
