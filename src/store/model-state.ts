// A hash of the numbers of a fit, to compare fits: without times, versions and names of engines. Each vertex is hashed with
// its id and the hashes are added. So the hash is the same in any order, whether the users lie in one piece or in shards.

import { createHash } from 'node:crypto';
import { userTables, withoutUsers } from '../fit/fold-in/user-tables.js';
import { type Model, modelHyper } from '../fit/model.js';
import { type HashSum, hashText, idHashes, NO_HASH } from '../graph/fingerprint.js';
import type { SideName } from '../graph/graph.js';
import type { VertexIds } from '../graph/ids.js';

/** Equal if and only if the bits of the fitted tables are equal. */
export function modelState(model: Model): string {
  return stateOf(model, usersState(model.users.ids, userTables(model)));
}

/** The same for a model whose users lie elsewhere and have this sum. */
export function stateOf(model: Model, users: HashSum): string {
  const { items, more } = itemTables(model);
  const hash = createHash('sha256');
  hash.update(hashText(users));
  hash.update(hashText(rowSum('items', model.items.ids, items)));
  for (const { buffer, byteOffset, byteLength } of more) {
    hash.update(new Uint8Array(buffer, byteOffset, byteLength));
  }
  return hash.update(JSON.stringify(modelHyper(model) ?? null)).digest('hex');
}

/** 16 hex digits of the hash of a model without its users. */
export function itemsState(model: Model): string {
  return stateOf(withoutUsers(model), NO_HASH).slice(0, 16);
}

/** The sum over some of the users; sums over shards add up to that of all. */
export function usersState(ids: VertexIds, tables: readonly Float32Array[]): HashSum {
  return rowSum('users', ids, tables);
}

/** Tables with a row for each item, and all other fitted numbers. */
function itemTables(model: Model): {
  readonly items: readonly Float32Array[];
  readonly more: readonly ArrayBufferView[];
} {
  if (model.type === 'posterior') {
    const { items, users } = model;
    return {
      items: [items.weightShape, items.weightRate, items.featureShape, items.featureRate],
      more: [users.unseenMass, items.unseenMass],
    };
  }
  const { scores } = model;
  if (scores.kind === 'popularity') return { items: [], more: [model.items.degree] };
  if (scores.kind === 'items') {
    const { offsets, targets, weights } = scores;
    return { items: [], more: [offsets, targets, weights].filter((table) => table !== undefined) };
  }
  const { itemWeights, members } = scores;
  const shares = members.flatMap(({ share }) => (share === undefined ? [] : [share]));
  return {
    items: members.map(({ items }) => items),
    more: itemWeights
      ? [itemWeights.offsets, itemWeights.targets, itemWeights.weights, Float64Array.from(shares)]
      : [],
  };
}

function rowSum(side: SideName, ids: VertexIds, tables: readonly Float32Array[]): HashSum {
  if (ids.length === 0 || tables.length === 0) return NO_HASH;
  const named = idHashes(ids, side);
  const words = tables.map((table) => ({
    values: new Int32Array(table.buffer, table.byteOffset, table.length),
    width: table.length / ids.length,
  }));
  let [sumLow, sumHigh] = [0, 0];
  for (let v = 0; v < ids.length; v++) {
    let low = named.low[v];
    let high = named.high[v];
    for (const { values, width } of words) {
      for (let at = v * width; at < (v + 1) * width; at++) {
        const word = values[at];
        low = Math.imul(low ^ word, 0x9e3779b1);
        low ^= low >>> 15;
        high = Math.imul(high + word, 0x85ebca77);
        high ^= high >>> 13;
      }
    }
    sumLow = (sumLow + Math.imul(low, 0xc2b2ae3d)) | 0;
    sumHigh = (sumHigh + Math.imul(high, 0x27d4eb2f)) | 0;
  }
  return { low: sumLow, high: sumHigh };
}
