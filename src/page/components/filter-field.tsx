import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { columnName } from '../../report/words/info.js';
import { conditionOn, examplesOf, filtersInOrder } from '../../report/words/page.js';
import { LABELS } from '../control-labels.js';
import { filter, itemTable, model, names } from '../state.js';
import { Button, set } from './controls.js';

/** Attributes that are offered; the others are offered on request. */
const OFFERED = 5;

/** A condition on the attributes of the items that are listed. Each attribute offers one to begin with. */
export function FilterField({
  problem,
}: {
  /** What is wrong with the condition. */
  readonly problem: string | undefined;
}) {
  const id = useId();
  const typed = useSignal<string | undefined>(undefined);
  const all = useSignal(false);
  const attributes = filtersInOrder(itemTable.value?.attributes ?? model.value?.attributes ?? []);
  const more = all.value ? 0 : attributes.length - OFFERED;
  if (attributes.length === 0) return null;
  const use = (condition: string) => {
    typed.value = undefined;
    filter.value = condition.trim();
  };
  return (
    <section class="filter" aria-label={LABELS.filter}>
      <label for={id}>
        {LABELS.filter}{' '}
        <span class="quiet">only {names.value.items.many} for which this holds; Enter applies it</span>
      </label>
      <input
        id={id}
        type="search"
        autocomplete="off"
        spellcheck={false}
        maxLength={10_000}
        placeholder={`for example: ${conditionOn(attributes[0])}`}
        aria-invalid={problem !== undefined}
        value={typed.value ?? filter.value}
        onInput={(event) => {
          typed.value = event.currentTarget.value;
          // An emptied field lists all items again.
          if (typed.value === '') use('');
        }}
        onChange={(event) => use(event.currentTarget.value)}
      />
      {problem !== undefined && (
        <p class="refused" role="alert">
          {problem}
        </p>
      )}
      <ul class="chips" aria-label="Attributes">
        {attributes.slice(0, more > 1 ? OFFERED : undefined).map((attribute) => (
          <li key={attribute.name}>
            <Button
              onClick={() => {
                const more = conditionOn(attribute);
                use(filter.value === '' ? more : `${filter.value} and ${more}`);
              }}
            >
              + {columnName(attribute.name)} <small>{examplesOf(attribute)}</small>
            </Button>
          </li>
        ))}
        {more > 1 && (
          <li>
            <Button class="more" onClick={() => set(all, true)}>
              {more} more
            </Button>
          </li>
        )}
      </ul>
    </section>
  );
}
