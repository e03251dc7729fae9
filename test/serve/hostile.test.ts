// What was tried against the server, over real connections.

import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/serve/limits.js';
import { type RunningServer, startServer } from '../../src/serve/server.js';

let server: RunningServer;

beforeAll(async () => {
  // The server as `graphex serve` starts it, but with shorter time limits.
  server = await startServer(
    undefined,
    { port: 0 },
    {
      ...{ headers: 300, request: 600, silence: 900, look: 50 },
      ...{ connections: 200, spareConnections: 20 },
    },
  );
});
afterAll(() => server?.close());

interface Heard {
  readonly text: string;
  readonly milliseconds: number;
}

/**
 * Sends a text, then listens until the server closes the connection. `drip` sends one more piece every 50 ms; `deaf` does not
 * read for three seconds.
 */
function say(text: string, { drip, deaf }: { drip?: string; deaf?: boolean } = {}): Promise<Heard> {
  const { hostname, port } = new URL(server.url);
  const began = performance.now();
  return new Promise((resolve) => {
    let heard = '';
    const socket = connect(Number(port), hostname, () => socket.write(text, 'latin1'));
    const dripping = drip === undefined ? undefined : setInterval(() => socket.write(drip), 50);
    if (deaf) {
      socket.pause();
      setTimeout(() => socket.resume(), 3000);
    }
    socket.setTimeout(8000, () => socket.destroy());
    socket.on('data', (data) => {
      heard += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      clearInterval(dripping);
      resolve({ text: heard, milliseconds: performance.now() - began });
    });
  });
}

const POST = 'POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const SMUGGLED = 'GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n';

describe('request smuggling', () => {
  it.each([
    [
      'a length beside chunks',
      `${POST}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    ],
    [
      'chunks beside a length',
      `${POST}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    ],
    ['two lengths', `${POST}Content-Length: 2\r\nContent-Length: 50\r\n\r\n{}${SMUGGLED}`],
    ['a list of lengths', `${POST}Content-Length: 2, 2\r\n\r\n{}${SMUGGLED}`],
    ['a signed length', `${POST}Content-Length: +2\r\n\r\n{}${SMUGGLED}`],
    ['an encoding that hides', `${POST}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${SMUGGLED}`],
    [
      'chunked twice',
      `${POST}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${SMUGGLED}`,
    ],
    ['a space before the colon', `${POST}Content-Length : 2\r\n\r\n{}${SMUGGLED}`],
    ['a folded header', `${POST}X: a\r\n Content-Length: 2\r\n\r\n{}${SMUGGLED}`],
    ['a chunk of a wrong size', `${POST}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n${SMUGGLED}`],
    ['a header without its carriage return', `${POST}X: a\nContent-Length: 2\r\n\r\n{}${SMUGGLED}`],
  ])('%s is refused, and what hides behind it is not answered', async (_, text) => {
    const { text: heard } = await say(text);
    expect(heard).toMatch(/^HTTP\/1.1 4\d\d/);
    expect(heard).not.toContain('alive');
  });

  it('no Host, two Hosts and another’s Host are refused', async () => {
    expect((await say('GET /health/live HTTP/1.1\r\n\r\n')).text).toMatch(/^HTTP\/1.1 400/);
    const other = await say('GET /health/live HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n');
    expect(other.text).toMatch(/^HTTP\/1.1 421/);
  });
});

describe('slow clients', () => {
  it('one that never ends its headers is cut off', async () => {
    const { text, milliseconds } = await say('GET /health/live HTTP/1.1\r\nHost: localhost\r\n', {
      drip: 'X-a: b\r\n',
    });
    expect(text).toMatch(/^HTTP\/1.1 408/);
    expect(milliseconds).toBeLessThan(3000);
  });

  it('one that never ends its body is cut off', async () => {
    const { text, milliseconds } = await say(`${POST}Content-Length: 100000\r\n\r\n{"likes":[`, {
      drip: ' ',
    });
    expect(text).not.toMatch(/ 200 /);
    expect(milliseconds).toBeLessThan(4000);
  });

  it('one that sends nothing, or does not read its answer, is cut off', async () => {
    expect((await say('')).milliseconds).toBeLessThan(4000);
    const greedy = 'GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(4000);
    const { text, milliseconds } = await say(greedy, { deaf: true });
    expect(milliseconds).toBeLessThan(7000);
    expect(text.match(/HTTP\/1.1 200/g)?.length ?? 0).toBeLessThan(4000);
  }, 20_000);

  it('others are answered meanwhile', async () => {
    const slow = Array.from({ length: 50 }, () =>
      say('POST /v1/recommend HTTP/1.1\r\nHost: localhost\r\n', { drip: 'X: y\r\n' }),
    );
    for (let i = 0; i < 10; i++) expect((await fetch(`${server.url}/health/live`)).status).toBe(200);
    await Promise.all(slow);
  }, 20_000);

  it('endless bodies take no place in the queue', async () => {
    const slow = Array.from({ length: 100 }, () =>
      say(`${POST}Content-Length: 1000\r\n\r\n{"likes":[`, { drip: ' ' }),
    );
    await new Promise((resolve) => setTimeout(resolve, 100));
    const headers = { 'content-type': 'application/json' };
    const asked = await fetch(`${server.url}/v1/recommend`, { method: 'POST', headers, body: '{}' });
    expect(((await asked.json()) as { type: string }).type).toBe('/docs#no-model');
    await Promise.all(slow);
  }, 20_000);
});

describe('many connections', () => {
  it('that are idle do not keep others out', async () => {
    const { hostname, port } = new URL(server.url);
    const idle = await Promise.all(
      Array.from({ length: 260 }, () => {
        const socket = connect(Number(port), hostname).on('error', () => {});
        return new Promise<typeof socket>((resolve) => socket.once('connect', () => resolve(socket)));
      }),
    );
    for (let i = 0; i < 5; i++) {
      const headers = { connection: 'close' };
      expect((await fetch(`${server.url}/health/live`, { headers })).status).toBe(200);
    }
    for (const socket of idle) socket.destroy();
  });
});

describe('requests that are too large', () => {
  it('endless headers, bodies and chunks', async () => {
    const headers = `GET /health/live HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`;
    expect((await say(headers)).text).toMatch(/^HTTP\/1.1 431/);
    const length = `${POST}Content-Length: ${LIMITS.body + 1}\r\nConnection: close\r\n\r\n`;
    expect((await say(length)).text).toMatch(/^HTTP\/1.1 413/);
    const chunk = `${(1 << 18).toString(16)}\r\n${'['.repeat(1 << 18)}\r\n`;
    const chunks = `${POST}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`;
    expect((await say(chunks)).text).toMatch(/^HTTP\/1.1 413/);
  });

  it('a compressed body is refused, not decompressed', async () => {
    const packed = `${POST}Content-Encoding: gzip\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`;
    expect((await say(packed)).text).toMatch(/^HTTP\/1.1 415/);
  });
});

describe('objects', () => {
  it.each([
    '{"__proto__":{"admin":true}}',
    '{"constructor":{"prototype":{"admin":true}}}',
    '{"likes":["a"],"__proto__":{"admin":true}}',
  ])('%s changes no prototype and is refused', async (body) => {
    for (const where of ['/v1/recommend', '/v1/rank', '/v1/explain']) {
      const response = await fetch(server.url + where, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      });
      expect(response.status).toBe(400);
    }
    const batch = await fetch(`${server.url}/v1/recommend/batch`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: `{"requests":[${body}]}`,
    });
    // The answer would hold an error for it, but this server has no model.
    expect(batch.status).toBe(503);
    expect(({} as { admin?: boolean }).admin).toBeUndefined();
  });
});
