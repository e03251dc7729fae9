// Amounts of memory as people write them: 800M, 8G.

import { option, optionError } from '../options/error.js';

const UNITS: Readonly<Record<string, number>> = { K: 2 ** 10, M: 2 ** 20, G: 2 ** 30, T: 2 ** 40 };
const LEAST = 16 * 2 ** 20;

/** The bytes of a text such as 8G. */
export function parseMemory(text: string): number {
  const found = /^(\d+(?:\.\d+)?)([KMGT])(?:i?B)?$/i.exec(text.trim());
  const bytes = found ? Number(found[1]) * UNITS[found[2].toUpperCase()] : Number.NaN;
  if (bytes >= LEAST && bytes < 2 ** 53) return Math.floor(bytes);
  throw optionError`${option('memory')} ${text}: expected an amount of at least 16M, as in 800M or 8G`;
}

/** 800M, 1.5G: at least as much as is given, in the form that is read back. */
export function sizeWords(bytes: number): string {
  const unit = bytes >= UNITS.G ? 'G' : 'M';
  const amount = bytes / UNITS[unit];
  return `${unit === 'G' ? Math.ceil(10 * amount) / 10 : Math.ceil(amount)}${unit}`;
}
