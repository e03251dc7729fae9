import { useEffect, useRef, useState } from 'preact/hooks';

/** Whether the user prefers dark colours, now. */
export function useDark(): boolean {
  const query = window.matchMedia('(prefers-color-scheme: dark)');
  const [dark, setDark] = useState(query.matches);
  useEffect(() => {
    const follow = () => setDark(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return dark;
}

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
