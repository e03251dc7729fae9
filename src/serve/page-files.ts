// The page for a browser, served at `/`. Its files are read when the server starts, and nothing else is served: a path
// from outside is only looked up in this list.

import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { getMimeType } from 'hono/utils/mime';
import { InputError } from '../errors.js';
import { html } from '../report/pages/html.js';
import { percentDecoded } from './routes.js';
import { type ServedPage, servedPage } from './served-page.js';

interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly etag: string;
}

/** Files by path, as in '/assets/app.js'. */
export type PageFiles = ReadonlyMap<string, PageFile>;

/** `npm run page` writes the page here, and the package contains it. */
const FOLDER = fileURLToPath(new URL('../../page/dist/', import.meta.url));

const MOST_FILES = 10_000;
const MOST_BYTES = 256 << 20;

/** Headers that isolate the page, as threads need, and keep it from loading anything from elsewhere. */
export const PAGE_HEADERS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "worker-src 'self'",
    // The user may name the address of a table.
    "connect-src 'self' https:",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
} as const;

/** The built page, or undefined if it was not built. Links are not followed, so it holds nothing from outside the folder. */
export async function readPage(folder: string = FOLDER): Promise<PageFiles | undefined> {
  const files = new Map<string, PageFile>();
  let totalBytes = 0;
  const walk = async (inside: string): Promise<void> => {
    const entries = await readdir(`${folder}/${inside}`, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = `${inside}${entry.name}`;
      if (entry.isDirectory()) await walk(`${path}/`);
      if (!entry.isFile()) continue;
      const read = new Uint8Array(await readFile(`${folder}/${path}`));
      const bytes = path === 'index.html' ? fromServer(read) : read;
      totalBytes += bytes.length;
      if (files.size >= MOST_FILES || totalBytes > MOST_BYTES) {
        throw new InputError(
          `${folder}: more than ${MOST_FILES} files or ${MOST_BYTES} bytes; build the page again`,
        );
      }
      files.set(`/${path}`, {
        bytes,
        type: getMimeType(entry.name) ?? 'application/octet-stream',
        etag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`,
      });
    }
  };
  await walk('');
  return files.has('/index.html') ? files : undefined;
}

/** Tells the page that a server sent it, which may have a model. */
function fromServer(index: Uint8Array): Uint8Array<ArrayBuffer> {
  const text = new TextDecoder().decode(index);
  return new TextEncoder().encode(
    text.replace(/(<meta name="graphex-host" content=")static(")/, '$1server$2'),
  );
}

/** The file for the path of a request; a path that ends with / means the index of a folder. */
export function pageFile(page: PageFiles, path: string): PageFile | undefined {
  const name = percentDecoded(path);
  return name === undefined ? undefined : page.get(name.endsWith('/') ? `${name}index.html` : name);
}

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:3rem auto;padding:0 1rem;color:#222;background:#fff}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}a{color:#8bf}}`;

/** The page at `/` if the page for a browser was not built. */
export function plainPage(served: boolean): ServedPage {
  const what = served
    ? 'This server answers from a model: recommendations, rankings and explanations over HTTP.'
    : 'This server has no model: start it with one, npx graphex serve MODEL.';
  const body = html`<h1>graphex</h1>
<p>${what}</p>
<ul><li><a href="/docs">Endpoints, with examples, fields and limits</a></li>
<li><a href="/openapi.json">The same for programs</a> (OpenAPI)</li>
<li><a href="/health/ready">Is it ready?</a></li></ul>
<p>The page for a browser was not built: <code>npm run page</code> builds it.</p>`;
  return servedPage({ title: 'graphex', style: STYLE, body });
}
