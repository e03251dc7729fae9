// check.html: what `graphex check` found, for readers who do not know the term sparsity.

import type { ReadCounts, ReadGuess } from '../../ingest/options.js';
import { asFlag } from '../../options/as-flag.js';
import type { SparsityCheck } from '../../sparsity/check.js';
import { grouped, short } from '../../text/numbers.js';
import { capital, sourceName } from '../../text/phrases.js';
import { shown } from '../../text/untrusted.js';
import { readingSentences } from '../words/reading.js';
import { sparsityWords } from '../words/sparsity.js';
import { type Content, facts, figure, html } from './html.js';
import { renderPage, term } from './page.js';
import {
  degreesCaption,
  degreesIntroduction,
  degreeTable,
  densityCaption,
  densityIntroduction,
  tailIndexes,
  verdictCards,
  verdictReasons,
} from './sparsity.js';
import { checkTerms } from './term-definitions.js';

/** What the page of a check shows. */
export interface CheckPage {
  /** What was checked: a file or a built-in set. */
  readonly source: string;
  readonly check: SparsityCheck;
  /** SVG texts that drawChart made of densityChart and degreesChart. */
  readonly charts: { readonly density: string; readonly degrees: string };
  /** How the data were read. */
  readonly read?: ReadCounts | undefined;
  readonly guess?: ReadGuess | undefined;
  readonly version: string;
  readonly seed: number;
  readonly fingerprint: string;
}

/** A check as one self-contained HTML page. */
export function renderCheckPage(page: CheckPage): string {
  const { check, charts } = page;
  const words = sparsityWords(check);
  return renderPage({
    title: `Is ${sourceName(page.source)} sparse?`,
    lead: words.answer,
    sections: [
      {
        id: 'verdict',
        title: 'The verdict',
        body: [verdictCards(check), html`<p>${words.advice}</p>`, verdictReasons(check), tailIndexes(check)],
      },
      {
        id: 'density',
        title: 'What happens as the data shrink',
        body: [densityIntroduction(check), figure(charts.density, densityCaption(check))],
      },
      {
        id: 'degrees',
        title: 'How the edges are spread',
        body: [degreesIntroduction(check), figure(charts.degrees, degreesCaption()), degreeTable(check)],
      },
      { id: 'data', title: 'The data', body: data(page) },
    ],
    definitions: checkTerms(check.names),
    footer: html`Made by graphex ${page.version} with seed ${page.seed}; data fingerprint <code>${page.fingerprint}</code>.
The same data and seed give the same page. Click a dotted word for its definition.`,
  });
}

function data({ source, check, read, guess }: CheckPage): Content {
  const { names } = check;
  return [
    facts([
      { label: capital(names.users.many), value: grouped(check.users) },
      { label: capital(names.items.many), value: grouped(check.items) },
      { label: 'Edges', value: grouped(check.edges) },
      check.total !== check.edges && { label: 'Sum of counts', value: grouped(check.total) },
      { label: term('density', 'Density'), value: short(check.density) },
    ]),
    html`<p>Read from <code>${source}</code>${
      guess?.kind === 'table' &&
      html`: ${names.users.many} from the column <code>${shown(guess.columns.users)}</code>, ${names.items.many} from <code>${shown(guess.columns.items)}</code>`
    }. ${read && guess && readingSentences({ read, guess }, asFlag).join(' ')}</p>`,
  ];
}
