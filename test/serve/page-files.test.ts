import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readKeys } from '../../src/serve/access.js';
import { createApp } from '../../src/serve/http-app.js';
import { readPage } from '../../src/serve/page-files.js';
import { createRequestLog } from '../../src/serve/request-log.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';

let folder: string;
let server: RunningServer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-page-'));
  await mkdir(join(folder, 'page/assets'), { recursive: true });
  await writeFile(join(folder, 'secret.txt'), 'a secret');
  await writeFile(join(folder, 'page/index.html'), '<!doctype html><title>page</title>');
  await writeFile(join(folder, 'page/assets/app.js'), 'export {}');
  await writeFile(join(folder, 'page/assets/kernels.wasm'), new Uint8Array([0, 0x61, 0x73, 0x6d]));
  await symlink(join(folder, 'secret.txt'), join(folder, 'page/link.txt'));
  await symlink(folder, join(folder, 'page/out'));
  server = await serve(undefined, { port: 0 });
});

afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

async function appWithPage(more: Partial<Parameters<typeof createApp>[0]> = {}) {
  const { http } = createApp({
    current: () => undefined,
    swap: () => Promise.reject(new Error('no swap')),
    files: async () => [],
    draining: () => false,
    keys: undefined,
    rate: undefined,
    hosts: undefined,
    log: () => {},
    requestLog: createRequestLog(
      () => undefined,
      () => {},
    ),
    page: await readPage(join(folder, 'page')),
    withModel: false,
    ...more,
  });
  return http;
}

describe('the page', () => {
  it('has the headers that threads need, a strict policy and an entity tag', async () => {
    const app = await appWithPage();
    const page = await app.request('/');
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('<title>page</title>');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(page.headers.get('cross-origin-embedder-policy')).toBe('require-corp');
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'/);
    expect(policy.match(/script-src [^;]*/)?.[0]).not.toMatch(/'unsafe-(inline|eval)'|https?:|\*/);
    const wasm = await app.request('/assets/kernels.wasm');
    expect(wasm.headers.get('content-type')).toBe('application/wasm');
    expect([...new Uint8Array(await wasm.arrayBuffer())]).toEqual([0, 0x61, 0x73, 0x6d]);
    const etag = page.headers.get('etag') as string;
    expect((await app.request('/', { headers: { 'if-none-match': etag } })).status).toBe(304);
    expect((await app.request('/', { method: 'HEAD' })).status).toBe(200);
  });

  it('needs no key although the endpoints do', async () => {
    const app = await appWithPage({ keys: readKeys('a-secret-of-some-length', 'keys') });
    expect((await app.request('/assets/app.js')).status).toBe(200);
    expect((await app.request('/v1/models')).status).toBe(401);
    expect((await app.request('/metrics')).status).toBe(401);
  });

  it.each([
    '/secret.txt',
    '/../secret.txt',
    '/assets/../../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/..%5csecret.txt',
    '/assets/%2e%2e%2f%2e%2e%2fsecret.txt',
    '/link.txt',
    '/out/secret.txt',
    '//secret.txt',
    '/assets',
    '/assets/',
    '/%00',
    '/%ff',
    '/constructor',
    '/__proto__',
  ])('gives nothing but its own files: %s', async (path) => {
    const app = await appWithPage();
    const answer = await app.request(path);
    expect(answer.status).toBe(404);
    expect(await answer.text()).not.toContain('a secret');
  });

  it('paths with .. do not leave the folder over a real connection', async () => {
    const { hostname, port } = new URL(server.url);
    const say = (path: string) =>
      new Promise<string>((resolve) => {
        let heard = '';
        const socket = connect(Number(port), hostname, () =>
          socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`),
        );
        socket.on('data', (data) => {
          heard += data;
        });
        socket.on('close', () => resolve(heard));
      });
    for (const path of [
      '/../package.json',
      '/../../package.json',
      '/assets/../../package.json',
      '/..%2f..%2fpackage.json',
      '//etc/passwd',
      '/etc/passwd',
    ]) {
      const heard = await say(path);
      expect(heard, path).toMatch(/^HTTP\/1.1 (400|404)/);
      expect(heard).not.toMatch(/"dependencies"|root:/);
    }
  });
});

describe('a server without a model', () => {
  it('is ready for the page, and says that a model is missing for the rest', async () => {
    expect((await fetch(`${server.url}/`)).status).toBe(200);
    expect(await (await fetch(`${server.url}/health/ready`)).json()).toEqual({
      status: 'ready',
      model: null,
    });
    const popular = await fetch(`${server.url}/v1/popular`);
    expect(popular.status).toBe(503);
    expect(await popular.json()).toMatchObject({ detail: expect.stringContaining('graphex serve MODEL') });
    const again = await fetch(`${server.url}/v1/models/current`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(again.status).toBe(422);
    const models = await (await fetch(`${server.url}/v1/models`)).json();
    expect(models).toMatchObject({ current: null, files: [] });
  });

  it('shows a plain page if the page was not built', async () => {
    const app = await appWithPage({ page: undefined });
    const plain = await app.request('/');
    expect(plain.status).toBe(200);
    const text = await plain.text();
    expect(text).toContain('/docs');
    expect(text).toContain('graphex serve MODEL');
    expect(plain.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
    expect((await app.request('/other')).status).toBe(404);
  });
});
