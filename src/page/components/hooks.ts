import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';

const scheme = window.matchMedia('(prefers-color-scheme: dark)');
/** Whether the user prefers dark colours, now. */
export const dark = signal(scheme.matches);
scheme.addEventListener('change', () => {
  dark.value = scheme.matches;
});

/**
 * A place that is brought into view when another result arrives there, if it is outside the upper part of the screen.
 * `result` is undefined while there is none. The focus stays where it is.
 */
export function useArrival<T extends HTMLElement>(result: unknown) {
  const place = useRef<T>(null);
  const before = useRef(result);
  useEffect(() => {
    if (result === undefined || result === before.current) return;
    before.current = result;
    if (place.current) bringIntoView(place.current);
  }, [result]);
  return place;
}

/** Scrolls to an element that is outside the upper part of the screen. */
export function bringIntoView(element: HTMLElement): void {
  const { top } = element.getBoundingClientRect();
  if (top >= 0 && top < window.innerHeight / 2) return;
  const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
  element.scrollIntoView({ block: 'start', behavior: still ? 'auto' : 'smooth' });
}
