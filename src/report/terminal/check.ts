// The text of graphex check.

import type { SparsityEvidence } from '../../fit/choose/sparsity-evidence.js';
import { otherSide, SIDES } from '../../graph/graph.js';
import { mean } from '../../math/moments.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import { grouped, percent, short } from '../../text/numbers.js';
import { many, present } from '../../text/phrases.js';
import { estimateWords, evidenceWords, sparsityWords } from '../words/sparsity.js';
import { nextLine, paragraphs, textTable, wrap, wrapAll } from './text-table.js';

/** The levels shown on a terminal; all are in --json. */
const SHOWN_LEVELS = [0.05, 0.1, 0.2, 0.5, 1];

export function checkText(
  source: string,
  data: readonly string[],
  check: SparsityCheck,
  reading: string,
  written: readonly string[],
  evidence: SparsityEvidence | undefined,
): string {
  const { verdict, sigma, degrees, names } = check;
  const words = sparsityWords(check);
  const total = check.total === check.edges ? '' : ` (counts add up to ${grouped(check.total)})`;
  return paragraphs([
    wrapAll([
      `${source}: ${many(check.users, names.users)} × ${many(check.items, names.items)}, ${many(check.edges, 'edge')}${total}, density ${short(check.density, 4)}`,
      ...reading.split('\n'),
    ]),
    wrapAll([
      `Is it sparse?  ${words.headline}.`,
      words.text,
      ...SIDES.map((side) => `Reason for the ${names[side].many}: ${words.reasons[side]}.`),
    ]),
    textTable([
      ['', ...SIDES.map((side) => names[side].many)],
      ['verdict', ...SIDES.map((side) => verdict[side])],
      // The estimate that the verdict uses; the others are on the page and in --json.
      [
        tailIndexLabel(check),
        ...SIDES.map((side) => estimateWords(sigma[side].lowDegrees ?? sigma[side].likelihood, 3)),
      ],
      ['edges, median', ...SIDES.map((side) => grouped(degrees[side].median))],
      ['edges, mean', ...SIDES.map((side) => short(degrees[side].mean, 4))],
      ['edges, most', ...SIDES.map((side) => grouped(degrees[side].max))],
      ['with a single edge', ...SIDES.map((side) => percent(degrees[side].single, 1))],
    ]),
    densityTable(check),
    evidence && wrap(evidenceWords(evidence)),
    present([
      written.length > 0 && `wrote ${written.join(', ')}`,
      nextLine('fit', ...data, '-o', 'model.safetensors'),
    ]).join('\n'),
  ]);
}

/** Names the estimate, since a fit uses another one. */
function tailIndexLabel({ sigma }: SparsityCheck): string {
  return SIDES.every((side) => sigma[side].lowDegrees) ? 'tail index, by low degrees' : 'tail index';
}

function densityTable({ curves, names }: SparsityCheck): string {
  const shown = curves.users.flatMap(({ level }, l) => (SHOWN_LEVELS.includes(level) ? [l] : []));
  return textTable([
    ['density with', ...shown.map((l) => percent(curves.users[l].level))],
    ...SIDES.flatMap((side) => {
      const points = shown.map((l) => curves[side][l]);
      const drawn = points.map(({ sampled }) => (sampled.length > 0 ? short(mean(sampled), 4) : '–'));
      return present([
        [
          `of ${names[side].many} (tests ${names[otherSide(side)].many})`,
          ...points.map((p) => short(p.expected, 4)),
        ],
        points.some(({ sampled }) => sampled.length > 0) && ['  mean of replicates', ...drawn],
      ]);
    }),
  ]);
}
