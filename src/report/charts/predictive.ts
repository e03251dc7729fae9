// Degree distributions of predictive draws and of the test graph, as in the paper's Figure 4. Each model and side has a panel:
// the draws are a band and the test graph is dots. Both axes are logarithmic, and degrees are binned so that the tail can be read.

import * as Plot from '@observablehq/plot';
import type { DegreeBin } from '../../evaluate/predictive.js';
import { type BySide, SIDES, type SideName } from '../../graph/graph.js';
import { MODEL_KINDS, type ModelKind } from '../../options/names.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import { across, type Chart, logarithmic, upward } from './chart.js';
import { INK } from './ink.js';

/** One panel of a chart of predictive draws. */
export interface PredictivePanel {
  /** Heading of the model's panels. */
  readonly name: string;
  readonly kind: ModelKind;
  readonly degrees: BySide<readonly DegreeBin[]>;
}

/** The test graph's degrees over those of the draws, a panel for each model and side. */
export function predictiveChart(
  panels: readonly PredictivePanel[],
  names: SideNames = USERS_AND_ITEMS,
): Chart {
  const points = panels.flatMap(({ name, kind, degrees }) =>
    SIDES.flatMap((side) =>
      degrees[side].map((bin) => {
        /** The geometric middle of the bin. */
        const degree = Math.sqrt(bin.from * bin.to);
        return { ...bin, panel: name, side, kind, degree };
      }),
    ),
  );
  // The axis starts at one vertex. A band that reaches down to 0 starts at the floor of the axis.
  const floor = 0.8;
  const top = Math.max(10, ...points.flatMap((p) => [p.observed, p.high])) * 1.6;
  const right = Math.max(...points.map((p) => p.degree)) * 1.2;
  const lift = (y: number) => Math.max(y, floor);
  const bands = points.filter((p) => p.high > 0);
  const dots = points.filter((p) => p.observed > 0);
  const place = { fx: 'panel', fy: 'side', x: 'degree' } as const;
  return {
    title: 'Degrees of the test graph and of predictive draws',
    subtitle: 'Dots: the test graph; hollow where it leaves the band. Band: the central 90 % of the draws.',
    description: describe(panels, names),
    width: 120 + 300 * panels.length,
    height: 560,
    plot: {
      fx: { label: null, domain: panels.map((panel) => panel.name), padding: 0.06 },
      fy: { label: null, domain: SIDES, padding: 0.1, tickFormat: (side: SideName) => names[side].many },
      marginRight: 14 + 7.6 * Math.max(...SIDES.map((side) => names[side].many.length)),
      x: across('edges of a vertex', logarithmic([0.9, Math.max(10, right)], 1, right)),
      y: upward('vertices', logarithmic([floor, top], floor, top)),
      marks: [
        Plot.frame({ stroke: INK.muted.light, strokeOpacity: 0.4 }),
        ...MODEL_KINDS.flatMap((kind) => {
          const ink = INK[kind].light;
          const of = bands.filter((p) => p.kind === kind);
          return [
            Plot.areaY(of, {
              ...place,
              y1: (p: DegreeBin) => lift(p.low),
              y2: (p: DegreeBin) => lift(p.high),
              fill: ink,
              fillOpacity: 0.25,
            }),
            Plot.line(of, { ...place, y: (p: DegreeBin) => lift(p.median), stroke: ink, strokeWidth: 1.5 }),
          ];
        }),
        Plot.dot(
          dots.filter((p) => !isOutside(p)),
          { ...place, y: 'observed', r: 2.6, fill: INK.text.light },
        ),
        Plot.dot(dots.filter(isOutside), {
          ...place,
          y: 'observed',
          r: 2.8,
          fill: INK.ground.light,
          stroke: INK.text.light,
          strokeWidth: 1.4,
        }),
      ],
    },
  };
}

function isOutside({ observed, low, high }: DegreeBin): boolean {
  return observed < low || observed > high;
}

function describe(panels: readonly PredictivePanel[], names: SideNames): string {
  return panels
    .map(({ name, degrees }) => {
      const shares = SIDES.map((side) => {
        const bins = degrees[side].filter((bin) => bin.observed > 0);
        return `${bins.filter((bin) => !isOutside(bin)).length} of ${bins.length} bins of the ${names[side].many}`;
      });
      return `${name}: the test graph lies within the band in ${shares.join(' and ')}.`;
    })
    .join(' ');
}
