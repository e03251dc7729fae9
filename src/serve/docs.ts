// The OpenAPI document as a page for people.

import { type Content, html } from '../report/pages/html.js';
import { PROBLEMS } from './problems.js';
import { type ServedPage, servedPage } from './served-page.js';

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema?: Schema }[];
  readonly requestBody?: { readonly content?: Contents };
  readonly responses?: Readonly<
    Record<string, { readonly description?: string; readonly content?: Contents }>
  >;
  /** The path with its query, as a client may send it. */
  readonly 'x-example'?: string;
}

type Contents = Readonly<Record<string, { readonly schema?: Schema; readonly example?: unknown }>>;

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  /** An object that has the properties of all of these. */
  readonly allOf?: readonly Schema[];
  readonly maximum?: number;
  readonly maxItems?: number;
}

type Schemas = Readonly<Record<string, Schema>>;

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
code{font-size:.9em;background:#f2f2f2;padding:.1em .3em;border-radius:3px}h2{margin-top:2.5rem;font-size:1.1rem}
table{border-collapse:collapse;width:100%;margin:1rem 0}caption{text-align:left;font-weight:600}pre{overflow-x:auto;background:#f2f2f2;padding:.6rem}td,th{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-top:1px solid #ddd}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}code,pre{background:#2a2a2a}td,th{border-color:#444}a{color:#8bf}}`;

/** `document`: the answer of /openapi.json. */
export function docsPage(document: object): ServedPage {
  const { components = {}, ...references } = document as { components?: { schemas?: Schemas } };
  const { paths = {}, info } = inlined(references, components.schemas ?? {}) as {
    paths?: Record<string, Record<string, Operation>>;
    info: { version: string };
  };
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(path, method.toUpperCase(), operation)),
  );
  const body = html`<h1>graphex server</h1>
<p>Version ${info.version}. The same for programs: <a href="/openapi.json">openapi.json</a>. Also
<a href="/health/live">/health/live</a>, <a href="/health/ready">/health/ready</a> and <code>/metrics</code>.</p>
${operations}
<h2>Problems</h2><p>Every answer that is not a success is a problem document (RFC 9457). Its <code>type</code> is one of these.</p>
<table>${Object.entries(PROBLEMS).map(
    ([kind, { status, title }]) =>
      html`<tr id="${kind}"><td>${String(status)}</td><td><code>${kind}</code></td><td>${title}</td></tr>`,
  )}</table>`;
  return servedPage({ title: 'graphex server', style: STYLE, body });
}

function section(path: string, method: string, operation: Operation): Content {
  const body = operation.requestBody?.content?.['application/json'];
  const answer = operation.responses?.['200'] ?? operation.responses?.['202'];
  const sent = [
    ...(operation.parameters ?? []).map((p) => ({ name: p.name, schema: p.schema ?? {}, where: p.in })),
    ...(body?.schema ? fieldsOf(firstObject(body.schema)) : []),
  ];
  const example = body?.example ? JSON.stringify(body.example) : '';
  const address = operation['x-example'] ?? path;
  return html`<h2><code>${method} ${path}</code></h2><p>${operation.summary ?? ''}. ${operation.description ?? ''}</p>
<p>Example:</p><pre>${method} ${address}${example && `\n${example}`}</pre>
${fieldTable('Request', sent)}
${fieldTable(`Answer: ${answer?.description ?? ''}`, fieldsOf(answer?.content?.['application/json']?.schema ?? {}))}`;
}

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly where: string;
}

function fieldTable(caption: string, fields: readonly Field[]): Content {
  if (fields.length === 0) return undefined;
  return html`<table><caption>${caption}</caption>${fields.map(
    ({ name, schema, where }) =>
      html`<tr><td><code>${name}</code></td><td>${typeWords(schema)}${where === 'body' ? '' : `, in the ${where}`}</td><td>${schema.description ?? ''}</td></tr>`,
  )}</table>`;
}

/** The fields of an object, with those of the objects within it: `items[].score`. */
function fieldsOf({ properties = {} }: Schema, within = ''): Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${within}${name}`;
    const inner =
      schema.type === 'array'
        ? fieldsOf(firstObject(schema.items ?? {}), `${path}[].`)
        : fieldsOf(firstObject(schema), `${path}.`);
    return [{ name: path, schema, where: 'body' }, ...inner];
  });
}

/** The schema, or the first alternative that is an object. */
const firstObject = (schema: Schema): Schema => schema.anyOf?.find((one) => one.properties) ?? schema;

/** A part of the document with the schemas in place of references to them. */
function inlined(part: unknown, schemas: Schemas): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) return part.map((one) => inlined(one, schemas));
  const { $ref, allOf = [], ...own } = part as Schema;
  const named = $ref === undefined ? [] : [schemas[$ref.split('/').at(-1) as string]];
  const fields = Object.entries(own).map(([name, one]) => [name, inlined(one, schemas)]);
  const whole = [...named, ...allOf].map((one) => inlined(one, schemas) as Schema);
  whole.push(Object.fromEntries(fields));
  const properties = Object.assign({}, ...whole.map((one) => one.properties));
  return Object.assign({}, ...whole, Object.keys(properties).length > 0 && { properties });
}

function typeWords({ type, items, enum: values, anyOf, maximum, maxItems }: Schema): string {
  if (values) return values.join(' or ');
  if (anyOf) return [...new Set(anyOf.map(typeWords))].join(' or ');
  if (type === 'array')
    return `list of ${items ? typeWords(items) : 'values'}${maxItems ? `, at most ${maxItems}` : ''}`;
  const most = typeof maximum === 'number' && maximum < 1e9 ? `, at most ${maximum}` : '';
  return `${type ?? 'object'}${most}`;
}
