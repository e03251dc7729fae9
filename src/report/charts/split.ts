// The four-way split as a picture of the table: users down, items across, each rectangle as large as its share.

import * as Plot from '@observablehq/plot';
import type { StudySplit } from '../../study/results.js';
import { percent } from '../../text/numbers.js';
import { many } from '../../text/phrases.js';
import { type SideNames, USERS_AND_ITEMS } from '../../text/sides.js';
import type { Chart } from './chart.js';
import { INK } from './ink.js';

/** Room for a letter of the labels, which name the users at the left and the items above. */
const LETTER = 7.5;
const RIGHT = 8;

/** The three parts, each as large as its share of the table. */
export function splitChart(split: StudySplit, names: SideNames = USERS_AND_ITEMS): Chart {
  const { users, items } = names;
  const { testUsers: p, testItems: q, train, foldin, test } = split;
  const edges = (part: { readonly edges: number }) => many(part.edges, 'edge');
  const held = Math.max(p, 0.2);
  const drawn = Math.max(q, 0.32);
  const left = Math.max(92, 20 + LETTER * (users.many.length + 3));
  const across = Math.max(300, 2 * LETTER * (items.many.length + 8));
  const [muted, dark] = [INK.muted.light, INK.text.light];
  const below = { y1: 1 - held, y2: 1, opacity: 0.42 };
  const parts = [
    { x1: 0, x2: 1, y1: 0, y2: 1 - held, ink: muted, opacity: 0.2, text: `train\n${edges(train)}` },
    { x1: 0, x2: 1 - drawn, ...below, ink: muted, text: `fold-in\n${edges(foldin)}` },
    { x1: 1 - drawn, x2: 1, ...below, ink: dark, text: `test\n${edges(test)}` },
  ];
  return {
    title: 'How the data are split',
    description: `${percent(1 - p)} of the ${users.many} are for training, with all their ${items.many}. For the other ${percent(p)}, the model sees ${percent(1 - q)} of the ${items.many} (fold-in) and is tested on the remaining ${percent(q)}.`,
    width: left + across + RIGHT,
    height: 270,
    plot: {
      marginTop: 24,
      marginLeft: left,
      marginRight: RIGHT,
      marginBottom: 8,
      x: { domain: [0, 1], axis: null },
      y: { domain: [1, 0], axis: null },
      marks: [
        ...parts.map((part) =>
          Plot.rect([part], {
            x1: 'x1',
            x2: 'x2',
            y1: 'y1',
            y2: 'y2',
            fill: part.ink,
            fillOpacity: part.opacity,
            inset: 2,
          }),
        ),
        Plot.text(parts, {
          x: ({ x1, x2 }: (typeof parts)[number]) => (x1 + x2) / 2,
          y: ({ y1, y2 }: (typeof parts)[number]) => (y1 + y2) / 2,
          text: 'text',
          lineHeight: 1.25,
        }),
        Plot.text(
          [
            { y: (1 - held) / 2, text: `${percent(1 - p)}\nof ${users.many}` },
            { y: 1 - held / 2, text: `${percent(p)}\nof ${users.many}` },
          ],
          { x: 0, y: 'y', text: 'text', textAnchor: 'end', dx: -10, fill: INK.muted.light },
        ),
        // At the outer ends, so that they are not cut off and do not overlap.
        ...(['start', 'end'] as const).map((end) =>
          Plot.text([`${percent(end === 'start' ? 1 - q : q)} of ${items.many}`], {
            x: end === 'start' ? 0 : 1,
            y: 0,
            text: (label: string) => label,
            textAnchor: end,
            dy: -12,
            fill: INK.muted.light,
          }),
        ),
      ],
    },
  };
}
