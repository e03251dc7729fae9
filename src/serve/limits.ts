// The server's limits, each declared once. Schemas, queue and documentation read them here.

export const LIMITS = {
  /** Bytes of a request body. */
  body: 1 << 20,
  /** Bytes of a body with events or items. */
  bulkBody: 8 << 20,
  /** Events or items of one body. */
  events: 10_000,
  /** Characters of the attributes of an item, as JSON. */
  attributes: 16_384,
  /** Largest body, in bytes, that is read and discarded when its request is refused unread. */
  discarded: 1 << 16,
  /** Levels of arrays and objects in a request body. */
  depth: 6,
  /** Items of one list. */
  n: 1000,
  /** Items and users of one described feature. */
  described: 100,
  /** Ids in likes, exclude, include or candidates. */
  ids: 10_000,
  /** Requests in one batch. */
  batch: 1000,
  /** Characters of an id or a title. */
  text: 2048,
  /** Cost of one answer; cost.ts says what costs how much. */
  cost: 500_000,
  /** Characters of the answers of one batch. */
  answer: 100_000_000,
  /** Milliseconds that a request may set as its deadline. */
  deadline: 60_000,
  /** Milliseconds of the default deadline. */
  patience: 10_000,
  /** Milliseconds that a client may take to send its headers, and its whole request. */
  headers: 10_000,
  request: 30_000,
  /** Milliseconds without traffic after which a connection is cut, so that a client must read what it asked for. */
  silence: 75_000,
  /** Milliseconds between two checks for slow clients. */
  look: 1000,
  /** Milliseconds that an idle connection is kept. */
  idle: 5_000,
  /** Open connections. Beyond them, the connection that has been idle longest is closed for a new one. */
  connections: 1000,
  /** Further connections while none of the others is idle, so that health checks still get through. */
  spareConnections: 50,
  /** Wrong keys a second from one address. */
  wrongKeys: 10,
  /** Milliseconds between two sweeps of idle connections while the server stops. */
  grace: 300,
  /** Milliseconds that open requests get to end while the server stops. */
  drain: 30_000,
} as const;
