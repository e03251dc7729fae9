// What a server takes at most. Each limit is said once; schemas, the queue and the documentation read it here.

export const LIMITS = {
  /** Bytes of a request body. */
  body: 1 << 20,
  /** Bytes of a body that is read and forgotten where its request is turned away. */
  forgotten: 1 << 16,
  /** Arrays and objects within one another. */
  depth: 6,
  /** Items of one list. */
  n: 1000,
  /** Ids in likes, exclude, include or candidates. */
  ids: 10_000,
  /** Requests in one batch. */
  batch: 1000,
  /** Characters of an id or a title. */
  text: 2048,
  /** Milliseconds that a request may ask to be given. */
  deadline: 60_000,
  /** Milliseconds that a request gets without asking. */
  patience: 10_000,
  /** Milliseconds that a client may take to send its headers, and its whole request. */
  headers: 10_000,
  request: 30_000,
  /** Milliseconds after which a connection is cut on which nothing moves: a client that does not read what it asked for. */
  silence: 75_000,
  /** Milliseconds between looks at who is too slow. */
  look: 1000,
  /** Milliseconds that an idle connection is kept. */
  idle: 5_000,
  /** Connections at a time. */
  connections: 1000,
  /** Milliseconds after which a connection without a request ends, once the server is told to stop. */
  grace: 300,
  /** Milliseconds that requests under way get to end once the server is told to stop. */
  drain: 30_000,
} as const;
