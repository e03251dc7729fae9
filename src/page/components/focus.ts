// Where the keyboard focus goes when the button that has it is disabled or gone.

import type { TargetedMouseEvent } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

function isUsable(element: HTMLElement | null): element is HTMLElement {
  return element?.isConnected === true && !element.matches(':disabled');
}

const isLost = () => document.activeElement === document.body || document.activeElement === null;

function focusMain(): void {
  document.getElementById('main')?.focus({ preventScroll: true });
}

/** Work that disables the button that started it takes the focus to its own place, and gives it back in the end. */
export function useFocusOfWork(isWorking: boolean) {
  const place = useRef<HTMLElement>(null);
  const used = useRef<HTMLElement | null>(null);
  const isHere = useRef(false);
  useEffect(() => {
    const remember = ({ target }: FocusEvent) => {
      isHere.current = place.current?.contains(target as Node) ?? false;
      if (!isHere.current) used.current = target as HTMLElement;
    };
    document.addEventListener('focusin', remember);
    return () => document.removeEventListener('focusin', remember);
  }, []);
  useEffect(() => {
    if (isWorking) {
      const isOfButton = isLost() || document.activeElement === used.current;
      if (used.current && isOfButton && !isUsable(used.current))
        place.current?.focus({ preventScroll: true });
    } else if (isHere.current) {
      isHere.current = false;
      if (!isLost()) return;
      if (isUsable(used.current)) used.current.focus({ preventScroll: true });
      else focusMain();
    }
  }, [isWorking]);
  return place;
}

/** A list whose buttons disappear when they are used: the next one gets the focus. */
export function useNextFocus<T extends HTMLElement>(selector = 'button') {
  const ref = useRef<T>(null);
  const used = useRef<{ readonly button: HTMLElement; readonly at: number } | undefined>(undefined);
  const buttons = () => [...(ref.current?.querySelectorAll<HTMLElement>(selector) ?? [])];
  useEffect(() => {
    if (!used.current || used.current.button.isConnected) return;
    const { at } = used.current;
    used.current = undefined;
    if (!isLost()) return;
    const left = buttons();
    if (left.length > 0) left[Math.min(at, left.length - 1)].focus();
    else focusMain();
  });
  const onClickCapture = ({ target }: TargetedMouseEvent<T>) => {
    const all = buttons();
    const at = all.findIndex((button) => button.contains(target as Node));
    used.current = at < 0 ? undefined : { button: all[at], at };
  };
  return { ref, onClickCapture };
}
