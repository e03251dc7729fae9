// Attributes of a posted item, compared with the columns that the current model has.

import type { SideInfo } from '../../attributes/info.js';
import { numberOf } from '../../text/numbers.js';
import { shown } from '../../text/untrusted.js';
import { Problem } from '../problems.js';

/** Names of the columns that the model has, and whether each holds numbers. */
export type KnownColumns = ReadonlyMap<string, 'number' | 'other'>;

export function knownColumns(about: SideInfo | undefined): KnownColumns {
  return new Map([
    ...(about?.columns ?? []).map(({ name }): [string, 'other'] => [name, 'other']),
    ...(about?.numbers ?? []).map(({ column }): [string, 'number'] => [column, 'number']),
  ]);
}

/** The attributes as they are stored. A column without a name may be written as in a filter: `#3`. */
export function checkedAttributes(
  attributes: Readonly<Record<string, unknown>>,
  known: KnownColumns,
  field: string,
): Record<string, unknown> {
  const checked: Record<string, unknown> = {};
  for (const [written, value] of Object.entries(attributes)) {
    const name = !known.has(written) && /^#\d+$/.test(written) ? written.slice(1) : written;
    const at = `${field}.${shown(written)}`;
    if (name !== written && Object.hasOwn(attributes, name)) {
      throw new Problem('bad-request', `${at}: this is the same column as ${name}; give one of them`, {
        field: at,
      });
    }
    const kind = known.get(name);
    for (const one of kind === undefined ? [] : [value].flat()) {
      const wanted = wantedInstead(one, kind);
      if (wanted === undefined) continue;
      throw new Problem('bad-request', `${at}: expected ${wanted}, not ${shown(JSON.stringify(one))}`, {
        field: at,
      });
    }
    Object.defineProperty(checked, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return checked;
}

/** What a column takes instead of a value; undefined if it takes the value. */
function wantedInstead(value: unknown, kind: 'number' | 'other' | undefined): string | undefined {
  if (kind === 'number') {
    const isNumber = ['number', 'string'].includes(typeof value) && Number.isFinite(numberOf(String(value)));
    return isNumber ? undefined : 'a number';
  }
  const isText = ['string', 'number', 'boolean'].includes(typeof value);
  return isText ? undefined : 'a text, a number, true, false or a list of them';
}
