// What a store holds: events and items, as plain values.

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

/** What is known of an item apart from its events. */
export interface StoredItem {
  readonly item: string;
  readonly title?: string | undefined;
  /** A hidden item is never recommended. */
  readonly hidden: boolean;
  /** A JSON object. */
  readonly attributes?: string | undefined;
}

/** An item of the list of popular items. */
export interface PopularEntry {
  readonly item: string;
  /** Weights of its events, each halved for every half-life of its age. */
  readonly score: number;
  /** Users with such an event. */
  readonly users: number;
}

/** The store cannot be read or written now; the message says why. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}
