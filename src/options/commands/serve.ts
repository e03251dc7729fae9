// What the server takes.

import { decimal, flag, input, list, text, whole } from '../declare.js';
import { THREADS } from '../shared.js';

/** A server around a model. */
export const SERVE = {
  port: whole({ min: 0, max: 65_535, default: 8080, meaning: 'port to listen on; 0: any free one' }),
  host: text({
    default: '127.0.0.1',
    argument: 'address',
    meaning: 'address to listen on; 0.0.0.0 lets other machines ask',
  }),
  allowHosts: list(text({ meaning: 'a host name' }), {
    argument: 'names',
    otherwise: 'this machine’s own where only it can ask, else any',
    meaning: 'host names that clients may ask by, separated by commas',
  }),
  keyFile: input({
    otherwise: 'everyone who reaches the port may ask',
    meaning: 'keys that clients must send, one a line: KEY, NAME KEY or NAME KEY admin',
  }),
  titles: input({ meaning: 'titles of the items: a table of ids and titles' }),
  models: input({
    argument: 'dir',
    otherwise: 'none: the served file can be read again',
    meaning: 'folder of model files that PUT /v1/models/current may load',
  }),
  rate: decimal({
    above: 0,
    max: 1e6,
    otherwise: 'no limit',
    meaning: 'requests a second that one key or address may make on average',
  }),
  listUsers: flag({
    default: false,
    meaning: 'let every client see the users of features; otherwise only with an admin key',
  }),
  queue: whole({ min: 1, max: 1e6, default: 64, meaning: 'requests that may wait; more are answered 503' }),
  ...THREADS,
};
