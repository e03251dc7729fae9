// Rough estimates of memory and time before work starts. The first rates were measured on one machine (docs/appendix/performance.md).
// Once this tab has read or fitted something, its own speed is used. bench/page-estimates.ts compares estimates with fits.

import { signal } from '@preact/signals';
import type { PartSize } from '../graph/graph.js';
import type { Purpose } from './protocol.js';

/** Bytes of a row while it is read: the pair, both orders of edges, and a share of the ids. */
const ROW_BYTES = 40;
/** Bytes of a vertex and feature: shapes, rates and activities in float32. */
const FACTOR_BYTES = 16;
/** Sweeps that most fits take to converge. */
const USUAL_SWEEPS = 150;
/** Features of a ranker: members and blend together. */
const RANKER_FEATURES = 400;

/** What is done in a second: rows read, loads of fits for one thread, items that get scores from their attributes. */
const RATES = { reading: 1_000_000, understand: 0.9e9, recommend: 44_000, attributes: 12_000 };
/** The same as this tab measured it. */
const measured: { [K in keyof typeof RATES]?: number } = {};

/** Seconds before the first sweep of a fit. */
const START: Readonly<Record<Purpose, number>> = { understand: 0.4, recommend: 1.6 };

/** Milliseconds of `burst` on the machine of these rates, and the least and largest multiple of its speed that is believed. */
const BURST_MS = 0.96;
const SPEEDS = { least: 1 / 16, most: 4 };
/** A signal, because it is measured while estimates are already shown. */
const speed = signal(1);

/** Learns from the time of a short computation how fast this machine is. */
export function learnSpeed(milliseconds: number): void {
  speed.value = Math.min(SPEEDS.most, Math.max(SPEEDS.least, BURST_MS / milliseconds));
}

function rateOf(what: keyof typeof RATES, threads = 1): number {
  return measured[what] ?? RATES[what] * threads * speed.value;
}

export function learnReading(rows: number, seconds: number): void {
  if (seconds > 0.2) measured.reading = rows / seconds;
}

export function learnAttributes(items: number, seconds: number): void {
  if (items > 0 && seconds > 0.2) measured.attributes = items / seconds;
}

interface FitSize extends PartSize {
  readonly purpose: Purpose;
  readonly features: number;
  readonly iterations: number;
}

/** Remembers how fast a fit was. It is taken as one of the usual number of sweeps, as the next one will be. */
export function learnRate(fit: FitSize, seconds: number): void {
  if (seconds >= 0.5) measured[fit.purpose] = loadOf(fit) / Math.max(0.5, seconds - START[fit.purpose]);
}

/**
 * Edges × features × sweeps of a model that describes, where a vertex takes as long as 16 edges. Edges of a ranker, where an item
 * takes as long as 50 edges and users hardly count.
 */
function loadOf({ purpose, users, items, edges, features, iterations }: FitSize): number {
  if (purpose === 'recommend') return edges + 50 * items;
  return (edges + 16 * (users + items)) * features * Math.min(iterations, USUAL_SWEEPS);
}

export interface Need {
  readonly bytes: number;
  readonly seconds: number;
}

export function needToRead(rows: number): Need {
  return { bytes: rows * ROW_BYTES, seconds: rows / rateOf('reading') };
}

/** The need of a fit, without scores by attributes. */
export function needToFit(fit: FitSize, threads: number): Need {
  const { purpose, users, items, edges } = fit;
  const features = purpose === 'recommend' ? RANKER_FEATURES : fit.features;
  return {
    bytes: edges * ROW_BYTES + (users + items) * features * FACTOR_BYTES,
    seconds: START[purpose] + loadOf(fit) / rateOf(purpose, threads),
  };
}

/** Seconds of scores by attributes, which come after a fit. */
export function secondsOfAttributes(items: number): number {
  return items / rateOf('attributes');
}

/** The shares of a side that can be chosen. */
export const SHARES = [1, 0.7, 0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01] as const;

/** The need of reading a table of which a random share is kept: every row is read, few are kept. */
export function needToThin(whole: Need, { users, items }: { users: number; items: number }): Need {
  return { bytes: whole.bytes * users * items, seconds: whole.seconds };
}

/** The largest share of both sides that takes at most half of a tab's memory: a fit needs as much again. */
export function shareThatFits(whole: Need, cap: number): number {
  return SHARES.find((share) => whole.bytes * share * share <= cap / 2) ?? SHARES[SHARES.length - 1];
}

/** The memory that a browser is likely to give one tab: half of the device's, at most 4 GB. */
export function memoryCap(): number {
  const gigabytes = (navigator as { readonly deviceMemory?: number }).deviceMemory ?? 4;
  return Math.min(4, gigabytes / 2) * 1e9;
}
