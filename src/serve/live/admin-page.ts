// The page for operators at /admin. It holds no data: its script asks for them with the admin key.

import { html } from '../../report/pages/html.js';
import { type ServedPage, servedPage } from '../served-page.js';
import { adminScript } from './admin-script.js';

const STYLE = `:root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:1.5rem auto;padding:0 1rem;color:#222;background:#fff}
h1{font-size:1.6rem}h2{font-size:1.1rem;margin:1.5rem 0 .3rem}dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1rem}dt{color:#555}dd{margin:0;overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,30rem),1fr));gap:0 2rem}svg{display:block;width:100%;height:6rem;background:#f6f6f6}
.span{display:flex;justify-content:space-between;color:#555;font-size:.85rem}.note{color:#555;font-size:.9rem;margin:.3rem 0}
.bar{fill:#36c}.axis{stroke:#888}.accepted{stroke:#267326;fill:#267326}.refused{stroke:#b00020;fill:#b00020}line{vector-effect:non-scaling-stroke}
table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.3rem .8rem .3rem 0;border-top:1px solid #ddd}td:first-child{overflow-wrap:anywhere}button,input{font:inherit;padding:.2rem .6rem}button{white-space:nowrap}
@media(max-width:40rem){thead{display:none}tr{display:block;padding:.4rem 0;border-top:1px solid #ddd}td{display:inline-block;border:0;padding:.1rem .8rem .1rem 0}td:first-child{display:block}td:empty{display:none}}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}dt,.span,.note{color:#aaa}svg{background:#222}.bar{fill:#7af}.accepted{stroke:#7c7;fill:#7c7}.refused{stroke:#f88;fill:#f88}td,th,tr{border-color:#444}}`;

export function adminPage(): ServedPage {
  const terms: readonly (readonly [string, string])[] = [
    ['Model', 'model'],
    ['In use for', 'age'],
    ['Queue', 'queue'],
    ['Time to answer', 'latency'],
    ['Store', 'store'],
    ['Refit', 'refit'],
    ['Last refit', 'last'],
  ];
  const charts: readonly (readonly [string, string])[] = [
    ['Events', 'events'],
    ['Answers', 'answers'],
  ];
  const body = html`<main><h1>Operation</h1>
<form id="enter" hidden><label>Admin key <input id="key" type="password" autocomplete="off"></label>
<button>Show</button></form><p id="message" role="status"></p>
<div id="panel" hidden><dl>${terms.map(([name, id]) => html`<dt>${name}</dt><dd id="${id}"></dd>`)}</dl>
<p><button id="refit-now">Refit now</button></p>
<div class="charts">${charts.map(
    ([name, id]) => html`<section><h2>${name} a minute</h2>
<svg id="${id}" viewBox="0 0 600 62" preserveAspectRatio="none" role="img" aria-label="${name} a minute"></svg>
<div class="span"><span>an hour ago</span><span>at most <span id="${id}-most"></span></span><span>now</span></div></section>`,
  )}</div>
<h2>Last comparisons</h2><svg id="comparisons" viewBox="0 0 600 140" preserveAspectRatio="none" role="img" aria-label="Differences of refits to the model before"></svg>
<p class="note" id="comparisons-note"></p>
<h2>Models</h2><table><thead><tr><th>File</th><th>Age</th><th>Difference in nDCG@20 (95 % interval)</th><th>Refit</th><th></th></tr></thead><tbody id="models"></tbody></table>
</div></main>`;
  const script = `(${adminScript.toString()})();`;
  return servedPage({ title: 'graphex: operation', style: STYLE, body, script });
}
