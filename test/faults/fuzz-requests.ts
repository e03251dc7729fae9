// Requests to a running server with a store: the examples of its own description, damaged in their body, path, query or
// headers. Every answer is JSON with a documented status, never 500, and the server keeps running.

import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from './fuzz.js';
import { type Dice, type Json, mutate, mutateJson } from './mutate.js';

type Library = typeof import('../../src/index.js');
type Server = Awaited<ReturnType<Library['serve']>>;

interface Example {
  readonly method: string;
  readonly path: string;
  readonly body: Json | undefined;
}

const SLOWEST_MS = 10_000;
/** Statuses of answers and of refusals; 503 if the server is too busy. */
const isFine = (status: number) => (status >= 200 && status < 500) || status === 503;

const HEADERS: readonly (readonly [string, string])[] = [
  ['content-type', 'application/json;x'],
  ['content-type', 'application/json; charset=latin1'],
  ['content-type', `application/json;${'a=b;'.repeat(3000)}`],
  ['content-encoding', 'gzip'],
  ['authorization', `Bearer ${'x'.repeat(600)}`],
  ['authorization', 'Basic YTpi'],
  ['expect', '100-continue'],
  ['if-none-match', '"'.repeat(5000)],
  ['accept', '*'.repeat(5000)],
  ['x-forwarded-for', '127.0.0.1'],
  ['range', 'bytes=0-9999999999'],
  ['cookie', 'a='.repeat(2000)],
  ['origin', 'https://elsewhere.example'],
];

export async function requestKind(library: Library, folder: string): Promise<Kind> {
  const side = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 12 };
  const { graph } = await library.simulate({ users: side, items: side, features: 2, seed: 4, threads: 1 });
  let started: Promise<{ server: Server; examples: readonly Example[]; home: string }> | undefined;
  const start = async () => {
    const home = mkdtempSync(join(folder, 'server-'));
    const path = join(home, 'model.safetensors');
    const { model } = await library.fit(graph, { features: 2, iterations: 4, threads: 1 });
    await library.saveModel(path, model);
    const server = await library.serve(path, { port: 0, threads: 1, store: join(home, 'events.duckdb') });
    const document = await (await fetch(`${server.url}/openapi.json`)).json();
    return { server, examples: examplesIn(document as Document), home };
  };
  return {
    name: 'request',
    prepare(dice) {
      return async () => {
        started ??= start();
        const { server, examples } = await started;
        const { url, init } = damaged(pick(examples, dice), dice, server.url);
        const began = performance.now();
        const response = await fetch(url, init).catch((error: Error) => {
          // fetch refuses to send it, or the server has closed the connection on purpose.
          if (error instanceof TypeError) return undefined;
          throw error;
        });
        const said = JSON.stringify({ url, ...init }).slice(0, 600);
        if (response) {
          const text = await response.text();
          check(isFine(response.status), `${response.status} for ${said}: ${text.slice(0, 400)}`);
          const isJson = /json/.test(response.headers.get('content-type') ?? '');
          if (isJson && init.method !== 'HEAD') JSON.parse(text);
        }
        check(performance.now() - began < SLOWEST_MS, `no answer in time for ${said}`);
        const alive = await fetch(`${server.url}/health/ready`);
        check(alive.status === 200, `not ready after ${said}`);
        if (response && response.status >= 400) throw new library.InputError('refused');
      };
    },
    async close() {
      if (!started) return;
      const { server, home } = await started;
      await server.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

interface Document {
  readonly paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          {
            readonly 'x-example'?: string;
            readonly requestBody?: {
              readonly content: { readonly 'application/json': { readonly example: Json } };
            };
          }
        >
      >
    >
  >;
}

function examplesIn({ paths }: Document): Example[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // Loading a model needs files, and a refit takes minutes.
      .filter(([method]) => !/refit|activate|current/.test(path + method))
      .map(([method, operation]) => ({
        method: method.toUpperCase(),
        path: operation['x-example'] ?? path.replace('{id}', '3'),
        body: operation.requestBody?.content['application/json'].example,
      })),
  );
}

function damaged({ method, path, body }: Example, dice: Dice, home: string) {
  const headers: [string, string][] = body === undefined ? [] : [['content-type', 'application/json']];
  let sent = body === undefined ? undefined : JSON.stringify(body);
  let where = path;
  const how = dice.below(6);
  if (body !== undefined && how < 3) sent = JSON.stringify(mutateJson(body, dice));
  else if (body !== undefined && how === 3) sent = textOf(mutate(encode(sent!), dice, encode(sent!)));
  else if (how === 4) headers.push(pick(HEADERS, dice) as [string, string]);
  else where = textOf(mutate(encode(path), dice, encode('?n=5&search=a')));
  const verb =
    dice.below(15) === 0 ? pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD'], dice) : method;
  const hasBody = verb !== 'GET' && verb !== 'HEAD';
  const url = home + (where.startsWith('/') ? where : `/${where}`);
  return {
    url,
    init: { method: verb, headers, ...(hasBody && sent !== undefined && { body: sent }) } as RequestInit,
  };
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(what);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString();
}

function pick<T>(list: readonly T[], dice: Dice): T {
  return list[dice.below(list.length)];
}
