// The names of the random streams: a seed, one of these, then whatever tells pieces of work apart. Two kinds of work never
// share a stream, and a name that changes its number changes every result that rests on it.

export const STREAMS = {
  /** Histories drawn again, to see how sure a list is. */
  confidence: 0xc0f1,
} as const;
