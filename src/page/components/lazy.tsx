import { signal } from '@preact/signals';
import type { ComponentType, VNode } from 'preact';

/** A component that is fetched when it is first shown. */
export function lazy(load: () => Promise<{ default: ComponentType }>): () => VNode {
  const loaded = signal<ComponentType | undefined>(undefined);
  const failed = signal<string | undefined>(undefined);
  let asked = false;
  return () => {
    if (!asked) {
      asked = true;
      load().then(
        (module) => {
          loaded.value = module.default;
        },
        () => {
          asked = false;
          failed.value =
            'This part of the page could not be loaded. Check the connection and load the page again.';
        },
      );
    }
    const Loaded = loaded.value;
    if (Loaded) return <Loaded />;
    return failed.value ? (
      <p class="problem" role="alert">
        {failed.value}
      </p>
    ) : (
      <p class="quiet">Loading …</p>
    );
  };
}
