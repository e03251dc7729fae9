// The sections of a study's report on what came out: predictions, recommendations, repeats.

import { drawsOf, isIndex, observedOf, type Statistic } from '../../evaluate/predictive.js';
import {
  byRecall,
  type Comparison,
  gapToBest,
  LEADERBOARD_METRICS,
  type LeaderboardMetric,
  type LeaderboardRow,
  leaderboardFigure,
} from '../../study/leaderboard.js';
import {
  type CheckedFit,
  checkedFits,
  chosenFits,
  fitId,
  predictingFits,
  type Spread,
  type StudyResults,
} from '../../study/results.js';
import { shownStatistics } from '../../study/verdict.js';
import { metricLabel, metricTitle, statisticLabel } from '../../text/figures.js';
import { fixed, grouped, percent, short, signedFixed } from '../../text/numbers.js';
import { list, many } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import type { PredictionPictures, StudyPicture } from '../charts/study.js';
import { rankerAges } from '../words/blend.js';
import { correctionWords } from '../words/evaluation.js';
import { methodTitle, shortName, skippedWords } from '../words/methods.js';
import { statisticValue } from '../words/prediction.js';
import { leftWords } from '../words/ranking.js';
import type { StudyVerdict } from '../words/study.js';
import { givenListsWords } from '../words/table-evaluation.js';
import { type Content, fold, type Html, html, numbers } from './html.js';
import { term } from './page.js';
import { picture, table } from './sections.js';

/** A statistic's name, with what σ̂ means one click away. */
function statisticName(statistic: Statistic, names: SideNames): Content {
  const label = statisticLabel(statistic, names);
  return isIndex(statistic) ? html`${term('half', 'σ̂')}${label.replace('σ̂', '')}` : label;
}

export function predictionSection(
  results: StudyResults,
  verdict: StudyVerdict,
  pictures: PredictionPictures,
): Content {
  const fits = predictingFits(chosenFits(results));
  const { drawsGiven, count: draws } = fits[0].predictive;
  const corrected = fits.some((fit) => fit.predictive.calibration);
  const { names } = results.check;
  const both = `${names.users.many} and ${names.items.many}`;
  return [
    html`<p>Each fitted model drew ${grouped(draws)} ${term('draw', 'test graphs')}${
      drawsGiven === 'paper'
        ? `, with the ${both} that the real one contains (the paper’s way of drawing)`
        : `, without knowing which ${both} the real one contains`
    }. If the model is right, the real test graph looks like one of them.</p>`,
    verdictList(verdict),
    picture(
      pictures.prediction,
      html`Dots: the mean of the ${term('draw', 'draws')}; bars: their ${term('interval', '90 % interval')}${
        corrected && html`, thin lines: ${term('corrected', 'corrected')}`
      }; the line at zero: the test set.`,
    ),
    fold('All figures', predictionTable(fits, names)),
    fold(
      'Degrees in the test part and in the draws',
      picture(
        pictures.predictive,
        html`The degrees of the ${names.users.many} and of the ${names.items.many} in the test graph. Dots: the test graph, hollow if outside the band. Band: the
${term('interval', '90 % interval')} of the draws${corrected && ', not corrected'}. Vertices with a single edge are on the left of each panel. If a
model misses new vertices, the dots there lie above the band.`,
      ),
    ),
    results.receipt.settings.features.length > 1 &&
      fold('The same for every K', predictionTable(predictingFits(results.runs[0].fits), names)),
  ];
}

/** The main sentence of a verdict, and the others folded. */
function verdictList({ text, details }: StudyVerdict): Html {
  const more = html`<ul class="steps">${details.map((sentence) => html`<li>${sentence}</li>`)}</ul>`;
  return html`<p>${text}</p>${details.length > 0 && fold('In detail', more)}`;
}

/** Whether and how the intervals were corrected. */
function intervalNote(fits: readonly CheckedFit[], names: SideNames): Content {
  const drawn = fits.filter((fit) => fit.features === fits[0].features && !fit.predictive.internal);
  const own = fits.find((fit) => fit.predictive.internal);
  const asDrawn = `; those of the ${list(drawn.map(shortName))} model${drawn.length > 1 ? 's' : ''} are as drawn`;
  return [
    own &&
      `Those of the ${shortName(own)} model are corrected. ${correctionWords(names)}${drawn.length > 0 ? asDrawn : ''}. `,
    replicaNote(fits),
  ];
}

function replicaNote(fits: readonly CheckedFit[]): Content {
  const corrected = fits.filter((fit) => fit.predictive.calibration);
  if (corrected.length === 0) {
    return html`On simulated data, uncorrected intervals contained the truth in 72 to 95 % of the cases. <code>--calibrate 20</code>
measures this for data like these and corrects the intervals.`;
  }
  const { replicas } = corrected[0].predictive.calibration!;
  const held = (fit: CheckedFit) =>
    shownStatistics(fits).map((s) => fit.predictive.calibration!.statistics[s]?.held ?? '–');
  const several = corrected.length > 1;
  const parts = corrected.map((fit) => (several ? `K = ${fit.features}: ` : '') + held(fit).join(', '));
  return html`For the ${shortName(corrected[0])} model, intervals and p-values are also ${term('corrected', 'corrected')} by ${grouped(replicas)} replicas of
it. How many replicas lay within the interval of their own draws, for each row of the table: ${parts.join('; ')}.${
    fits.some((fit) => fit.model === 'dense') &&
    ' Those of the dense model are not corrected: it expects no unseen vertices, which is an error of the model and not of its intervals.'
  }`;
}

function predictionTable(fits: readonly CheckedFit[], names: SideNames): Html {
  const statistics = shownStatistics(fits);
  const several = new Set(fits.map((fit) => fit.features)).size > 1;
  return table(
    [
      { label: 'Test part' },
      ...numbers(
        'test',
        ...fits.flatMap((fit) => [
          term(`${fit.model}-model`, several ? `${shortName(fit)}, K = ${fit.features}` : shortName(fit)),
          term('pvalue', 'p'),
        ]),
      ),
    ],
    statistics.map((statistic) => [
      statisticName(statistic, names),
      statisticValue(statistic, observedOf(fits[0]!.predictive, statistic)),
      ...fits.flatMap((fit) => {
        const { mean, low, high, pValue } = drawsOf(fit.predictive, statistic);
        const corrected = fit.predictive.calibration?.statistics[statistic];
        return [
          html`<b>${statisticValue(statistic, mean)}</b><br><small>${statisticValue(statistic, low)} … ${statisticValue(statistic, high)}${
            corrected &&
            html`<br>corrected ${statisticValue(statistic, corrected.low)} … ${statisticValue(statistic, corrected.high)}`
          }</small>`,
          html`${fixed(pValue, 2)}${corrected && html`<br><br><small>${fixed(corrected.pValue, 2)}</small>`}`,
        ];
      }),
    ]),
    html`Each cell: the mean of the draws, and below it their ${term('interval', '90 % interval')}. Next column: the ${term('pvalue', 'p-value')}. ${intervalNote(fits, names)}`,
  );
}

export function rankingSection(results: StudyResults, verdict: StudyVerdict, ranking: StudyPicture): Content {
  const shown = shownLeaderboard(results);
  const { leaderboard, rows, names } = shown;
  const { users, candidates } = rows[0].all;
  const ceiling = leaderboard.rows.find((row) => row.id === 'ceiling-fold-in');
  const newItems = results.runs[0].split.method === 'new-items';
  return [
    html`<p>The ${term('candidates', 'task')}: ${many(candidates, names.items)} are ranked for each of ${grouped(users)}
test ${names.users.many}${results.receipt.settings.protocol === 'all-items' && `, except the ${names.items.many} that they have`}; their own test ${names.items.many} should come first. All methods see the same edges of the same ${names.users.many}.
${
  newItems
    ? `The ranked ${names.items.many} have no edge in training, so every method ranks them by their attributes. Nothing was chosen by the test part.`
    : html`${term('baseline', 'Baselines')} are tuned on held-back training ${names.users.many}, and nothing was chosen by the test
part.`
}</p>`,
    verdictList(verdict),
    picture(
      ranking,
      html`Further right is better; each panel has its own scale. Bars: 95 % interval of each figure, from its
${term('error', 'standard error')}. To compare two methods, use the ${term('paired', 'paired intervals')} below: they are narrower.`,
    ),
    leaderboardTable(shown),
    fold('Differences from the best, with paired intervals', pairedTable(shown)),
    fold('Differences between neighbours in the table', neighboursTable(shown)),
    fold('More figures: capped recall, hit rate, MRR, MAP, coverage', moreTable(shown)),
    rows.some((row) => row.kind === 'baseline') &&
      !newItems &&
      fold('How the baselines were tuned', tuningTable(shown)),
    leaderboard.skipped.map((skipped) => html`<p>${skippedWords(skipped, leaderboard)}</p>`),
    ceiling && ceilingTable(shown, ceiling),
    [...givenListsWords(results), leftWords(results, names), ...rankerAges(results.runs[0], names)].map(
      (words) => html`<p>${words}</p>`,
    ),
  ];
}

/** The leaderboard of the first run, its rows by recall, and what they are called. */
function shownLeaderboard({ runs, check: { names } }: StudyResults) {
  const { leaderboard } = runs[0];
  const titles = new Map(leaderboard.rows.map((row) => [row.id, methodTitle(row, leaderboard, names)]));
  const title = (id: string | undefined) => titles.get(id ?? '') ?? '';
  return {
    leaderboard,
    rows: byRecall(leaderboard),
    names,
    title,
    /** The title of a row, with what it means one click away. */
    term: ({ id, model, kind }: LeaderboardRow) => term(model ? `${model}-model` : kind, title(id)),
  };
}
type ShownLeaderboard = ReturnType<typeof shownLeaderboard>;

/** Rows that follow one another, with paired intervals. */
function neighboursTable({ leaderboard, title }: ShownLeaderboard): Html {
  const cell = ({ difference, low, high }: Comparison) =>
    html`${boldIf(low > 0 || high < 0, signedFixed(difference, 3))}<br><small>${signedFixed(low, 3)} … ${signedFixed(high, 3)}</small>`;
  const byRecall = leaderboard.neighbours.filter(({ metric }) => metric === 'recall');
  return table(
    [
      { label: 'Method' },
      { label: 'compared with' },
      ...numbers(term('recall', metricTitle('recall', leaderboard)), term('ndcg', 'nDCG')),
    ],
    byRecall.map((one) => [
      title(one.row),
      title(one.to),
      cell(one),
      cell(leaderboard.neighbours.find(({ metric, row }) => metric === 'ndcg' && row === one.row)!),
    ]),
    html`Each method against the next one by recall. Below each difference: its 95 % ${term('paired', 'paired interval')}. Bold: more than chance.`,
  );
}

/** '0.703 ± 0.012'; the best of a column bold. */
function figureCell(row: LeaderboardRow, metric: LeaderboardMetric, best: string | undefined): Content {
  const figure = leaderboardFigure(row, metric);
  if (!figure) return '–';
  return html`${boldIf(row.id === best, fixed(figure.mean, 3))} <small>± ${fixed(figure.standardError, 3)}</small>`;
}

function boldIf(bold: boolean, text: string): Content {
  return bold ? html`<b>${text}</b>` : text;
}

function leaderboardTable({ leaderboard, rows, term: named }: ShownLeaderboard): Html {
  return table(
    [
      { label: 'Method' },
      ...numbers(
        term('recall', metricTitle('recall', leaderboard)),
        term('ndcg', 'nDCG'),
        html`recall<br>${term('unpopular', 'unpopular')}`,
        html`nDCG<br>${term('unpopular', 'unpopular')}`,
      ),
    ],
    rows.map((row) => [
      named(row),
      ...LEADERBOARD_METRICS.map((metric) => figureCell(row, metric, leaderboard.best[metric])),
    ]),
    html`With ${term('error', 'standard errors')}. Bold: the best of a column${
      rows.some((row) => row.kind === 'ceiling') && ', without the ceilings'
    }.`,
  );
}

function pairedTable({ leaderboard, rows, title, term: named }: ShownLeaderboard): Html {
  const cell = (row: LeaderboardRow, metric: LeaderboardMetric): Content => {
    if (row.id === leaderboard.best[metric]) return 'the best';
    const c = gapToBest(leaderboard, metric, row.id);
    if (!c) return '–';
    // Tiny differences between nearly equal models need a digit more to be seen at all.
    const digits = Math.abs(c.difference) < 0.001 ? 4 : 3;
    const [difference, low, high] = [c.difference, c.low, c.high].map((x) => fixed(x, digits));
    return html`${boldIf(c.high < 0, difference)}<br><small>${low} … ${high}</small>`;
  };
  return table(
    [
      { label: 'Difference from the best' },
      ...numbers(
        html`${term('recall', metricTitle('recall', leaderboard))}<br><small>to ${title(leaderboard.best.recall)}</small>`,
        html`${term('ndcg', 'nDCG')}<br><small>to ${title(leaderboard.best.ndcg)}</small>`,
      ),
    ],
    rows
      .filter((row) => row.kind !== 'ceiling')
      .map((row) => [named(row), cell(row, 'recall'), cell(row, 'ndcg')]),
    html`Below each difference: its 95 % ${term('paired', 'paired interval')}. Bold: more than chance (the interval does not contain 0).`,
  );
}

function moreTable({ leaderboard, rows, term: named }: ShownLeaderboard): Html {
  return table(
    [
      { label: 'Method' },
      ...numbers(
        term('recall-capped', metricTitle('recallCapped', leaderboard)),
        term('hitrate', 'hit rate'),
        term('mrr', 'MRR'),
        term('map', 'MAP'),
        term('coverage', 'coverage'),
      ),
    ],
    rows.map((row) => [
      named(row),
      ...(['recallCapped', 'hitRate', 'mrr', 'map'] as const).map(
        (metric) => `${fixed(row.all[metric].mean, 3)} ± ${fixed(row.all[metric].standardError, 3)}`,
      ),
      percent(row.all.coverage),
    ]),
  );
}

function tuningTable({ rows, title }: ShownLeaderboard): Html {
  return table(
    [{ label: 'Baseline' }, { label: 'chosen setting' }, { label: 'settings tried', numeric: true }],
    rows
      .filter((row) => row.kind === 'baseline')
      .map((row) => [
        title(row.id),
        Object.entries(row.setting ?? {})
          .map(([name, value]) => `${name} ${short(value)}`)
          .join(', ') || 'nothing to choose',
        `${row.trials}${row.tuned ? '' : ' (search cut short)'}`,
      ]),
  );
}

function ceilingTable({ rows, names, term: named }: ShownLeaderboard, ceiling: LeaderboardRow): Html {
  const share = (row: LeaderboardRow, metric: LeaderboardMetric) => {
    const top = leaderboardFigure(ceiling, metric)?.mean;
    const own = leaderboardFigure(row, metric)?.mean;
    return top && own !== undefined ? fixed(own / top, 3) : '–';
  };
  return table(
    [
      { label: html`Share of the ${term('ceiling', 'fair ceiling')}` },
      ...numbers(...LEADERBOARD_METRICS.map((metric) => metricLabel(metric))),
    ],
    rows
      .filter((row) => row.kind !== 'ceiling')
      .map((row) => [named(row), ...LEADERBOARD_METRICS.map((m) => share(row, m))]),
    `The data are simulated, so the best possible ranking is known: fold-in with the true parameters of the ${names.items.many}.`,
  );
}

export function repeatsSection(results: StudyResults): Content {
  const { summary, runs } = results;
  const { rows, term: named } = shownLeaderboard(results);
  const checked = predictingFits(runs[0].fits);
  return [
    html`<p>The study was repeated on ${runs.length} splits (seeds ${runs.map((run) => run.split.seed).join(', ')}). The
sections above show the first; this section shows ${term('spread', 'mean and spread')} over all splits.</p>`,
    table(
      [{ label: 'Ranking' }, ...numbers(...LEADERBOARD_METRICS.map((metric) => metricLabel(metric)))],
      rows.map((row) => {
        const s = summary.ranking[row.id] ?? {};
        return [named(row), ...LEADERBOARD_METRICS.map((metric) => spread(s[metric]))];
      }),
    ),
    checked.length > 0 && predictionErrors(results, checked),
  ];
}

/** '0.123 ± 0.004'. */
function spread(value: Pick<Spread, 'mean' | 'spread'> | undefined, digits = 3): string {
  return value ? `${fixed(value.mean, digits)} ± ${fixed(value.spread ?? 0, digits)}` : '–';
}

function predictionErrors({ summary, runs, check }: StudyResults, fits: readonly CheckedFit[]): Html {
  const statistics = shownStatistics(runs.flatMap((run) => checkedFits(run.fits)));
  return table(
    [
      { label: 'Error of the predictions' },
      ...numbers(...statistics.map((s) => statisticName(s, check.names))),
    ],
    fits.map((fit) => [
      `${shortName(fit)}, K = ${fit.features}`,
      ...statistics.map((statistic) => {
        const error = summary.prediction[fitId(fit.model, fit.features)]?.[statistic];
        if (!error || isIndex(statistic)) return spread(error);
        return `${spread({ mean: 100 * error.mean, spread: 100 * (error.spread ?? 0) }, 1)} %`;
      }),
    ]),
    'Counts: relative error of the mean draw; tail indexes: difference.',
  );
}
