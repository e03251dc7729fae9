import { signal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';
import { complain, step } from '../state.js';

/** The component of a step, fetched when it is first shown. */
export function lazy(load: () => Promise<{ default: ComponentType }>): () => VNode {
  const loaded = signal<ComponentType | undefined>(undefined);
  let asked = false;
  return () => {
    if (!asked) {
      asked = true;
      const at = step.peek();
      load().then(
        (module) => {
          loaded.value = module.default;
        },
        () => {
          asked = false;
          complain(
            'This part of the page could not be loaded. Check the connection and load the page again.',
            at,
          );
        },
      );
    }
    const Loaded = loaded.value;
    return Loaded ? <Loaded /> : <p class="quiet">Loading …</p>;
  };
}
