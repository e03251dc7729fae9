// The manual as part of the page's site: every Markdown page of docs/ as HTML, with a search that works without a server.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked } from 'marked';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const assets = join(root, 'scripts/manual');
/** Pages outside docs/ that the manual leads to. */
const AT_ROOT = ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md'];

/** Writes the site into a folder; `foundation` are the style rules of all pages. */
export function writeManual(out, foundation) {
  const pages = sources();
  const sections = [];
  for (const [path, text] of pages) {
    const page = render(path, text, pages);
    const file = join(out, htmlPath(path));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, document(path, page));
    sections.push(...page.sections);
    for (const figure of page.figures) {
      const to = join(out, figure);
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(join(root, 'docs', figure), to);
    }
  }
  writeFileSync(join(out, 'search.json'), JSON.stringify(sections));
  const sheets = [join(root, 'src/page/paper.css'), join(assets, 'manual.css')];
  writeFileSync(
    join(out, 'manual.css'),
    [foundation, ...sheets.map((path) => readFileSync(path, 'utf8'))].join('\n'),
  );
  copyFileSync(join(assets, 'search.js'), join(out, 'search.js'));
  copyFileSync(join(root, 'src/page/icon.svg'), join(out, 'icon.svg'));
  return pages.size;
}

/** Markdown by its path within the manual: a path within docs/, or that of a page outside. */
function sources() {
  const docs = join(root, 'docs');
  const inside = readdirSync(docs, { recursive: true })
    .map((path) => String(path).replaceAll(sep, '/'))
    .filter((path) => path.endsWith('.md'))
    .sort();
  const atRoot = AT_ROOT.filter((name) => existsSync(join(root, name)));
  return new Map([
    ...inside.map((path) => [path, readFileSync(join(docs, path), 'utf8')]),
    ...atRoot.map((name) => [`../${name}`, readFileSync(join(root, name), 'utf8')]),
  ]);
}

/** `sides.md` → `sides.html`, `api/README.md` → `api/index.html`, `../README.md` → `project/index.html`. */
function htmlPath(path) {
  return path
    .replace(/^\.\.\//, 'project/')
    .replace(/README\.md$/, 'index.html')
    .replace(/\.md$/, '.html');
}

function render(path, text, pages) {
  const figures = new Set();
  const sections = [];
  const used = new Map();
  let section = { page: htmlPath(path), id: '', title: '', text: '' };
  const own = posix.dirname(path);
  const address = (href) => {
    const [file, anchor] = href.split('#');
    if (file === '') return `#${anchor}`;
    const target = posix.join('docs', own, file);
    const key = [target, posix.join(target, 'README.md')].map(manualPath).find((name) => pages.has(name));
    if (key === undefined) return undefined;
    const to = posix.relative(posix.dirname(htmlPath(path)), htmlPath(key));
    return anchor === undefined ? to : `${to}#${anchor}`;
  };
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'heading') {
        sections.push(section);
        token.slug = slug(plain(token), used);
        section = { page: htmlPath(path), id: token.slug, title: plain(token), text: '' };
      } else if (token.type === 'text' || token.type === 'codespan' || token.type === 'code') {
        if (!token.tokens) section.text += ` ${token.text}`;
      }
    },
    renderer: {
      heading(token) {
        return `<h${token.depth} id="${token.slug}">${this.parser.parseInline(token.tokens)}</h${token.depth}>\n`;
      },
      link(token) {
        const words = this.parser.parseInline(token.tokens);
        if (/^https?:/.test(token.href))
          return `<a href="${escaped(token.href)}" rel="noreferrer">${words}</a>`;
        const to = address(token.href);
        return to === undefined ? words : `<a href="${escaped(to)}">${words}</a>`;
      },
      image(token) {
        const target = posix.normalize(posix.join(own, token.href)).replace(/^\.\.\/docs\//, '');
        figures.add(target);
        const to = posix.relative(posix.dirname(htmlPath(path)), target);
        return `<img src="${escaped(to)}" alt="${escaped(token.text)}" loading="lazy">`;
      },
      table(token) {
        const cell = (c, tag) => `<${tag}>${this.parser.parseInline(c.tokens)}</${tag}>`;
        // The rows of a glossary can be linked to.
        const isGlossary = token.header[0]?.text === 'term';
        const anchor = (first) => (isGlossary ? ` id="term-${slug(plain(first), new Map())}"` : '');
        const head = token.header.map((c) => cell(c, 'th')).join('');
        const rows = token.rows
          .map((row) => `<tr${anchor(row[0])}>${row.map((c) => cell(c, 'td')).join('')}</tr>`)
          .join('\n');
        return `<div class="wide"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>\n`;
      },
    },
  });
  const body = marked.parse(text);
  sections.push(section);
  const title = sections.find(({ title }) => title !== '')?.title ?? path;
  return {
    title,
    body,
    figures,
    sections: sections
      .filter(({ title, text }) => title !== '' || text.trim() !== '')
      .map(({ text, ...rest }) => ({ ...rest, of: title, text: text.replace(/\s+/g, ' ').trim() })),
  };
}

/** A path from the root of the project as `sources` names it: `docs/data.md` → `data.md`, `README.md` → `../README.md`. */
function manualPath(path) {
  return path.startsWith('docs/') ? path.slice('docs/'.length) : `../${path}`;
}

function plain(token) {
  return (token.tokens ?? [])
    .map((part) => (part.tokens ? plain(part) : (part.text ?? '')))
    .join('')
    .replace(/&amp;/g, '&');
}

/** The anchor of a heading, as code hosts make it. */
function slug(text, used) {
  const base = text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
  const before = used.get(base) ?? 0;
  used.set(base, before + 1);
  return before === 0 ? base : `${base}-${before}`;
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function document(path, { title, body }) {
  const own = htmlPath(path);
  const up = posix.relative(posix.dirname(own), '.') || '.';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="${up}/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${up}/manual.css">
<title>${escaped(title)} · graphex</title>
</head>
<body>
<a class="skip" href="#text">To the text</a>
<header>
<a class="mark" href="${up}/../index.html">graphex</a>
<nav aria-label="Manual"><a href="${up}/index.html">Manual</a> <a href="${up}/which-model.html">Which model?</a> <a href="${up}/cookbook.html">Cookbook</a> <a href="${up}/commands/index.html">Commands</a> <a href="${up}/api/index.html">API</a></nav>
<div class="search"><input type="search" id="search" data-up="${up}" placeholder="Search the manual" aria-label="Search the manual" autocomplete="off" hidden><div id="found" role="status" hidden></div></div>
</header>
<main id="text">
${body}</main>
<script src="${up}/search.js" defer></script>
</body>
</html>
`;
}
