import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createDoor } from '../../src/serve/door.js';
import { LIMITS } from '../../src/serve/limits.js';
import type { LogRecord } from '../../src/serve/log.js';
import { busy } from '../../src/serve/problems.js';
import { createRecorder } from '../../src/serve/recorder.js';

let server: Server | undefined;

afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A server whose door is shut for /v1/, and what it has recorded. */
async function shut() {
  const records: LogRecord[] = [];
  const recorder = createRecorder(
    () => undefined,
    (record) => records.push(record),
  );
  const door = createDoor({
    turnAway: (path) => (path.startsWith('/v1/') ? busy(7) : undefined),
    recorder,
    draining: () => false,
    app: (_, response) => response.end('inside'),
  });
  const listening = createServer(door);
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const { port } = listening.address() as AddressInfo;
  return { port, records, recorder };
}

/** What comes back on a socket until `until` has come, or the other end closes. */
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

describe('the door', () => {
  it('tells whoever comes in overload to come back, in a problem document, and counts them', async () => {
    const { port, records, recorder } = await shut();
    const url = `http://127.0.0.1:${port}`;
    const refused = await fetch(`${url}/v1/recommend`, { method: 'POST', body: '{"likes":["a"]}' });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('cache-control')).toBe('no-store');
    expect(refused.headers.get('content-type')).toBe('application/problem+json');
    const requestId = refused.headers.get('x-request-id');
    expect(await refused.json()).toMatchObject({ type: '/docs#busy', instance: `request:${requestId}` });
    expect(records).toMatchObject([{ requestId, status: 503, problem: 'busy' }]);
    expect(recorder.metrics()).toContain(
      'graphex_requests_total{route="/v1/*",method="POST",status="503"} 1',
    );
    expect(await (await fetch(`${url}/health/live`)).text()).toBe('inside');
  });

  it('forgets a small body, and the connection serves again', async () => {
    const { port } = await shut();
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
    ['a large body', `Content-Length: ${LIMITS.forgotten + 1}`],
    ['a body without an end', 'Transfer-Encoding: chunked'],
  ])('does not wait for %s', async (_, header) => {
    const { port } = await shut();
    const socket = connect(port, '127.0.0.1');
    const all = heard(socket, /<never>/);
    socket.write(`POST /v1/recommend HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n`);
    const text = await all;
    expect(text).toContain('HTTP/1.1 503');
    expect(text).toMatch(/connection: close/i);
    expect(text).toContain('<closed>');
  });
});
