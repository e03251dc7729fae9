// A load test of something that is not a graphex server ends with a sentence or figures, and stops on its signal.

import { createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { loadServer } from '../../src/load/load-server.js';

let server: Server | undefined;
const sockets = new Set<Socket>();
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  server?.close();
});

type Answer = (socket: Socket) => void;
const json = (body: string): Answer => {
  const head = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}`;
  return (socket) => socket.write(`${head}\r\n\r\n${body}`);
};
const POPULAR = json(JSON.stringify({ items: [{ item: 'a' }, { item: 'b' }] }));

/** A server that answers the question for popular items and the others in its own way. */
async function served(popular: Answer, others: Answer = () => {}): Promise<string> {
  const made = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => (String(data).startsWith('GET') ? popular : others)(socket));
  });
  server = made;
  await new Promise<void>((done) => made.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(made.address() as { port: number }).port}`;
}

const OPTIONS = { rate: 50, seconds: 0.2, events: 0, seed: 1 };

describe('a load test', () => {
  it.each([
    ['null', 'null', /not a graphex server/],
    ['items that are a text', '{"items":"xxxx"}', /not a graphex server/],
    ['items without ids', '{"items":[{"item":{"toString":1}},{"item":null},null]}', /not a graphex server/],
    ['an explanation that is an object', '{"detail":{"toString":1}}', /not a graphex server/],
    ['an explanation with control characters', '{"detail":"\\u001b[2Jgone"}', /\\u001b\[2Jgone/],
    ['no JSON', '<html>', /not a graphex server/],
  ])('is refused in a sentence: %s', async (_, body, says) => {
    const error = await loadServer(await served(json(body)), OPTIONS).catch((cause) => cause);
    expect(error.name).toBe('InputError');
    expect(error.message).toMatch(says);
  });

  it('does not store an endless answer', async () => {
    const spaces = Buffer.alloc(1 << 20, 32);
    const endless = await served((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(spaces));
        socket.once('drain', more);
      };
      more();
    });
    await expect(loadServer(endless, OPTIONS)).rejects.toThrow(/not a graphex server/);
  });

  it('counts answers that are not HTTP as lost', async () => {
    const url = await served(POPULAR, (socket) =>
      socket.write('HTTP/1.1 \u001b[J\r\ncontent-length: 0\r\n\r\n'),
    );
    const { recommendations } = await loadServer(url, OPTIONS);
    expect(recommendations.sent).toBeGreaterThan(0);
    expect(recommendations).toMatchObject({ statuses: {}, errors: recommendations.sent });
  });

  it('counts answers in pieces, and ends on time even if the next request is far off', async () => {
    const url = await served(POPULAR, (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-le');
      setTimeout(() => socket.write('ngth: 3\r\n\r\na'), 5);
      setTimeout(() => socket.write('bc'), 10);
    });
    const { recommendations } = await loadServer(url, OPTIONS);
    expect(recommendations).toMatchObject({ statuses: { 200: recommendations.sent }, errors: 0 });
    const began = performance.now();
    await loadServer(url, { ...OPTIONS, rate: 1e-6, seconds: 0.05 });
    expect(performance.now() - began).toBeLessThan(3000);
  });

  it.each([
    ['the next request is far off', { rate: 1e-6, seconds: 1e6 }],
    ['the server is silent', { rate: 100, seconds: 0.1 }],
  ])('hears its signal while %s', async (_, rate) => {
    const controller = new AbortController();
    const url = await served(POPULAR);
    const ended = loadServer(url, { ...OPTIONS, ...rate, signal: controller.signal });
    setTimeout(() => controller.abort(), 200);
    const began = performance.now();
    await expect(ended).rejects.toMatchObject({ name: 'AbortError' });
    expect(performance.now() - began).toBeLessThan(3000);
  });
});
