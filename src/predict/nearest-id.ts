// Hints for unknown ids: the id that was probably meant.

import { InputError } from '../errors.js';
import type { VertexIds } from '../graph/ids.js';
import { editDistance } from '../text/edit-distance.js';
import { shown } from '../text/untrusted.js';

/** The error for an unknown id: `what` is wrong, a similar id if there is one, and `advice`. */
export function unknownId(what: string, id: string | number, ids: VertexIds, advice?: string): InputError {
  const near = nearestId(id, ids);
  if (near === undefined) return new InputError(advice ? `${what}; ${advice}` : what);
  return new InputError(`${what}; did you mean ${shown(near)}?${advice ? ` If not, ${advice}` : ''}`);
}

/** Longer ids get no hint, since the search compares characters. */
const LONGEST = 200;

/**
 * The most similar id. An id that differs only in case, spaces, leading zeros or a trailing ".0" comes first. Otherwise at most
 * two letters may differ: one in texts of up to five letters, none in texts of up to two. Undefined if no id is similar.
 */
export function nearestId(wanted: string | number, ids: VertexIds): string | undefined {
  const text = String(wanted);
  if (text === '' || text.length > LONGEST) return undefined;
  const plainWanted = plain(text);
  const most = text.length <= 2 || isNumber(text) ? 0 : text.length <= 5 ? 1 : 2;
  let best: string | undefined;
  let distance = most + 1;
  for (let v = 0; v < ids.length; v++) {
    const id = ids.at(v);
    if (id.length > LONGEST) continue;
    if (plainWanted !== '' && plain(id) === plainWanted) return id;
    if (distance <= 1 || Math.abs(id.length - text.length) >= distance) continue;
    const d = editDistance(text, id, distance - 1);
    if (d < distance) {
      distance = d;
      best = id;
    }
  }
  return best;
}

export const isNumber = (text: string) => /^[\d.]+$/.test(text);

/** Ids with more digits are not padded with zeros. */
const MOST_DIGITS = 20;

/** The id that differs from a number in leading zeros or a trailing ".0" alone; undefined if there is none. */
export function sameNumber(wanted: string | number, ids: VertexIds): string | undefined {
  const text = String(wanted);
  if (!isNumber(text) || text.length > MOST_DIGITS) return undefined;
  const digits = plain(text);
  const forms = [`${digits}.0`];
  for (let length = digits.length; length <= MOST_DIGITS; length++) forms.push(digits.padStart(length, '0'));
  return forms.find((form) => ids.find(form) >= 0);
}

/** The id in lower case, without spaces at the ends, leading zeros and a trailing ".0". */
function plain(id: string): string {
  const text = id.trim().toLowerCase();
  return isNumber(text) ? text.replace(/^0+(?=\d)/, '').replace(/\.0*$/, '') : text;
}
