// Places labels so that they do not overlap, the most important ones first.

import { type Frame, toScreen, type View } from './view.js';

interface Label {
  readonly item: number;
  readonly left: number;
  readonly top: number;
  readonly text: string;
}

const HEIGHT = 17;
const MOST = 60;
/** The buttons at the top right of the map would hide a label. */
const BUTTONS = { width: 210, height: 56 };

interface Labelled {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** Items in order of importance. */
  readonly order: ArrayLike<number>;
  text(item: number): string;
  width(text: string): number;
}

/** The labels of the visible items. Items in `first` come before all others. */
export function placeLabels(
  { x, y, order, text, width }: Labelled,
  view: View,
  frame: Frame,
  first: readonly number[] = [],
): Label[] {
  const placed: (Label & { readonly right: number })[] = [];
  const taken = new Set<number>();
  const offer = (item: number) => {
    if (taken.has(item)) return;
    const [left, top] = toScreen(view, frame, x[item], y[item]);
    if (left < 0 || top < HEIGHT || left > frame.width || top > frame.height - HEIGHT) return;
    const said = text(item);
    const wide = width(said);
    const start = Math.max(2, Math.min(frame.width - wide - 2, left + 6));
    if (start + wide > frame.width - BUTTONS.width && top < BUTTONS.height) return;
    const box = { item, left: start, top: top - 4, right: start + wide, text: said };
    const free = placed.every(
      (other) =>
        box.right + 6 < other.left || other.right + 6 < box.left || Math.abs(other.top - box.top) >= HEIGHT,
    );
    if (!free) return;
    taken.add(item);
    placed.push(box);
  };
  for (const item of first) offer(item);
  // Most items are out of view or overlap, so more items are tried than are placed.
  for (let i = 0; i < order.length && placed.length < MOST && i < 4000; i++) offer(order[i]);
  return placed;
}
