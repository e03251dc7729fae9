// A split within the training users, for tuning. Some users are held back: some of their items are shown to the model, and the
// others are evaluated, as for test users. Nothing of the test part is used.

import { InputError } from '../errors.js';
import { lengths, pickLists, type RowLists, renameLists, transposeLists } from '../math/csr.js';
import { randomStream, shuffle } from '../math/random.js';
import { STREAMS } from '../math/streams.js';
import { drawAssignment } from '../sample/pq.js';
import { many } from '../text/phrases.js';
import { itemsIn, type RankingTask, rankingTask } from './ranking-task.js';

/** Training edges, in both orders; counts of a multigraph are ignored. */
export interface RankingData {
  readonly users: RowLists;
  readonly items: RowLists;
  /** Per item, 1 if it can appear in the history of a user who is scored (it is drawn for fold-in). */
  readonly shown: Uint8Array;
  /** Items to be scored, ascending; no other item is scored. */
  readonly candidates: Uint32Array;
}

/** Held-back users, the data of the others, and the ranking task. */
export interface HeldBackTask {
  /** Training rows that are held back, ascending. */
  readonly heldBack: Uint32Array;
  /** The other training users. */
  readonly data: RankingData;
  /** What is shown of the held-back users. */
  readonly history: RowLists;
  /** What they are evaluated on. */
  readonly task: RankingTask;
}

interface ValidationOptions {
  readonly seed: number;
  /** Most users held back. Default 3000. */
  readonly maxUsers?: number | undefined;
}

/** Share of the training users that is held back, and of the items that they are evaluated on, if no split has drawn them. */
const SHARE = 0.2;
/** Most candidates, drawn at random. */
const MOST_CANDIDATES = 2000;

/** Per item, 1 if it is shown to the model, 0 if held-back users are evaluated on it. */
export function shownItems(count: number, seed: number): Uint8Array {
  return drawAssignment(count, SHARE, randomStream(seed, STREAMS.heldBackItems)).map((hidden) => 1 - hidden);
}

/** Holds training users back. Candidates are the items that are not shown. `otherwise` names a remedy besides more data. */
export function holdBack(
  data: Pick<RankingData, 'users' | 'shown'>,
  options: ValidationOptions,
  otherwise?: string,
): HeldBackTask {
  const held = tryHoldBack(data, options);
  if (held) return held;
  const users = data.users.offsets.length - 1;
  throw new InputError(
    `${many(users, 'training user')} ${users === 1 ? 'leaves' : 'leave'} nothing to tune on: no held-back user has both shown and hidden items; ` +
      `use more data${otherwise === undefined ? '' : `, or ${otherwise}`}`,
  );
}

/** The same; undefined if no held-back user has both shown and hidden items. */
export function tryHoldBack(
  data: Pick<RankingData, 'users' | 'shown'>,
  options: ValidationOptions,
): HeldBackTask | undefined {
  const { maxUsers = 3000 } = options;
  const { users, shown } = data;
  const rows = users.offsets.length - 1;
  const itemCount = shown.length;
  const random = randomStream(options.seed, STREAMS.heldBack);
  const everyRow = Array.from({ length: rows }, (_, row) => row);
  const heldBack = shuffle(
    everyRow.filter((row) => {
      const list = users.values.subarray(users.offsets[row], users.offsets[row + 1]);
      return list.some((item) => shown[item] === 1) && list.some((item) => shown[item] === 0);
    }),
    random,
  ).slice(0, Math.min(maxUsers, Math.ceil(SHARE * rows)));
  heldBack.sort((a, b) => a - b);
  const isHeldBack = new Set(heldBack);
  const kept = pickLists(
    users,
    everyRow.filter((row) => !isHeldBack.has(row)),
  );
  const items = transposeLists(kept, itemCount);
  const degree = lengths(items);
  const known = (item: number) => degree[item] > 0;
  const own = itemsIn(pickLists(users, heldBack), itemCount);
  const candidates = shuffle(
    own.filter((item) => !shown[item] && known(item)),
    random,
  ).slice(0, MOST_CANDIDATES);
  const isCandidate = new Set(candidates);
  const relevant = pickLists(users, heldBack, (item) => isCandidate.has(item));
  if (relevant.values.length === 0) return undefined;
  return {
    heldBack: Uint32Array.from(heldBack),
    data: { users: kept, items, shown, candidates: candidates.slice().sort() },
    history: pickLists(users, heldBack, (item) => shown[item] === 1 && known(item)),
    task: rankingTask({ rows: heldBack.length, items: itemCount, relevant, candidates }),
  };
}

/** Chooses a share of the numbers from 0 on, evenly spaced. */
const evenly = (share: number) => (at: number) => Math.floor((at + 1) * share) > Math.floor(at * share);

/** The same users evaluated on at most `most` evenly spaced candidates. */
export function someCandidates(validation: HeldBackTask, most: number): HeldBackTask {
  const { data, task, heldBack } = validation;
  const share = most / task.candidates.length;
  if (share >= 1) return validation;
  const isKept = evenly(share);
  const kept = Int32Array.from(task.candidates, (item, position) => (isKept(position) ? item : -1));
  const relevant = renameLists(task.relevant, kept);
  if (relevant.values.length === 0) return validation;
  const candidates = Uint32Array.from(kept.filter((item) => item >= 0));
  return {
    ...validation,
    data: { ...data, candidates },
    task: rankingTask({ rows: heldBack.length, items: data.shown.length, relevant, candidates }),
  };
}

/** The data of evenly spaced users, with about `edges` edges. */
export function someUsers(data: RankingData, edges: number): RankingData {
  const { users } = data;
  const share = edges / users.values.length;
  if (share >= 1) return data;
  const rows = Array.from({ length: users.offsets.length - 1 }, (_, row) => row).filter(evenly(share));
  const chosen = pickLists(users, rows);
  return { ...data, users: chosen, items: transposeLists(chosen, data.shown.length) };
}
