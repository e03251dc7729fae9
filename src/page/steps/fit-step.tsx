import { optionsSchema } from '../../options/commands.js';
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

const FIT = optionsSchema('fit').properties;
const SPLIT = optionsSchema('split').properties;

/** The settings, what they will ask for, and the fit as it climbs. */
export default function Fit() {
  const data = opened.value;
  if (!data) return null;
  const fitted = model.value;
  const live = liveFit.value;
  return (
    <>
      <h1>Split and fit</h1>
      <p class="lead">
        A part of the data is kept from the model, so that afterwards it can be told how well it predicts.
      </p>
      <Settings />
      {live && <Climb live={live} fitted={fitted} />}
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
          schema={FIT.features}
          about="How many tastes or topics are told apart"
        />
        <ChoiceOption
          name="model"
          label={LABELS.model}
          choices={MODEL_KINDS.map((kind) => [kind, MODEL_TITLES[kind]] as const)}
          about="Chosen by the data, or the two of the paper"
        />
        <NumberOption name="seed" label={LABELS.seed} schema={FIT.seed} />
      </div>
      <details>
        <summary>More settings</summary>
        <div class="fields">
          <NumberOption name="iterations" label={LABELS.iterations} schema={FIT.iterations} />
          <ChoiceOption
            name="engine"
            label={LABELS.engine}
            choices={[
              ['auto', 'the best there is'],
              ['cpu', 'threads'],
              ['gpu', 'GPU'],
            ]}
            about="All give the same numbers, to their tolerance"
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
            <NumberOption name="testUsers" label={LABELS.testUsers} schema={SPLIT.testUsers} step={0.01} />
            <NumberOption name="testItems" label={LABELS.testItems} schema={SPLIT.testItems} step={0.01} />
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

function Climb({ live, fitted }: { readonly live: LiveFit; readonly fitted: ModelSummary | undefined }) {
  const bounds = fitted && fitted.bounds.length > 0 ? fitted.bounds : live.bounds;
  const bound = useChart(({ boundOf }) => (bounds.length > 1 ? boundOf(bounds) : undefined), [bounds]);
  const ahead = live.predictive;
  const names = opened.value!.names;
  const kind = settings.value.model;
  const prediction = useChart(
    ({ predictionOf }) => (ahead ? predictionOf(ahead, kind, names) : undefined),
    [ahead],
  );
  return (
    <>
      {live.split && <Parts split={live.split} />}
      <div class="pair">
        {bound && (
          <Figure
            name="bound"
            chart={bound}
            caption="A lower limit of the log probability of the data: the higher, the better they are explained."
            table={{
              columns: [
                { label: 'Iteration', numeric: true },
                { label: 'Bound', numeric: true },
              ],
              rows: bounds.map(([iteration, value]) => [grouped(iteration), fixed(value, 2)]),
            }}
          />
        )}
        {ahead && prediction && (
          <Figure
            name="prediction-so-far"
            chart={prediction}
            caption={`Test graphs drawn from the fit as it stood at iteration ${grouped(live.iteration)}, against the real one.`}
            table={predictionCells(ahead, names)}
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
      <h2>{fitted.converged ? 'It has settled' : 'It ended before it settled'}</h2>
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
        <div>
          <dt>Time</dt>
          <dd>{capital(aboutTime(fitted.seconds ?? 0).replace('about ', ''))}</dd>
        </div>
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
