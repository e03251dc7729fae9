import { auditWords, CHECK_COLUMNS, CHECK_NOTE } from '../../report/words/audit.js';
import { grouped } from '../../text/numbers.js';
import { capital } from '../../text/phrases.js';
import { shown } from '../../text/untrusted.js';
import { removeFoldIn, runAudit, takeForAudit } from '../actions.js';
import { Button, FileField } from '../components/controls.js';
import { useArrival } from '../components/hooks.js';
import { save } from '../components/save.js';
import { Table } from '../components/table.js';
import { Term } from '../components/term.js';
import type { Audited, AuditedColumns } from '../protocol.js';
import { audited, auditFiles } from '../state.js';

const PARTS = [
  ['train', 'Training table', undefined],
  ['test', 'Test table', undefined],
  ['foldIn', 'Fold-in table', 'optional: known items of test users who are not in training'],
] as const;

export default function Audit() {
  const files = auditFiles.value;
  const found = audited.value;
  const place = useArrival<HTMLParagraphElement>(found);
  return (
    <>
      <h1>
        Is a <Term of="split">split</Term> fair?
      </h1>
      <p class="lead" ref={place}>
        {found
          ? auditWords(found.audit, found.names).answer
          : 'Drop the training table and the test table of any evaluation. The checks say whether its figures can be trusted.'}
      </p>
      <div class="cards">
        {PARTS.map(([part, title, about]) => (
          <FileField
            class={`drop small${files[part] ? ' full' : ''}`}
            key={part}
            waits
            onFile={(file) => takeForAudit(file, part)}
          >
            <strong>{title}</strong>
            <span>{files[part] ? shown(files[part].name, 40) : 'drop or choose a file'}</span>
            {about && <small>{about}</small>}
          </FileField>
        ))}
      </div>
      <p class="buttons">
        <Button
          class={found ? undefined : 'primary'}
          waits
          disabled={!files.train || !files.test}
          onClick={() => void runAudit()}
        >
          {found ? 'Check again' : 'Check the split'}
        </Button>
        {!(files.train && files.test) && <span class="quiet">Training and test are needed.</span>}
        {files.foldIn && (
          <Button waits onClick={removeFoldIn}>
            Remove the fold-in table
          </Button>
        )}
      </p>
      {found && <Checks found={found} />}
    </>
  );
}

function Checks({ found }: { readonly found: Audited }) {
  const { audit, names, columns } = found;
  const { checks } = auditWords(audit, names);
  const bad = checks.filter((one) => one.verdict !== 'fine');
  const fine = checks.filter((one) => one.verdict === 'fine');
  return (
    <>
      <Table
        label="The checks"
        tight
        caption={CHECK_NOTE}
        columns={CHECK_COLUMNS.map((label, at) => ({ label: capital(label), numeric: at > 1 }))}
        rows={checks.map(({ title, verdict, figures }) => [
          capital(title),
          <b class={`verdict-${verdict}`} key="verdict">
            {verdict}
          </b>,
          ...figures,
        ])}
      />
      <Explained checks={bad} />
      {fine.length > 0 && (
        <details>
          <summary>
            {grouped(fine.length)} {fine.length === 1 ? 'check is' : 'checks are'} fine
          </summary>
          <Explained checks={fine} />
        </details>
      )}
      <p class="quiet">
        {PARTS.map(([part, title]) => {
          const size = audit.parts[part];
          const read = columns[part];
          return (
            size &&
            read &&
            `${title}: ${grouped(size.edges)} pairs of ${grouped(size.users)} ${names.users.many} and ${grouped(size.items)} ${names.items.many}, ${columnWords(read)}. `
          );
        })}
      </p>
      <p class="buttons">
        <Button
          onClick={async () => {
            const { auditReport } = await import('../reports.js');
            const { train, test } = auditFiles.value;
            const page = auditReport(`${train!.name} and ${test!.name}`, found);
            save('audit.html', page, 'text/html');
          }}
        >
          Save the audit
        </Button>
      </p>
    </>
  );
}

/** What each check found, and what to do. */
function Explained({ checks }: Pick<ReturnType<typeof auditWords>, 'checks'>) {
  return (
    <dl class="words">
      {checks.map(({ title, verdict, words, advice }) => (
        <div key={title}>
          <dt>
            {capital(title)}: {verdict}
          </dt>
          <dd>
            {words} {advice && <b>{advice}</b>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** 'columns user and item, times in column when'. */
function columnWords({ users, items, time }: AuditedColumns): string {
  const times = time === undefined ? 'no times' : `times in column ${shown(time, 30)}`;
  return `columns ${shown(users, 30)} and ${shown(items, 30)}, ${times}`;
}
