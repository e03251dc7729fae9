// What the check and the study both show of sparsity: the verdict cards, the density curves, the tail indexes.

import { otherSide, SIDES } from '../../graph/graph.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import { BORDER } from '../../sparsity/low-degrees.js';
import type { StudyCheck } from '../../study/results.js';
import { fixed, percent } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { estimateWords, sparsityWords } from '../words/sparsity.js';
import { type Content, fold, type Html, html, table } from './html.js';
import { term } from './page.js';

type Checked = SparsityCheck | StudyCheck;

/** A card for each side: the judgement in its own colour, the plain sentence, the tail index once. */
export function verdictCards(check: Checked): Html {
  const words = sparsityWords(check);
  return html`<div class="cards">${SIDES.map((side) => {
    const judgement = check.verdict[side];
    return html`<div class="card ${judgement}"><p class="kicker">${capital(check.names[side].many)}</p><strong>${judgement}</strong>
<p>${words.plain[side]}</p><small>${term('sigma', 'Tail index')} ${estimateWords(tailIndexOf(check, side))}</small></div>`;
  })}</div>`;
}

/** The estimate that the verdict rests on. */
function tailIndexOf({ sigma }: Checked, side: 'users' | 'items') {
  return sigma[side].lowDegrees ?? sigma[side].likelihood;
}

/** What the judgement rests on, with the rules. */
export function verdictReasons(check: Checked): Html {
  const { reasons } = sparsityWords(check);
  const { users, items } = check.names;
  return fold(
    'Why we say so',
    html`<p>${capital(users.many)}: ${reasons.users}. ${capital(items.many)}: ${reasons.items}.</p>
<p>The verdict rests on the ${term('low', 'likelihood estimate')} of each side’s ${term('sigma', 'tail index')}: above
${BORDER} ${term('sparse', 'sparse')}, below it ${term('dense', 'dense')}. It is unclear where the estimate is less than
two standard errors from there, where degrees look cut off, or where the estimates contradict each other. (The border is
the middle between the estimates seen in simulations at σ = −0.1 and at 0.2.)</p>`,
  );
}

/** All estimates of the tail index, out of the way of those who need only one. */
export function tailIndexes(check: Checked): Html {
  const { sigma, names } = check;
  return fold('The tail index, estimated in four ways', [
    table(
      [
        { label: 'Side' },
        { label: term('low', 'low degrees'), numeric: true },
        { label: term('likelihood', 'all degrees'), numeric: true },
        { label: term('half', 'σ̂ at one half'), numeric: true },
        { label: term('mean', 'σ̂, mean over levels'), numeric: true },
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
    html`<p>The verdict goes by the first. They are not meant to agree. σ̂ is simple and never negative, but a small sample
pushes it up, so that it cannot tell a dense side from a mildly sparse one. A likelihood can be negative, at the price of
assuming a law for the degrees: over all degrees it leans towards dense, because the law fails at the top; over the low
degrees, where sparsity shows, it hardly leans. A fit takes σ̂ at one half for a sparse side, with which it predicts better: so the
tail index that a fit names is another than that of the verdict.</p>`,
  ]);
}

/** How to read the density curves. */
export function densityIntroduction({ names: { users, items } }: Checked): Html {
  return html`<p>Drop some of the ${users.many} at random, and look at the ${items.many} that still have an edge. If every
${items.one} has plenty of ${users.many}, hardly any is lost and the ${term('density', 'density')} stays where it was:
the ${items.many} are dense. If many hang on one or two ${users.many}, they go, what remains is denser, and the curve
rises to the left: the ${items.many} are sparse. So <b>dropping ${users.many} tests the ${items.many}</b>, and the other
way round. (Near the left end every curve rises, since a tiny sample leaves nobody many edges; look whether it has
levelled off before.)</p>`;
}

/** A vertex with this share of the edges moves every replicate by whether it is drawn. */
const HEAVY = 0.05;

/** The caption of the density curves, and why line and dots part where they do. */
export function densityCaption({ degrees, edges, curves, names }: Checked): Content {
  const replicates = curves.users[0].sampled.length;
  const heavy = SIDES.filter((side) => degrees[side].max >= HEAVY * edges);
  return html`Lines: ${term('expected', 'expected edges over expected pairs')}.${
    replicates > 0
      ? html` Dots and bars: mean and range of ${replicates} ${term('replicate', 'replicates')}.`
      : undefined
  }${heavy.map(
    (side) =>
      html` One ${names[side].one} holds ${percent(degrees[side].max / edges)} of all edges, and each replicate either has it or not: where
${names[side].many} are dropped (the curve of the ${names[otherSide(side)].many}), dots may lie off the line.`,
  )}`;
}

/** How to read the degrees. */
export function degreesIntroduction({ names: { users, items } }: Checked): Html {
  return html`<p>Each dot says what share of the ${users.many}, or of the ${items.many}, has at least so many edges. A
straight slope that starts with many vertices of a single edge is the mark of sparsity; a shoulder on the left, of
density.</p>`;
}

export function degreesCaption(): Html {
  return html`Dots: the data, down to the last vertex. Dashed: the law behind the
${term('likelihood', 'likelihood estimate')} of all degrees; where it leaves the dots, read that estimate with care.`;
}

/** What a column holds, for those whose header does not say it. */
export function columnMeaning(column: string): Content {
  return /^\d+$/.test(column) ? `what stands in column ${column}` : html`a value of <code>${column}</code>`;
}
