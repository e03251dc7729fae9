// Rough estimates of memory and time before work starts. The first rates were measured on one machine (docs/appendix/performance.md).
// Once this tab has read or fitted something, its own speed is used. bench/page-estimates.ts compares estimates with fits.

import { signal } from '@preact/signals';
import type { Purpose } from './protocol.js';

/** Bytes of a row while it is read: the pair, both orders of edges, and a share of the ids. */
const ROW_BYTES = 40;
/** Rows a second. */
const ROWS_A_SECOND = 1_000_000;
/** Edges × features × sweeps a second, for one thread, and the seconds before the first sweep. A vertex takes as long as 16 edges. */
const FIT_RATE = 0.9e9;
const FIT_SECONDS = 0.4;
const VERTEX_EDGES = 16;
/** Sweeps that most fits take to converge. */
const USUAL_SWEEPS = 150;
/**
 * Edges a second of a ranker for one thread, what it takes beyond that, and its features: members and blend together. An item
 * takes as long as 50 edges; users hardly count.
 */
const RANKER_RATE = 44_000;
const RANKER_SECONDS = 1.6;
const RANKER_ITEM_EDGES = 50;
const RANKER_FEATURES = 400;
/** Items a second that get scores from their attributes. */
const ATTRIBUTE_RATE = 12_000;
/** Bytes of a vertex and feature: shapes, rates and activities in float32. */
const FACTOR_BYTES = 16;

/** Milliseconds of `burst` on the machine of these rates, and the least and largest multiple of its speed that is believed. */
const BURST_MS = 0.96;
const SPEEDS = { least: 1 / 16, most: 4 };
/** A signal, because it is measured while estimates are already shown. */
const speed = signal(1);

/** Learns from the time of a short computation how fast this machine is. */
export function learnSpeed(milliseconds: number): void {
  speed.value = Math.min(SPEEDS.most, Math.max(SPEEDS.least, BURST_MS / milliseconds));
}

let readRate: number | undefined;
const fitRates: Partial<Record<Purpose, number>> = {};

/** Remembers how fast rows were read. */
export function learnReading(rows: number, seconds: number): void {
  if (seconds > 0.2) readRate = rows / seconds;
}

/** Remembers how fast a fit was. It is taken as one of the usual number of sweeps, as the next one will be. */
export function learnRate(
  purpose: Purpose,
  size: Size,
  features: number,
  iterations: number,
  seconds: number,
): void {
  if (seconds < 0.5) return;
  fitRates[purpose] =
    purpose === 'recommend'
      ? rankerLoad(size) / Math.max(0.5, seconds - RANKER_SECONDS)
      : (loadOf(size) * features * Math.min(iterations, USUAL_SWEEPS)) / seconds;
}

/** Edges, and vertices in edges. */
function loadOf({ users, items, edges }: Size): number {
  return edges + VERTEX_EDGES * (users + items);
}

/** The same for a ranker. */
function rankerLoad({ items, edges }: Size): number {
  return edges + RANKER_ITEM_EDGES * items;
}

let attributeRate: number | undefined;

/** Remembers how fast items got scores from their attributes. */
export function learnAttributes(items: number, seconds: number): void {
  if (items > 0 && seconds > 0.2) attributeRate = items / seconds;
}

interface Size {
  readonly users: number;
  readonly items: number;
  readonly edges: number;
}

export interface Need {
  readonly bytes: number;
  readonly seconds: number;
  /** Seconds of them for scores by attributes, after the fit. */
  readonly attributes?: number;
}

export function needToRead(rows: number): Need {
  return { bytes: rows * ROW_BYTES, seconds: rows / (readRate ?? ROWS_A_SECOND * speed.value) };
}

export function needToFit(
  purpose: Purpose,
  size: Size,
  features: number,
  iterations: number,
  threads: number,
  /** Items of a table about the items. */
  described = 0,
): Need {
  const { users, items, edges } = size;
  const attributes = described / (attributeRate ?? ATTRIBUTE_RATE * speed.value);
  if (purpose === 'recommend') {
    return {
      bytes: edges * ROW_BYTES + (users + items) * RANKER_FEATURES * FACTOR_BYTES,
      seconds:
        RANKER_SECONDS +
        rankerLoad(size) / (fitRates.recommend ?? RANKER_RATE * threads * speed.value) +
        attributes,
      attributes,
    };
  }
  const rate = fitRates.understand ?? FIT_RATE * threads * speed.value;
  return {
    bytes: edges * ROW_BYTES + (users + items) * features * FACTOR_BYTES,
    seconds: FIT_SECONDS + (loadOf(size) * features * Math.min(iterations, USUAL_SWEEPS)) / rate + attributes,
    attributes,
  };
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
