import { PURPOSE_TITLES } from '../../report/words/page.js';
import { fixed } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import type { Comparison } from '../protocol.js';
import { Table } from './table.js';
import { Linked, Term } from './term.js';

/** The metrics of each model and of popular items. */
export function ComparisonTable({
  found: { scores, n },
  names,
}: {
  readonly found: Comparison;
  readonly names: SideNames;
}) {
  return (
    <Table
      label="The lists of each model"
      columns={[
        { label: 'Lists by' },
        { label: 'recall', head: <Linked text={`recall@${n}`} terms={['recall']} />, numeric: true },
        { label: 'nDCG', head: <Term of="ndcg">nDCG</Term>, numeric: true },
      ]}
      rows={scores.map(({ purpose, recall, ndcg }) => [
        capital(purpose ? PURPOSE_TITLES[purpose] : `popular ${names.items.many}`),
        fixed(recall, 4),
        fixed(ndcg, 4),
      ])}
    />
  );
}
