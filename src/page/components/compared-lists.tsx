import type { ComponentChildren } from 'preact';
import { comparisonWords, PURPOSE_TITLES } from '../../report/words/page.js';
import { fixed } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { runComparison } from '../fit-actions.js';
import type { Comparison } from '../protocol.js';
import { comparing, names } from '../state.js';
import { Button } from './controls.js';
import { Table } from './table.js';
import { Linked, Term } from './term.js';

const plusMinus = (mean: number, error: number) => `${fixed(mean, 4)} ± ${fixed(error, 4)}`;

/** While there is no comparison: that it is being made, or a button to make it. */
export function NotCompared() {
  if (comparing.value) return <p class="quiet">Comparing lists on held-out {names.value.users.many} …</p>;
  return (
    <p class="buttons">
      <Button onClick={() => void runComparison()}>Compare the lists</Button>
    </p>
  );
}

/** Which lists are better, and the metrics of each model and of popular items. */
export function ComparedLists({
  found,
  children,
}: {
  readonly found: Comparison;
  /** What is said after the answer. */
  readonly children?: ComponentChildren;
}) {
  return (
    <>
      <p>
        {comparisonWords(found, names.value)} {children}
      </p>
      <Table
        label="The lists of each model"
        columns={[
          { label: 'Lists by' },
          { label: 'recall', head: <Linked text={`recall@${found.n}`} terms={['recall']} />, numeric: true },
          { label: 'nDCG', head: <Term of="ndcg">nDCG</Term>, numeric: true },
        ]}
        rows={found.scores.map(({ purpose, recall, ndcg, standardError }) => [
          capital(purpose ? PURPOSE_TITLES[purpose] : `popular ${names.value.items.many}`),
          plusMinus(recall, standardError.recall),
          plusMinus(ndcg, standardError.ndcg),
        ])}
      />
      <p class="quiet">
        ± is the standard error over the {names.value.users.many}. {found.leftOut}
      </p>
    </>
  );
}
