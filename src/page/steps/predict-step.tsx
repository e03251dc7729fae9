import { useEffect } from 'preact/hooks';
import { grouped } from '../../text/numbers.js';
import { ComparedLists, NotCompared } from '../components/compared-lists.js';
import { Button } from '../components/controls.js';
import { Figure } from '../components/figure.js';
import { predictionCells } from '../components/prediction-table.js';
import { numbers } from '../components/table.js';
import { Term } from '../components/term.js';
import { runEvaluation } from '../fit-actions.js';
import type { EvaluationSummary } from '../protocol.js';
import { comparison, evaluation, go, model, models, names } from '../state.js';
import { work } from '../work.js';

/** The test part against draws of it, and the quality of the lists. */
export default function Predict() {
  const found = evaluation.value;
  useEffect(() => {
    if (!evaluation.value && !work.value) void runEvaluation();
  }, []);
  if (!model.value?.split) return null;
  const describes = models.value.understand !== undefined;
  return (
    <>
      <h1>Does it predict?</h1>
      <p class="lead">
        {!describes
          ? 'A ranker draws no test parts, so only its lists are tested. To test draws as well, fit a model that describes the data.'
          : (found?.words[0] ??
            'The model draws test parts; the real one should look like one of them.')}{' '}
        <Term of="draws">What is a draw?</Term>
      </p>
      {describes && (found ? <Found found={found} /> : <Ask />)}
      <Lists />
    </>
  );
}

function Ask() {
  return (
    <p class="buttons">
      <Button class="primary" waits onClick={() => void runEvaluation()}>
        Draw and compare
      </Button>
    </p>
  );
}

function Lists() {
  const found = comparison.value;
  return (
    <>
      <h2>How good are the lists?</h2>
      {found ? <ComparedLists found={found} /> : <NotCompared />}
      <p class="buttons">
        <Button class="primary" onClick={() => go('recommend')}>
          Recommend
        </Button>
        <Button onClick={() => go('explore')}>Explore</Button>
      </p>
    </>
  );
}

function Found({ found }: { readonly found: EvaluationSummary }) {
  const { predictive, kind } = found;
  const { users, items } = names.value;
  if (!predictive) return null;
  return (
    <div class="pair">
      <Figure
        name="prediction"
        of={({ predictionOf }) => predictionOf(predictive, kind, names.value)}
        inputs={[found]}
        caption={found.words[1]}
        table={predictionCells(predictive)}
      />
      <Figure
        name="predictive-degrees"
        of={({ predictiveOf }) => predictiveOf(predictive, kind, names.value)}
        inputs={[found]}
        caption={`The number of ${users.many} and of ${items.many} by their number of edges, in the test part and in the draws.`}
        table={{
          columns: [{ label: 'Side' }, ...numbers('edges', 'test part', '90 % of draws')],
          rows: (['users', 'items'] as const).flatMap((side) =>
            predictive.degrees[side].map(({ from, to, observed, low, high }) => [
              names.value[side].many,
              from === to ? grouped(from) : `${grouped(from)} to ${grouped(to)}`,
              grouped(observed),
              `${grouped(low)} … ${grouped(high)}`,
            ]),
          ),
        }}
      />
    </div>
  );
}
