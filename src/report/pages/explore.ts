// The only script of a report: it sorts tables, looks up ids and opens folded sections for links. It is a constant text, so that a page can
// name it by its hash and no other script runs. It writes ids as text, never as markup. Without it, only sorting and search are missing.

import { Html } from './html.js';

export const EXPLORE_SCRIPT = `(() => {
'use strict';
const make = (tag, text, name) => {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
};
const words = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });
const textOf = (row, column) => (row.cells[column] ? row.cells[column].textContent.trim() : '');
const numberOf = (text) => {
  const found = /^[-\\u2212+]?[\\d,]*\\.?\\d+(e[-+]?\\d+)?/i.exec(text);
  return found ? Number(found[0].replaceAll(',', '').replace('\\u2212', '-')) : NaN;
};
const sort = (body, column, numeric, up) => {
  const key = (row) => (numeric ? numberOf(textOf(row, column)) : textOf(row, column));
  const rows = Array.from(body.rows, (row) => ({ row, key: key(row) }));
  rows.sort((a, b) => {
    if (!numeric) return (up ? 1 : -1) * words.compare(a.key, b.key);
    if (Number.isNaN(a.key) || Number.isNaN(b.key)) return Number.isNaN(a.key) - Number.isNaN(b.key);
    return (up ? 1 : -1) * (a.key - b.key);
  });
  body.append(...rows.map((entry) => entry.row));
};
for (const table of document.querySelectorAll('table')) {
  const body = table.tBodies[0];
  if (!body || !table.tHead || body.rows.length < 3) continue;
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => {
    const numeric = head.classList.contains('number');
    const button = make('button', '\\u2195', 'sort');
    button.type = 'button';
    button.setAttribute('aria-label', 'Sort by ' + head.textContent.trim());
    button.addEventListener('click', () => {
      const before = head.getAttribute('aria-sort');
      const up = before ? before === 'descending' : !numeric;
      for (const other of heads) {
        other.removeAttribute('aria-sort');
        other.querySelector('.sort').textContent = '\\u2195';
      }
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      button.textContent = up ? '\\u2191' : '\\u2193';
      sort(body, column, numeric, up);
    });
    head.append(' ', button);
  });
}
const links = new Map(Array.from(document.querySelectorAll('nav a'), (a) => [a.hash.slice(1), a]));
const visible = new Set();
const follow = new IntersectionObserver((entries) => {
  for (const entry of entries) visible[entry.isIntersecting ? 'add' : 'delete'](entry.target.id);
  const current = Array.from(links.keys()).find((id) => visible.has(id));
  if (current === undefined) return;
  for (const [id, link] of links) {
    if (id === current) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}, { rootMargin: '-15% 0px -60% 0px' });
for (const section of document.querySelectorAll('section[id]')) follow.observe(section);
const reveal = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  const inside = target.querySelector('details');
  if (inside && target.classList.contains('topic')) inside.open = true;
  for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
  target.scrollIntoView();
};
addEventListener('hashchange', reveal);
reveal();
const find = document.getElementById('find');
const index = document.getElementById('index');
if (!find || !index) return;
const sides = JSON.parse(index.textContent);
for (const side of sides) side.keys = side.rows.map((row) => (row[0] + '\\n' + row[1]).toLowerCase());
const input = find.querySelector('input');
const output = find.querySelector('output');
const MOST = 20;
const found = (side, wanted) => {
  const hits = [];
  side.keys.forEach((key, at) => {
    const place = key.indexOf(wanted);
    if (place >= 0) hits.push([key.split('\\n').includes(wanted) ? 0 : place === 0 ? 1 : 2, at]);
  });
  hits.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return hits.map((hit) => side.rows[hit[1]]);
};
const line = (row) => {
  const item = make('li');
  item.append(make('b', row[1] || row[0]), row[1] ? ' ' + row[0] : '', ', ' + row[2].toLocaleString('en-US') + (row[2] === 1 ? ' edge' : ' edges') + ', mostly ');
  const link = make('a', 'feature ' + row[3]);
  link.href = '#feature-' + row[3];
  item.append(link, ' (' + row[4] + ')');
  return item;
};
const look = () => {
  const wanted = input.value.trim().toLowerCase();
  output.replaceChildren();
  if (wanted === '') return;
  for (const side of sides) {
    const hits = found(side, wanted);
    const more = hits.length > MOST ? ', the first ' + MOST : '';
    const held = side.rows.length < side.count ? ' among the ' + side.rows.length.toLocaleString('en-US') + ' with most edges' : '';
    const few = hits.length === 0 ? 'no' : hits.length.toLocaleString('en-US');
    output.append(make('p', few + ' ' + (hits.length === 1 ? side.one : side.many) + held + more));
    if (hits.length === 0) continue;
    const list = make('ul');
    list.append(...hits.slice(0, MOST).map(line));
    output.append(list);
  }
};
input.addEventListener('input', look);
find.addEventListener('submit', (event) => event.preventDefault());
find.hidden = false;
})();`;

/** The hash of the script, for the Content-Security-Policy; a test checks it. */
export const EXPLORE_HASH = 'sha256-2CftO4jN3l1KN4dGBhJ04/KKBSgokuMvv6wtDmWNo0w=';

/** Data for the script, in a block that is neither markup nor a script. */
export function dataBlock(id: string, value: unknown): Html {
  const json = JSON.stringify(value).replaceAll(
    /[<>&\u2028\u2029]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return new Html(`<script type="application/json" id="${id}">${json}</script>`);
}
