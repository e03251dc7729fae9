import { Window } from 'happy-dom';
import { describe, expect, it } from 'vitest';
import { renderCheckPage } from '../../src/report/pages/check.js';
import { facts, figure, fold, Html, html, table } from '../../src/report/pages/html.js';
import { renderPage, term } from '../../src/report/pages/page.js';
import { sparsityWords } from '../../src/report/words/sparsity.js';
import { checkSparsity } from '../../src/sparsity/check.js';
import { unbroken } from '../../src/text/numbers.js';
import { graphOf } from '../sample/random-graph.js';

function parse(page: string) {
  const { document } = new Window();
  document.write(page);
  return document;
}

describe('html', () => {
  it('keeps numbers with their units in text, and leaves code, scripts and Html as they are', () => {
    expect(String(html`<p>${'54 %'} and ${12} ms</p>`)).toBe('<p>54\u00a0% and 12\u00a0ms</p>');
    expect(String(html`<code>${'cp "week 3 s.csv"'}</code>`)).toBe('<code>cp &#34;week 3 s.csv&#34;</code>');
    const script = new Html('const note = "95 % intervals";');
    expect(String(html`<script>${script}</script>`)).toBe(`<script>${script}</script>`);
  });

  it('escapes every value but Html, through arrays too', () => {
    const evil = '<img src=x onerror=alert(1)>"';
    const safe = html`<p title="${evil}">${[evil, html`<b>${evil}</b>`]}${undefined}${3}</p>`.text;
    expect(safe).not.toContain('<img');
    expect(safe).toContain('<b>&#60;img');
    expect(safe).toMatch(/3<\/p>$/);
    for (const part of [
      table([{ label: evil, numeric: true }], [[evil]], evil),
      facts([{ value: evil, label: evil }]),
      fold(evil, evil),
      figure('<svg></svg>', evil),
      term('x', evil),
    ]) {
      expect(part.text).not.toContain('<img');
    }
    expect(renderPage({ title: evil, lead: evil, sections: [], footer: evil })).not.toContain('<img');
  });
});

describe('check.html', async () => {
  const graph = graphOf(Array.from({ length: 900 }, (_, e) => [e % 101, (e * 13) % 67] as const));
  const check = await checkSparsity(graph, { replicates: 2 });
  const page = renderCheckPage({
    source: 'folder/<odd> & "name".csv',
    check,
    charts: { density: '<svg></svg>', degrees: '<svg></svg>' },
    read: { rows: 900, kept: graph.edges, merged: 900 - graph.edges, rejected: 0 },
    guess: { kind: 'table', format: 'text table', columns: { users: 'a', items: 'b' } },
    version: '0.0.0',
    seed: 1,
    fingerprint: '0123456789abcdef',
  });
  const document = parse(page);

  it('is one file: no script, nothing fetched', () => {
    expect(page).not.toMatch(/<script|<link|<img|@import|src=|url\(|https?:\/\/(?!www\.w3\.org)/);
    expect(page).toContain('<meta name="viewport"');
    expect(page).toContain('prefers-color-scheme:dark');
  });

  it('escapes the name of the data and shows its last part as the title', () => {
    expect(document.querySelector('h1')!.textContent).toBe('Is <odd> & "name".csv sparse?');
  });

  it('has a target for every link and no two of one name', () => {
    const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
    expect(new Set(ids).size).toBe(ids.length);
    const links = [...document.querySelectorAll('a')].map((a) => a.getAttribute('href')!);
    expect(links.length).toBeGreaterThan(10);
    for (const link of links) expect(ids).toContain(link.slice(1));
    const terms = [...document.querySelectorAll('button.term')].map((b) => b.getAttribute('popovertarget')!);
    expect(terms.length).toBeGreaterThan(10);
    for (const target of terms) expect(ids).toContain(target);
  });

  it('shows the verdict, the counts and both charts', () => {
    const text = document.querySelector('main')!.textContent!;
    const words = sparsityWords(check);
    expect(text).toContain(unbroken(words.advice));
    expect(text).toContain(unbroken(words.reasons.users));
    expect(text).toContain(unbroken(words.plain.items));
    expect(text).toContain(graph.edges.toLocaleString('en-US'));
    expect(document.querySelectorAll('figure svg')).toHaveLength(2);
    expect(text).not.toMatch(/undefined:|NaN|\[object/);
  });
});
