import { otherSide, SIDES } from '../../graph/graph.js';
import {
  assumedNextWords,
  BRACKET_WORDS,
  backtestWords,
  discoveryWords,
  forecastAnswer,
  foreseenWords,
  nextWords,
  periodTitle,
  timeWords,
} from '../../report/words/forecast.js';
import { grouped, short } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { runForecast } from '../actions.js';
import { Button, Form, Select } from '../components/controls.js';
import { Figure } from '../components/figure.js';
import { useArrival } from '../components/hooks.js';
import { ColumnOption } from '../components/option.js';
import { save } from '../components/save.js';
import { numbers, Table } from '../components/table.js';
import { Term } from '../components/term.js';
import { LABELS } from '../control-labels.js';
import type { Forecast } from '../protocol.js';
import type { Settings } from '../settings.js';
import { change, forecast, growth, opened, PERIODS, preview, settings } from '../state.js';

/** How many users, items and edges there will be, tried on the data first. */
export default function Growth() {
  const data = opened.value;
  const found = forecast.value;
  const place = useArrival<HTMLParagraphElement>(found);
  if (!data) return null;
  return (
    <>
      <h1>How will it grow?</h1>
      <p class="lead" ref={place}>
        {found
          ? [...nextWords(found.found, data.names), forecastAnswer(found.found, data.names)].join(' ')
          : `How many ${data.names.users.many}, ${data.names.items.many} and edges will there be? The forecast is tried on the data first, and refused if it fails there. With times it is also tried on the past; if it fails there, the answer says so.`}
      </p>
      <Ask />
      {found && <Found forecast={found} />}
    </>
  );
}

/** The period or the multiple, and the column of times. */
function Ask() {
  const { names } = opened.value!;
  const { users } = names;
  const { time } = settings.value;
  const columns = preview.value?.names ?? [];
  const byTime = time !== undefined;
  const choices: readonly (readonly [Settings['growth'], string])[] = [
    ...(byTime ? PERIODS.map((period) => [period, `the next ${period}`] as const) : []),
    ['half', `1.5 times as many ${users.many}`],
    ['twice', `twice as many ${users.many}`],
    ['five', `five times as many ${users.many}`],
  ];
  return (
    <Form onSubmit={() => void runForecast()}>
      <div class="fields">
        {columns.length > 2 && (
          <ColumnOption
            name="time"
            columns={columns}
            about="Dates, or seconds since 1970. With it, the forecast is also tried on the past."
          />
        )}
        <Select
          label={LABELS.next}
          value={growth.value}
          choices={choices}
          about={
            byTime
              ? assumedNextWords(names)
              : 'With a column of times, the next month or quarter can be asked for.'
          }
          onChange={(value) => change({ growth: value })}
        />
      </div>
      <p class="buttons">
        <Button type="submit" waits class={forecast.value ? undefined : 'primary'}>
          {forecast.value ? 'Forecast again' : 'Forecast'}
        </Button>
      </p>
    </Form>
  );
}

function Found({ forecast: { found, multigraph, caution } }: { readonly forecast: Forecast }) {
  const { names } = opened.value!;
  const { observed, forecast: foreseen, asked } = found;
  return (
    <>
      <Table
        label="Now and after the growth"
        columns={[
          { label: 'Number of' },
          { label: 'now', numeric: true },
          {
            label: found.next
              ? `after the next ${periodTitle(found.next)}`
              : `with ${short(asked.users)} times the ${names.users.many}`,
            numeric: true,
            wraps: true,
          },
        ]}
        rows={[
          ...SIDES.map((side) => [
            capital(names[side].many),
            grouped(observed[side]),
            foreseen ? foreseenWords(foreseen[side]) : '–',
          ]),
          [
            <Term of="edges" key="edges">
              Edges
            </Term>,
            grouped(observed.edges),
            foreseen ? foreseenWords(foreseen.edges) : '–',
          ],
        ]}
      />
      {caution && <p class="note warn">{capital(caution)}.</p>}
      {multigraph && <p class="note">A forecast is about edges: the counts of the edges are ignored.</p>}
      {[...backtestWords(found, names), ...timeWords(found, names)].map((sentence) => (
        <p key={sentence}>{sentence}</p>
      ))}
      <div class="pair">
        {SIDES.filter((side) => found.sides[side].curve.length > 1).map((side) => (
          <Figure
            key={side}
            name={`growth-${side}`}
            of={({ growthChart }) => growthChart(side, found.sides[side], names)}
            inputs={[found]}
            caption={discoveryWords(found, side, names)}
            table={{
              columns: numbers(`times the ${names[otherSide(side)].many}`, names[side].many, '90 % interval'),
              rows: found.sides[side].curve.map(({ times, mean, low, high }) => [
                short(times),
                grouped(mean),
                `${grouped(low)} … ${grouped(high)}`,
              ]),
            }}
          />
        ))}
      </div>
      <p class="quiet">{BRACKET_WORDS}</p>
      <p class="buttons">
        <Button
          onClick={async () => {
            const { forecastReport } = await import('../reports.js');
            save('forecast.html', forecastReport(opened.value!, forecast.value!), 'text/html');
          }}
        >
          Save the forecast
        </Button>
      </p>
    </>
  );
}
