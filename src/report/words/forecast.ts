// What a forecast says, in sentences.

import type { TimeTest } from '../../forecast/by-time.js';
import { ESTIMATORS } from '../../forecast/estimators.js';
import type { ForecastEstimator, GrowthForecast } from '../../forecast/forecast.js';
import { MOST_PERIODS, type NextPeriod } from '../../forecast/next-period.js';
import type { Foreseen } from '../../forecast/project.js';
import { otherSide, SIDES, type SideName } from '../../graph/graph.js';
import { FORECAST } from '../../options/commands/forecast.js';
import { grouped, percent, short } from '../../text/numbers.js';
import { capital, list, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';

/** Four digits: 15,363.8 is about 15,360. */
function about(value: number): string {
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, value))) - 3);
  return grouped(unit * Math.round(value / unit));
}

/** 'about 15,360 (14,850 to 15,880)'. */
export function foreseenWords({ mean, low, high }: Foreseen): string {
  if (low === high) return grouped(mean);
  return `about ${about(mean)} (${grouped(low)} to ${grouped(high)})`;
}

/** 'twice as many users', '5 times as many users'. */
function timesAsMany(times: number, noun: string): string {
  return `${times === 2 ? 'twice' : `${short(times)} times`} as many ${noun}`;
}

export function estimatorTitle(name: ForecastEstimator): string {
  return name === 'model' ? 'draws from the model' : ESTIMATORS[name].title;
}

/** 'quarter', '90 days'. */
export function periodTitle({ period, days }: NextPeriod): string {
  return /\d/.test(period) ? many(days, 'day') : period;
}

export function nextWords({ next, observed }: GrowthForecast, names: SideNames): string[] {
  if (!next) return [];
  const { past, users } = next;
  const title = periodTitle(next);
  const after = new Date(next.from).toISOString().slice(0, 10);
  const used =
    past.length === 1
      ? `The forecast is the number of the last ${title}, ${grouped(past[0])}`
      : `In the last ${past.length} ${plural(title)} there were ${list(past.map((count) => grouped(count)))}; the forecast is the average of these ${past.length}`;
  const first =
    past.length === MOST_PERIODS
      ? ''
      : '; the first one of the data does not count, as everybody is new in it';
  return [
    `In the ${title} after ${after}, ${foreseenWords(users)} new ${names.users.many} are expected, ` +
      `in addition to today’s ${grouped(observed.users)}. ${used}${first}.`,
  ];
}

/** What a period is assumed to bring, before it is asked for. */
export function assumedNextWords({ users }: SideNames): string {
  return `A month, quarter or year is assumed to bring as many new ${users.many} as the last ${MOST_PERIODS} did on average, or fewer if the data are shorter. The first one of the data does not count, as everybody is new in it.`;
}

export const BRACKET_WORDS =
  'Chao2 estimates a lower bound; its own error can put it above the forecast. The power law assumes that the present growth never slows down. The truth usually lies between them.';

/** '91 days' stays; 'quarter' becomes 'quarters'. */
function plural(title: string): string {
  return /s$/.test(title) ? `periods of ${title}` : `${title}s`;
}

/** The answer, or why there is no forecast. */
export function forecastAnswer(found: GrowthForecast, names: SideNames): string {
  const { forecast, asked, observed } = found;
  if (!forecast) return refusalWords(found, names);
  const grown = SIDES.filter((side) => asked[side] > 1);
  if (grown.length === 0) return 'Neither side grows, so everything stays as it is.';
  const multiples = grown.filter((side) => side !== 'users' || !found.next);
  const times = list(multiples.map((side) => timesAsMany(asked[side], names[side].many)));
  const when = present([
    found.next && `after the next ${periodTitle(found.next)}`,
    multiples.length > 0 && `with ${times}`,
  ]).join(', ');
  const counted = SIDES.filter((side) => asked[otherSide(side)] > 1);
  const seen = counted.map((side) => {
    const more = forecast[side].mean / observed[side] - 1;
    const than = more < 0.001 ? 'hardly more than now' : `${percent(more)} more than now`;
    return `${foreseenWords(forecast[side])} ${names[side].many}, ${than}`;
  });
  return `${capital(when)} there will be ${seen.join(' and ')}, and ${foreseenWords(forecast.edges)} edges. ${rangeWords(found)}${missedWords(found)}`;
}

/** A warning if the same forecast, made in the past, missed what came; else nothing. */
function missedWords({ time }: GrowthForecast): string {
  const tests = time?.tests ?? [];
  const missed = tests.filter(({ held }) => !held).length;
  if (missed === 0) return '';
  const were = missed === 1 ? 'was outside its interval' : 'were outside their intervals';
  return ` Trust them less: ${missed} of ${many(tests.length, 'test')} on the past ${were}.`;
}

/** How far the ranges can be trusted, by the back-test at the requested multiples. */
function rangeWords(found: GrowthForecast): string {
  const meant = 'The ranges are 90 % intervals';
  const tested = testsAsAsked(found);
  if (tested.every(({ coverage }) => coverage >= NARROW)) return `${meant}.`;
  return `${meant}; in the back-test they contained the truth less often, so they are too narrow.`;
}

/** Below this coverage a 90 % range is too narrow: by chance, 15 of 20 or fewer happen once in 23 times. */
const NARROW = 0.8;

/** The back-tests of the chosen estimator, at the requested multiples. */
function testsAsAsked({ sides, asked, estimator }: GrowthForecast) {
  return SIDES.flatMap((counted) => {
    const growing = otherSide(counted);
    const test = sides[counted].backtests.find(({ times }) => times === asked[growing]);
    const found = test?.estimators[estimator];
    return test && found && !test.refused ? [{ counted, growing, times: test.times, ...found }] : [];
  });
}

function refusalWords({ refused, asked }: GrowthForecast, names: SideNames): string {
  const { reason, side, times, error, coverage } = refused!;
  const grown = timesAsMany(times, names[side].many);
  const thinned = `${names[side].many} thinned to ${percent(1 / times)}`;
  const off = error === undefined ? '' : `, off by ${percent(error)}`;
  const held =
    coverage === undefined
      ? ''
      : ` and its 90 % intervals contained the truth in ${percent(coverage)} of the cases`;
  const why = {
    few: `with the ${thinned} too few are left for a test`,
    missed: `with the ${thinned} it was wrong${off}${held}`,
    wide: `with the ${thinned} it was too inaccurate to be useful${off}${held}`,
  }[reason];
  const smaller = asked[side] > 2 ? ' Try a smaller multiple.' : '';
  return `No forecast for ${grown}: the back-test failed; ${why}.${smaller}`;
}

/** The results of the back-test at the requested multiples. */
export function backtestWords(found: GrowthForecast, names: SideNames): string[] {
  return testsAsAsked(found).map(
    ({ counted, growing, times, trials, error, coverage }) =>
      `Back-test: from ${percent(1 / times)} of the ${names[growing].many}, drawn ${many(trials, 'time')}, the number of ` +
      `${names[counted].many} was forecast with an error of ${percent(error)}; its 90 % interval contained the truth ` +
      `in ${Math.round(coverage * trials)} of ${trials} cases.`,
  );
}

/** The share of new vertices among the next edges, and the total if there is one. */
export function discoveryWords(
  { sides, observed, asked, forecast }: GrowthForecast,
  side: SideName,
  names: SideNames,
): string {
  const { discoveryRate, saturation } = sides[side];
  const next = `${percent(discoveryRate)} of the next edges will belong to new ${names[side].many}.`;
  if (!saturation) return `${next} The number of ${names[side].many} shows no upper limit.`;
  // Beyond the largest multiple that a forecast allows, a total would be a guess.
  if (saturation.edges > FORECAST.usersTimes.max * observed.edges) {
    return `${next} These data do not show how many ${names[side].many} there are in all.`;
  }
  const all = `There seem to be about ${about(saturation.all)} ${names[side].many} in all`;
  const seen =
    saturation.edges <= observed.edges
      ? `${all}, and at least 95 % of them are seen.`
      : `${all}; 95 % of them will be seen after about ${about(saturation.edges)} edges.`;
  const wanted = asked[side] * observed[side];
  const beyond =
    forecast && asked[side] > 1 && wanted > saturation.all
      ? ` The forecast is for ${grouped(wanted)}: the others must come from a new population.`
      : '';
  return `${next} ${seen}${beyond}`;
}

export function timeWords(found: GrowthForecast, names: SideNames): string[] {
  if (!found.time) return [];
  const { tests, exchangeable } = found.time;
  if (tests.length === 0) return ['The times cannot be tested: the early part is too small.'];
  return [
    ...tests.map((test) => timeTestWords(test, names)),
    exchangeable
      ? 'Growth looks exchangeable, as the forecast assumes: later arrivals resemble earlier ones.'
      : 'Growth was not exchangeable: later arrivals differ from earlier ones. The forecast assumes that they do not, so trust it less than its intervals say.',
  ];
}

function timeTestWords(
  { cut, side, times, until, foreseen, actual, held }: TimeTest,
  names: SideNames,
): string {
  const date = new Date(until).toISOString().slice(0, 10);
  const from =
    cut === 'arrival'
      ? `From the first ${percent(1 / times)} of the ${names[side].many} (up to ${date}) with all their edges`
      : `From all edges up to ${date}, when there were ${percent(1 / times)} of the ${names[side].many}`;
  const counted = names[otherSide(side)].many;
  return `${from}, the forecast was ${foreseenWords(foreseen)} ${counted}; there are ${grouped(actual)}, ${held ? 'within' : 'outside'} the interval.`;
}

export function modelLeftOutWords({ modelLeftOut }: GrowthForecast): string | undefined {
  return modelLeftOut === 'large'
    ? 'The model was not used, since fitting more than 500,000 edges takes long; the option draws adds it.'
    : undefined;
}
