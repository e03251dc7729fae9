import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/serve/limits.js';
import { refuseOverload } from '../../src/serve/overload.js';
import { tooBusy } from '../../src/serve/problems.js';
import { createRequestLog, type LogRecord } from '../../src/serve/request-log.js';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server that is overloaded for /v1/, and what it has recorded. */
async function overloaded() {
  const records: LogRecord[] = [];
  const requestLog = createRequestLog(
    () => undefined,
    (record) => records.push(record),
  );
  const listener = refuseOverload({
    refusal: (path) => (path.startsWith('/v1/') ? tooBusy(7) : undefined),
    requestLog,
    draining: () => false,
    app: (_, response) => response.end('inside'),
  });
  const listening = createServer(listener);
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  return { port, records, requestLog };
}

/** What a socket receives until it has received `until`, or until the server closes the connection. */
function heard(socket: Socket, until: RegExp): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    socket.setEncoding('utf8').on('data', (data) => {
      text += data;
      if (until.test(text)) resolve(text);
    });
    socket.once('close', () => resolve(`${text}<closed>`));
    socket.on('error', () => {});
  });
}

describe('refusals under overload', () => {
  it('are problem documents that say when to ask again, and are counted under their route', async () => {
    const { port, records, requestLog } = await overloaded();
    const url = `http://127.0.0.1:${port}`;
    const refused = await fetch(`${url}/v1/recommend`, { method: 'POST', body: '{"likes":["a"]}' });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    const requestId = refused.headers.get('x-request-id');
    expect(await refused.json()).toMatchObject({ type: '/docs#busy', instance: `request:${requestId}` });
    expect(records).toMatchObject([{ requestId, status: 503, problem: 'busy' }]);
    expect(requestLog.metrics()).toContain(
      'graphex_requests_total{route="/v1/recommend",method="POST",status="503"} 1',
    );
    expect(await (await fetch(`${url}/health/live`)).text()).toBe('inside');
  });

  it('discard a small body, and the connection is kept', async () => {
    const { port } = await overloaded();
    const socket = connect(port, '127.0.0.1');
    const all = heard(socket, /inside/);
    socket.write('POST /v1/recommend HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    socket.write('GET /GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
    const text = await all;
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 503', 'HTTP/1.1 200']);
    socket.destroy();
  });

  it.each([
    ['a large body', `Content-Length: ${LIMITS.discarded + 1}`],
    ['a body without an end', 'Transfer-Encoding: chunked'],
  ])('do not wait for %s', async (_, header) => {
    const { port } = await overloaded();
    const socket = connect(port, '127.0.0.1');
    const all = heard(socket, /<never>/);
    socket.write(`POST /v1/recommend HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`);
    const text = await all;
    expect(text).toContain('HTTP/1.1 503');
    expect(text).toMatch(/connection: close/i);
    expect(text).toContain('<closed>');
  });
});
