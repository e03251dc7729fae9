import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import type { FoundItems } from '../protocol.js';
import { ask } from '../session-client.js';
import { complain, model, step } from '../state.js';

/** The items whose names contain a text, or the most common ones. They are fetched again when `more` becomes true. */
export function useFound(text: string, n: number, feature?: number, more = false): FoundItems | undefined {
  const found = useSignal<FoundItems | undefined>(undefined);
  useEffect(() => {
    const at = step.peek();
    const asked = ask('find', { text, n, feature });
    let gone = false;
    asked.answer.then(
      (list) => {
        if (!gone) found.value = list;
      },
      (error) => {
        if (!gone && error.name !== 'AbortError') complain(error.message, at);
      },
    );
    return () => {
      gone = true;
      asked.cancel();
    };
  }, [text, n, feature, more, model.value]);
  return found.value;
}

export function SearchField({ label, text }: { readonly label: string; readonly text: Signal<string> }) {
  const id = useId();
  return (
    <p class="search">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        autocomplete="off"
        spellcheck={false}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
    </p>
  );
}
