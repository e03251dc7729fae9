// The library in a page: the built dist/browser.js as ES modules, the cpu engine in Web Workers, the browser's own WebGPU
// (SwiftShader's), and the same numbers as here.

import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { BipartiteGraph, fit, recommend } from '../../src/browser.js';
import { randomStream } from '../../src/math/random.js';

const root = join(import.meta.dirname, '../..');
const chromium = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

// Without these two a page gets no shared memory.
const ISOLATED = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
};
const TYPES: Record<string, string> = { '.js': 'text/javascript', '.wasm': 'application/wasm' };

const PAGE = `<!doctype html><meta charset="utf-8"><title>graphex</title>
<script type="module">
  const answer = (body) => fetch('/answer', { method: 'POST', body: JSON.stringify(body) });
  try {
    const { BipartiteGraph, fit, recommend } = await import('/dist/browser.js');
    const { edges, options } = await (await fetch('/question')).json();
    const graph = BipartiteGraph.fromEdges(edges);
    const answers = { isolated: crossOriginIsolated, cores: navigator.hardwareConcurrency };
    for (const engine of ['cpu', 'gpu']) {
      const stages = [];
      const result = await fit(graph, {
        ...options,
        engine,
        threads: 2,
        onProgress: ({ stage }) => stages.push(stage),
      }).catch((error) => ({ error: error.name + ': ' + error.message }));
      answers[engine] = result.error ? result : {
        bound: result.model.bound,
        engine: result.engine,
        threads: result.threads,
        leftover: Array.from(result.model.users.leftover),
        stages,
        top: (await recommend(result.model, { user: 7 }, { n: 5 })).map(({ item }) => item),
      };
    }
    await answer(answers);
  } catch (error) {
    await answer({ error: String(error.stack ?? error) });
  }
</script>`;

/** A graph large enough to be cut among workers, from a seed. */
function question() {
  const random = randomStream(17);
  const [users, items]: [number[], number[]] = [[], []];
  for (let e = 0; e < 4000; e++) {
    users.push(e < 200 ? e : Math.floor(200 * random.uniform() ** 2));
    items.push(e < 200 ? e % 120 : Math.floor(120 * random.uniform() ** 2));
  }
  const edges = { users, items, userCount: 200, itemCount: 120, multigraph: false };
  return { edges, options: { features: 6, iterations: 60, seed: 5 } };
}

interface Answer {
  readonly bound: number;
  readonly engine: string;
  readonly threads: number;
  readonly leftover: readonly number[];
  readonly stages: readonly string[];
  readonly top: readonly string[];
}
interface Answers {
  readonly error?: string;
  readonly isolated: boolean;
  readonly cpu: Answer & { readonly error?: string };
  readonly gpu: Answer & { readonly error?: string };
}

/** Opens the page in Chromium and waits for what it sends. */
async function ask(): Promise<Answers> {
  const body = JSON.stringify(question());
  let answered: (answers: Answers) => void;
  const answer = new Promise<Answers>((resolve) => {
    answered = resolve;
  });
  const server = createServer((request, response) => {
    if (request.method === 'POST') void read(request).then((text) => answered(JSON.parse(text)));
    serve(request.url ?? '/', body, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const profile = mkdtempSync(join(tmpdir(), 'graphex-browser-'));
  const browser = spawn(
    chromium!,
    [
      ...[
        '--headless=new',
        '--no-sandbox',
        '--no-first-run',
        '--disable-gpu-sandbox',
        '--remote-debugging-port=0',
      ],
      ...['--enable-unsafe-webgpu', '--enable-features=Vulkan', '--use-webgpu-adapter=swiftshader'],
      `--user-data-dir=${profile}`,
      `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile } },
  );
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

function serve(url: string, question: string, response: ServerResponse): void {
  const send = (type: string, body: string | Buffer) =>
    response.writeHead(200, { ...ISOLATED, 'Content-Type': type }).end(body);
  const path = join(root, new URL(url, 'http://page').pathname);
  if (url === '/') send('text/html', PAGE);
  else if (url === '/question') send('application/json', question);
  else if (url === '/answer') send('text/plain', '');
  else if (path.startsWith(join(root, 'dist')) && existsSync(path))
    send(TYPES[extname(path)] ?? 'text/plain', readFileSync(path));
  else response.writeHead(404, ISOLATED).end();
}

describe.skipIf(!chromium)('in a browser', async () => {
  const answers = chromium ? await ask() : undefined;
  const { edges, options } = question();
  const here = await fit(BipartiteGraph.fromEdges(edges), { ...options, engine: 'cpu', threads: 2 });

  test('the modules load, and shared memory is there', () => {
    expect(answers!.error).toBeUndefined();
    expect(answers!.isolated).toBe(true);
  });

  test('the cpu engine in Web Workers gives what it gives in threads of Node', async () => {
    const { cpu } = answers!;
    expect(cpu.error).toBeUndefined();
    expect(cpu.threads).toBe(2);
    expect(cpu.engine).toBe(here.engine);
    // Kernels give the same bits; Math.exp and Math.log of two versions of V8 may differ in their last digit.
    expect(Math.abs(cpu.bound / here.model.bound! - 1)).toBeLessThan(1e-9);
    for (const [k, leftover] of here.model.users.leftover.entries())
      expect(Math.abs(cpu.leftover[k] / leftover - 1)).toBeLessThan(1e-9);
    expect(cpu.stages).toContain('fitting');
    const top = await recommend(here.model, { user: 7 }, { n: 5 });
    expect(cpu.top).toEqual(top.map(({ item }) => item));
  });

  test("the gpu engine on the browser's own WebGPU agrees with it", () => {
    const { gpu } = answers!;
    expect(gpu.error).toBeUndefined();
    expect(gpu.engine).toMatch(/^WebGPU on .*swiftshader/i);
    expect(Math.abs(gpu.bound / here.model.bound! - 1)).toBeLessThan(1e-4);
  });
});

test.runIf(!chromium)('no Chromium to test in: install chromium', () => {});
