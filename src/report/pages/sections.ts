// The sections of a study's report on the data, the split and the fits.

import type { BySide } from '../../graph/graph.js';
import { asFlag } from '../../options/as-flag.js';
import type { SplitMethod } from '../../options/names.js';
import { modelsOf } from '../../study/options.js';
import type { StudyOrigin, StudyReceipt, StudyResults } from '../../study/results.js';
import { fixed, grouped, percent, short } from '../../text/numbers.js';
import { article, capital, many, present } from '../../text/phrases.js';
import type { SideNames } from '../../text/sides.js';
import { shown } from '../../text/untrusted.js';
import type { StudyPicture } from '../charts/study.js';
import { countWords } from '../words/fit.js';
import { readingSentences, thinnedWords } from '../words/reading.js';
import { autoPriorWords } from '../words/side-prior.js';
import { evidenceWords, sparsityWords } from '../words/sparsity.js';
import { type Column, type Content, facts, fold, Html, html, numbers, table as plainTable } from './html.js';
import { term } from './page.js';
import {
  columnMeaning,
  degreesCaption,
  degreeTable,
  densityCaption,
  densityIntroduction,
  tailIndexes,
  verdictCards,
  verdictReasons,
} from './sparsity.js';

/** A picture with its caption: the wide one, or on a small screen the narrow ones. */
export function picture({ wide, narrow }: StudyPicture, caption: Content): Html {
  return html`<figure><div class="wide">${new Html(wide)}</div><div class="narrow">${narrow.map((svg) => new Html(svg))}</div><figcaption>${caption}</figcaption></figure>`;
}

/** A table whose note stays readable if the table itself must be scrolled. */
export function table(
  columns: readonly Column[],
  rows: readonly (readonly Content[])[],
  note?: Content,
): Html {
  const body = plainTable(columns, rows);
  return note === undefined ? body : html`${body}<p class="note">${note}</p>`;
}

/** Style rules that only this page needs. */
export const STUDY_STYLE = new Html(`<style>
.narrow{display:none}
@media(max-width:36rem){.wide{display:none}.narrow{display:block}table{font-size:.9rem}.number{padding-left:.5rem}}
.note{font-size:.95rem;color:var(--muted);margin:-.9rem 0 1.4rem}
.steps{padding-left:1.2rem}.steps li{margin:.4rem 0}
.topics{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,19rem),1fr));gap:1rem;margin:1.2rem 0}
.topic{border:1px solid var(--line);border-radius:.5rem;padding:.8rem 1rem;overflow-wrap:anywhere;min-width:0}
.topic h3{margin:0 0 .3rem;display:flex;justify-content:space-between;gap:.8rem;align-items:baseline}
.topic h3 span{font-weight:400;color:var(--muted);font-size:.93rem}
.topic p{margin:.2rem 0;line-height:1.45}.topic .who{color:var(--muted);font-size:.93rem}
.topic:has(details[open]){grid-column:1/-1}.topic details{margin:.6rem 0 0;padding:.3rem .7rem}.topic tbody th{white-space:normal;font-weight:400;overflow-wrap:anywhere}
#find label{display:block;font-weight:600}#find input{display:block;width:100%;font:inherit;font-weight:400;color:inherit;background:var(--soft);border:1px solid var(--line);border-radius:.4rem;padding:.45rem .7rem;margin-top:.3rem}#find output{display:block;overflow-wrap:anywhere}#find output p{margin:.7rem 0 .2rem;color:var(--muted)}#find ul{margin:0;padding-left:1.2rem}
@media print{.topics{display:block}.topic{margin:0 0 1rem;break-inside:auto}.topic table{font-size:.75rem;line-height:1.2}}
.topic ol{margin:.2rem 0;padding-left:1.7rem}.topic li{line-height:1.4}
.cards:has(.short){grid-template-columns:repeat(auto-fit,minmax(min(100%,13rem),1fr))}
.card.short{display:flex;flex-direction:column;font-size:.98rem;line-height:1.5}
.card.short strong{font-size:1.2rem;line-height:1.25;margin-bottom:.2rem;text-wrap:balance}
.card .more{margin-top:auto;padding-top:.4rem}
tbody th{white-space:nowrap}
td small,th small{color:var(--muted);font-weight:400}
</style>`);

export function dataSection({ check, receipt }: StudyResults): Content {
  const { origin } = receipt;
  const { names } = check;
  return [
    facts([
      { label: term('user', capital(names.users.many)), value: grouped(check.users) },
      { label: term('user', capital(names.items.many)), value: grouped(check.items) },
      { label: term('user', 'Edges'), value: grouped(check.edges) },
      check.multigraph && { label: 'Sum of counts', value: grouped(check.total) },
      { label: term('density', 'Density'), value: short(check.density) },
    ]),
    origin &&
      html`<p>From ${sourcesOf(origin).map((source, at) => html`${at > 0 && ', '}<code>${source}</code>`)}. ${whatItIs(receipt, origin, names, check.multigraph)}</p>`,
    fold('How many edges they have', degreeTable(check)),
  ];
}

/** The files of the data: those of a split that was given, or the source. */
function sourcesOf({ source, parts }: StudyOrigin): readonly string[] {
  const files = present([parts?.folder, parts?.train, parts?.validation, parts?.test]);
  return files.length > 0 ? files : [source];
}

function whatItIs(
  receipt: StudyReceipt,
  origin: StudyOrigin,
  names: SideNames,
  multigraph: boolean,
): Content {
  if (receipt.withTruth) {
    return 'The data are simulated from the sparse model. Their parameters are known, so the best possible ranking is known too.';
  }
  const { columns, kind, kept, rows } = origin;
  return [
    kind === 'table' &&
      html`${capital(article(names.users.one))} is ${columnMeaning(shown(columns.users))}, ${article(names.items.one)} ${columnMeaning(shown(columns.items))}. `,
    multigraph && 'A pair may count more than once. ',
    kept && `Thinned: ${thinnedWords(kept, names)}. `,
    readingSentences({ guess: origin, read: rows }, asFlag).join(' '),
  ];
}

export function sparsitySection(
  results: StudyResults,
  pictures: { readonly density: StudyPicture; readonly degrees: StudyPicture },
): Content {
  const { check, evidence, chosen } = results;
  const here = evidence.find((e) => e.features === chosen.features);
  return [
    verdictCards(check),
    html`<p>${sparsityWords(check).advice}${
      here && html` The ${term('evidence', 'evidence')} ${evidenceWords(here).replace('The evidence ', '')}`
    }</p>`,
    verdictReasons(check),
    html`<p>Why it matters: a model that treats a ${term('sparse', 'sparse')} side as ${term('dense', 'dense')} expects
hardly any new vertices, so it predicts too few of them.</p>`,
    picture(pictures.density, densityCaption(check)),
    fold('How to read the curves', densityIntroduction(check)),
    tailIndexes(check),
    fold(
      `How many edges ${check.names.users.many} and ${check.names.items.many} have`,
      picture(pictures.degrees, degreesCaption()),
    ),
  ];
}

/** What is held out by each method that keeps the users. */
const SPLIT_WORDS: Readonly<Record<Exclude<SplitMethod, 'pq'>, (names: SideNames) => string>> = {
  edges: () => 'some edges are the test part.',
  time: () => 'the latest edges are the test part.',
  last: ({ users }) => `the last edges of each ${users.one} are the test part.`,
  'new-items': ({ items }) => `all edges of some ${items.many} are the test part.`,
};

export function splitSection(results: StudyResults, picture_: StudyPicture): Content {
  const { split } = results.runs[0];
  const { users, items } = results.check.names;
  const { testUsers, testItems, method } = split;
  const sizes = table(
    [{ label: 'Part' }, ...numbers(users.many, items.many, 'edges')],
    present([
      ['train', split.train] as const,
      method === 'pq' && (['fold-in', split.foldin] as const),
      ['test', split.test] as const,
    ]).map(([name, part]) => [name, grouped(part.users), grouped(part.items), grouped(part.edges)]),
    html`${
      method === 'pq' &&
      html`The random draws hold out ${many(split.coins.users, users)} and choose ${many(split.coins.items, items)} for the test. The table counts
only those with an edge in the part. `
    }${term('dropped', many(split.dropped, 'edge'))} of the held-out parts
${split.dropped === 1 ? 'leads' : 'lead'} to ${items.many}${method === 'pq' ? '' : ` or ${users.many}`} not in training.`,
  );
  if (method !== 'pq') {
    return [
      html`<p>A test of predictions needs data that the models have not seen. This split was given: ${SPLIT_WORDS[
        method
      ]({ users, items })} The models were fitted to the training part alone.</p>`,
      sizes,
    ];
  }
  return [
    html`<p>A test of predictions needs data that the models have not seen. Here ${percent(testUsers)} of the
${users.many} are ${term('split', 'held out')} with all their edges. Their edges to ${percent(1 - testItems)} of the ${items.many} are shown to the model
(${term('foldin', 'fold-in')}); those to the other ${percent(testItems)} are the test. The random draws choose
${users.many} and ${items.many}, not edges, so that the test set looks like the data.</p>`,
    fold('The parts of the split', [
      picture(
        picture_,
        `Rows: ${users.many}. Columns: ${items.many}. Training ${users.many} keep all their ${items.many}.${
          testUsers < 0.2 || testItems < 0.24 ? ' Narrow parts are widened to be visible.' : ''
        }`,
      ),
      sizes,
    ]),
  ];
}

export function fitsSection(results: StudyResults): Content {
  const { runs, receipt, chosen, check } = results;
  const { users, items } = check.names;
  const { fits } = runs[0];
  const { settings } = receipt;
  const several = settings.features.length > 1;
  const models = modelsOf(settings);
  const ofChosen = fits.filter((f) => f.features === chosen.features);
  const priors = autoPriorWords(results);
  const both = (pair: BySide<number>, show: (x: number) => string) =>
    `${show(pair.users)}, ${show(pair.items)}`;
  return [
    html`<p>${term('model', 'The model')} was fitted to the training part${
      models.length > 1
        ? html`: ${models.length > 2 && html`as an ${term('auto-model', 'auto')} model, which chooses sparse or dense for each side, `}as a
${term('sparse-model', 'sparse')} model, which expects unseen ${users.many} and ${items.many} without an upper limit, and as a
${term('dense-model', 'dense')} model, which expects none`
        : html` as ${term(`${models[0]}-model`, `${article(models[0])} model`)}`
    }, with ${several ? 'different numbers of ' : html`${chosen.features} `}${term('features', 'features')}.</p>`,
    priors.length > 0 &&
      html`<p>What the auto model found:</p><ul class="steps">${priors.map((sentence) => html`<li>${sentence}</li>`)}</ul>`,
    fold('All fits', [
      table(
        [
          { label: 'Fit' },
          ...numbers(
            term('features', 'K'),
            term('sigma', html`σ<br><small>${users.many}, ${items.many}</small>`),
            term('size', html`size<br><small>${users.many}, ${items.many}</small>`),
            'iterations',
            term('bound', 'bound'),
            'seconds',
          ),
        ],
        fits.map((f) => [
          f.model,
          f.features,
          both(f.sigma, (x) => fixed(x, 2)),
          f.size.users === 0 && f.size.items === 0 ? 'none' : both(f.size, short),
          html`${f.iterations}${!f.converged && html`&nbsp;<span title="stopped before it converged">(not converged)</span>`}`,
          grouped(f.bound),
          f.sameAs === null ? short(f.seconds, 2) : `as ${f.sameAs}`,
        ]),
        html`Do not compare the bounds of different models; the ${term('evidence', 'evidence')} compares sparse and dense.${
          several && ` Within a kind, higher is better; the rest of the report uses K = ${chosen.features}.`
        } Engine: ${fits[0].engine}.`,
      ),
      runs[0].counts && html`<p>${countWords(runs[0].counts, check.names)}</p>`,
      ...ofChosen
        .filter((f) => f.sameAs !== null)
        .map((f) => html`<p>The ${f.model} model has the same prior, so both are one fit.</p>`),
    ]),
    settings.start === 'warm' &&
      fold(
        'How the models were fitted',
        html`<p>Coordinate ascent updates all ${users.many} given the ${items.many}, then all ${items.many} given the ${users.many}. Earlier
iterations also use posterior means, which finds much better optima. The last ones use geometric means only, which maximize the bound.
The fit stops when the relative change of the ${term('bound', 'bound')} in an iteration is below ${short(settings.tolerance)},
or after ${many(settings.iterations, 'iteration')}.</p>`,
      ),
  ];
}
