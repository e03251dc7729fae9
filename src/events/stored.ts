// What a store holds: events and items, as plain values.

import { shown } from '../text/untrusted.js';

/** A user took an item. */
export interface StoredEvent {
  readonly user: string;
  readonly item: string;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly weight: number;
  /** Makes a second post of the same event harmless. */
  readonly id?: string | undefined;
}

/** An item of a history: the sum of the weights of its events, and the latest of their times. */
export interface HistoryEntry {
  readonly weight: number;
  /** Milliseconds since 1970. */
  readonly time: number;
}

/** What is known of an item apart from its events. When an item is stored, an undefined field keeps its former value. */
export interface StoredItem {
  readonly item: string;
  /** '': none. */
  readonly title?: string | undefined;
  /** A hidden item is never recommended. */
  readonly hidden?: boolean | undefined;
  /** A JSON object. */
  readonly attributes?: string | undefined;
}

/** An item of the list of popular items. */
export interface PopularEntry {
  readonly item: string;
  /** For each user the weight of one event, at most 1, halved for every half-life of its age. */
  readonly score: number;
  /** Users with such an event. */
  readonly users: number;
}

/** The id of an event belongs to a stored event of another user or item. Nothing of the post is stored. */
export class TakenIdError extends Error {
  override readonly name = 'TakenIdError';

  constructor(
    readonly id: string,
    /** The place of the event in its post. */
    readonly at: number,
  ) {
    super(`the id ${shown(id)} belongs to a stored event of another user or item`);
  }
}

/** The store cannot be read or written now; the message says why. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
