// Sparse, dense or unclear, in words. The basis is the degree-likelihood estimate with its error (section 4) over the
// low degrees, where it is least biased, against the border of low-degrees.ts. The error rates of these rules, measured on simulated graphs
// by bench/verdict.ts, are in docs/sparsity.md.

import type { SideName } from '../graph/graph.js';
import type { DegreeCounts } from './degree-counts.js';
import { type DegreeFit, logProbability, probabilityBelow } from './degree-likelihood.js';
import { estimateWords, signed } from './estimate-words.js';
import { BORDER } from './low-degrees.js';
import type { TailIndex } from './tail-index.js';

export type Judgement = 'sparse' | 'dense' | 'unclear';

export interface Verdict {
  readonly users: Judgement;
  readonly items: Judgement;
  /** What it means for each side, for someone who knows neither the word nor the theory. */
  readonly meanings: Readonly<Record<SideName, string>>;
  /** What it rests on, for each side. */
  readonly reasons: Readonly<Record<SideName, string>>;
  /** What to do. */
  readonly advice: string;
  /** Meanings and advice in one. */
  readonly text: string;
}

/** Fewer vertices than this tell nothing about a tail. */
const FEWEST_VERTICES = 50;
/** Standard errors that the border must be away. */
const CLEAR = 2;
/** The likelihood of all degrees, which is biased downwards, contradicts that of the low ones beyond these. */
const CONTRADICTION = { sparse: -0.25, dense: 0.1 } as const;
/** How far σ̂ may lie from the one that the fitted law implies, beyond three standard errors of chance. */
const DISAGREE = 0.08;
/** A pile of vertices at the largest degree, this many times what the law expects, is a cap. */
const PILE = 5;
/** A share of the vertices that the law expects below the smallest degree: a filter has removed them. */
const MISSING = 0.02;
/** A degree that is this share of the other side's vertices is full, not capped. */
const FULL = 0.9;
/** With such a mean share of the other side, degrees spread less than the law lets them, without any filter. */
const CROWDED = 0.2;

export function judgeGraph(
  counts: Readonly<Record<SideName, DegreeCounts>>,
  sigma: Readonly<Record<SideName, TailIndex>>,
): Verdict {
  const users = judgeSide('users', counts.users, counts.items.count, sigma.users);
  const items = judgeSide('items', counts.items, counts.users.count, sigma.items);
  const meanings = {
    users: meaning('users', users.judgement),
    items: meaning('items', items.judgement),
  };
  const advice = advise(users.judgement, items.judgement);
  return Object.freeze({
    users: users.judgement,
    items: items.judgement,
    meanings: Object.freeze(meanings),
    reasons: Object.freeze({ users: users.reason, items: items.reason }),
    advice,
    text: `${meanings.users} ${meanings.items} ${advice}`,
  });
}

interface SideVerdict {
  readonly judgement: Judgement;
  readonly reason: string;
}

/** `others`: vertices of the other side, the largest degree there can be. */
function judgeSide(side: SideName, counts: DegreeCounts, others: number, sigma: TailIndex): SideVerdict {
  const unclear = (reason: string): SideVerdict => ({ judgement: 'unclear', reason });
  const one = side === 'users' ? 'user' : 'item';
  if (counts.count < FEWEST_VERTICES) {
    return unclear(`only ${counts.count} ${side}: too few to see how their degrees are spread`);
  }
  const fit = sigma.likelihood;
  if (!fit) return unclear(`every ${one} has a single edge, which fits any tail index`);
  const cut = describeCut(side, counts, others, fit);
  if (cut) return unclear(cut);
  const gap = sigma.half - fit.impliedHalf;
  if (Math.abs(gap) > DISAGREE + 3 * halfError(counts)) {
    return unclear(
      `the two estimates disagree: σ̂ is ${sigma.half.toFixed(2)} where the degree likelihood implies ` +
        `${fit.impliedHalf.toFixed(2)}, so its law does not describe these degrees`,
    );
  }
  const low = sigma.lowDegrees;
  if (!low) {
    // Hardly any vertex has few edges: what little tail there is cannot be a sparse one.
    return fit.score < -CLEAR
      ? { judgement: 'dense', reason: `hardly any ${side} have few edges, and ${describe(fit)}, below 0` }
      : unclear(`${describe(fit)}, but too few ${side} have few edges to be sure`);
  }
  const all = low.vertices === counts.count ? '' : ` among the ${side} with at most ${low.upTo} edges`;
  const estimate = `${describe(low)}${all}`;
  if (Math.abs(low.score) < CLEAR) return unclear(`${estimate}, too near the border of ${BORDER} to tell`);
  const judgement = low.score > 0 ? 'sparse' : 'dense';
  const contradicted =
    judgement === 'sparse' ? fit.estimate < CONTRADICTION.sparse : fit.estimate > CONTRADICTION.dense;
  if (contradicted) return unclear(`${estimate}, but over all degrees at ${signed(fit.estimate, 2)}`);
  const where = judgement === 'sparse' ? 'above' : 'below';
  return { judgement, reason: `${estimate}, ${where} ${BORDER}, the border between dense and sparse` };
}

function describe(fit: Pick<DegreeFit, 'estimate' | 'standardError'>): string {
  return `the degree likelihood puts the tail index ${fit.standardError === undefined ? '' : 'at '}${estimateWords(fit)}`;
}

/** A cap or a filter that cut the degrees off, in words; undefined if there is none to be seen. */
function describeCut(
  side: SideName,
  counts: DegreeCounts,
  others: number,
  fit: DegreeFit,
): string | undefined {
  const top = counts.degree.length - 1;
  const max = counts.degree[top];
  const piled = counts.vertices[top];
  if (
    max < FULL * others &&
    piled >= 10 &&
    piled > PILE * counts.count * Math.exp(logProbability(fit, max))
  ) {
    const share = Math.round((100 * piled) / counts.count);
    return `${piled} ${side} (${share} %) have exactly ${max} edges, the most of all: the data seem to be capped there`;
  }
  const min = counts.degree[0];
  const crowded = counts.sum / counts.count > CROWDED * others;
  const missing = min > 1 && !crowded ? counts.count * probabilityBelow(fit, min) : 0;
  if (missing >= 10 && missing > MISSING * counts.count) {
    return `no ${side} have fewer than ${min} edges where about ${Math.round(missing)} should: they seem to have been filtered out`;
  }
  return undefined;
}

/** Standard error of σ̂ at p = ½, from the spread of 1 − 2^−d. */
function halfError({ degree, vertices, count }: DegreeCounts): number {
  let sum = 0;
  let squares = 0;
  for (let n = 0; n < degree.length; n++) {
    const kept = 1 - 2 ** -degree[n];
    sum += vertices[n] * kept;
    squares += vertices[n] * kept ** 2;
  }
  const mean = sum / count;
  return Math.sqrt(Math.max(0, squares / count - mean ** 2) / count) / (mean * Math.LN2);
}

function meaning(side: SideName, judgement: Judgement): string {
  const name = side === 'users' ? 'Users' : 'Items';
  switch (judgement) {
    case 'sparse':
      return `${name} are sparse: however large the data grow, ${side} with only one or two edges keep turning up.`;
    case 'dense':
      return `${name} are dense: as the data grow, each of the ${side} gains edges and few are left with only one or two.`;
    case 'unclear':
      return `${name} are unclear: the data cannot tell.`;
  }
}

function advise(users: Judgement, items: Judgement): string {
  if (users === 'dense' && items === 'dense')
    return 'A dense model suits these data; the sparse one does no harm.';
  if (users === 'sparse' || items === 'sparse') {
    return 'Use the sparse model: a dense one would predict too few rarely seen vertices.';
  }
  return 'Use the sparse model, which can be as dense as the data ask for.';
}
