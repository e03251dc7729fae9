// Sparse, dense or unclear, and why. The basis is the degree-likelihood estimate with its error over the
// low degrees, where it is least biased, against the border of low-degrees.ts. The error rates of these rules, measured on
// simulated graphs by bench/verdict.ts, are in docs/sparsity.md. report/words says it in sentences.

import type { SideName } from '../graph/graph.js';
import type { DegreeCounts } from './degree-counts.js';
import { type DegreeFit, logProbability, probabilityBelow } from './degree-likelihood.js';
import { type TailIndex, tailIndexHalfError } from './tail-index.js';

/** What a side was found to be. */
export type SideVerdict = 'sparse' | 'dense' | 'unclear';

/** A tail index with its standard error; null where it lies at the end of its range. */
export interface Estimate {
  readonly estimate: number;
  readonly standardError: number | null;
}

/** The estimate from the low degrees; `upTo` is the largest of them, null where all degrees are low. */
export interface LowEstimate extends Estimate {
  readonly upTo: number | null;
}

/** What a judgement rests on. */
export type VerdictReason =
  /** Too few vertices to see how their degrees are spread. */
  | { readonly code: 'few'; readonly vertices: number }
  /** Every vertex has a single edge, which fits any tail index. */
  | { readonly code: 'single' }
  /** So many vertices have exactly the largest degree: a cap. */
  | { readonly code: 'capped'; readonly vertices: number; readonly share: number; readonly degree: number }
  /** None has fewer edges than `least`, where about `missing` vertices should: a filter. */
  | { readonly code: 'filtered'; readonly least: number; readonly missing: number }
  /** The estimate at one half is far from what the fitted law implies. */
  | { readonly code: 'disagree'; readonly half: number; readonly implied: number }
  /** Hardly any vertex has few edges: dense if all degrees say so, otherwise unclear. */
  | ({ readonly code: 'no-low-degrees' } & Estimate)
  /** Too near the border. */
  | ({ readonly code: 'near-border' } & LowEstimate)
  /** The likelihood of all degrees says the opposite. */
  | ({ readonly code: 'contradicted'; readonly overall: number } & LowEstimate)
  /** Clearly on one side of the border. */
  | ({ readonly code: 'clear' } & LowEstimate);

/** What the degrees say of each side, and what that rests on. */
export interface Verdict {
  readonly users: SideVerdict;
  readonly items: SideVerdict;
  readonly reasons: Readonly<Record<SideName, VerdictReason>>;
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

export function sparsityVerdict(
  counts: Readonly<Record<SideName, DegreeCounts>>,
  sigma: Readonly<Record<SideName, TailIndex>>,
): Verdict {
  const users = judgeSide(counts.users, counts.items.count, sigma.users);
  const items = judgeSide(counts.items, counts.users.count, sigma.items);
  return Object.freeze({
    users: users.judgement,
    items: items.judgement,
    reasons: Object.freeze({ users: users.reason, items: items.reason }),
  });
}

interface JudgedSide {
  readonly judgement: SideVerdict;
  readonly reason: VerdictReason;
}

/** `others`: vertices of the other side, the largest degree there can be. */
function judgeSide(counts: DegreeCounts, others: number, sigma: TailIndex): JudgedSide {
  const unclear = (reason: VerdictReason): JudgedSide => ({ judgement: 'unclear', reason });
  if (counts.count < FEWEST_VERTICES) return unclear({ code: 'few', vertices: counts.count });
  const fit = sigma.likelihood;
  if (!fit) return unclear({ code: 'single' });
  const cut = findCut(counts, others, fit);
  if (cut) return unclear(cut);
  const gap = sigma.half - fit.impliedHalf;
  if (Math.abs(gap) > DISAGREE + 3 * tailIndexHalfError(counts)) {
    return unclear({ code: 'disagree', half: sigma.half, implied: fit.impliedHalf });
  }
  const low = sigma.lowDegrees;
  if (!low) {
    // Hardly any vertex has few edges: what little tail there is cannot be a sparse one.
    const reason = { code: 'no-low-degrees', ...estimateOf(fit) } as const;
    return fit.score < -CLEAR ? { judgement: 'dense', reason } : unclear(reason);
  }
  const estimate = { ...estimateOf(low), upTo: low.vertices === counts.count ? null : low.upTo };
  if (Math.abs(low.score) < CLEAR) return unclear({ code: 'near-border', ...estimate });
  const judgement = low.score > 0 ? 'sparse' : 'dense';
  const contradicted =
    judgement === 'sparse' ? fit.estimate < CONTRADICTION.sparse : fit.estimate > CONTRADICTION.dense;
  if (contradicted) return unclear({ code: 'contradicted', overall: fit.estimate, ...estimate });
  return { judgement, reason: { code: 'clear', ...estimate } };
}

function estimateOf({ estimate, standardError }: Pick<DegreeFit, 'estimate' | 'standardError'>): Estimate {
  return { estimate, standardError: standardError ?? null };
}

/** A cap or a filter that cut the degrees off; undefined if there is none to be seen. */
export function findCut(counts: DegreeCounts, others: number, fit: DegreeFit): VerdictReason | undefined {
  const top = counts.degree.length - 1;
  const degree = counts.degree[top];
  const vertices = counts.vertices[top];
  if (
    degree < FULL * others &&
    vertices >= 10 &&
    vertices > PILE * counts.count * Math.exp(logProbability(fit, degree))
  ) {
    return { code: 'capped', vertices, share: vertices / counts.count, degree };
  }
  const least = counts.degree[0];
  const crowded = counts.sum / counts.count > CROWDED * others;
  const missing = least > 1 && !crowded ? counts.count * probabilityBelow(fit, least) : 0;
  if (missing >= 10 && missing > MISSING * counts.count) return { code: 'filtered', least, missing };
  return undefined;
}
