import type { ComponentChildren } from 'preact';
import { MODEL_KINDS } from '../../options/names.js';
import { aboutTime, listerWords, needWords, PURPOSE_TITLES } from '../../report/words/page.js';
import { fixed, grouped } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { ComparedLists, NotCompared } from '../components/compared-lists.js';
import { Button, Checkbox, Fact, Form, Select } from '../components/controls.js';
import { Figure } from '../components/figure.js';
import { useArrival } from '../components/hooks.js';
import { NumberOption } from '../components/option.js';
import { predictionCells } from '../components/prediction-table.js';
import { numbers, Table } from '../components/table.js';
import { Linked, Term } from '../components/term.js';
import { Thinning } from '../components/thinning.js';
import { LABELS } from '../control-labels.js';
import { memoryCap } from '../estimate.js';
import { needOf, runFit } from '../fit-actions.js';
import { type LiveFit, type ModelSummary, PURPOSES, type Purpose, type SplitSummary } from '../protocol.js';
import {
  change,
  comparison,
  go,
  liveFit,
  model,
  models,
  names,
  opened,
  preferred,
  ready,
  settings,
  timeOfEdges,
} from '../state.js';

/** The two models, their settings and estimated needs, and the fit in progress. */
export default function Fit() {
  const data = opened.value;
  if (!data) return null;
  const live = liveFit.value;
  return (
    <>
      <h1>Fit a model</h1>
      <p class="lead">
        {settings.value.holdOut
          ? 'A part of the data is kept from the models, to test afterwards how well they predict.'
          : 'The models learn from all data. No part is kept to test how well they predict.'}
      </p>
      <div class="cards">
        <Choice
          purpose="understand"
          title="To understand"
          about={
            <Linked
              text={`What is in the data? Features, a map of the ${data.names.items.many}, and draws that can be tested.`}
              terms={['features', 'draws']}
            />
          }
        />
        <Choice
          purpose="recommend"
          title="To recommend"
          about={
            <Linked
              text={`What should each ${data.names.users.one} get? A ranker, tuned on ${data.names.users.many} that it holds back for this.`}
              terms={['ranker']}
            />
          }
        >
          <Recency />
        </Choice>
      </div>
      <Settings />
      <Fitted />
      {live && <Progress live={live} />}
      <HowItWent />
    </>
  );
}

/** Whether recent rows count more, if a column has times. */
function Recency() {
  const { halfLife } = settings.value;
  if (timeOfEdges.value === undefined) return null;
  return (
    <Select
      label={LABELS.halfLife}
      inline
      value={halfLife}
      choices={[
        ['never', 'no'],
        ['auto', 'if that improves the lists'],
      ]}
      onChange={(value) => change({ halfLife: value })}
    />
  );
}

function Choice({
  purpose,
  title,
  about,
  children,
}: {
  readonly purpose: Purpose;
  readonly title: string;
  readonly about: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  const { bytes, seconds } = needOf(purpose);
  const fitted = models.value[purpose];
  const form = 'fit-settings';
  return (
    <section class="card choice" aria-label={title}>
      <h2>{title}</h2>
      <p>{about}</p>
      {children}
      <p class={bytes > memoryCap() ? 'note warn' : 'quiet'}>{needWords(bytes, seconds, memoryCap())}</p>
      <p class="buttons">
        <Button
          class={fitted ? undefined : 'primary'}
          waits
          onClick={() => {
            const settingsForm = document.getElementById(form) as HTMLFormElement;
            if (settingsForm.reportValidity()) void runFit(purpose);
          }}
        >
          {fitted ? `Fit again ${title.toLowerCase()}` : `Fit ${title.toLowerCase()}`}
        </Button>
        {fitted && <span class="quiet">Done</span>}
      </p>
    </section>
  );
}

function Settings() {
  const { holdOut, model, engine } = settings.value;
  const slow = PURPOSES.some(
    (purpose) => needOf(purpose).seconds > 60 || needOf(purpose).bytes > memoryCap(),
  );
  return (
    <Form id="fit-settings">
      {slow && <Thinning />}
      <details>
        <summary>Settings</summary>
        <div class="fields">
          <NumberOption
            name="features"
            label={LABELS.features}
            about="Number of tastes or topics in the model that describes the data"
          />
          <Select
            label={LABELS.model}
            value={model}
            choices={MODEL_KINDS.map((kind) => [kind, kind === 'auto' ? 'chosen for each side' : kind])}
            about="Sparse or dense: chosen for each side by the data, or the same for both"
            onChange={(kind) => change({ model: kind })}
          />
          <NumberOption name="seed" label={LABELS.seed} />
          <NumberOption name="iterations" label={LABELS.iterations} />
          <Select
            label={LABELS.engine}
            value={engine}
            choices={[
              ['auto', 'fastest available'],
              ['cpu', 'threads'],
              ['gpu', 'GPU'],
            ]}
            about="All engines give the same numbers within their tolerance"
            onChange={(value) => change({ engine: value })}
          />
        </div>
        <div class="choices">
          <Checkbox checked={holdOut} onChange={(checked) => change({ holdOut: checked })}>
            {LABELS.holdOut}
          </Checkbox>
        </div>
        {holdOut && (
          <div class="fields">
            <NumberOption name="testUsers" label={LABELS.testUsers} step={0.01} />
            <NumberOption name="testItems" label={LABELS.testItems} step={0.01} />
          </div>
        )}
      </details>
    </Form>
  );
}

function Progress({ live }: { readonly live: LiveFit }) {
  const { bounds, predictive: early } = live;
  const kind = settings.value.model;
  return (
    <>
      {live.split && <Parts split={live.split} />}
      <div class="pair">
        {bounds.length > 1 && (
          <Figure
            name="bound"
            of={({ boundChart }) => boundChart(bounds)}
            inputs={[bounds]}
            caption={
              <Linked
                text="The evidence lower bound: a higher bound means that the model explains the data better."
                terms={['evidence lower bound']}
              />
            }
            table={{
              columns: numbers('Iteration', 'Bound'),
              rows: bounds.map(([iteration, value]) => [grouped(iteration), fixed(value, 2)]),
            }}
          />
        )}
        {early && (
          <Figure
            name="prediction-so-far"
            of={({ predictionOf }) => predictionOf(early, kind, names.value)}
            inputs={[early]}
            caption={`The test part, and test parts drawn from the fit at iteration ${grouped(live.iteration)}.`}
            table={predictionCells(early)}
          />
        )}
      </div>
    </>
  );
}

function Parts({ split }: { readonly split: SplitSummary }) {
  const { users, items } = names.value;
  const row = (name: string, part: SplitSummary['train']) => [
    name,
    grouped(part.users),
    grouped(part.items),
    grouped(part.edges),
  ];
  return (
    <>
      <h2>The split</h2>
      <p>
        <Linked text={split.words} terms={['held out', 'edges']} />
      </p>
      <Table
        label="The parts of the split"
        columns={[{ label: 'Part' }, ...numbers(capital(users.many), capital(items.many), 'Edges')]}
        rows={[row('train', split.train), row('fold-in', split.foldIn), row('test', split.test)]}
      />
      <p class="quiet">
        <Linked
          text={`Fold-in: edges of held-out ${users.many} that the models see. Test: edges that they must predict.`}
          terms={['fold-in']}
        />
      </p>
    </>
  );
}

/** Which of the models that are ready makes better lists, and where to go on. */
function Fitted() {
  const compared = comparison.value;
  const first = model.value;
  const place = useArrival<HTMLElement>(compared ?? (first?.split ? undefined : ready.value.at(-1)));
  if (!first) return null;
  const { split } = first;
  const { items } = names.value;
  return (
    <section class="result" aria-label="What was fitted" ref={place}>
      {split && !compared && <NotCompared />}
      {compared && (
        <>
          <h2>Which lists are better?</h2>
          <ComparedLists found={compared}>
            {ready.value.length > 1 && listerWords(compared, preferred.value)}
          </ComparedLists>
          {models.value.recommend?.time !== undefined && (
            <p class="quiet">
              The hidden {items.many} are of all times, so recent ones have no advantage here. Below is how
              well the ranker foresees the next {items.many}.
            </p>
          )}
        </>
      )}
      <p class="buttons">
        <Button class="primary" onClick={() => go('recommend')}>
          Recommend
        </Button>
        <Button onClick={() => go('explore')}>Explore</Button>
        {split && <Button onClick={() => go('predict')}>Does it predict?</Button>}
      </p>
    </section>
  );
}

function HowItWent() {
  const { engine, why } = model.value ?? {};
  return (
    <>
      {ready.value.map((fitted) => (
        <Ready fitted={fitted} key={fitted.purpose} />
      ))}
      {why && (
        <p class="quiet">
          Computed by the <Term of="engine">engine</Term> {engine}. Why this one: {why}.
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
          <Fact name={<Term of="bound">Bound</Term>} value={grouped(fitted.bound)} />
        )}
        {fitted.features !== undefined && <Fact name="Features" value={grouped(fitted.features)} />}
        <Fact name={<Term of="iterations">Iterations</Term>} value={grouped(fitted.iterations)} />
        {fitted.seconds !== undefined && (
          <Fact name="Time of the fit" value={capital(aboutTime(fitted.seconds).replace('about ', ''))} />
        )}
      </dl>
      {fitted.words.map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      {fitted.caution && <p class="note warn">{capital(fitted.caution)}.</p>}
      {!converged && purpose === 'understand' && (
        <p class="note warn">Allow more iterations and fit again.</p>
      )}
    </>
  );
}
