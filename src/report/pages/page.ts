// One self-contained page: it loads nothing and runs no script but its own. It follows the reader's light or dark setting and
// fits phones, desktops and paper.

import { type Absent, present } from '../../text/phrases.js';
import { EXPLORE_HASH, EXPLORE_SCRIPT } from './explore.js';
import { type Content, fold, Html, html } from './html.js';
import { CONTENT, FOUNDATION } from './style.js';

interface Section {
  /** Anchor, and entry of the table of contents. */
  readonly id: string;
  readonly title: string;
  readonly body: Content;
}

/** Words that a page explains, by id: a name and, after a colon, its meaning. `term(id)` opens it. */
export type Glossary = Readonly<Record<string, string>>;

function definitionsOf(glossary: Glossary) {
  return Object.entries(glossary).map(([id, text]) => {
    const end = text.indexOf(': ');
    return { id, name: text.slice(0, end), meaning: text.slice(end + 2) };
  });
}

interface Page {
  readonly title: string;
  /** A sentence under the title. */
  readonly lead?: Content;
  readonly sections: readonly (Section | Absent)[];
  readonly definitions?: Glossary;
  /** Version, seed, fingerprint: what is needed to reproduce the page. */
  readonly footer?: Content;
  /** With the script that sorts tables and looks up ids. */
  readonly explored?: boolean;
}

/** A word that shows its definition when clicked. */
export function term(id: string, text: Content): Html {
  return html`<button type="button" class="term" popovertarget="tip-${id}">${text}</button>`;
}

export function renderPage(page: Page): string {
  const definitions = definitionsOf(page.definitions ?? {});
  const sections = present([
    ...page.sections,
    definitions.length > 0 && {
      id: 'words',
      title: 'Definitions',
      body: fold(
        'All definitions',
        html`<dl class="words">${definitions.map(
          (d) => html`<dt id="what-${d.id}">${d.name}</dt><dd>${d.meaning}</dd>
`,
        )}</dl>`,
      ),
    },
  ]);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'${
    page.explored ? `; script-src '${EXPLORE_HASH}'` : ''
  }">
<title>${page.title}</title>
<style>${new Html(CSS)}</style>
</head>
<body>
<main>
<header><h1>${page.title}</h1>${page.lead !== undefined && html`<p class="lead">${page.lead}</p>`}</header>
${
  sections.length > 3 &&
  html`<nav aria-label="Contents">${sections.map((s) => html`<a href="#${s.id}">${s.title}</a>`)}</nav>`
}
${sections.map(
  (s) => html`<section id="${s.id}"><h2>${s.title}</h2>
${s.body}
</section>
`,
)}${page.footer !== undefined && html`<footer>${page.footer}</footer>`}
</main>
${definitions.map(
  (
    d,
  ) => html`<div popover class="tip" id="tip-${d.id}"><b>${d.name}</b> ${d.meaning} <a href="#what-${d.id}">All definitions</a></div>
`,
)}${page.explored === true && new Html(`<script>${EXPLORE_SCRIPT}</script>`)}
</body>
</html>
`.text;
}

const CSS = `
${FOUNDATION}${CONTENT}
html{scroll-behavior:smooth}
@media(prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
main{max-width:46rem;margin:0 auto;padding:clamp(1.25rem,5vw,3.5rem) clamp(1rem,4vw,2rem) 3rem}
h2{margin:3rem 0 .8rem;text-wrap:balance}
.term{all:unset;cursor:help;color:inherit;text-decoration:underline dotted var(--muted);text-underline-offset:.18em}
.term:hover,.term:focus-visible{color:var(--link);text-decoration-color:currentColor}
.term:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
.tip{position:fixed;inset:auto 1rem 1rem;margin:0 auto;max-width:34rem;padding:.8rem 1rem;border:1px solid var(--line);border-radius:.5rem;background:var(--ground);color:var(--text);box-shadow:0 .4rem 1.6rem #0003;font-size:1rem;line-height:1.5}
.tip:not(:popover-open){display:none}
@supports not selector(:popover-open){.tip{display:none}}
@supports (position-area:bottom){.tip{inset:auto;margin:.3rem 0;position-area:bottom span-right;position-try-fallbacks:flip-inline,flip-block,flip-block flip-inline}}
nav{position:sticky;top:0;z-index:1;display:flex;gap:.3rem 1.1rem;overflow-x:auto;white-space:nowrap;background:var(--ground);font-size:.95rem;padding:.6rem 0;border-block:1px solid var(--line)}
nav a{text-decoration:none}nav a:hover{text-decoration:underline}nav a[aria-current]{font-weight:600;color:var(--text);box-shadow:0 2px 0 var(--link)}
@media(min-width:72rem){nav{position:fixed;top:3.5rem;left:calc(50% - 36rem);width:11.5rem;max-height:calc(100vh - 5rem);overflow:auto;flex-direction:column;white-space:normal;border-block:0;font-size:.9rem;line-height:1.35}nav a[aria-current]{box-shadow:-.5rem 0 0 var(--ground),calc(-.5rem - 2px) 0 0 var(--link)}}
section{scroll-margin-top:3.2rem}
figure{margin:1.2rem 0 1.6rem}
figure svg{display:block;width:100%;height:auto}
.card small{display:block;margin-top:.5rem;color:var(--muted);font-size:.95rem}
th,td{padding:.45rem .8rem .45rem 0}
td{overflow-wrap:anywhere}
details>div{padding:.6rem 0 .2rem}
.sort{all:unset;cursor:pointer;color:var(--muted);padding:0 .15em;font-weight:400}.sort:hover,.sort:focus-visible,[aria-sort] .sort{color:var(--link)}.sort:focus-visible{outline:2px solid var(--link);border-radius:2px}
.words dt{scroll-margin-top:1rem}
.words dt:target,.words dt:target+dd{background:var(--soft);box-shadow:-.9rem 0 0 var(--soft),-1.1rem 0 0 var(--link)}
footer{margin-top:3.5rem;padding-top:1rem;border-top:1px solid var(--line);font-size:.93rem;color:var(--muted);overflow-wrap:anywhere}
code{font:.92em ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;overflow-wrap:anywhere}.command span{display:inline-block;max-width:100%}
@media print{body{background:#fff;color:#000}nav,.tip,.sort,#find{display:none}.term{text-decoration:none}section{break-inside:avoid}details::details-content{content-visibility:visible;display:block}}
`;
