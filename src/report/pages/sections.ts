// The sections of a study's report on the data, the split and the fits.

import type { StudyOrigin, StudyReceipt, StudyResults } from '../../study/results.js';
import { shown } from '../../text/untrusted.js';
import type { StudyPicture } from '../charts/study.js';
import { degreeTable, SIDE_NAMES } from './degree-table.js';
import { type Column, type Content, facts, fold, Html, html, table as plainTable } from './html.js';
import { count, fixed, percent, short, term } from './page.js';

/** A picture with its caption: the wide one, or on a small screen the narrow ones. */
export function picture({ wide, narrow }: StudyPicture, caption: Content): Html {
  return html`<figure><div class="wide">${new Html(wide)}</div><div class="narrow">${narrow.map((svg) => new Html(svg))}</div><figcaption>${caption}</figcaption></figure>`;
}

/** A table whose note stays readable where the table itself must be scrolled. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
  note?: Content,
): Html {
  const body = plainTable(columns, rows);
  return note === undefined ? body : html`${body}<p class="note">${note}</p>`;
}

/** Rules for what is only in this page. */
export const STUDY_STYLE = new Html(`<style>
.narrow{display:none}
@media(max-width:36rem){.wide{display:none}.narrow{display:block}table{font-size:.9rem}.number{padding-left:.5rem}}
.note{font-size:.95rem;color:var(--muted);margin:-.9rem 0 1.4rem}
.steps{padding-left:1.2rem}.steps li{margin:.4rem 0}
.topics{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:1rem;margin:1.2rem 0}
.topic{border:1px solid var(--line);border-radius:.5rem;padding:.8rem 1rem}
.topic h3{margin:0 0 .3rem;display:flex;justify-content:space-between;gap:.8rem;align-items:baseline}
.topic h3 span{font-weight:400;color:var(--muted);font-size:.93rem}
.topic p{margin:.2rem 0;line-height:1.45}.topic .who{color:var(--muted);font-size:.93rem}
.topic ol{margin:.2rem 0;padding-left:1.7rem}.topic li{line-height:1.4}
.cards:has(.plain){grid-template-columns:repeat(auto-fit,minmax(min(100%,13rem),1fr))}
.card.plain{display:flex;flex-direction:column;font-size:.98rem;line-height:1.5}
.card.plain strong{font-size:1.2rem;line-height:1.25;margin-bottom:.2rem;text-wrap:balance}
.card .more{margin-top:auto;padding-top:.4rem}
tbody th{white-space:nowrap}
td small,th small{color:var(--muted);font-weight:400}
</style>`);

export function dataSection({ check, receipt }: StudyResults): Content {
  const { origin } = receipt;
  return [
    facts([
      { label: term('user', 'Users'), value: count(check.users) },
      { label: term('user', 'Items'), value: count(check.items) },
      { label: term('user', 'Edges'), value: count(check.edges) },
      ...(check.multigraph ? [{ label: 'Sum of counts', value: count(check.total) }] : []),
      { label: term('density', 'Density'), value: short(check.density) },
    ]),
    origin
      ? html`<p>From <code>${origin.source}</code>. ${whatItIs(receipt, origin, check.multigraph)}</p>`
      : undefined,
    degreeTable(check),
  ];
}

function whatItIs(receipt: StudyReceipt, origin: StudyOrigin, multigraph: boolean): Content {
  if (receipt.withTruth) {
    return 'Drawn from the sparse model itself, with parameters that are known: so the best possible ranking is known too.';
  }
  const { columns, note, rows } = origin;
  return [
    html`A user is ${meaningOf(shown(columns.users))}, an item ${meaningOf(shown(columns.items))}`,
    multigraph ? ', and a pair may count more than once. ' : '. ',
    note === null ? undefined : `${capital(note)}. `,
    rows
      ? `Of ${count(rows.rows)} rows, ${count(rows.kept)} were kept, ${count(rows.merged)} repeated an earlier pair and were merged, ${count(rows.rejected)} were rejected.`
      : undefined,
  ];
}

function meaningOf(column: string): Content {
  if (/^\d+$/.test(column)) return html`what stands in column ${column}`;
  return ['document', 'term'].includes(column) ? html`a ${column}` : html`a value of <code>${column}</code>`;
}

export function sparsitySection(
  results: StudyResults,
  pictures: { readonly density: StudyPicture; readonly degrees: StudyPicture },
): Content {
  const { check, evidence, chosen } = results;
  const { verdict } = check;
  const here = evidence.find((e) => e.features === chosen.features);
  return [
    html`<div class="cards">${SIDE_NAMES.map(
      ([
        side,
        name,
      ]) => html`<div class="card ${side}"><p class="kicker">${name}</p><strong>${verdict[side]}</strong>
<p>${capital(verdict.reasons[side])}.</p></div>`,
    )}</div>`,
    html`<p>${verdict.meanings.users} ${verdict.meanings.items} ${verdict.advice}</p>`,
    html`<p>Why it matters: a model that takes a ${term('sparse', 'sparse')} side for ${term('dense', 'dense')} believes
that it has met nearly everything there is, and is surprised by every newcomer.</p>`,
    picture(
      pictures.density,
      html`Keep a share of one side at random, and of the other side what still has an edge. Where the
${term('density', 'density')} stays level, the side that was <i>not</i> sampled is dense; where it rises to the left, it
is sparse. Lines: ${term('expected', 'exact')}; dots and bars: ${term('replicate', 'sampled')}.`,
    ),
    picture(
      pictures.degrees,
      html`The share of the users, and of the items, with at least so many edges. Dots: the data. Dashed: the law behind the
${term('likelihood', 'likelihood estimate')} of all degrees; where it leaves the dots, read that estimate with care.`,
    ),
    table(
      [
        { label: term('sigma', 'Tail index') },
        { label: term('half', 'σ̂ at one half'), numeric: true },
        { label: term('mean', 'mean over levels'), numeric: true },
        { label: term('likelihood', 'all degrees'), numeric: true },
        { label: term('low', 'low degrees'), numeric: true },
      ],
      SIDE_NAMES.map(([side, name]) => {
        const s = check.sigma[side];
        return [name, fixed(s.half, 3), fixed(s.mean, 3), estimate(s.likelihood), estimate(s.lowDegrees)];
      }),
    ),
    here
      ? html`<p>The fits have a say too. With sizes learned on both, the ${term('evidence', 'evidence')} for the sparse
model over the dense one is <b>${signedCount(here.difference)} nats</b>${
          here.difference > 0
            ? ': the data are better explained as sparse'
            : ': the data are better explained as dense'
        }.</p>`
      : undefined,
  ];
}

function estimate(fit: { readonly estimate: number; readonly standardError: number | null } | null): string {
  if (!fit) return 'undefined';
  if (fit.standardError === null) return `beyond ${fixed(fit.estimate, 0)}`;
  return `${fixed(fit.estimate, 2)} ± ${short(Number(fit.standardError.toPrecision(2)))}`;
}

export function splitSection(results: StudyResults, picture_: StudyPicture): Content {
  const { split } = results.runs[0];
  const { testUsers, testItems } = split;
  return [
    html`<p>To find out whether a model predicts, some of the data must be kept from it. Here ${percent(testUsers)} of the
users are ${term('split', 'held out')} as a whole. ${percent(1 - testItems)} of the items show the model who they are
(${term('foldin', 'fold-in')}); the other ${percent(testItems)} are the test. The coins are thrown for users and items, not
for edges, so that the test set looks like the data.</p>`,
    picture(
      picture_,
      `Users down, items across. Training users keep all their items.${
        testUsers < 0.2 || testItems < 0.24 ? ' The narrow parts are drawn wider than they are.' : ''
      }`,
    ),
    table(
      [
        { label: 'Part' },
        { label: 'users', numeric: true },
        { label: 'items', numeric: true },
        { label: 'edges', numeric: true },
      ],
      (['train', 'foldin', 'test'] as const).map((name) => {
        const part = split[name];
        return [
          name === 'foldin' ? 'fold-in' : name,
          count(part.users),
          count(part.items),
          count(part.edges),
        ];
      }),
      html`Coins held out ${count(split.coins.users)} users and drew ${count(split.coins.items)} items for the test; only
those with an edge in a part are counted above. ${term('dropped', html`${count(split.dropped)} edges`)} of fold-in and test
lead to items that training never saw.`,
    ),
  ];
}

export function fitsSection({ runs, receipt, chosen }: StudyResults): Content {
  const { fits } = runs[0];
  const { settings } = receipt;
  const several = settings.features.length > 1;
  const both = (pair: { readonly users: number; readonly items: number }, show: (x: number) => string) =>
    `${show(pair.users)}, ${show(pair.items)}`;
  return [
    html`<p>${term('model', 'The model')} was fitted to the training part${
      settings.models.length > 1
        ? html` twice: as a ${term('sparse-model', 'sparse')} model, which expects users and items that nobody has seen
yet, and as a ${term('dense-model', 'dense')} one, which does not`
        : html` as a ${term(`${settings.models[0]}-model`, `${settings.models[0]}`)} model`
    }, with ${several ? 'several numbers of ' : html`${settings.features[0]} `}${term('features', 'features')}.</p>`,
    table(
      [
        { label: 'Fit' },
        { label: term('features', 'K'), numeric: true },
        { label: term('sigma', 'σ users, items'), numeric: true },
        { label: term('size', 'size users, items'), numeric: true },
        { label: 'iterations', numeric: true },
        { label: term('bound', 'bound'), numeric: true },
        { label: 'seconds', numeric: true },
      ],
      fits.map((f) => [
        f.model,
        f.features,
        both(f.sigma, (x) => fixed(x, 2)),
        f.size.users === 0 && f.size.items === 0 ? 'none' : both(f.size, short),
        html`${f.iterations}${f.converged ? '' : html`&nbsp;<span title="stopped before it settled">(unsettled)</span>`}`,
        signedCount(f.bound),
        short(Number(f.seconds.toPrecision(2))),
      ]),
      html`Bounds of sparse and dense are not comparable; the ${term('evidence', 'evidence')} is.${
        several ? ` Higher is better within a kind; the report goes on with K = ${chosen.features}.` : ''
      } Engine: ${fits[0].engine}.`,
    ),
    settings.start === 'warm'
      ? fold(
          'How a fit goes',
          html`<p>Coordinate ascent updates all users given the items, then all items given the users. It begins with
posterior means in place of logarithmic ones, which finds far better optima than a cold start, then goes on exactly, and
stops when the ${term('bound', 'bound')} changes by less than ${short(settings.tolerance)} of itself per iteration, or
after ${count(settings.iterations)} iterations.</p>`,
        )
      : undefined,
  ];
}

function signedCount(value: number): string {
  return count(Math.round(value)).replace('-', '−');
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
