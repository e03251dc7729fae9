// Options of `graphex serve` and of `serve`.

import { column, decimal, flag, inGroup, input, list, repeated, text, whole } from '../declare.js';
import { THREADS } from '../shared.js';
import { ITEM_TITLES } from './similar.js';

export const SERVE = {
  port: whole({
    min: 0,
    max: 65_535,
    default: 8080,
    common: true,
    meaning: 'port to listen on; 0: any free one',
  }),
  host: text({
    default: '127.0.0.1',
    argument: 'address',
    common: true,
    meaning: 'address to listen on; 0.0.0.0 admits other machines',
  }),
  allowHosts: list(text({ meaning: 'a host name' }), {
    argument: 'names',
    otherwise: 'any; on a local address only the names of this machine',
    meaning: 'host names that clients may use, separated by commas',
  }),
  keyFile: input({
    otherwise: 'no key is needed',
    common: true,
    meaning: 'keys that clients must send, one per line',
    details: 'Each line is KEY, NAME KEY or NAME KEY admin.',
  }),
  ...ITEM_TITLES,
  models: input({
    argument: 'dir',
    common: true,
    meaning: 'folder of models that clients may load',
    details: 'PUT /v1/models/current loads one; it needs an admin key if there are keys.',
  }),
  ...inGroup('Events and refits', {
    store: input({
      common: true,
      otherwise: 'events are not stored',
      meaning: 'DuckDB database for events and items',
      details:
        'It is made if it is absent, and begins with the histories of the model. POST /v1/events adds events. Needs the package @duckdb/node-api.',
    }),
    refit: text({
      argument: 'when',
      common: true,
      otherwise: 'only when asked',
      meaning: 'refit the model every span of time, as in 1h, or at a time of day, as in 03:00',
      details:
        'A process of low priority fits from the present model. The new one takes over unless it is clearly worse on held-back items. POST /v1/refit starts one.',
    }),
    keep: whole({
      min: 1,
      max: 10_000,
      default: 5,
      meaning: 'models of refits that are kept',
    }),
    data: repeated(text({ meaning: 'a table, query or database' }), {
      argument: 'source',
      otherwise: 'the store alone',
      meaning: 'data that refits read, in addition to the store; may be repeated',
      details: 'A file, a DuckDB database, or sql:QUERY. Other programs may write it.',
    }),
    users: column({
      otherwise: '1',
      meaning: 'column of the users in data',
    }),
    items: column({
      otherwise: '2',
      meaning: 'column of the items in data',
    }),
    table: text({
      argument: 'name',
      otherwise: 'the only one',
      meaning: 'table or view, if data is a DuckDB database',
    }),
    time: column({
      otherwise: 'none',
      meaning: 'column of the times in data',
      details:
        'With it, the items held back for the comparison are the last ones. A time in the future becomes the present.',
    }),
    itemInfo: input({
      otherwise: 'what was posted about the items',
      meaning: 'table about the items: titles show immediately, new attributes from the next refit on',
    }),
    window: text({
      argument: 'span',
      otherwise: 'all events',
      meaning: 'age up to which events count for refits and popularity, as in 180d',
    }),
    popularHalfLife: text({
      argument: 'span',
      default: '7d',
      meaning: 'age at which an event counts half for popularity',
    }),
  }),
  rate: decimal({
    above: 0,
    max: 1e6,
    otherwise: 'no limit',
    common: true,
    meaning: 'requests per second that a key or address may make; each request of a batch counts',
  }),
  queue: whole({
    min: 1,
    max: 1e6,
    default: 64,
    common: true,
    meaning: 'requests that may wait; more are answered 503',
  }),
  listUsers: flag({
    default: false,
    meaning: 'let every client see the users of features',
    details: 'Otherwise only clients with an admin key see them.',
  }),
  ...THREADS,
};
