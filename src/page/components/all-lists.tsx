import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { grouped } from '../../text/numbers.js';
import { capital, many } from '../../text/phrases.js';
import { filter, hidden, lister, names, settings } from '../state.js';
import { Button } from './controls.js';
import { NumberOption } from './option.js';
import { FORMAT_NAMES, saveExport } from './save.js';

export function AllLists({
  count,
  refused,
}: {
  /** The users who get a list. */
  readonly count: number;
  /** Whether the filter is wrong. */
  readonly refused: boolean;
}) {
  const form = useRef<HTMLFormElement>(null);
  const { users, items } = names.value;
  const saved = useSignal<string | undefined>(undefined);
  const take = async (format: 'csv' | 'parquet') => {
    saved.value = undefined;
    if (!form.current!.reportValidity()) return;
    const { n } = settings.value;
    const file = await saveExport(`Lists for ${many(count, users)}.`, {
      what: 'lists',
      by: lister.value,
      n,
      format,
      filter: filter.value || undefined,
      exclude: hidden.value,
    });
    if (file) saved.value = `${file} has ${n} ${items.many} for each of ${many(count, users)}.`;
  };
  return (
    <section class="all-lists" aria-label="Lists for all">
      <h2>
        Lists for all {grouped(count)} {users.many}
      </h2>
      <form ref={form} class="fields" onSubmit={(event) => event.preventDefault()}>
        <NumberOption name="n" label={`${capital(items.many)} in a list`} about="" />
      </form>
      {filter.value && <p class="quiet">Only {items.many} that the filter keeps are listed.</p>}
      {hidden.value.length > 0 && (
        <p class="quiet">{capital(many(hidden.value.length, items))} that you hid will be left out.</p>
      )}
      <p class="buttons">
        {(['csv', 'parquet'] as const).map((format) => (
          <Button key={format} waits disabled={refused} onClick={() => void take(format)}>
            Save all lists as {FORMAT_NAMES[format]}
          </Button>
        ))}
        <span class="quiet" role="status">
          {saved.value}
        </span>
      </p>
    </section>
  );
}
