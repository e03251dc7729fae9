// Finds out, on users held back from the data, which columns of the table about the users say something about their items.

import type { SideInfo, Tastes } from '../../attributes/info.js';
import { createTasteScores, tasteCounts } from '../../attributes/tastes.js';
import { throwIfAborted } from '../../errors.js';
import type { Model } from '../../fit/model.js';
import { mean } from '../../math/moments.js';
import { largest } from '../../math/nth-largest.js';
import { randomStream } from '../../math/random.js';
import { STREAMS } from '../../math/streams.js';
import type { TaskOptions } from '../../progress.js';

const SHARE = 0.2;
/** The most users held back, as a number of scores (users × items), within limits. */
const MOST_SCORES = 5_000_000;
const MOST_USERS = 1000;
const FEWEST_USERS = 50;
const EXPONENTS = [0.5, 1];
const ADDED = [3, 10, 30];
/** Columns that are tried one by one. */
const MOST_COLUMNS = 20;
const LISTS = [20, 100];
/** A column is used if the recall that it adds is larger than this many standard errors. */
const ERRORS = 3;

/**
 * The table about the users with what its attributes say about the users' items. Without it, users who have no items get the
 * popular ones.
 */
export function fitTastes(
  model: Model,
  info: SideInfo,
  { seed, signal, onProgress }: TaskOptions & { readonly seed: number },
): SideInfo {
  const { seen, users } = model;
  const items = model.items.count;
  if (!seen || info.names.length === 0 || items === 0) return info;
  const described: number[] = [];
  for (let u = 0; u < users.count; u++) {
    const hasItems = seen.offsets[u + 1] > seen.offsets[u];
    if (hasItems && info.rows.offsets[u + 1] > info.rows.offsets[u]) described.push(u);
  }
  const wanted = Math.min(
    SHARE * described.length,
    MOST_USERS,
    Math.max(2 * FEWEST_USERS, MOST_SCORES / items),
  );
  const random = randomStream(seed, STREAMS.content, 2);
  const asked = described.filter(() => random.uniform() < wanted / described.length);
  const none = { heldBack: asked.length, columns: {}, added: ADDED[0] };
  if (asked.length < FEWEST_USERS) return Object.freeze({ ...info, tastes: none });
  const isOut = new Uint8Array(users.count);
  for (const u of asked) isOut[u] = 1;
  const counts = tasteCounts(info.rows, seen, items, isOut);
  const attributesOf = (u: number) =>
    Array.from(info.rows.targets.subarray(info.rows.offsets[u], info.rows.offsets[u + 1]));
  const profiles = asked.map((u) => attributesOf(u).filter((attribute) => counts.byAttribute.has(attribute)));
  /** The recall of each held-back user. Users with the same attributes have the same list. */
  const recalls = (settings: Pick<Tastes, 'columns' | 'added'>): Float64Array => {
    throwIfAborted(signal);
    const score = createTasteScores(info, counts, settings);
    const used = (attribute: number) =>
      info.columns.some(
        ({ name, first, count }) =>
          settings.columns[name] > 0 && attribute >= first && attribute < first + count,
      );
    const lists = new Map<string, Map<number, number>>();
    return Float64Array.from(asked, (u, i) => {
      const own = profiles[i].filter(used);
      const key = own.join(' ');
      let places = lists.get(key);
      if (!places) {
        const { scores } = score(own);
        const best = largest(items, Math.max(...LISTS), (item) => scores[item]);
        places = new Map(best.map((item, place) => [item, place]));
        lists.set(key, places);
      }
      let sum = 0;
      for (let e = seen.offsets[u]; e < seen.offsets[u + 1]; e++) {
        const place = places.get(seen.neighbors[e]);
        for (const n of LISTS) if (place !== undefined && place < n) sum++;
      }
      return sum / (LISTS.length * (seen.offsets[u + 1] - seen.offsets[u]));
    });
  };
  const popular = recalls(none);
  let best: { tastes: Tastes; recall: number } = { tastes: none, recall: mean(popular) };
  const searched = info.columns.slice(0, MOST_COLUMNS);
  for (const [a, added] of ADDED.entries()) {
    onProgress?.({ stage: 'attributes', done: a, total: ADDED.length, unit: 'steps' });
    const chosen: Record<string, number> = Object.create(null);
    let current = popular;
    for (const { name } of searched) {
      for (const exponent of EXPONENTS) {
        const before = chosen[name];
        chosen[name] = exponent;
        const found = recalls({ columns: { ...chosen }, added });
        if (isBetter(found, current)) current = found;
        else if (before === undefined) delete chosen[name];
        else chosen[name] = before;
      }
    }
    const recall = mean(current);
    if (recall > best.recall)
      best = { tastes: { heldBack: asked.length, columns: { ...chosen }, added }, recall };
  }
  return Object.freeze({ ...info, tastes: best.tastes });
}

/** Whether the mean difference is clearly above 0. */
function isBetter(one: Float64Array, other: Float64Array): boolean {
  const differences = one.map((value, i) => value - other[i]);
  const middle = mean(differences);
  const variance = mean(differences.map((value) => (value - middle) ** 2));
  return middle > 0 && middle > ERRORS * Math.sqrt(variance / differences.length);
}
