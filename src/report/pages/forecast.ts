// forecast.html: how data will grow, for readers who plan for it.

import type { ESTIMATORS } from '../../forecast/estimators.js';
import type { ForecastEstimator, GrowthForecast } from '../../forecast/forecast.js';
import { otherSide, SIDES, type SideName } from '../../graph/graph.js';
import { grouped, percent, short } from '../../text/numbers.js';
import { capital, present, sourceName } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { VERSION } from '../../version.js';
import {
  BRACKET_WORDS,
  backtestWords,
  discoveryWords,
  estimatorTitle,
  forecastAnswer,
  foreseenWords,
  modelLeftOutWords,
  nextWords,
  periodTitle,
  timeWords,
} from '../words/forecast.js';
import { type Content, facts, figure, html, numbers, table } from './html.js';
import { type Glossary, renderPage } from './page.js';

interface ForecastPage {
  readonly source: string;
  readonly found: GrowthForecast;
  readonly names: SideNames;
  /** SVG texts that drawChart made of growthChart; a side that could not be forecast has none. */
  readonly charts: Readonly<Partial<Record<SideName, string>>>;
  readonly seed: number;
  readonly fingerprint: string;
}

const TERMS: Glossary = {
  'low-degrees':
    'Low-degree model: The degree distribution of the model, fitted to the vertices with at most seven edges. New vertices will have few edges, so only low degrees tell how many there will be. On thinned data this estimator was the most accurate (docs/forecast.md).',
  backtest:
    'Back-test: The data are thinned at random, and the forecast from the thinned data is compared with all data. If the back-test fails, there is no forecast.',
  bracket: `Bracket: ${BRACKET_WORDS}`,
};

export function renderForecastPage(page: ForecastPage): string {
  const { found, names } = page;
  return renderPage({
    title: `How will ${sourceName(page.source)} grow?`,
    lead: forecastAnswer(found, names),
    sections: [
      { id: 'answer', title: 'Now and after the growth', body: answer(page) },
      ...SIDES.map((side) => ({ id: side, title: capital(names[side].many), body: sideBody(page, side) })),
      found.time && { id: 'time', title: 'By time', body: paragraphs(timeWords(found, names)) },
    ],
    definitions: TERMS,
    footer: html`Made by graphex ${VERSION} with seed ${page.seed}; data fingerprint <code>${page.fingerprint}</code>.
The same data and seed give the same page.`,
  });
}

function answer({ found, names }: ForecastPage): Content {
  const { observed, forecast, asked } = found;
  const times = (side: SideName) => `${short(asked[side])} × ${names[side].many}`;
  const after = present([
    found.next ? `after the next ${periodTitle(found.next)}` : times('users'),
    !(found.next && asked.items === 1) && times('items'),
  ]).join(', ');
  return [
    paragraphs(nextWords(found, names)),
    table(
      [{ label: '' }, ...numbers('now', after)],
      [
        ...SIDES.map((side) => [
          capital(names[side].many),
          grouped(observed[side]),
          forecast ? foreseenWords(forecast[side]) : '–',
        ]),
        ['Edges', grouped(observed.edges), forecast ? foreseenWords(forecast.edges) : '–'],
        ['Density', short(observed.density), forecast ? short(forecast.density.mean) : '–'],
      ],
    ),
    paragraphs(backtestWords(found, names)),
    paragraphs(present([modelLeftOutWords(found)])),
  ];
}

function paragraphs(sentences: readonly string[]): Content {
  return sentences.map((sentence) => html`<p>${sentence}</p>`);
}

function sideBody({ found, names, charts }: ForecastPage, side: SideName): Content {
  const { curve, backtests } = found.sides[side];
  const chart = charts[side];
  const estimators = Object.keys(found.estimators) as ForecastEstimator[];
  const tested = estimators.filter((name): name is keyof typeof ESTIMATORS => name !== 'model');
  return [
    curve.length > 1 && html`<p>${discoveryWords(found, side, names)}</p>`,
    chart === undefined
      ? html`<p>There is no curve: even the smallest back-test failed.</p>`
      : figure(
          chart,
          `The curve ends at ${short(curve[curve.length - 1].times)} times the present ${names[otherSide(side)].many}, the largest multiple that passed the back-test.`,
        ),
    backtests.length > 0 &&
      table(
        [{ label: 'Back-test' }, ...numbers(...backtests.map(({ times }) => `×${short(times)}`))],
        tested.map((name) => [
          estimatorTitle(name),
          ...backtests.map(({ estimators: by }) => {
            const record = by[name];
            return record ? `${percent(record.error)} off, ${percent(record.coverage)} held` : '–';
          }),
        ]),
        'Root mean square error, and how often the 90 % interval contained the truth.',
      ),
    facts([{ label: 'Discovery rate', value: percent(found.sides[side].discoveryRate) }]),
  ];
}
