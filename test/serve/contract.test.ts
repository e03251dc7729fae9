// The OpenAPI document is the contract: whatever it allows is answered as it says, whatever it forbids is refused by name.
// Clients are made from it, and the command line gives the same answers.

import { execFile, execFileSync } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import createClient from 'openapi-fetch';
import openapiTypescript from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { simulate } from '../../src/process/poisson-model.js';
import { type RunningServer, serve } from '../../src/serve/serve.js';
import { loadModel, saveModel } from '../../src/store/model-file.js';
import { generators, type Schema } from './schema-arbitrary.js';

interface Operation {
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: Schema }[];
  readonly requestBody?: { content: { 'application/json': { schema: Schema } } };
  readonly responses: Readonly<Record<string, { content: Readonly<Record<string, { schema: Schema }>> }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

const root = join(import.meta.dirname, '../..');
const side = { sigma: 0.3, tau: 1, shape: 0.3, rate: 0.3, size: 30 };
let folder: string;
let path: string;
let server: RunningServer;
let document: Document;
let words: string[];
let ajv: Ajv2020;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'graphex-contract-'));
  const { graph } = await simulate({ users: side, items: side, features: 3, seed: 2 });
  const { model } = await fit(graph, { features: 3, iterations: 10, threads: 1 });
  path = join(folder, 'model.safetensors');
  await saveModel(path, model);
  const store = join(folder, 'events.duckdb');
  server = await serve(path, { port: 0, threads: 1, listUsers: true, store });
  document = (await (await fetch(`${server.url}/openapi.json`)).json()) as Document;
  const { items, users } = await loadModel(path);
  words = [...Array.from({ length: 12 }, (_, i) => items.ids.at(i)), users.ids.at(0), users.ids.at(1)];
  ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'document');
}, 60_000);

afterAll(async () => {
  await server?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Every operation but those that replace a thing, which have tests of their own. */
const operations = () =>
  Object.entries(document.paths).flatMap(([where, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'put' && !/refit|activate/.test(where))
      .map(([method, operation]) => ({ where, method, operation })),
  );

const send = async (method: string, where: string, body: unknown) => {
  const response = await fetch(server.url + where, {
    method: method.toUpperCase(),
    ...(body !== undefined && {
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    }),
  });
  const type = response.headers.get('content-type') ?? '';
  return { status: response.status, type: type.split(';')[0], body: (await response.json()) as object };
};

/** The answer is one that the document names for this operation. */
function expectDocumented(
  { responses }: Operation,
  { status, type, body }: Awaited<ReturnType<typeof send>>,
  what: unknown,
): void {
  const declared = responses[String(status)]?.content[type]?.schema;
  expect(declared, `${status} ${type} for ${JSON.stringify(what)}: ${JSON.stringify(body)}`).toBeDefined();
  const pointer = declared?.$ref ?? '';
  const validate = ajv.getSchema(`document${pointer}`);
  expect(validate, pointer).toBeDefined();
  const right = validate?.(body);
  expect(right, `${JSON.stringify(validate?.errors)} for ${JSON.stringify(what)}`).toBe(true);
}

describe('the OpenAPI document', () => {
  it('holds for all valid requests: answers match their schema, and none is a failure', async () => {
    const { valid } = generators(document.components.schemas, words);
    const kinds = new Set<string>();
    for (const { where, method, operation } of operations()) {
      const body = operation.requestBody?.content['application/json'].schema;
      const parameters = fc.record(
        Object.fromEntries((operation.parameters ?? []).map(({ name, schema }) => [name, valid(schema)])),
        {
          requiredKeys: (operation.parameters ?? []).filter((p) => p.required).map(({ name }) => name),
          noNullPrototype: true,
        },
      );
      await fc.assert(
        fc.asyncProperty(parameters, body ? valid(body) : fc.constant(undefined), async (given, value) => {
          const answer = await send(method, address(where, given, operation), value);
          kinds.add(`${method} ${where} ${answer.status}`);
          expectDocumented(operation, answer, { given, value });
        }),
        { numRuns: body ? 60 : 25, seed: 15 },
      );
    }
    // Not by refusing everything.
    for (const { where, method, operation } of operations()) {
      expect(kinds).toContain(`${method} ${where} ${'202' in operation.responses ? 202 : 200}`);
    }
  }, 60_000);

  it('holds for invalid requests: they are refused with the field', async () => {
    const { wrong } = generators(document.components.schemas, words);
    for (const { where, method, operation } of operations()) {
      const body = operation.requestBody?.content['application/json'].schema;
      // If a body may be a list, an error has no field to name.
      const isList =
        body?.$ref !== undefined &&
        'anyOf' in document.components.schemas[body.$ref.split('/').at(-1) as string];
      if (!body || isList) continue;
      await fc.assert(
        fc.asyncProperty(wrong(body), async ({ value, field }) => {
          const answer = await send(method, where, value);
          expectDocumented(operation, answer, value);
          // Each request of a batch is checked alone.
          const { answers } = answer.body as { answers?: readonly object[] };
          if (answers) {
            expect([field, answers.some((one) => 'error' in one)]).toEqual(['requests', true]);
            return;
          }
          expect(answer.status, JSON.stringify(value)).toBe(400);
          const { field: named = '' } = answer.body as { field?: string };
          // Two things may be wrong at once, such as user together with likes; the document cannot express this.
          const isUnknown = field === '' && named in (value as object);
          if (!isUnknown && !/(^|\.)user$/.test(named)) expect(named.split('.')[0]).toBe(field);
        }),
        { numRuns: 80, seed: 16 },
      );
    }
  }, 60_000);
});

function address(where: string, given: Readonly<Record<string, unknown>>, { parameters = [] }: Operation) {
  const query = new URLSearchParams();
  let filled = where;
  for (const { name, in: place } of parameters) {
    if (!(name in given)) continue;
    const text = String(given[name]);
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(text));
    else query.set(name, text);
  }
  return query.size > 0 ? `${filled}?${query}` : filled;
}

describe('a client generated from the document', () => {
  it('compiles under strict TypeScript, refuses wrong calls, and works', async () => {
    const types = await openapiTypescript(document as never);
    expect(types).toContain('"/v1/recommend"');
    await writeFile(join(folder, 'api.d.ts'), types);
    const program = (n: string) => `import createClient from 'openapi-fetch';
import type { paths } from './api.js';
const client = createClient<paths>({ baseUrl: 'http://localhost' });
export async function ask() {
  const { data, error } = await client.POST('/v1/recommend', { body: { likes: ['a', 7], n: ${n} } });
  if (error) return error.detail;
  return data.items.map(({ item, score }) => item + score.toFixed(1));
}
`;
    await writeFile(join(folder, 'package.json'), '{"type":"module"}');
    await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
    const tsc = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
    const check = async (n: string) => {
      await writeFile(join(folder, 'client.ts'), program(n));
      const flags = '--noEmit --strict --skipLibCheck --target es2022 --module nodenext client.ts'.split(' ');
      execFileSync(process.execPath, [tsc, ...flags], { cwd: folder, encoding: 'utf8' });
    };
    await check('5');
    await expect(check("'five'")).rejects.toThrow();
  }, 60_000);

  it('asks a running server', async () => {
    // biome-ignore lint/suspicious/noExplicitAny: the types are made, and checked, above
    const client = createClient<any>({ baseUrl: server.url }) as any;
    const likes = words.slice(0, 3);
    const { data } = await client.POST('/v1/recommend', { body: { likes, n: 4 } });
    expect(data.items).toHaveLength(4);
    const similar = await client.GET('/v1/items/{id}/similar', {
      params: { path: { id: likes[0] }, query: { n: 2 } },
    });
    expect(similar.data.items).toHaveLength(2);
    const { error } = await client.POST('/v1/recommend', {
      body: { likes: ['nothing of the kind'], unknown: 'refuse' },
    });
    expect(error).toMatchObject({ status: 404, field: 'likes.0' });
  });
});

describe('the command line', () => {
  const cli = async (...rest: string[]) => {
    const given = [join(root, 'bin/graphex.js'), ...rest, '--json', '--quiet'];
    return JSON.parse((await promisify(execFile)(process.execPath, given)).stdout);
  };

  it('answers as the server does, to the last digit', async () => {
    // Without a store: others have posted events and hidden items.
    await server.close();
    server = await serve(path, { port: 0, threads: 1, listUsers: true });
    const likes = words.slice(2, 5);
    const post = async (where: string, body: unknown) => (await send('post', where, body)).body as never;
    const listed = ({ items }: { items: readonly object[] }) => items;
    expect(await cli('recommend', path, '--likes', likes.join(','), '-n', '6')).toEqual(
      listed(await post('/v1/recommend', { likes, n: 6 })),
    );
    // A user whose likes are all unknown gets popular items, over HTTP and on the command line.
    const strange = ['nothing of the kind', 'nor of this'];
    const popular: { items: readonly object[]; basis: string } = await post('/v1/recommend', {
      ...{ likes: strange, n: 6, confidence: true },
    });
    expect(popular).toMatchObject({ basis: 'popular', unknown: strange });
    expect(popular).not.toHaveProperty('confidence');
    expect(await cli('recommend', path, '--likes', strange.join(','), '-n', '6', '--confidence')).toEqual(
      listed(popular),
    );
    const user = words.at(-1) as string;
    const { items, confidence }: { items: object[]; confidence: object } = await post('/v1/recommend', {
      ...{ user, n: 3, confidence: true },
    });
    expect(await cli('recommend', path, '--user', user, '-n', '3', '--confidence')).toEqual(
      items.map((entry) => ({ ...entry, confidence })),
    );
    const similar = (await send('get', `/v1/items/${encodeURIComponent(likes[0])}/similar?n=4`, undefined))
      .body as { items: object[] };
    expect(await cli('similar', path, '--item', likes[0], '-n', '4')).toEqual(similar.items);
    const features = (await send('get', '/v1/features?n=3', undefined)).body as { features: object[] };
    expect(await cli('features', path, '-n', '3')).toEqual(features.features);
  }, 60_000);
});
