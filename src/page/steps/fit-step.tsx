import { MODEL_KINDS } from '../../options/names.js';
import { aboutTime, MODEL_TITLES, needWords } from '../../report/words/page.js';
import { fixed, grouped } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { runEvaluation, runFit } from '../actions.js';
import { Figure } from '../components/figure.js';
import { useChart } from '../components/hooks.js';
import { ChoiceOption, NumberOption } from '../components/option.js';
import { predictionCells } from '../components/prediction-table.js';
import { Table } from '../components/table.js';
import { Thinning } from '../components/thinning.js';
import { LABELS } from '../control-labels.js';
import { memoryCap, needToFit } from '../estimate.js';
import type { LiveFit, ModelSummary, SplitSummary } from '../protocol.js';
import { change, evaluation, go, liveFit, model, opened, settings } from '../state.js';
import { work } from '../work.js';

/** The settings, their estimated need, and the fit in progress. */
export default function Fit() {
  const data = opened.value;
  if (!data) return null;
  const fitted = model.value;
  const live = liveFit.value;
  return (
    <>
      <h1>Split and fit</h1>
      <p class="lead">A part of the data is kept from the model, to test afterwards how well it predicts.</p>
      <Settings />
      {live && <Progress live={live} fitted={fitted} />}
      {fitted && <Fitted fitted={fitted} />}
    </>
  );
}

function Settings() {
  const data = opened.value!;
  const { features, iterations, holdOut, testUsers } = settings.value;
  const share = holdOut ? 1 - testUsers : 1;
  const threads = window.crossOriginIsolated ? navigator.hardwareConcurrency || 1 : 1;
  const need = needToFit({ ...data, edges: data.edges * share }, features, iterations, threads);
  const cap = memoryCap();
  const busy = work.value !== undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void runFit();
      }}
    >
      <div class="fields">
        <NumberOption
          name="features"
          label={LABELS.features}
          about="Number of tastes or topics that the model distinguishes"
        />
        <ChoiceOption
          name="model"
          label={LABELS.model}
          choices={MODEL_KINDS.map((kind) => [kind, MODEL_TITLES[kind]] as const)}
          about="Sparse or dense: chosen for each side by the data, or the same for both"
        />
        <NumberOption name="seed" label={LABELS.seed} />
      </div>
      <details>
        <summary>More settings</summary>
        <div class="fields">
          <NumberOption name="iterations" label={LABELS.iterations} />
          <ChoiceOption
            name="engine"
            label={LABELS.engine}
            choices={[
              ['auto', 'fastest available'],
              ['cpu', 'threads'],
              ['gpu', 'GPU'],
            ]}
            about="All engines give the same numbers within their tolerance"
          />
        </div>
        <div class="choices">
          <label>
            <input
              type="checkbox"
              checked={holdOut}
              onChange={(event) => change({ holdOut: event.currentTarget.checked })}
            />
            Keep a test part from the model
          </label>
        </div>
        {holdOut && (
          <div class="fields">
            <NumberOption name="testUsers" label={LABELS.testUsers} step={0.01} />
            <NumberOption name="testItems" label={LABELS.testItems} step={0.01} />
          </div>
        )}
      </details>
      <p class={need.bytes > cap ? 'note warn' : 'quiet'}>
        {needWords(need.bytes, need.seconds, cap)}
        {need.seconds > 60 && ' A part of the data may be enough.'}
      </p>
      {(need.seconds > 60 || need.bytes > cap) && <Thinning />}
      <p class="buttons">
        <button type="submit" class={model.value ? undefined : 'primary'} disabled={busy}>
          {model.value ? 'Fit again' : 'Fit'}
        </button>
      </p>
    </form>
  );
}

function Progress({ live, fitted }: { readonly live: LiveFit; readonly fitted: ModelSummary | undefined }) {
  const bounds = fitted && fitted.bounds.length > 0 ? fitted.bounds : live.bounds;
  const bound = useChart(({ boundOf }) => (bounds.length > 1 ? boundOf(bounds) : undefined), [bounds]);
  const early = live.predictive;
  const names = opened.value!.names;
  const kind = settings.value.model;
  const prediction = useChart(
    ({ predictionOf }) => (early ? predictionOf(early, kind, names) : undefined),
    [early],
  );
  return (
    <>
      {live.split && <Parts split={live.split} />}
      <div class="pair">
        {bound && (
          <Figure
            name="bound"
            chart={bound}
            caption="The evidence lower bound: a higher bound means that the model explains the data better."
            table={{
              columns: [
                { label: 'Iteration', numeric: true },
                { label: 'Bound', numeric: true },
              ],
              rows: bounds.map(([iteration, value]) => [grouped(iteration), fixed(value, 2)]),
            }}
          />
        )}
        {early && prediction && (
          <Figure
            name="prediction-so-far"
            chart={prediction}
            caption={`The test part, and test parts drawn from the fit at iteration ${grouped(live.iteration)}.`}
            table={predictionCells(early, names)}
          />
        )}
      </div>
    </>
  );
}

function Parts({ split }: { readonly split: SplitSummary }) {
  const { names } = opened.value!;
  const row = (name: string, part: SplitSummary['train']) => [
    name,
    grouped(part.users),
    grouped(part.items),
    grouped(part.edges),
  ];
  return (
    <>
      <p>{split.words}</p>
      <Table
        columns={[
          { label: 'Part' },
          { label: names.users.many, numeric: true },
          { label: names.items.many, numeric: true },
          { label: 'edges', numeric: true },
        ]}
        rows={[row('train', split.train), row('fold-in', split.foldIn), row('test', split.test)]}
      />
    </>
  );
}

function Fitted({ fitted }: { readonly fitted: ModelSummary }) {
  return (
    <>
      <h2>{fitted.converged ? 'The fit has converged' : 'The fit stopped before it converged'}</h2>
      <dl class="facts">
        {fitted.bound !== undefined && (
          <div>
            <dt>Bound</dt>
            <dd>{fixed(fitted.bound, 1)}</dd>
          </div>
        )}
        <div>
          <dt>Iterations</dt>
          <dd>{grouped(fitted.iterations)}</dd>
        </div>
        {fitted.seconds !== undefined && (
          <div>
            <dt>Time</dt>
            <dd>{capital(aboutTime(fitted.seconds).replace('about ', ''))}</dd>
          </div>
        )}
      </dl>
      {fitted.why && (
        <p class="quiet">
          Computed by the engine {fitted.engine}: {fitted.why}.
        </p>
      )}
      {fitted.sides.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {!fitted.converged && <p class="note warn">Allow more iterations and fit again.</p>}
      <p class="buttons">
        {fitted.split && (
          <button
            type="button"
            class="primary"
            onClick={() => {
              go('predict');
              if (!evaluation.value) void runEvaluation();
            }}
          >
            Does it predict?
          </button>
        )}
        <button type="button" onClick={() => go('explore')}>
          Explore
        </button>
        <button type="button" onClick={() => go('recommend')}>
          Recommend
        </button>
      </p>
    </>
  );
}
