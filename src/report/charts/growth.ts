// How many vertices of a side will be seen as the other side grows: the default estimate with its interval, the
// bracket around it, and the draws from the model.

import * as Plot from '@observablehq/plot';
import type { GrowthForecast, SideForecast } from '../../forecast/forecast.js';
import { otherSide, SIDES, type SideName } from '../../graph/graph.js';
import { grouped, short } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { across, type Chart, cornerName, drawChart, upward } from './chart.js';
import { INK } from './ink.js';

/** The curves of the sides that have one, drawn. */
export function growthPictures(
  document: Document,
  { sides }: GrowthForecast,
  names: SideNames,
): Partial<Record<SideName, string>> {
  const grown = SIDES.filter((side) => sides[side].curve.length > 1);
  return Object.fromEntries(
    grown.map((side) => [side, drawChart(document, growthChart(side, sides[side], names))]),
  );
}

export function growthChart(
  side: SideName,
  { curve }: SideForecast,
  names: SideNames = USERS_AND_ITEMS,
): Chart {
  const growing = names[otherSide(side)].many;
  const counted = names[side].many;
  const ink = INK[side].light;
  const last = curve[curve.length - 1];
  const line = (name: 'chao2' | 'power' | 'model') =>
    curve.flatMap(({ times, estimators }) => {
      const found = estimators[name];
      return found ? [{ times, value: found.mean }] : times === 1 ? [{ times, value: curve[0].mean }] : [];
    });
  const others = [
    { name: 'chao2', label: '··· Chao2: lower bound, estimated', dash: '2,4', ink: INK.muted.light },
    { name: 'power', label: '– – power law: upper bound', dash: '8,4', ink: INK.muted.light },
    { name: 'model', label: '- - draws from the model', dash: '4,3', ink: INK.sparse.light },
  ] as const;
  const drawn = others.filter(({ name }) => line(name).length > 1);
  return {
    title: `${capital(counted)} seen as the ${growing} grow`,
    subtitle: 'Line: forecast. Band: 90 % interval.',
    description:
      `${capital(counted)}: ${grouped(curve[0].mean)} now, about ${grouped(last.mean)} ` +
      `(${grouped(last.low)} to ${grouped(last.high)}) with ${short(last.times)} times as many ${growing}.`,
    plot: {
      x: across(`times the present ${growing}`, {
        type: 'log',
        domain: [1, last.times],
        ticks: [1, 1.5, 2, 3, 4, 5, 7, 10, 20, 50, 100, 1000].filter((tick) => tick <= last.times),
        tickFormat: (value: number) => short(value),
      }),
      y: upward(counted, { ticks: 6, tickFormat: (value: number) => short(value) }),
      marks: [
        Plot.areaY(curve, { x: 'times', y1: 'low', y2: 'high', fill: ink, fillOpacity: 0.18 }),
        ...drawn.map(({ name, dash, ink: stroke }) =>
          Plot.line(line(name), { x: 'times', y: 'value', stroke, strokeDasharray: dash, strokeWidth: 1.5 }),
        ),
        Plot.line(curve, { x: 'times', y: 'mean', stroke: ink, strokeWidth: 2.2 }),
        Plot.dot([curve[0]], { x: 'times', y: 'mean', r: 3.2, fill: ink }),
        ...[{ label: '— forecast', ink }, ...drawn].map((one, row) =>
          cornerName(one.label, one.ink, { frameAnchor: 'top-left', dx: 8, dy: 4, row }),
        ),
      ],
    },
  };
}
