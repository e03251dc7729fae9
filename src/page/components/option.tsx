import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { parseValue } from '../../options/check-options.js';
import type { NumberOption as Declared } from '../../options/declare.js';
import { columnName } from '../../report/words/info.js';
import { capital } from '../../text/phrases.js';
import { LABELS } from '../control-labels.js';
import { SETTINGS } from '../settings.js';
import { change, settings } from '../state.js';
import { Select } from './controls.js';

type NumberName = {
  [K in keyof typeof SETTINGS]: (typeof SETTINGS)[K] extends { readonly kind: 'whole' | 'decimal' }
    ? K
    : never;
}[keyof typeof SETTINGS];

/** A field for a number, with the meaning and the bounds that the library declares. A wrong number stays, with its error. */
export function NumberOption({
  name,
  label,
  step = 1,
  about,
}: {
  readonly name: NumberName;
  readonly label: string;
  readonly step?: number;
  /** Replaces the declared meaning; '' if the label says it all. */
  readonly about?: string;
}) {
  const { min, above, max, below, meaning }: Declared = SETTINGS[name];
  const least = min ?? (above === undefined ? undefined : above + step);
  const most = max ?? (below === undefined ? undefined : below - step);
  const value = settings.value[name];
  const refused = useSignal<{ readonly typed: string; readonly why: string } | undefined>(undefined);
  useEffect(() => {
    refused.value = undefined;
  }, [value]);
  return (
    <label>
      <span>{label}</span>
      <input
        type="number"
        min={least}
        max={most}
        step={step}
        required
        aria-invalid={refused.value !== undefined}
        value={refused.value?.typed ?? value}
        onChange={({ currentTarget: field }) => {
          const parsed = parseValue(SETTINGS[name], field.value);
          if ('value' in parsed && field.checkValidity()) {
            refused.value = undefined;
            change({ [name]: parsed.value });
            return;
          }
          const why = 'expected' in parsed ? `expected ${parsed.expected}` : field.validationMessage;
          refused.value = { typed: field.value, why };
        }}
      />
      {refused.value && (
        <small class="refused" role="alert">
          {`${label} ${refused.value.typed}`.trim()}: {refused.value.why}
        </small>
      )}
      {about !== '' && <small>{about ?? capital(meaning)}</small>}
    </label>
  );
}

/** Which of these columns has the users, the items, the counts or the times. Counts and times can be left out. */
export function ColumnOption({
  name,
  columns,
  about,
}: {
  readonly name: 'users' | 'items' | 'count' | 'time';
  readonly columns: readonly string[];
  readonly about: string;
}) {
  const canBeNone = name === 'count' || name === 'time';
  return (
    <Select
      label={LABELS[name]}
      value={settings.value[name] ?? ''}
      choices={[
        ...(canBeNone ? [['', 'none'] as const] : []),
        ...columns.map((column) => [column, columnName(column)] as const),
      ]}
      about={about}
      onChange={(column) => {
        const value = column || undefined;
        // A visitor who chooses a column of counts wants the counts kept.
        change({ [name]: value, ...(name === 'count' && { multigraph: value !== undefined || undefined }) });
      }}
    />
  );
}
