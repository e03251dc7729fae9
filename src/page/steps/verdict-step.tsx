import { otherSide, SIDES } from '../../graph/graph.js';
import { mean } from '../../math/moments.js';
import { thinnedWords } from '../../report/words/reading.js';
import { estimateWords, sparsityWords } from '../../report/words/sparsity.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import { BORDER } from '../../sparsity/low-degrees.js';
import { fixed, grouped, percent, short } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { shown } from '../../text/untrusted.js';
import { runCheck } from '../actions.js';
import { Button, Fact } from '../components/controls.js';
import { Figure } from '../components/figure.js';
import { ItemTableField } from '../components/item-table-field.js';
import { sourceTitle } from '../components/samples.js';
import { numbers, Table } from '../components/table.js';
import { Linked, Term } from '../components/term.js';
import { Thinning } from '../components/thinning.js';
import { check, go, opened } from '../state.js';
import { work } from '../work.js';

/** The verdict. The sampled points of the curves follow later. */
export default function Verdict() {
  const data = opened.value;
  const found = check.value;
  if (!data) return null;
  return (
    <>
      <h1>Is {sourceTitle(data.source)} sparse?</h1>
      <p class="lead">
        {found ? (
          <Linked text={sparsityWords(found).answer} terms={['sparse', 'dense']} />
        ) : work.value ? (
          'Computing …'
        ) : (
          'The check was stopped.'
        )}
      </p>
      {!work.value && !isWhole(found) && <Button onClick={() => void runCheck()}>Check again</Button>}
      {found && <VerdictCards found={found} />}
      <p class="buttons">
        <Button class="primary" waits onClick={() => go('fit')}>
          Fit a model
        </Button>
        <span class="quiet">It shows what is in the data, and what to recommend to whom.</span>
      </p>
      {found && <Curves found={found} />}
      <h2>The data</h2>
      <dl class="facts">
        <Fact name={capital(data.names.users.many)} value={grouped(data.users)} />
        <Fact name={capital(data.names.items.many)} value={grouped(data.items)} />
        <Fact name={<Term of="edges">Edges</Term>} value={grouped(data.edges)} />
        {data.total !== data.edges && <Fact name="Sum of counts" value={grouped(data.total)} />}
        <Fact name="Density" value={short(data.edges / (data.users * data.items))} />
      </dl>
      <p class="quiet">
        {data.words.join(' ')}
        {data.kept && ` Thinned: ${thinnedWords(data.kept, data.names)}.`}
        {data.passedOver !== undefined &&
          ` ${grouped(data.passedOver)} rows were left out while the table was read.`}
      </p>
      {data.rejected.length > 0 && (
        <details>
          <summary>{grouped(data.read.rejected)} bad rows were set aside</summary>
          <Table
            columns={[{ label: 'Line', numeric: true }, { label: 'Problem' }]}
            rows={data.rejected.map(({ line, reason }) => [grouped(line), shown(reason, 300)])}
          />
        </details>
      )}
      <ItemTableField />
      <Thinning />
    </>
  );
}

/** Whether the samples were drawn, which come last. */
function isWhole(found: SparsityCheck | undefined): boolean {
  return found !== undefined && found.curves.users[0].sampled.length > 0;
}

function VerdictCards({ found }: { readonly found: SparsityCheck }) {
  const words = sparsityWords(found);
  const { names, verdict, sigma } = found;
  return (
    <>
      <div class="cards">
        {SIDES.map((side) => (
          <div class={`card ${verdict[side]}`} key={side}>
            <p class="kicker">{capital(names[side].many)}</p>
            <strong>{verdict[side]}</strong>
            <p>{words.plain[side]}</p>
            <small>
              <Term of="tail index">Tail index</Term>{' '}
              {estimateWords(sigma[side].lowDegrees ?? sigma[side].likelihood)}; above {BORDER} is sparse
            </small>
          </div>
        ))}
      </div>
      <p>{words.advice}</p>
      <details>
        <summary>Reasons</summary>
        {SIDES.map((side) => (
          <p key={side}>
            {capital(names[side].many)}: {words.reasons[side]}.
          </p>
        ))}
        <Table
          caption="Four estimates of the tail index"
          columns={[
            { label: 'Side' },
            ...numbers('low degrees', 'all degrees', 'σ̂ at one half', 'σ̂, mean over levels'),
          ]}
          rows={SIDES.map((side) => [
            capital(names[side].many),
            estimateWords(sigma[side].lowDegrees),
            estimateWords(sigma[side].likelihood),
            fixed(sigma[side].half, 3),
            fixed(sigma[side].mean, 3),
          ])}
        />
      </details>
    </>
  );
}

function Curves({ found }: { readonly found: SparsityCheck }) {
  const { names, curves, degrees } = found;
  const meanOf = (sampled: readonly number[]) => (sampled.length === 0 ? '–' : short(mean(sampled), 4));
  return (
    <div class="pair">
      <Figure
        name="density"
        of={({ densityChart }) => densityChart(found)}
        inputs={[found]}
        caption={`Lines: expected edges over expected pairs. Dots: samples${isWhole(found) ? '' : work.value ? ', which are being drawn' : ', which were not drawn'}. The verdict rests on the ${names.users.many} and ${names.items.many} with few edges, which show best what happens as data grow.`}
        table={{
          columns: [
            { label: 'Share kept', numeric: true },
            ...SIDES.flatMap((side) => [
              ...numbers(`tests ${names[otherSide(side)].many}`, 'mean of samples'),
            ]),
          ],
          rows: curves.users.map((point, l) => [
            percent(point.level),
            ...SIDES.flatMap((side) => [short(curves[side][l].expected, 4), meanOf(curves[side][l].sampled)]),
          ]),
        }}
      />
      <Figure
        name="degrees"
        of={({ checkedDegreesChart }) => checkedDegreesChart(found)}
        inputs={[found]}
        caption={`The share of ${names.users.many} and of ${names.items.many} that have at least this many edges, on logarithmic scales.`}
        table={{
          columns: [{ label: 'Edges of' }, ...numbers('median', 'mean', 'most', 'with a single edge')],
          rows: SIDES.map((side) => [
            capital(names[side].many),
            grouped(degrees[side].median),
            short(degrees[side].mean),
            grouped(degrees[side].max),
            percent(degrees[side].single),
          ]),
        }}
      />
    </div>
  );
}
