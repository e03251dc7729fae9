// Debian's Chromium, headless: opens a page that a test serves and waits for what the page posts to /answer.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  (path) => existsSync(path),
);

/** Without these two a page gets no shared memory. */
export const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};

export interface Served {
  /** How its name ends. */
  readonly type: string;
  readonly body: string | Buffer;
  readonly headers?: Record<string, string>;
}

const TYPES: Record<string, string> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
};
/** WebGPU, computed by the CPU. */
export const SOFTWARE_GPU = [
  '--enable-unsafe-webgpu',
  '--enable-features=Vulkan',
  '--use-webgpu-adapter=swiftshader',
];
const FLAGS = [
  ...[
    '--headless=new',
    '--no-sandbox',
    '--no-first-run',
    '--disable-gpu-sandbox',
    '--remote-debugging-port=0',
  ],
  ...SOFTWARE_GPU,
];

/** Opens `/` in Chromium, answers what it asks for, and resolves with what it posts. */
export async function visit<Answer>(serve: (path: string) => Served | undefined): Promise<Answer> {
  let answered: (answer: Answer) => void;
  const answer = new Promise<Answer>((resolve) => {
    answered = resolve;
  });
  const server = createServer((request, response) => {
    if (request.method === 'POST') {
      void read(request).then((text) => answered(JSON.parse(text)));
      response.end();
      return;
    }
    const served = serve(new URL(request.url ?? '/', 'http://page').pathname);
    if (!served) response.writeHead(404, ISOLATED).end();
    else
      response
        .writeHead(200, { ...served.headers, 'Content-Type': TYPES[served.type] ?? 'text/plain' })
        .end(served.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const profile = mkdtempSync(join(tmpdir(), 'graphex-browser-'));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const browser = spawn(chromium!, [...FLAGS, `--user-data-dir=${profile}`, address], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  let said = '';
  browser.stderr.setEncoding('utf8').on('data', (text) => {
    said += text;
  });
  const gone = new Promise<number | null>((resolve) => browser.on('close', resolve));
  try {
    return await Promise.race([
      answer,
      gone.then((status) => Promise.reject(new Error(`chromium ended with status ${status}:\n${said}`))),
    ]);
  } finally {
    browser.kill('SIGKILL');
    await gone;
    server.closeAllConnections();
    server.close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function read(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk;
  return text;
}
