// The page for operators at /admin. It holds no data: its script asks for them with the admin key.

import { createHash } from 'node:crypto';
import { Html, html } from '../../report/pages/html.js';
import { adminScript } from './admin-script.js';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}
h2{font-size:1.1rem;margin-top:2rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1rem}dt{color:#555}dd{margin:0;overflow-wrap:anywhere}
svg{width:100%;height:auto;background:#f6f6f6}.bar{fill:#36c}.axis{stroke:#888}.accepted{stroke:#267326;fill:#267326}.refused{stroke:#b00020;fill:#b00020}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .6rem .3rem 0;border-top:1px solid #ddd;overflow-wrap:anywhere}button,input{font:inherit;padding:.2rem .6rem}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}dt{color:#aaa}svg{background:#222}.bar{fill:#7af}.accepted{stroke:#7c7;fill:#7c7}.refused{stroke:#f88;fill:#f88}td,th{border-color:#444}}`;

const SCRIPT = `(${adminScript.toString()})();`;

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** Only this script and this style sheet take effect, and the page talks to its own server alone. */
export const ADMIN_POLICY = `default-src 'none'; script-src ${hash(SCRIPT)}; style-src ${hash(STYLE)}; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;

export function adminPage(): string {
  const terms: readonly (readonly [string, string])[] = [
    ['Model', 'model'],
    ['In use for', 'age'],
    ['Queue', 'queue'],
    ['Time to answer', 'latency'],
    ['Store', 'store'],
    ['Refit', 'refit'],
    ['Last refit', 'last'],
  ];
  return String(html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>graphex: operation</title>
<meta name="viewport" content="width=device-width"><style>${new Html(STYLE)}</style></head><body><main><h1>Operation</h1>
<form id="enter"><label>Admin key, if the server has keys <input id="key" type="password" autocomplete="off"></label>
<button>Show</button></form><p id="message" role="status"></p>
<div id="panel" hidden><dl>${terms.map(([name, id]) => html`<dt>${name}</dt><dd id="${id}"></dd>`)}</dl>
<p><button id="refit-now">Refit now</button></p>
<h2>Events a minute, last hour (most: <span id="events-most"></span>)</h2><svg id="events" viewBox="0 0 600 62" role="img" aria-label="Events a minute"></svg>
<h2>Answers a minute, last hour (most: <span id="answers-most"></span>)</h2><svg id="answers" viewBox="0 0 600 62" role="img" aria-label="Answers a minute"></svg>
<h2>Last comparisons</h2><svg id="comparisons" viewBox="0 0 600 140" role="img" aria-label="Differences of refits to the model before"></svg>
<p id="comparisons-note"></p>
<h2>Models</h2><table><thead><tr><th>File</th><th>Age</th><th>Refit</th><th></th></tr></thead><tbody id="models"></tbody></table>
</div></main><script>${new Html(SCRIPT)}</script></body></html>`);
}
