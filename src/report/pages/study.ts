// report.html of a study.

import type { StudyReceipt, StudyResults } from '../../study/results.js';
import type { StudyPictures } from '../charts/study.js';
import { type StudyVerdict, type StudyVerdicts, studyVerdicts } from '../words/study.js';
import { studyDefinitions } from './definitions.js';
import { type Content, fold, html, table } from './html.js';
import { predictionSection, rankingSection, repeatsSection, topicsSection } from './outcomes.js';
import { count, renderPage, type Section, short, term } from './page.js';
import { capital, dataSection, fitsSection, STUDY_STYLE, sparsitySection, splitSection } from './sections.js';

export function renderStudyPage(results: StudyResults, pictures: StudyPictures): string {
  const { check, receipt, runs } = results;
  const verdicts = studyVerdicts(results);
  const { prediction, predictive } = pictures;
  const { n, depth } = runs[0].ladder;
  const source = receipt.origin ? baseName(receipt.origin.source) : 'a graph';
  const sections: Section[] = [
    { id: 'short', title: 'In short', body: shortSection(verdicts) },
    { id: 'data', title: 'The data', body: dataSection(results) },
    { id: 'sparse', title: 'Is it sparse?', body: sparsitySection(results, pictures) },
    { id: 'split', title: 'What was kept from the models', body: splitSection(results, pictures.split) },
    { id: 'fits', title: 'The fits', body: fitsSection(results) },
    ...(verdicts.prediction && prediction && predictive
      ? [
          {
            id: 'prediction',
            title: 'Do the models predict the test set?',
            body: predictionSection(results, verdicts.prediction, { prediction, predictive }),
          },
        ]
      : []),
    {
      id: 'ranking',
      title: 'Who recommends best?',
      body: rankingSection(results, verdicts.ranking, pictures.ranking),
    },
    ...(runs.length > 1
      ? [{ id: 'repeats', title: 'Over several splits', body: repeatsSection(results) }]
      : []),
    { id: 'features', title: 'What the features are about', body: topicsSection(results) },
    { id: 'next', title: 'What to do next', body: nextSection(verdicts) },
    { id: 'receipt', title: 'Receipt', body: receiptSection(receipt) },
  ];
  return renderPage({
    title: `A study of ${source}`,
    lead: html`${count(check.users)} users, ${count(check.items)} items, ${count(check.edges)} edges. Is it sparse?${
      verdicts.prediction ? ' Does a model that knows about sparsity predict it better?' : ''
    } Who recommends best?`,
    sections,
    definitions: studyDefinitions(n, depth, verdicts.prediction !== null, receipt.settings.calibrate > 0),
    footer: html`Made by graphex ${receipt.graphexVersion}, seed ${receipt.settings.seed}, data fingerprint
<code>${receipt.fingerprint}</code>. Dotted words lead to their definition.`,
  });
}

function shortSection(verdicts: StudyVerdicts): Content {
  const card = (colour: string, question: string, { headline, text }: StudyVerdict, target: string) =>
    html`<div class="card plain" style="border-top-color:var(--${colour})"><p class="kicker">${question}</p>
<strong>${headline}</strong><p>${text}</p><p class="more"><a href="#${target}">More</a></p></div>`;
  return [
    STUDY_STYLE,
    html`<div class="cards">${card('items', 'Is it sparse?', verdicts.sparsity, 'sparse')}${
      verdicts.prediction
        ? card('sparse', 'Who predicts the test set?', verdicts.prediction, 'prediction')
        : undefined
    }${card('users', 'Who recommends best?', verdicts.ranking, 'ranking')}</div>`,
  ];
}

function nextSection(verdicts: StudyVerdicts): Content {
  return html`<ul class="steps">${verdicts.next.map(
    ({ text, command }) => html`<li>${text}${command ? html`<br><code>${command}</code>` : undefined}</li>`,
  )}</ul>`;
}

function receiptSection(receipt: StudyReceipt): Content {
  const { origin, settings } = receipt;
  const rows: Content[][] = [
    [
      term('fingerprint', 'Data'),
      html`${origin ? html`<code>${origin.source}</code>, ` : undefined}fingerprint <code>${receipt.fingerprint}</code>`,
    ],
    ['Seeds of the splits', receipt.seeds.join(', ')],
    ['Software', `graphex ${receipt.graphexVersion}${origin ? `, ${origin.runtime}` : ''}`],
    ...(origin
      ? [
          [
            'Machine',
            `${origin.machine.cpu}, ${origin.machine.cores} cores, ${short(origin.machine.memory / 2 ** 30)} GiB, ${origin.machine.system}`,
          ],
        ]
      : []),
    ['Engine', receipt.engines.join('; ')],
    ...(origin?.titles
      ? [
          [
            'Titles',
            `${origin.titles.source}: ${count(origin.titles.matched)} items by ${origin.titles.columns}`,
          ],
        ]
      : []),
    ['Time', `${short(receipt.seconds)} s in all`],
  ];
  return [
    html`<p>All figures are in <code>results.json</code> beside this page. This command repeats the study to the same
numbers, times aside:</p>`,
    html`<p><code>npx graphex study --from results.json -o again</code></p>`,
    table([{ label: 'What' }, { label: 'Value' }], rows),
    fold('Options', optionsTable(settings)),
    fold(
      'Times',
      table(
        [{ label: 'Stage' }, { label: 'seconds', numeric: true }],
        receipt.timings.map((t) => [
          `${capital(t.stage)}${receipt.seeds.length > 1 && t.run !== null ? `, split ${t.run + 1}` : ''}`,
          t.seconds.toFixed(1),
        ]),
      ),
    ),
  ];
}

function optionsTable(settings: StudyReceipt['settings']): Content {
  const value = (x: unknown): string => {
    if (Array.isArray(x)) return x.length === 0 ? 'none' : x.join(', ');
    if (typeof x === 'object' && x !== null) {
      const parts = Object.entries(x).map(([k, v]) => `${k}: ${typeof v === 'object' ? value(v) : v}`);
      return parts.length === 0 ? 'estimated' : parts.join('; ');
    }
    return String(x);
  };
  return table(
    [{ label: 'Option' }, { label: 'Value' }],
    Object.entries(settings).map(([name, x]) => [name, value(x)]),
  );
}

/** A path's last part; recipes and built-in sets stay as they are. */
function baseName(source: string): string {
  return source === '-' ? 'standard input' : source.split(/[\\/]/).at(-1) || source;
}
