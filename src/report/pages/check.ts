// check.html: what `graphex check` found, for a reader who has not heard of sparsity.

import type { SideName } from '../../graph/graph.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import type { DegreeFit } from '../../sparsity/degree-likelihood.js';
import { estimateWords } from '../../sparsity/estimate-words.js';
import { BORDER, type LowDegreeFit } from '../../sparsity/low-degrees.js';
import type { Judgement } from '../../sparsity/verdict.js';
import { shown } from '../../text/untrusted.js';
import { degreeTable, SIDE_NAMES } from './degree-table.js';
import { type Content, facts, figure, fold, type Html, html, table } from './html.js';
import { count, type Definition, fixed, renderPage, short, term } from './page.js';

export interface CheckPage {
  /** What was checked: a file or a built-in set. */
  readonly source: string;
  readonly check: SparsityCheck;
  readonly charts: { readonly density: string; readonly degrees: string };
  /** How the table was read. */
  readonly read?: {
    readonly rows: number;
    readonly kept: number;
    readonly merged: number;
    readonly rejected: number;
  };
  readonly columns?: { readonly users: string; readonly items: string } | undefined;
  readonly version: string;
  readonly seed: number;
  readonly fingerprint: string;
}

export function renderCheckPage(page: CheckPage): string {
  const { check, charts } = page;
  return renderPage({
    title: `Is ${baseName(page.source)} sparse?`,
    lead: headline(check.verdict.users, check.verdict.items),
    sections: [
      { id: 'verdict', title: 'The verdict', body: verdict(check) },
      {
        id: 'density',
        title: 'What happens as the data shrink',
        body: [
          html`<p>Keep a random share of the users and every item that still has an edge. If each item has plenty of
users, hardly any item is lost and the ${term('density', 'density')} stays where it was. If many items hang on one or
two users, they go, and what remains is denser: the curve rises to the left. (Near the left end every curve
rises, since a tiny sample leaves nobody many edges; look whether it has levelled off before.) So <b>sampling users tells about the
items</b>, and sampling items about the users.</p>`,
          figure(
            charts.density,
            html`Lines: the ${term('expected', 'expected density')}, exact given the data. Dots and bars: mean and
range of ${count(check.curves.users[0].sampled.length)} ${term('replicate', 'replicates')}. They should agree.`,
          ),
        ],
      },
      {
        id: 'degrees',
        title: 'How the edges are spread',
        body: [
          html`<p>Each dot says what share of the users, or of the items, has at least so many edges. A straight slope
that starts with many vertices of a single edge is the mark of sparsity; a shoulder on the left, of density.</p>`,
          figure(
            charts.degrees,
            html`The dashed lines are the laws fitted to all degrees; where they leave the dots, read the
${term('likelihood', 'likelihood estimate')} with care.`,
          ),
          degreeTable(check),
        ],
      },
      { id: 'index', title: 'The tail index, four ways', body: tailIndexes(check) },
      { id: 'data', title: 'The data', body: data(page) },
    ],
    definitions: CHECK_DEFINITIONS,
    footer: html`Made by graphex ${page.version} with seed ${page.seed}; data fingerprint <code>${page.fingerprint}</code>.
The same data and seed give the same page.`,
  });
}

function headline(users: Judgement, items: Judgement): string {
  if (users === items) {
    if (users === 'unclear') return 'The data cannot tell, on either side.';
    return users === 'sparse' ? 'Yes, on both sides.' : 'No: users and items are both dense.';
  }
  const say = (side: SideName, judgement: Judgement) =>
    judgement === 'unclear' ? `for the ${side} the data cannot tell` : `the ${side} are ${judgement}`;
  const text = `${say('users', users)}; ${say('items', items)}.`;
  return text[0].toUpperCase() + text.slice(1);
}

function verdict({ verdict: v }: SparsityCheck): Content {
  const card = (side: SideName, name: string): Html =>
    html`<div class="card ${side}"><p class="kicker">${name}</p><strong>${v[side]}</strong>
<p>${afterColon(v.meanings[side])}</p></div>`;
  return [
    html`<div class="cards">${card('users', 'Users')}${card('items', 'Items')}</div>`,
    html`<p><b>What to do.</b> ${v.advice}</p>`,
    html`<p><b>Why we say so.</b> For the users, ${v.reasons.users}. For the items, ${v.reasons.items}. The verdict rests
on the ${term('low', 'likelihood estimate')} of each side’s ${term('sigma', 'tail index')}: above ${BORDER}
${term('sparse', 'sparse')}, below it ${term('dense', 'dense')}, and unclear where it is less than two standard errors
from there, where degrees look cut off, or where the estimates contradict each other. (The border is the
middle between the estimates seen in simulations at σ = −0.1 and at 0.2.)</p>`,
  ];
}

function tailIndexes({ sigma, verdict: { users, items } }: SparsityCheck): Content {
  return [
    html`<p>The ${term('sigma', 'tail index')} says how fast new vertices turn up as the data grow.</p>`,
    table(
      [
        { label: 'Side' },
        { label: term('half', 'σ̂ at one half'), numeric: true },
        { label: term('mean', 'σ̂, mean over levels'), numeric: true },
        { label: term('likelihood', 'all degrees'), numeric: true },
        { label: term('low', 'low degrees'), numeric: true },
        { label: 'verdict' },
      ],
      SIDE_NAMES.map(([side, name]) => {
        const { half, mean, likelihood, lowDegrees } = sigma[side];
        const verdict = side === 'users' ? users : items;
        return [name, fixed(half, 3), fixed(mean, 3), words(likelihood), words(lowDegrees), verdict];
      }),
    ),
    fold(
      'Why so many?',
      html`<p>σ̂ is simple and never negative, but a small sample pushes it up, so that it cannot tell a dense side from
a mildly sparse one. A likelihood can be negative, at the price of assuming a law for the degrees: over all degrees it
leans towards dense, because the law fails at the top; over the low degrees, where sparsity shows, it hardly leans. Where
they tell the same story, believe it.</p>`,
    ),
  ];
}

const words = (fit: DegreeFit | LowDegreeFit | undefined) => (fit ? estimateWords(fit) : 'undefined');

function data({ source, check, read, columns }: CheckPage): Content {
  return [
    facts([
      { label: 'Users', value: count(check.users) },
      { label: 'Items', value: count(check.items) },
      { label: 'Edges', value: count(check.edges) },
      ...(check.total === check.edges ? [] : [{ label: 'Sum of counts', value: count(check.total) }]),
      { label: 'Density', value: short(check.density) },
    ]),
    html`<p>Read from <code>${source}</code>${
      columns
        ? html`, users from column <code>${shown(columns.users)}</code> and items from column <code>${shown(columns.items)}</code>`
        : undefined
    }${
      read
        ? html`: ${count(read.rows)} rows, of which ${count(read.kept)} were kept, ${count(read.merged)} repeated an earlier
pair and were merged, and ${count(read.rejected)} were rejected`
        : undefined
    }.</p>`,
  ];
}

export const CHECK_DEFINITIONS: readonly Definition[] = [
  {
    id: 'density',
    name: 'Density',
    meaning: 'Edges divided by users times items: the share of all possible pairs that is there.',
  },
  {
    id: 'sparse',
    name: 'Sparse',
    meaning:
      'A side is sparse if, however much data come in, new vertices keep turning up whose edges can be counted on one hand. Words in texts are like that: every new text brings some never seen before.',
  },
  {
    id: 'dense',
    name: 'Dense',
    meaning:
      'A side is dense if its vertices are all seen sooner or later, and from then on only gain edges. The texts themselves are like that: each has many words.',
  },
  {
    id: 'sigma',
    name: 'Tail index σ',
    meaning:
      'A number below 1. If σ > 0, the number of vertices grows like the σ-th power of what is seen of the other side: the side is sparse, and more so the larger σ. If σ < 0, it levels off: the side is dense.',
  },
  {
    id: 'half',
    name: 'σ̂ at one half',
    meaning:
      'log₂ of the number of vertices over the number expected to keep an edge when half of the other side is dropped. From 0 (none is lost) to 1 (half are).',
  },
  {
    id: 'mean',
    name: 'σ̂, mean over levels',
    meaning: 'The same with every share from 0 to 1 instead of one half, averaged.',
  },
  {
    id: 'likelihood',
    name: 'Likelihood estimate, all degrees',
    meaning:
      'The σ under which the degrees of a side are most likely, if the number of vertices of degree n is proportional to Γ(n−σ)/n! · rⁿ, with its standard error from the curvature of the likelihood. It does not know the cut-off r beforehand and fits it too.',
  },
  {
    id: 'low',
    name: 'Likelihood estimate, low degrees',
    meaning:
      'The same for the 95 % of the vertices with the lowest degrees, given that they are the lowest. The verdict rests on this one, because the law fails for the few vertices of very high degree.',
  },
  {
    id: 'expected',
    name: 'Expected density',
    meaning:
      'With users kept with probability p: all edges divided by the number of users times the expected number of items with an edge left, Σ(1−(1−p)^d) over the items’ degrees d. Likewise for items.',
  },
  {
    id: 'replicate',
    name: 'Replicate',
    meaning:
      'One random draw of which vertices are kept, at every level at once, and the density that it leaves.',
  },
];

/** The card names the side and the verdict already. */
function afterColon(text: string): string {
  const rest = text.slice(text.indexOf(': ') + 2);
  return rest.charAt(0).toUpperCase() + rest.slice(1);
}

/** A path's last part; recipes and built-in sets stay as they are. */
function baseName(source: string): string {
  return source === '-' ? 'standard input' : source.split(/[\\/]/).at(-1) || source;
}
