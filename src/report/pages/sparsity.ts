// What the check and the study both show of sparsity: the verdict cards, the density curves, the tail indexes.

import { otherSide, SIDES, type SideName } from '../../graph/graph.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import { BORDER } from '../../sparsity/low-degrees.js';
import type { StudyCheck } from '../../study/results.js';
import { fixed, grouped, percent, short } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { estimateWords, sparsityWords } from '../words/sparsity.js';
import { type Content, fold, type Html, html, numbers, table } from './html.js';
import { term } from './page.js';

type Checked = SparsityCheck | StudyCheck;

/** A card for each side: the verdict in its colour, a plain sentence, the tail index. */
export function verdictCards(check: Checked): Html {
  const words = sparsityWords(check);
  return html`<div class="cards">${SIDES.map((side) => {
    const verdict = check.verdict[side];
    return html`<div class="card ${verdict}"><p class="kicker">${capital(check.names[side].many)}</p><strong>${verdict}</strong>
<p>${words.plain[side]}</p><small>${term('sigma', 'Tail index')} ${estimateWords(tailIndexOf(check, side))}</small></div>`;
  })}</div>`;
}

/** The estimate that the verdict uses. */
function tailIndexOf({ sigma }: Checked, side: SideName) {
  return sigma[side].lowDegrees ?? sigma[side].likelihood;
}

/** The reasons for the verdict, and its rules. */
export function verdictReasons(check: Checked): Html {
  const { reasons } = sparsityWords(check);
  const { users, items } = check.names;
  return fold(
    'Reasons for this verdict',
    html`<p>${capital(users.many)}: ${reasons.users}. ${capital(items.many)}: ${reasons.items}.</p>
<p>The verdict uses the ${term('low', 'likelihood estimate')} of each side’s ${term('sigma', 'tail index')}: above
${BORDER} the side is ${term('sparse', 'sparse')}, below it ${term('dense', 'dense')}. It is unclear if the estimate is less than
two standard errors from the border, if the degrees look cut off, or if the estimates contradict each other. (In
simulations, the border lies midway between the estimates at σ = −0.1 and at σ = 0.2.)</p>`,
  );
}

/** All estimates of the tail index, folded, since most readers need only one. */
export function tailIndexes(check: Checked): Html {
  const { sigma, names } = check;
  return fold('The tail index, estimated in four ways', [
    table(
      [
        { label: 'Side' },
        ...numbers(
          term('low', 'low degrees'),
          term('likelihood', 'all degrees'),
          term('half', 'σ̂ at one half'),
          term('mean', 'σ̂, mean over levels'),
        ),
      ],
      SIDES.map((side) => {
        const { half, mean, likelihood, lowDegrees } = sigma[side];
        return [
          capital(names[side].many),
          html`<b>${estimateWords(lowDegrees)}</b>`,
          estimateWords(likelihood),
          fixed(half, 3),
          fixed(mean, 3),
        ];
      }),
    ),
    html`<p>The verdict uses the first estimate. The four need not agree. σ̂ is simple and never negative, but small samples
bias it upwards, so it cannot separate a dense side from a mildly sparse one. Likelihood estimates can be negative, but they
assume a distribution of the degrees. Over all degrees they are biased towards dense, because that distribution fails for very
high degrees; over low degrees the bias is small. For a sparse side, a fit uses σ̂ at one half, which predicts better, so
the tail index of a fit differs from that of the verdict.</p>`,
  ]);
}

export function densityIntroduction({ names: { users, items } }: Checked): Html {
  return html`<p>Drop some of the ${users.many} at random, and look at the ${items.many} that still have an edge. If every
${items.one} has many ${users.many}, hardly any of the ${items.many} are lost and the ${term('density', 'density')} stays the same:
the ${items.many} are dense. If many of the ${items.many} have only one or two ${users.many}, they are lost, the rest is denser, and the curve
rises to the left: the ${items.many} are sparse. So <b>dropping ${users.many} tests the ${items.many}</b>, and vice
versa. (Near the left end every curve rises, because tiny samples have few edges. Check whether the curve is flat
before that.)</p>`;
}

/** From this share of the edges on, a single vertex visibly changes the density of a replicate. */
const HEAVY = 0.05;

/** The caption of the density curves, and why dots may lie off the line. */
export function densityCaption({ degrees, edges, curves, names }: Checked): Content {
  const replicates = curves.users[0].sampled.length;
  const heavy = SIDES.filter((side) => degrees[side].max >= HEAVY * edges);
  return html`Lines: ${term('expected', 'expected edges over expected pairs')}.${
    replicates > 0 &&
    html` Dots and bars: mean and range of ${replicates} ${term('replicate', 'replicates')}.`
  }${heavy.map(
    (side) =>
      html` One ${names[side].one} has ${percent(degrees[side].max / edges)} of all edges, and a replicate either keeps or drops it. So the dots may lie
off the line where ${names[side].many} are dropped (the curve of the ${names[otherSide(side)].many}).`,
  )}`;
}

export function degreesIntroduction({ names: { users, items } }: Checked): Html {
  return html`<p>Each dot shows the share of the ${users.many}, or of the ${items.many}, with at least that number of edges. A sparse side
has a straight slope that starts with many vertices of a single edge. A dense side has a flat shoulder on the left.</p>`;
}

export function degreesCaption(): Html {
  return html`Dots: the data. Dashed line: the distribution fitted by the
${term('likelihood', 'likelihood estimate')} of all degrees; if it departs from the dots, do not rely on that estimate.`;
}

/** What a column holds, if it has no name. */
export function columnMeaning(column: string): Content {
  return /^\d+$/.test(column) ? `the value of column ${column}` : html`a value of <code>${column}</code>`;
}

export function degreeTable({ degrees, names }: Checked): Html {
  return table(
    [{ label: 'Edges of' }, ...numbers('least', 'median', 'mean', 'most', 'with a single edge')],
    SIDES.map((side) => {
      const d = degrees[side];
      return [
        capital(names[side].many),
        grouped(d.min),
        grouped(d.median),
        short(d.mean),
        grouped(d.max),
        percent(d.single),
      ];
    }),
  );
}
