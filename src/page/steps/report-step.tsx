import { useSignal } from '@preact/signals';
import { heldOutOfFile } from '../../report/words/page.js';
import { type Done, sameCommands, sameScript } from '../../report/words/same-as.js';
import { Button } from '../components/controls.js';
import { FORMAT_NAMES, save, saveExport } from '../components/save.js';
import { Linked } from '../components/term.js';
import { LABELS } from '../control-labels.js';
import type { AuditedColumns, AuditPart, Export, Purpose } from '../protocol.js';
import {
  audited,
  auditFiles,
  check,
  checkSeed,
  comparison,
  evaluation,
  forecast,
  go,
  itemTableFile,
  model,
  modelFile,
  models,
  opened,
  ready,
  settings,
  shownList,
} from '../state.js';
import { perform } from '../work.js';

/** The tables that can be saved. Without a split there is only the first. */
const PARTS = [
  ['all', 'All edges'],
  ['train', 'Training part'],
  ['foldIn', 'Fold-in part'],
  ['test', 'Test part'],
] as const;

/** Files to save, and the commands that give the same numbers elsewhere. */
export default function Report() {
  const data = opened.value;
  const fitted = model.value;
  const { seed, features } = settings.value;
  const several = ready.value.length > 1;
  // A model that was opened has no other command than that of its lists.
  const canRepeat = data !== undefined || shownList.value !== undefined;
  const take = (asked: Export) => void saveExport('Writing.', asked);
  const parts = fitted?.split ? PARTS : PARTS.slice(0, 1);
  return (
    <>
      <h1>Save</h1>
      <p class="lead">
        {data ? 'Reports, models and tables' : 'The model'} as files
        {canRepeat && ', and the commands that give the same numbers elsewhere'}.
      </p>
      {data && (
        <>
          <h2>Reports</h2>
          <p>
            Each report is one self-contained page. The study fits all models and the usual baselines, so it
            takes a while.
          </p>
          <p class="buttons">
            <Button
              waits
              disabled={!check.value}
              onClick={async () => {
                const { checkReport } = await import('../reports.js');
                save('check.html', checkReport(data, check.value!, checkSeed.value), 'text/html');
              }}
            >
              Save the check
            </Button>
            <Button
              waits
              onClick={async () => {
                const results = await perform('The whole study.', 'study', { seed, features });
                if (!results) return;
                const { studyFiles } = await import('../reports.js');
                const files = await studyFiles(results);
                save('report.html', files['report.html'], 'text/html');
                save('results.json', files['results.json'], 'application/json');
              }}
            >
              Make and save the study
            </Button>
          </p>
          <p class="quiet">SVG and PNG files of a chart are below the chart.</p>
        </>
      )}
      {fitted && (
        <>
          <h2>{several ? 'The models' : 'The model'}</h2>
          <p>
            The command line and the server can open {several ? 'them' : 'it'}. So can this page: drop the
            file on the first screen.
          </p>
          <p class="buttons">
            {ready.value.map(({ purpose }) => (
              <Button key={purpose} waits onClick={() => take({ what: 'model', purpose })}>
                Save {purpose === 'recommend' ? 'ranker' : 'model'}.safetensors
              </Button>
            ))}
            {fitted.features !== undefined && (
              <Button waits onClick={() => take({ what: 'features' })}>
                Save features.csv
              </Button>
            )}
          </p>
          {data && fitted.split && data.users > fitted.users && (
            <p class="note">{heldOutOfFile(data.users - fitted.users, LABELS.holdOut, fitted.names)}</p>
          )}
          <h2>Recommendations</h2>
          <p class="buttons">
            <Button waits onClick={() => go('recommend')}>
              Lists for one {fitted.names.users.one} or for all
            </Button>
          </p>
        </>
      )}
      {data && (
        <>
          <h2>Tables</h2>
          {fitted?.split && (
            <p class="quiet">
              <Linked text="Training, fold-in and test are the parts of the split." terms={['split']} />
            </p>
          )}
          <ul class="files">
            {parts.map(([part, title]) => (
              <li key={part}>
                <span>{title}</span>
                {(['csv', 'parquet'] as const).map((format) => (
                  <Button
                    key={format}
                    waits
                    aria-label={`Save ${title.toLowerCase()} as ${FORMAT_NAMES[format]}`}
                    onClick={() => take({ what: 'edges', part, format })}
                  >
                    {FORMAT_NAMES[format]}
                  </Button>
                ))}
              </li>
            ))}
          </ul>
        </>
      )}
      {canRepeat && (
        <>
          <h2>The same on the command line</h2>
          <p>The same file, settings and seed give the same numbers on the command line and in a program.</p>
          <Lines title="Commands" text={sameCommands(done())} />
          <Lines title="JavaScript" text={sameScript(done())} />
        </>
      )}
    </>
  );
}

/** The work so far, with the settings that each result was made with. */
function done(): Done {
  const data = opened.value;
  const { users, items, count, setAside, ...read } = data?.choice ?? {};
  const { understand, recommend } = models.value;
  const time = recommend?.time;
  const shown = evaluation.value?.choice;
  const compared = comparison.value;
  const isCompared = (by: Purpose) => compared?.scores.some(({ purpose }) => purpose === by) ?? false;
  const grown = forecast.value;
  return {
    source: data?.source,
    file: modelFile.value,
    read: {
      ...(data?.source.startsWith('@') ? {} : { users, items, count }),
      ...read,
      rejects: setAside ? 'rejects.csv' : undefined,
    },
    seed: checkSeed.value,
    kept: data?.kept,
    fit: understand?.choice && {
      features: understand.choice.features,
      model: understand.choice.model,
      iterations: understand.choice.iterations,
      engine: understand.choice.engine,
      seed: understand.choice.seed,
    },
    ranker: recommend?.choice && {
      engine: recommend.choice.engine,
      halfLife: time === undefined ? undefined : 'auto',
      seed: recommend.choice.seed,
    },
    time,
    split: model.value?.choice?.split,
    evaluate:
      shown || isCompared('understand')
        ? { ...(shown ?? { draws: 0 }), n: compared?.n ?? settings.value.n }
        : undefined,
    rankerLists: isCompared('recommend') ? compared?.n : undefined,
    forecast: grown && { ...grown.asked, seed: grown.seed },
    audit: auditDone(),
    itemInfo: itemTableFile.value?.name,
    ...listDone(),
  };
}

/** The audit, whose tables may be others than the data. */
function auditDone(): Done['audit'] {
  const found = audited.value;
  if (!found) return undefined;
  const columns = Object.entries(found.columns) as [AuditPart, AuditedColumns][];
  const tables = columns.map(([part, own]) => [part, { file: auditFiles.value[part]?.name ?? part, ...own }]);
  return { tables: Object.fromEntries(tables), seed: found.seed };
}

/** The list on screen. */
function listDone(): Pick<Done, 'n' | 'by' | 'filter' | 'hidden' | 'likes' | 'user' | 'heldOut'> {
  const list = shownList.value;
  if (!list) return { n: settings.value.n };
  const { query, by, n, filter, exclude, answer } = list;
  const choice = { n, by, filter, hidden: exclude };
  if ('likes' in query) return { ...choice, likes: query.likes };
  // A held-out user is not in the model that the command line opens.
  return answer.heldOut
    ? { ...choice, heldOut: query.user, likes: answer.has }
    : { ...choice, user: query.user };
}

function Lines({ title, text }: { readonly title: string; readonly text: string }) {
  const copied = useSignal(false);
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {/* A region that scrolls can be reached by the keyboard. */}
      <pre tabIndex={0}>{text}</pre>
      <p>
        <Button
          onClick={async () => {
            await navigator.clipboard.writeText(text);
            copied.value = true;
            setTimeout(() => {
              copied.value = false;
            }, 2000);
          }}
        >
          {copied.value ? 'Copied' : 'Copy'}
        </Button>
      </p>
    </section>
  );
}
