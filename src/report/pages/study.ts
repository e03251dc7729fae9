// report.html of a study.

import type { StudyReceipt, StudyResults } from '../../study/results.js';
import { fixed, short } from '../../text/numbers.js';
import { capital, many, present, sourceName } from '../../text/phrases.js';
import { stageLabel } from '../../text/stages.js';
import type { StudyPictures } from '../charts/study.js';
import { repeatCommand } from '../words/next-commands.js';
import { predictionQuestion } from '../words/prediction.js';
import { RANKING_QUESTION } from '../words/ranking.js';
import { sparsityWords } from '../words/sparsity.js';
import { type StudyVerdict, type StudyVerdicts, studyVerdicts } from '../words/study.js';
import { featuresSection } from './features.js';
import { type Content, commandLine, fold, html, table } from './html.js';
import { predictionSection, rankingSection, repeatsSection } from './outcomes.js';
import { renderPage, term } from './page.js';
import { dataSection, fitsSection, STUDY_STYLE, sparsitySection, splitSection } from './sections.js';
import { studyTerms } from './term-definitions.js';

/** A study as one self-contained HTML page. */
export function renderStudyPage(results: StudyResults, pictures: StudyPictures): string {
  const { check, receipt, runs } = results;
  const verdicts = studyVerdicts(results);
  const { prediction, predictive } = pictures;
  const { n, depth } = runs[0].leaderboard;
  const { names } = check;
  const source = receipt.origin ? sourceName(receipt.origin.source) : 'a graph';
  return renderPage({
    title: `A study of ${source}`,
    lead: html`${many(check.users, names.users)}, ${many(check.items, names.items)}, ${many(check.edges, 'edge')}. Is it sparse?${
      verdicts.prediction && ' Does a model with sparsity predict it better?'
    } ${RANKING_QUESTION}`,
    sections: [
      { id: 'short', title: 'In short', body: shortSection(results, verdicts) },
      { id: 'data', title: 'The data', body: dataSection(results) },
      { id: 'sparse', title: 'Is it sparse?', body: sparsitySection(results, pictures) },
      { id: 'split', title: 'The split', body: splitSection(results, pictures.split) },
      { id: 'fits', title: 'The fits', body: fitsSection(results) },
      verdicts.prediction &&
        prediction &&
        predictive && {
          id: 'prediction',
          title: predictionQuestion(results),
          body: predictionSection(results, verdicts.prediction, { prediction, predictive }),
        },
      {
        id: 'ranking',
        title: RANKING_QUESTION,
        body: rankingSection(results, verdicts.ranking, pictures.ranking),
      },
      runs.length > 1 && { id: 'repeats', title: 'Over several splits', body: repeatsSection(results) },
      { id: 'features', title: 'What the features are about', body: featuresSection(results) },
      { id: 'next', title: 'What to do next', body: nextSection(verdicts) },
      { id: 'receipt', title: 'Receipt', body: receiptSection(results) },
    ],
    explored: true,
    definitions: studyTerms({
      names,
      n,
      depth,
      drawn: verdicts.prediction !== null,
      corrected: receipt.settings.calibrate > 0,
      ranked: results.runs[0].split.method === 'new-items' ? 'new-items' : receipt.settings.protocol,
    }),
    footer: html`Made by graphex ${receipt.graphexVersion}, seed ${receipt.settings.seed}, data fingerprint
<code>${receipt.fingerprint}</code>. Click a dotted word for its definition.`,
  });
}

function shortSection(results: StudyResults, verdicts: StudyVerdicts): Content {
  const { prediction, ranking } = verdicts;
  const { users, items } = results.check.verdict;
  const card = (colour: string, question: string, { headline }: StudyVerdict, text: string, target: string) =>
    html`<div class="card short ${colour}"><p class="kicker">${question}</p>
<strong>${headline}</strong><p>${text}</p><p class="more"><a href="#${target}">More</a></p></div>`;
  const best = results.runs[0].leaderboard.rows.find((row) => row.id === ranking.method);
  // Only sparse, dense and the ranker have a colour.
  const winner =
    ranking.winner === 'model' ? (best?.model ?? (best?.kind === 'ranker' ? 'ranking' : 'plain')) : 'plain';
  const predicted =
    prediction?.well && prediction.winner !== 'alike' && prediction.winner !== null
      ? prediction.winner
      : 'plain';
  const first = (text: string) => text.split(/(?<=\.) (?=[A-Z])/, 1)[0];
  const advice = verdicts.next.find(({ text }) => text.startsWith('To recommend'))!.text.replace(/:$/, '.');
  return [
    STUDY_STYLE,
    html`<div class="cards">${card(
      users === items ? users : 'plain',
      'Is it sparse?',
      verdicts.sparsity,
      first(sparsityWords(results.check).advice),
      'sparse',
    )}${
      prediction &&
      card(predicted, predictionQuestion(results), prediction, first(prediction.text), 'prediction')
    }${card(winner, RANKING_QUESTION, ranking, advice, 'ranking')}</div>`,
  ];
}

function nextSection(verdicts: StudyVerdicts): Content {
  const steps = (some: StudyVerdicts['next']) =>
    html`<ul class="steps">${some.map(({ text, command }) => html`<li>${text}<br>${commandLine(command)}</li>`)}</ul>`;
  // The steps to recommend with are what most readers need.
  const at = verdicts.next.findIndex(({ text }) => text.startsWith('To recommend'));
  const main = verdicts.next.slice(at, at + 3);
  return [steps(main), fold('More steps', steps(verdicts.next.filter((step) => !main.includes(step))))];
}

function receiptSection(results: StudyResults): Content {
  const { receipt, check } = results;
  const { origin, settings } = receipt;
  const { machine, titles } = origin ?? {};
  const rows = present<readonly Content[]>([
    [
      term('fingerprint', 'Data'),
      html`${origin && html`<code>${origin.source}</code>, `}fingerprint <code>${receipt.fingerprint}</code>`,
    ],
    ['Seeds of the splits', receipt.seeds.join(', ')],
    ['Software', `graphex ${receipt.graphexVersion}${origin ? `, ${origin.runtime}` : ''}`],
    machine && [
      'Machine',
      `${machine.cpu}, ${machine.cores} cores, ${short(machine.memory / 2 ** 30)} GiB, ${machine.system}`,
    ],
    ['Engine', receipt.engines.join('; ')],
    titles && ['Titles', `${titles.source}: ${many(titles.matched, check.names.items)} by ${titles.columns}`],
    ['Time', `${short(receipt.seconds)} s in all`],
  ]);
  return [
    html`<p>All figures are in <code>results.json</code> in the folder of this page. ${
      origin?.kept
        ? 'No command repeats the study, because none thins data.'
        : 'This command repeats the study with the same numbers; only times differ:'
    }</p>`,
    !origin?.kept && html`<p>${commandLine(repeatCommand(results))}</p>`,
    fold('Data, software and machine', table([{ label: 'What' }, { label: 'Value' }], rows)),
    fold('Options', optionsTable(settings)),
    fold(
      'Times',
      table(
        [{ label: 'Stage' }, { label: 'seconds', numeric: true }],
        receipt.timings.map((t) => [
          `${capital(stageLabel(t))}${receipt.seeds.length > 1 && t.run !== null ? `, split ${t.run + 1}` : ''}`,
          fixed(t.seconds, 1),
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
