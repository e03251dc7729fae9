import { MODEL_KINDS } from '../../options/names.js';
import {
  aboutTime,
  comparisonWords,
  MODEL_TITLES,
  needWords,
  PURPOSE_TITLES,
} from '../../report/words/page.js';
import { fixed, grouped } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { runEvaluation, runFit } from '../actions.js';
import { ComparisonTable } from '../components/comparison-table.js';
import { Figure } from '../components/figure.js';
import { useChart } from '../components/hooks.js';
import { ChoiceOption, NumberOption } from '../components/option.js';
import { predictionCells } from '../components/prediction-table.js';
import { Table } from '../components/table.js';
import { Thinning } from '../components/thinning.js';
import { LABELS } from '../control-labels.js';
import { memoryCap, needToFit } from '../estimate.js';
import { type LiveFit, type ModelSummary, PURPOSES, type Purpose, type SplitSummary } from '../protocol.js';
import {
  change,
  comparison,
  describedItems,
  evaluation,
  go,
  liveFit,
  models,
  opened,
  settings,
} from '../state.js';
import { work } from '../work.js';

/** The two models, their settings and estimated needs, and the fit in progress. */
export default function Fit() {
  const data = opened.value;
  if (!data) return null;
  const live = liveFit.value;
  return (
    <>
      <h1>Fit a model</h1>
      <p class="lead">
        A part of the data is kept from the models, to test afterwards how well they predict.
      </p>
      <div class="cards">
        <Choice
          purpose="understand"
          title="To understand"
          about={`What is in the data? Features, a map of the ${data.names.items.many}, and draws that can be tested.`}
        />
        <Choice
          purpose="recommend"
          title="To recommend"
          about={`What should each ${data.names.users.one} get? A ranker, tuned on ${data.names.users.many} that it holds back for this.`}
        />
      </div>
      <Settings />
      <Fitted />
      {live && <Progress live={live} fitted={models.value[live.purpose]} />}
      <HowItWent />
    </>
  );
}

function need(purpose: Purpose) {
  const data = opened.value!;
  const { features, iterations, holdOut, testUsers } = settings.value;
  const share = holdOut ? 1 - testUsers : 1;
  const threads = window.crossOriginIsolated ? navigator.hardwareConcurrency || 1 : 1;
  const size = { ...data, edges: data.edges * share };
  return needToFit(purpose, size, features, iterations, threads, describedItems.value);
}

/** One of the two models. */
function Choice({
  purpose,
  title,
  about,
}: {
  readonly purpose: Purpose;
  readonly title: string;
  readonly about: string;
}) {
  const { bytes, seconds } = need(purpose);
  const fitted = models.value[purpose];
  const form = 'fit-settings';
  return (
    <section class="card choice" aria-label={title}>
      <h2>{title}</h2>
      <p>{about}</p>
      <p class={bytes > memoryCap() ? 'note warn' : 'quiet'}>{needWords(bytes, seconds, memoryCap())}</p>
      <p class="buttons">
        <button
          type="button"
          class={fitted ? undefined : 'primary'}
          disabled={work.value !== undefined}
          onClick={() => {
            const settingsForm = document.getElementById(form) as HTMLFormElement;
            if (settingsForm.reportValidity()) void runFit(purpose);
          }}
        >
          {fitted ? `Fit again ${title.toLowerCase()}` : `Fit ${title.toLowerCase()}`}
        </button>
        {fitted && <span class="quiet">Done</span>}
      </p>
    </section>
  );
}

function Settings() {
  const { holdOut } = settings.value;
  const slow = PURPOSES.some((purpose) => need(purpose).seconds > 60 || need(purpose).bytes > memoryCap());
  return (
    <form id="fit-settings" onSubmit={(event) => event.preventDefault()}>
      {slow && <Thinning />}
      <details>
        <summary>Settings</summary>
        <div class="fields">
          <NumberOption
            name="features"
            label={LABELS.features}
            about="Number of tastes or topics that the model to understand distinguishes"
          />
          <ChoiceOption
            name="model"
            label={LABELS.model}
            choices={MODEL_KINDS.map((kind) => [kind, MODEL_TITLES[kind]] as const)}
            about="Sparse or dense: chosen for each side by the data, or the same for both"
          />
          <NumberOption name="seed" label={LABELS.seed} />
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
            Keep a test part from the models
          </label>
        </div>
        {holdOut && (
          <div class="fields">
            <NumberOption name="testUsers" label={LABELS.testUsers} step={0.01} />
            <NumberOption name="testItems" label={LABELS.testItems} step={0.01} />
          </div>
        )}
      </details>
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
      <h2>The split</h2>
      <p>{split.words}</p>
      <Table
        label="The parts of the split"
        columns={[
          { label: 'Part' },
          { label: capital(names.users.many), numeric: true },
          { label: capital(names.items.many), numeric: true },
          { label: 'Edges', numeric: true },
        ]}
        rows={[row('train', split.train), row('fold-in', split.foldIn), row('test', split.test)]}
      />
    </>
  );
}

/** Which of the models that are ready makes better lists, and where to go on. */
function Fitted() {
  const ready = PURPOSES.flatMap((purpose) => models.value[purpose] ?? []);
  if (ready.length === 0) return null;
  const compared = comparison.value;
  const { names, split } = ready[0];
  return (
    <>
      {split && !compared && <p class="quiet">Comparing lists on held-out {names.users.many} …</p>}
      {compared && (
        <>
          <h2>Which lists are better?</h2>
          <p>
            {comparisonWords(compared, names)}{' '}
            {ready.length > 1 && `Recommend therefore uses ${PURPOSE_TITLES[compared.best]}.`}
          </p>
          <ComparisonTable found={compared} names={names} />
        </>
      )}
      <p class="buttons">
        <button type="button" class="primary" onClick={() => go('recommend')}>
          Recommend
        </button>
        <button type="button" onClick={() => go('explore')}>
          Explore
        </button>
        {split && (
          <button
            type="button"
            onClick={() => {
              go('predict');
              if (!evaluation.value) void runEvaluation();
            }}
          >
            Does it predict?
          </button>
        )}
      </p>
    </>
  );
}

/** The figures of each fit. */
function HowItWent() {
  const ready = PURPOSES.flatMap((purpose) => models.value[purpose] ?? []);
  return (
    <>
      {ready.map((fitted) => (
        <Ready fitted={fitted} key={fitted.purpose} />
      ))}
      {ready[0]?.why && (
        <p class="quiet">
          Computed by the engine {ready[0].engine}: {ready[0].why}.
        </p>
      )}
    </>
  );
}

function Ready({ fitted }: { readonly fitted: ModelSummary }) {
  const { purpose, converged } = fitted;
  return (
    <>
      <h2>
        {capital(PURPOSE_TITLES[purpose])} {converged ? 'has converged' : 'stopped before it converged'}
      </h2>
      <dl class="facts">
        {fitted.bound !== undefined && (
          <div>
            <dt>Bound</dt>
            <dd>{grouped(fitted.bound)}</dd>
          </div>
        )}
        {fitted.features !== undefined && (
          <div>
            <dt>Features</dt>
            <dd>{grouped(fitted.features)}</dd>
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
      {fitted.sides.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {!converged && purpose === 'understand' && (
        <p class="note warn">Allow more iterations and fit again.</p>
      )}
    </>
  );
}
