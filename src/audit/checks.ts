// The checks of an audit: each has a figure, the figure of a fair split, and a verdict. report/words/audit.ts puts them into
// sentences; docs/audit.md has their error rates.

import { otherSide, SIDES, type SideName } from '../graph/graph.js';
import { upperBound } from '../math/csr.js';
import type { Random } from '../math/random.js';
import type { Turn } from '../parallel/turns.js';
import { countDegrees } from '../sparsity/degree-counts.js';
import { fitDegrees } from '../sparsity/degree-likelihood.js';
import { findCut } from '../sparsity/verdict.js';
import type { CommonParts, PartName } from './numbering.js';

export const VERDICTS = ['fine', 'look', 'broken'] as const;
/** What an audit concludes. */
export type AuditVerdict = (typeof VERDICTS)[number];

export const CHECKS = [
  'overlap',
  'degreeBias',
  'falseZeros',
  'lost',
  'timeWithin',
  'timeAcross',
  'filtering',
  'sampledCandidates',
  'negativeControl',
] as const;
/** The names of the checks of an audit. */
export type CheckName = (typeof CHECKS)[number];

/** One check of an audit: what was looked at and what was found. */
export interface AuditCheck {
  readonly name: CheckName;
  /** The side, if the check is about one side. */
  readonly side?: SideName | undefined;
  readonly value: number;
  /** The value of a fair split, or of chance. */
  readonly expected: number;
  /** The range of the figure by chance alone. */
  readonly low?: number | undefined;
  readonly high?: number | undefined;
  readonly verdict: AuditVerdict;
  /** Numbers for the sentences. */
  readonly figures: Readonly<Record<string, number>>;
}

/** Limits above which a check is not fine. A check without a limit is fine only if it finds nothing. */
export const LIMITS = {
  /** Lost pairs: beyond those that a random split loses, and in all. */
  lost: { beyond: 0.1, share: 0.25 },
  /** Training pairs later than a test pair. */
  timeAcross: 0.001,
  /**
   * The share of users with the same number of test pairs, and that number. A small number may be leave-k-out; sampled
   * candidates come in dozens.
   */
  sampledCandidates: { share: 0.9, length: 20 },
} as const;

/** The times of the edges of a part, in the order of its graph's users.neighbors. */
export type PartTimes = Readonly<Partial<Record<PartName, Float64Array>>>;

/** Pairs that test shares with what models learn or are tuned on. */
export function checkOverlap({ pairs, whole, edges, has }: CommonParts): AuditCheck {
  const { test } = pairs;
  const degree = { users: counted(pairs.train.users), items: counted(pairs.train.items) };
  let train = 0;
  let validation = 0;
  let chance = 0;
  for (let e = 0; e < test.users.length; e++) {
    const [user, item] = [test.users[e], test.items[e]];
    train += has.train[edges.test[e]];
    validation += has.validation[edges.test[e]];
    const expected =
      ((degree.users.get(user) ?? 0) * (degree.items.get(item) ?? 0)) / pairs.train.users.length;
    chance += Math.min(1, expected);
  }
  const shared = train + validation;
  const share = shared / test.users.length;
  return {
    name: 'overlap',
    value: share,
    expected: 0,
    verdict: shared === 0 ? 'fine' : share < 0.001 ? 'look' : 'broken',
    figures: {
      train,
      validation,
      test: test.users.length,
      chance: chance / test.users.length,
      pairs: whole.edges,
    },
  };
}

/** Random redraws; the interval leaves out the two outermost on either side. */
const REDRAWS = 1999;

/**
 * Mean degree of the held-out vertices in all data, divided by that of all vertices. Held out are the vertices of `drawn`, the
 * random assignment, if it is known; else those only in held-out parts; if there are none, those with a test pair. Active
 * vertices have more pairs after any date, which is no fault of a split: with `byTime` the verdict is always fine.
 */
export async function checkDegreeBias(
  parts: CommonParts,
  side: SideName,
  random: Random,
  byTime: boolean,
  turn: Turn,
  drawn?: Uint8Array,
): Promise<AuditCheck | undefined> {
  const { member, degree, count } = parts;
  const separate = usersAreSeparate(parts);
  if (!drawn && separate && side === 'items') return undefined; // no item was held out
  const heldOut = (v: number) =>
    drawn
      ? drawn[v] === 1
      : separate
        ? member.train.users[v] === 0 && (member.test.users[v] === 1 || member.foldIn.users[v] === 1)
        : member.test[side][v] === 1;
  const all = degree[side];
  let sum = 0;
  let held = 0;
  let total = 0;
  let squares = 0;
  for (let v = 0; v < count[side]; v++) {
    total += all[v];
    squares += all[v] ** 2;
    if (!heldOut(v)) continue;
    sum += all[v];
    held++;
  }
  const mean = total / count[side];
  const value = sum / held / mean;
  const ratios = new Float64Array(REDRAWS);
  const pool = all.slice();
  const drawnAway = Math.min(held, count[side] - held); // the smaller half is drawn; the rest follows
  for (let r = 0; r < REDRAWS; r++) {
    await turn();
    let away = 0;
    for (let i = 0; i < drawnAway; i++) {
      const j = i + random.below(pool.length - i);
      const own = pool[i];
      pool[i] = pool[j];
      pool[j] = own;
      away += pool[i];
    }
    ratios[r] = (drawnAway === held ? away : total - away) / held / mean;
  }
  ratios.sort();
  const [low, high] = [ratios[1], ratios[REDRAWS - 2]];
  const inside = byTime || (value >= low && value <= high) || held === count[side];
  return {
    name: 'degreeBias',
    side,
    value,
    expected: 1,
    low,
    high,
    verdict: inside ? 'fine' : value > high && value >= 1.1 ? 'broken' : 'look',
    figures: {
      held,
      vertices: count[side],
      byEdges: squares / count[side] / mean ** 2,
      fromAssignment: drawn ? 1 : 0,
      byTime: byTime ? 1 : 0,
    },
  };
}

/** Whether users were held out as a whole: next to none of the test users was trained on. */
export function usersAreSeparate({ member, count }: CommonParts): boolean {
  let tested = 0;
  let trained = 0;
  for (let u = 0; u < count.users; u++) {
    if (!member.test.users[u]) continue;
    tested++;
    trained += member.train.users[u];
  }
  return trained <= 0.01 * tested;
}

/** Test pairs whose user and item are in training without the pair: a model learns that they are zeros. */
export function checkFalseZeros({ pairs, member, edges, has }: CommonParts, byTime: boolean): AuditCheck {
  const { test } = pairs;
  let zeros = 0;
  for (let e = 0; e < test.users.length; e++) {
    const known = member.train.users[test.users[e]] && member.train.items[test.items[e]];
    if (known && !has.train[edges.test[e]]) zeros++;
  }
  const value = zeros / test.users.length;
  // In a split by time, later pairs were truly absent at the time of training.
  const wrong = byTime ? 'fine' : value < 0.05 ? 'look' : 'broken';
  return {
    name: 'falseZeros',
    value,
    expected: 0,
    verdict: zeros === 0 ? 'fine' : wrong,
    figures: { zeros, test: test.users.length, byTime: byTime ? 1 : 0 },
  };
}

/** Test pairs that no model can predict: items not in training, users without a history. */
export function checkLost(parts: CommonParts): AuditCheck {
  const { pairs, member, degree, count } = parts;
  const { test } = pairs;
  const separate = usersAreSeparate(parts);
  const known = (u: number) => member.train.users[u] === 1 || member.foldIn.users[u] === 1;
  let lost = 0;
  let chance = 0;
  let heldShare = 0;
  if (separate) {
    for (let u = 0; u < count.users; u++) heldShare += (1 - member.train.users[u]) / count.users;
  } else {
    heldShare = test.users.length / (test.users.length + pairs.train.users.length);
  }
  for (let e = 0; e < test.users.length; e++) {
    const [user, item] = [test.users[e], test.items[e]];
    if (!known(user) || !member.train.items[item]) lost++;
    // Every other neighbour of the item was held out too; if pairs were drawn, the same holds for the user.
    const item1 = heldShare ** (degree.items[item] - 1);
    const user1 = separate ? 0 : heldShare ** (degree.users[user] - 1);
    chance += 1 - (1 - item1) * (1 - user1);
  }
  const value = lost / test.users.length;
  const expected = chance / test.users.length;
  let tested = 0;
  let users = 0;
  let items = 0;
  for (let u = 0; u < count.users; u++) {
    tested += member.test.users[u];
    users += member.test.users[u] && !known(u) ? 1 : 0;
  }
  for (let i = 0; i < count.items; i++) items += member.test.items[i] && !member.train.items[i] ? 1 : 0;
  const beyond = value - expected;
  return {
    name: 'lost',
    value,
    expected,
    verdict:
      value > 0.5 ? 'broken' : beyond > LIMITS.lost.beyond || value > LIMITS.lost.share ? 'look' : 'fine',
    figures: { lost, test: test.users.length, tested, users, items },
  };
}

/** Test pairs whose user has a training pair of a later time; and, over all users, the share of training that is later. */
export function checkTime(parts: CommonParts, times: PartTimes): readonly AuditCheck[] {
  const { pairs, count } = parts;
  const { train, test } = times;
  if (!train || !test) return [];
  const latest = new Float64Array(count.users).fill(Number.NEGATIVE_INFINITY);
  const own = new Uint32Array(count.users);
  for (const name of ['train', 'foldIn'] as const) {
    const at = times[name] ?? [];
    for (let e = 0; e < at.length; e++) {
      const user = pairs[name].users[e];
      own[user]++;
      if (at[e] > latest[user]) latest[user] = at[e];
    }
  }
  const sorted = train.slice().sort();
  let within = 0;
  let across = 0;
  let chance = 0;
  for (let e = 0; e < test.length; e++) {
    const user = pairs.test.users[e];
    if (latest[user] > test[e]) within++;
    across += (sorted.length - upperBound(sorted, test[e])) / sorted.length;
    chance += own[user] / (own[user] + 1);
  }
  const share = within / test.length;
  const later = across / test.length;
  return [
    {
      name: 'timeWithin',
      value: share,
      expected: 0,
      verdict: share === 0 ? 'fine' : share < 0.01 ? 'look' : 'broken',
      figures: { within, test: test.length, chance: chance / test.length },
    },
    {
      name: 'timeAcross',
      value: later,
      expected: 0,
      verdict: later < LIMITS.timeAcross ? 'fine' : 'look',
      figures: { chance: 0.5, test: test.length },
    },
  ];
}

/** A minimum or a cap of the degrees of the whole: what was filtered before the split. */
export function checkFiltering({ degree, count }: CommonParts): readonly AuditCheck[] {
  return SIDES.map((side): AuditCheck => {
    const counts = countDegrees(degree[side]);
    const fit = fitDegrees(counts);
    const cut = fit && counts.count >= 50 ? findCut(counts, count[otherSide(side)], fit) : undefined;
    return {
      name: 'filtering',
      side,
      value: counts.degree[0],
      expected: 1,
      verdict: cut ? 'look' : 'fine',
      figures: {
        least: counts.degree[0],
        largest: counts.degree.at(-1)!,
        missing: cut?.code === 'filtered' ? cut.missing : 0,
        piled: cut?.code === 'capped' ? cut.vertices : 0,
        vertices: counts.count,
      },
    };
  });
}

/** Nearly every user has the same number of test pairs: these are sampled candidates, not choices of users. */
export function checkSampledCandidates({ pairs }: CommonParts): AuditCheck {
  const lengths = [...counted(pairs.test.users).values()];
  const often = new Map<number, number>();
  for (const length of lengths) often.set(length, (often.get(length) ?? 0) + 1);
  const [length, users] = [...often].reduce((best, entry) => (entry[1] > best[1] ? entry : best));
  const value = users / lengths.length;
  const mean = pairs.test.users.length / lengths.length;
  const limit = LIMITS.sampledCandidates;
  return {
    name: 'sampledCandidates',
    value,
    // The most likely value of a Poisson count has about this probability.
    expected: 1 / Math.sqrt(2 * Math.PI * Math.max(mean, 1 / (2 * Math.PI))),
    verdict: length >= limit.length && lengths.length >= 10 && value > limit.share ? 'broken' : 'fine',
    figures: { length, users, test: lengths.length },
  };
}

function counted(vertices: Uint32Array): Map<number, number> {
  const counts = new Map<number, number>();
  for (const v of vertices) counts.set(v, (counts.get(v) ?? 0) + 1);
  return counts;
}
