import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useId } from 'preact/hooks';
import type { Api, FoundItems, FoundUsers } from '../protocol.js';
import { ask } from '../session-client.js';
import { itemTable, model, step } from '../state.js';
import { answerOf } from '../work.js';
import { into } from './controls.js';

/** The answer to a small request, asked again when an input changes. */
function useAsked<M extends 'find' | 'findUsers'>(
  method: M,
  input: Api[M][0],
  inputs: readonly unknown[],
): Api[M][1] | undefined {
  const found = useSignal<Api[M][1] | undefined>(undefined);
  useEffect(() => {
    const asked = ask(method, input);
    void answerOf(asked, step.peek()).then((list) => {
      if (list) found.value = list;
    });
    return asked.cancel;
  }, [...inputs, model.value]);
  return found.value;
}

/** The items whose names contain a text, or the most common ones. They are fetched again when titles come. */
export function useFound(text: string, n: number, feature?: number): FoundItems | undefined {
  return useAsked('find', { text, n, feature }, [text, n, feature, itemTable.value]);
}

export function useFoundUsers(text: string, n: number): FoundUsers | undefined {
  return useAsked('findUsers', { text, n }, [text, n]);
}

export function SearchField({
  label,
  text,
  onEnter,
}: {
  readonly label: string;
  readonly text: Signal<string>;
  /** Called on Enter, for fields that take a single result. */
  readonly onEnter?: () => void;
}) {
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
        onInput={into(text)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') onEnter?.();
        }}
      />
    </p>
  );
}
