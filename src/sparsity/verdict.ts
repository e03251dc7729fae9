// Sparse, dense or unclear, and why. The low-degree estimate, where bias is smallest, is compared with the border of
// low-degrees.ts, in standard errors. docs/sparsity.md has the error rates of these rules, measured by bench/verdict.ts.

import { type BySide, bySide, otherSide } from '../graph/graph.js';
import type { DegreeCounts } from './degree-counts.js';
import { type DegreeFit, logProbability, probabilityBelow } from './degree-likelihood.js';
import { type TailIndex, tailIndexHalfError } from './tail-index.js';

/** The verdict on one side. */
export type SideVerdict = 'sparse' | 'dense' | 'unclear';

/** A tail index with its standard error; null if the estimate is at the end of its range. */
export interface Estimate {
  readonly estimate: number;
  readonly standardError: number | null;
}

/** The estimate from the low degrees; `upTo` is the largest of them, null if all degrees are low. */
export interface LowEstimate extends Estimate {
  readonly upTo: number | null;
}

/** The reason for a verdict. */
export type VerdictReason =
  /** Too few vertices to estimate the distribution of degrees. */
  | { readonly code: 'few'; readonly vertices: number }
  /** Every vertex has a single edge, which fits any tail index. */
  | { readonly code: 'single' }
  /** `vertices` vertices have exactly the largest degree: a cap. */
  | { readonly code: 'capped'; readonly vertices: number; readonly share: number; readonly degree: number }
  /** No vertex has fewer edges than `least`, although the fit expects about `missing` of them: a filter. */
  | { readonly code: 'filtered'; readonly least: number; readonly missing: number }
  /** The estimate at one half is far from the one that the fit implies. */
  | { readonly code: 'disagree'; readonly half: number; readonly implied: number }
  /** Hardly any vertex has few edges: dense if all degrees say so, otherwise unclear. */
  | ({ readonly code: 'no-low-degrees' } & Estimate)
  /** Too near the border. */
  | ({ readonly code: 'near-border' } & LowEstimate)
  /** The likelihood of all degrees says the opposite. */
  | ({ readonly code: 'contradicted'; readonly overall: number } & LowEstimate)
  /** Clearly on one side of the border. */
  | ({ readonly code: 'clear' } & LowEstimate);

/** The verdict on each side, and the reasons. */
export interface Verdict {
  readonly users: SideVerdict;
  readonly items: SideVerdict;
  readonly reasons: BySide<VerdictReason>;
}

/** With fewer vertices the tail cannot be estimated. */
const FEWEST_VERTICES = 50;
/** A clear estimate is at least this many standard errors from the border. */
const CLEAR = 2;
/** Estimates from all degrees, which are biased downwards, contradict the low degrees beyond these values. */
const CONTRADICTION = { sparse: -0.25, dense: 0.1 } as const;
/** How far σ̂ may be from the implied one, in addition to three standard errors. */
const DISAGREE = 0.08;
/** A cap is suspected if this many times the expected number of vertices have the largest degree. */
const PILE = 5;
/** A filter is suspected if this fraction of the vertices is missing below the smallest degree. */
const MISSING = 0.02;
/** A degree of at least this fraction of the other side's vertices is full, not capped. */
const FULL = 0.9;
/** If the mean degree exceeds this fraction of the other side, degrees vary less than the fit expects, without any filter. */
const CROWDED = 0.2;

export function sparsityVerdict(counts: BySide<DegreeCounts>, sigma: BySide<TailIndex>): Verdict {
  const found = bySide((side) => verdictOf(counts[side], counts[otherSide(side)].count, sigma[side]));
  return Object.freeze({
    ...bySide((side) => found[side].verdict),
    reasons: Object.freeze(bySide((side) => found[side].reason)),
  });
}

interface ReasonedVerdict {
  readonly verdict: SideVerdict;
  readonly reason: VerdictReason;
}

/** `others`: the number of vertices of the other side, which bounds the degrees. */
function verdictOf(counts: DegreeCounts, others: number, sigma: TailIndex): ReasonedVerdict {
  const unclear = (reason: VerdictReason): ReasonedVerdict => ({ verdict: 'unclear', reason });
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
    // Hardly any vertex has few edges, so the tail cannot be sparse.
    const reason = { code: 'no-low-degrees', ...estimateOf(fit) } as const;
    return fit.score < -CLEAR ? { verdict: 'dense', reason } : unclear(reason);
  }
  const estimate = { ...estimateOf(low), upTo: low.vertices === counts.count ? null : low.upTo };
  if (Math.abs(low.score) < CLEAR) return unclear({ code: 'near-border', ...estimate });
  const verdict = low.score > 0 ? 'sparse' : 'dense';
  const contradicted =
    verdict === 'sparse' ? fit.estimate < CONTRADICTION.sparse : fit.estimate > CONTRADICTION.dense;
  if (contradicted) return unclear({ code: 'contradicted', overall: fit.estimate, ...estimate });
  return { verdict, reason: { code: 'clear', ...estimate } };
}

function estimateOf({ estimate, standardError }: Pick<DegreeFit, 'estimate' | 'standardError'>): Estimate {
  return { estimate, standardError: standardError ?? null };
}

/** A cap or a filter on the degrees; undefined if there is no sign of one. */
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
