// Colours of charts and pages, and text that goes into either.

import { lines } from '../../text/untrusted.js';

/** A colour and what it becomes on a dark ground. */
interface Ink {
  readonly light: string;
  readonly dark: string;
}

/** The same colour always means the same thing: a side, auto, sparse, dense, the ranker. */
export const INK = {
  users: { light: '#2463a6', dark: '#7db5f2' },
  items: { light: '#b8560f', dark: '#f2a365' },
  auto: { light: '#8a6a00', dark: '#e3c25c' },
  sparse: { light: '#1d7a52', dark: '#66c89b' },
  dense: { light: '#7a4fb0', dark: '#c0a1ec' },
  ranking: { light: '#a3305f', dark: '#f093b6' },
  muted: { light: '#68727d', dark: '#98a2ad' },
  text: { light: '#1c2530', dark: '#e4e8ec' },
  ground: { light: '#ffffff', dark: '#14181d' },
} as const satisfies Record<string, Ink>;

/** Text as XML or HTML content or attribute value; characters that a reader could not see are written out. */
export function escapeXml(text: string): string {
  return lines(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
