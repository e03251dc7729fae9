import { fixed, grouped, percent } from '../../text/numbers.js';
import { runEvaluation } from '../actions.js';
import { Figure } from '../components/figure.js';
import { useChart } from '../components/hooks.js';
import { predictionCells } from '../components/prediction-table.js';
import { Table } from '../components/table.js';
import type { EvaluationSummary } from '../protocol.js';
import { evaluation, go, model } from '../state.js';
import { work } from '../work.js';

/** The test part against draws of it, and the quality of the lists. */
export default function Predict() {
  const found = evaluation.value;
  if (!model.value?.split) return null;
  return (
    <>
      <h1>Does it predict?</h1>
      <p class="lead">
        {found ? found.words[0] : 'The model draws test parts; the real one should look like one of them.'}
      </p>
      {found ? (
        <Found found={found} />
      ) : (
        <p class="buttons">
          <button
            type="button"
            class="primary"
            disabled={work.value !== undefined}
            onClick={() => void runEvaluation()}
          >
            Draw and compare
          </button>
        </p>
      )}
    </>
  );
}

function Found({ found }: { readonly found: EvaluationSummary }) {
  const { predictive, names, kind } = found;
  const prediction = useChart(
    ({ predictionOf }) => predictive && predictionOf(predictive, kind, names),
    [found],
  );
  const degrees = useChart(
    ({ predictiveOf }) => predictive && predictiveOf(predictive, kind, names),
    [found],
  );
  const [model, popular] = found.scores;
  const better = model.recall > popular.recall;
  return (
    <>
      <div class="pair">
        {predictive && prediction && (
          <Figure
            name="prediction"
            chart={prediction}
            caption={found.words[1]}
            table={predictionCells(predictive, names)}
          />
        )}
        {predictive && degrees && (
          <Figure
            name="predictive-degrees"
            chart={degrees}
            caption="The number of vertices with each number of edges, in the test part and in the draws."
            table={{
              columns: [
                { label: 'Side' },
                { label: 'edges', numeric: true },
                { label: 'test part', numeric: true },
                { label: '90 % of draws', numeric: true },
              ],
              rows: (['users', 'items'] as const).flatMap((side) =>
                predictive.degrees[side].map(({ from, to, observed, low, high }) => [
                  names[side].many,
                  from === to ? grouped(from) : `${grouped(from)} to ${grouped(to)}`,
                  grouped(observed),
                  `${grouped(low)} … ${grouped(high)}`,
                ]),
              ),
            }}
          />
        )}
      </div>
      <h2>How good are its lists?</h2>
      <p>
        For {grouped(found.users)} {names.users.many} that the model never saw, its first {found.n} items
        contain {better ? '' : 'only '}
        {percent(model.recall)} of the hidden {names.items.many}. A list of popular {names.items.many}{' '}
        contains {percent(popular.recall)}.
      </p>
      <Table
        columns={[
          { label: 'Method' },
          { label: `recall@${found.n}`, numeric: true },
          { label: 'nDCG', numeric: true },
        ]}
        rows={found.scores.map(({ name, recall, ndcg }) => [name, fixed(recall, 4), fixed(ndcg, 4)])}
      />
      <p class="quiet">{found.words.at(-1)}</p>
      <p class="buttons">
        <button type="button" class="primary" onClick={() => go('explore')}>
          Explore
        </button>
        <button type="button" onClick={() => go('recommend')}>
          Recommend
        </button>
      </p>
    </>
  );
}
