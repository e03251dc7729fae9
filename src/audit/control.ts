// The negative control: every pair of every part keeps its user and its label, and the items are exchanged between pairs until
// only the degrees are left. Which user has which item is then chance, so a method can beat popularity only if training
// leaks the test part. The method is item-kNN, in which every item is also its own nearest neighbour.

import { itemKnn } from '../evaluate/baselines/item-knn.js';
import { popularity } from '../evaluate/baselines/popularity.js';
import { pairedBootstrap } from '../evaluate/bootstrap.js';
import { evaluateRanking } from '../evaluate/evaluate-ranking.js';
import { collectLists, pickLists, transposeLists } from '../math/csr.js';
import { type Random, shuffle } from '../math/random.js';
import { rankingTask } from '../metrics/ranking-task.js';
import type { RowLists, Scorer } from '../predict/scoring/scorer.js';
import type { TaskOptions } from '../progress.js';
import type { AuditCheck } from './checks.js';
import type { CommonParts, Pairs } from './numbering.js';

const TRAIN = 1;
const TEST = 2;
/** The largest number of test users that are evaluated, and of pairs with which the control runs. */
const MOST_USERS = 1000;
const MOST_CONTROL_PAIRS = 1e6;
const LIST = 20;
/** Exchanges per pair: after about ten, only the degrees are left. */
const EXCHANGES = 10;
const SETTING = { neighbours: 100, shrinkage: 10, history: 0.5, candidates: 0.5, users: 0 };

export async function negativeControl(
  parts: CommonParts,
  random: Random,
  options: TaskOptions,
): Promise<AuditCheck | undefined> {
  if (parts.whole.edges > MOST_CONTROL_PAIRS) return undefined;
  const { users, items, labels } = rewired(parts, random.derive(0));
  const labelled = (label: number) => {
    const rows: number[][] = Array.from({ length: parts.count.users }, () => []);
    for (let e = 0; e < users.length; e++) if (labels[e] & label) rows[users[e]].push(items[e]);
    return collectLists(rows.length, (row, add) => rows[row].forEach(add));
  };
  const [train, test] = [labelled(TRAIN), labelled(TEST)];
  const asked = Array.from({ length: parts.count.users }, (_, u) => u).filter(
    (u) => test.offsets[u + 1] > test.offsets[u] && train.offsets[u + 1] > train.offsets[u],
  );
  shuffle(asked, random);
  asked.length = Math.min(asked.length, MOST_USERS);
  if (asked.length < 20) return undefined;
  const every = Uint32Array.from({ length: parts.count.items }, (_, i) => i);
  const data = {
    users: train,
    items: transposeLists(train, parts.count.items),
    shown: new Uint8Array(parts.count.items).fill(1),
    candidates: every,
  };
  const task = rankingTask({
    rows: asked.length,
    items: parts.count.items,
    relevant: pickLists(test, asked),
    candidates: every,
  });
  const history = pickLists(train, asked);
  const evaluate = async (scorer: Scorer) =>
    (await evaluateRanking(task, scorer, { ...options, n: LIST })).all;
  const popular = await evaluate(await (await popularity.fit(data, {})).scorer(history));
  const near = await evaluate(
    withOwnItems(await (await itemKnn.fit(data, SETTING)).scorer(history), history),
  );
  const { difference, low, high } = pairedBootstrap(near.perUser.recall, popular.perUser.recall, {
    level: 0.99,
  });
  return {
    name: 'negativeControl',
    value: difference,
    expected: 0,
    low,
    high,
    verdict: low > 0 ? 'broken' : 'fine',
    figures: { users: asked.length, popularity: popular.mean.recall, neighbours: near.mean.recall, n: LIST },
  };
}

/** An item's similarity to itself is 1, which no ranking of new items would count. */
function withOwnItems(scorer: Scorer, history: RowLists): Scorer {
  if (scorer.kind !== 'rows') return scorer;
  return {
    kind: 'rows',
    scores: (row, candidates, out) => {
      scorer.scores(row, candidates, out);
      for (let e = history.offsets[row]; e < history.offsets[row + 1]; e++) out[history.values[e]] += 1;
    },
  };
}

/** Distinct pairs with the parts they are in, items exchanged: each exchange keeps every degree. */
function rewired(
  { pairs }: CommonParts,
  random: Random,
): { readonly users: Uint32Array; readonly items: Uint32Array; readonly labels: Uint8Array } {
  const label = new Map<number, Map<number, number>>();
  const add = (part: Pairs, bit: number) => {
    for (let e = 0; e < part.users.length; e++) {
      let row = label.get(part.users[e]);
      if (!row) label.set(part.users[e], (row = new Map()));
      row.set(part.items[e], (row.get(part.items[e]) ?? 0) | bit);
    }
  };
  add(pairs.train, TRAIN);
  add(pairs.foldIn, TRAIN);
  add(pairs.test, TEST);
  const flat = [...label].flatMap(([user, row]) =>
    [...row].map(([item, bits]) => [user, item, bits] as const),
  );
  const users = Uint32Array.from(flat, ([user]) => user);
  const items = Uint32Array.from(flat, ([, item]) => item);
  const labels = Uint8Array.from(flat, ([, , bits]) => bits);
  const has = new Map([...label].map(([user, row]) => [user, new Set(row.keys())]));
  const n = users.length;
  for (let step = 0; step < EXCHANGES * n; step++) {
    const [a, b] = [random.below(n), random.below(n)];
    const [ua, ub, ia, ib] = [users[a], users[b], items[a], items[b]];
    const [ra, rb] = [has.get(ua)!, has.get(ub)!];
    // No pair may occur twice.
    if (ua === ub || ia === ib || ra.has(ib) || rb.has(ia)) continue;
    ra.delete(ia);
    ra.add(ib);
    rb.delete(ib);
    rb.add(ia);
    [items[a], items[b]] = [ib, ia];
  }
  return { users, items, labels };
}
