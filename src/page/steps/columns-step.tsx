import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { columnName } from '../../report/words/info.js';
import { byteWords, needWords, rowsWords } from '../../report/words/page.js';
import { percent } from '../../text/numbers.js';
import { shown } from '../../text/untrusted.js';
import { lookAgain, readTable } from '../actions.js';
import { Button, Checkbox, Form, Select } from '../components/controls.js';
import { ColumnOption } from '../components/option.js';
import { ShareFields } from '../components/thinning.js';
import { LABELS } from '../control-labels.js';
import { memoryCap, type Need, needToRead, needToThin, shareThatFits } from '../estimate.js';
import type { Shares } from '../protocol.js';
import { byFirstRows, estimateRows } from '../row-estimate.js';
import { change, preview, settings, source } from '../state.js';
import { work } from '../work.js';

const SEPARATORS: readonly (readonly [string, string])[] = [
  [',', 'comma'],
  ['\t', 'tab'],
  [';', 'semicolon'],
  ['|', 'bar'],
  [' ', 'space'],
  ['::', 'two colons'],
];

const COLUMNS = [
  ['users', 'who buys, reads or contains: the left side of a pair'],
  ['items', 'what is bought, read or contained: the right side'],
  ['count', 'how often; used if you keep counts'],
  ['time', 'when: dates, or seconds since 1970'],
] as const;

/** The roles of the columns, guessed from the first rows. */
export default function Columns() {
  const looked = preview.value;
  const from = source.value;
  const estimated = useSignal<number | undefined>(undefined);
  const blob = from?.kind === 'blob' ? from.blob : undefined;
  useEffect(() => {
    estimated.value = undefined;
    if (blob && looked)
      void estimateRows(blob, looked).then((found) => {
        estimated.value = found;
      });
  }, [blob, looked]);
  if (!looked || from?.kind !== 'blob') return null;
  const { users, items, count, time, multigraph, setAside, keepUsers, keepItems } = settings.value;
  const roles = Object.entries({ users, items, count, time });
  const role = (name: string) => roles.find(([, column]) => column === name)?.[0];
  const rows = estimated.value ?? byFirstRows(from.blob.size, looked);
  const whole = needToRead(rows);
  const shares = { users: keepUsers, items: keepItems };
  const need = needToThin(whole, shares);
  const cap = memoryCap();
  const alone = looked.names.length < 2;
  const hasMore = looked.names.length > 2;
  return (
    <Form onSubmit={() => void readTable()}>
      <h1>Which column is what?</h1>
      <p class="lead">
        {shown(from.name)}: {looked.format === 'parquet' ? 'Parquet' : looked.format}, {rowsWords(rows)}.
      </p>
      <div class="fields">
        {COLUMNS.filter(([name]) => hasMore || name === 'users' || name === 'items').map(([name, about]) => (
          <ColumnOption key={name} name={name} columns={looked.names} about={about} />
        ))}
      </div>
      <section class="scroll" tabIndex={0} aria-label="The first rows">
        <table class="preview">
          <thead>
            <tr>
              {looked.names.map((name) => (
                <th scope="col" key={name} class={role(name)}>
                  {columnName(name)}
                  <em>
                    {role(name) ?? 'not used'}
                    {role(name) === 'count' && !multigraph && ', not used'}
                  </em>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {looked.rows.map((row, r) => (
              <tr key={r}>
                {looked.names.map((name, c) => (
                  <td key={name} class={role(name)}>
                    {shown(row[c] ?? '', 60)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <div class="choices">
        <Checkbox
          checked={multigraph ?? false}
          onChange={(checked) => change({ multigraph: checked || undefined })}
        >
          {LABELS.multigraph}:{' '}
          {count === undefined
            ? 'rows that repeat a pair add up'
            : `use ${columnName(count)}, to learn how often. Lists are as good without it.`}
        </Checkbox>
        <Checkbox
          checked={setAside ?? false}
          onChange={(checked) => change({ setAside: checked || undefined })}
        >
          {LABELS.rejects} and continue, instead of stopping at the first
        </Checkbox>
        {looked.format === 'text table' && (
          <>
            <Checkbox
              checked={looked.header ?? false}
              onChange={(checked) => void lookAgain(settings.value.sep, checked)}
            >
              {LABELS.header}
            </Checkbox>
            <Select
              label={LABELS.sep}
              inline
              value={looked.separator ?? ','}
              choices={SEPARATORS}
              onChange={(separator) => void lookAgain(separator, settings.value.header)}
            />
          </>
        )}
      </div>
      {whole.bytes > cap ? (
        <TooLarge whole={whole} cap={cap} shares={shares} />
      ) : (
        <details open={keepUsers < 1 || keepItems < 1}>
          <summary>Read a part of the table</summary>
          <ShareFields shares={shares} onChange={keep} />
        </details>
      )}
      <p class={need.bytes > cap ? 'note warn' : 'quiet'} role="status">
        {needWords(need.bytes, need.seconds, cap)}
      </p>
      <p class="buttons">
        <button type="submit" class="primary" disabled={alone || users === items}>
          {work.value ? 'Start again with these settings' : 'Is it sparse?'}
        </button>
        <span class="quiet">
          {alone
            ? 'There is only one column: choose another separator, or open another table.'
            : users === items
              ? 'Users and items must be two columns.'
              : 'The table is read and checked. Models and lists come next.'}
        </span>
      </p>
    </Form>
  );
}

function keep({ users, items }: Shares): void {
  change({ keepUsers: users, keepItems: items });
}

/** Offers a part of a table that is too large for a tab. */
function TooLarge({
  whole,
  cap,
  shares,
}: {
  readonly whole: Need;
  readonly cap: number;
  readonly shares: Shares;
}) {
  const share = shareThatFits(whole, cap);
  const part = { users: share, items: share };
  return (
    <section class="large" aria-label="A large table">
      <h2>This table is probably too large for a tab</h2>
      <p>
        The whole table would take about {byteWords(whole.bytes)} of memory. This browser probably gives a tab{' '}
        {byteWords(cap)}.
      </p>
      <ShareFields shares={shares} onChange={keep} />
      <p class="buttons">
        {(shares.users !== share || shares.items !== share) && (
          <Button onClick={() => keep(part)}>
            Keep {percent(share)} of both: about {byteWords(needToThin(whole, part).bytes)}
          </Button>
        )}
        <span class="quiet">
          The command line can use all memory of the machine (graphex check), and more than that (graphex
          partition).
        </span>
      </p>
    </section>
  );
}
