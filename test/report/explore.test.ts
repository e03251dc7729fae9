import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { fit } from '../../src/fit/fit.js';
import { BipartiteGraph } from '../../src/graph/public.js';
import { randomStream } from '../../src/math/random.js';
import { studyPictures } from '../../src/report/charts/study.js';
import { chartDocument } from '../../src/report/charts/svg-document.js';
import { EXPLORE_HASH, EXPLORE_SCRIPT } from '../../src/report/pages/explore.js';
import { renderStudyPage } from '../../src/report/pages/study.js';
import { atlas, MOST_VERTICES } from '../../src/study/atlas.js';
import type { StudyResults } from '../../src/study/results.js';
import { study } from '../../src/study/study.js';
import { chromium, visit } from '../browser/chromium.js';

/** Ids that would act as markup, as a script or as the end of a script if anything treated them as more than text. */
const HOSTILE = [
  '<img src=x onerror="parent.owned=1">',
  '</script><script>parent.owned=1</script>',
  '<!--<script>',
  '"onmouseover=parent.owned=1 x="',
  `long${'x'.repeat(500)}`,
];

function pairs(): [string, string][] {
  const random = randomStream(8);
  return Array.from({ length: 900 }, (_, e) => {
    const user = Math.floor(90 * random.uniform() ** 1.5);
    const item = Math.floor(60 * random.uniform() ** 2);
    return [HOSTILE[user] ?? `reader ${user}`, HOSTILE[(item + e) % 60] ?? `book ${item}`];
  });
}

let results: StudyResults;
let page: string;
beforeAll(async () => {
  const graph = BipartiteGraph.fromPairs(pairs());
  results = await study(graph, {
    features: 3,
    draws: 0,
    iterations: 15,
    baselines: ['popularity'],
    ranker: false,
  });
  page = renderStudyPage(results, studyPictures(await chartDocument(), results));
});

describe('the atlas of a report', () => {
  it('has the items and users of each feature by share, and the main feature of each vertex', async () => {
    const graph = BipartiteGraph.fromPairs(pairs());
    const { model } = await fit(graph, { features: 3, iterations: 15 });
    const { features, vertices, counts } = atlas(model, undefined);
    expect(counts).toEqual({ users: graph.users.count, items: graph.items.count });
    expect(vertices.items.length).toBe(Math.min(MOST_VERTICES, graph.items.count));
    for (const { items, users } of features) {
      for (const list of [items, users]) {
        expect(list.map(({ share }) => share)).toEqual(list.map(({ share }) => share).sort((a, b) => b - a));
        expect(list.reduce((sum, { share }) => sum + share, 0)).toBeLessThanOrEqual(1 + 1e-6);
      }
    }
    // A vertex whose largest feature is k is listed with a share of k.
    for (const { id, feature } of vertices.items.slice(0, 20)) {
      const own = features.find((one) => one.feature === feature)!;
      expect(own.items.map((item) => item.id)).toContain(id);
    }
    const edges = vertices.users.map((user) => user.edges);
    expect(edges).toEqual([...edges].sort((a, b) => b - a));
  });
});

describe('an interactive report', () => {
  it('names its script by its hash, and has no other', () => {
    expect(EXPLORE_HASH).toBe(`sha256-${createHash('sha256').update(EXPLORE_SCRIPT).digest('base64')}`);
    expect(page).toContain(`script-src &#39;${EXPLORE_HASH}&#39;`);
    expect(page.match(/<script(?! type="application\/json")/g)).toHaveLength(1);
    expect(EXPLORE_SCRIPT).not.toMatch(/innerHTML|outerHTML|insertAdjacent|document\.write|eval|https?:/);
  });

  it.skipIf(!chromium)(
    'sorts, finds ids and opens features in a browser, takes hostile ids for text, and is whole without its script',
    async () => {
      const driver = `<!doctype html><iframe id="on" src="/report.html" width="800" height="600"></iframe>
<iframe id="off" src="/report.html" sandbox="allow-same-origin"></iframe>
<script>addEventListener('load', async () => {
  const answer = {};
  try {
    const frame = document.getElementById('on');
    const page = frame.contentDocument;
    const texts = (list) => Array.from(list, (one) => one.textContent);
    const table = page.querySelector('#feature-1 table');
    const column = (n) => Array.from(table.tBodies[0].rows, (row) => row.cells[n].textContent);
    const click = (n) => table.tHead.rows[0].cells[n].querySelector('.sort').click();
    answer.before = column(1);
    click(2); answer.edges = column(2).map(Number);
    click(2); answer.turned = column(2).map(Number);
    click(0); answer.names = column(0);
    answer.state = table.tHead.rows[0].cells[0].getAttribute('aria-sort');
    const input = page.querySelector('#find input');
    const look = (text) => { input.value = text; input.dispatchEvent(new Event('input')); return texts(page.querySelectorAll('#find output li b')); };
    answer.shown = !page.getElementById('find').hidden;
    answer.image = look('<IMG');
    answer.script = look('<\\/script>');
    answer.reader = look('reader 7')[0];
    answer.none = (look('nobody at all'), page.querySelector('#find output').textContent);
    look('reader 7');
    const link = page.querySelector('#find output a');
    frame.contentWindow.location.hash = link.getAttribute('href');
    await new Promise((resolve) => setTimeout(resolve, 200));
    answer.open = page.querySelector(link.getAttribute('href') + ' details').open;
    const term = page.querySelector('#data .term');
    term.scrollIntoView({ block: 'center', behavior: 'instant' });
    term.click();
    const tip = page.querySelector('.tip:popover-open').getBoundingClientRect();
    const word = term.getBoundingClientRect();
    answer.apart = Math.min(Math.abs(tip.top - word.bottom), Math.abs(word.top - tip.bottom));
    answer.images = page.querySelectorAll('img').length;
    answer.wide = page.documentElement.scrollWidth <= page.documentElement.clientWidth;
    const off = document.getElementById('off').contentDocument;
    answer.off = { find: off.getElementById('find').hidden, sort: off.querySelectorAll('.sort').length, rows: off.querySelectorAll('#features tbody tr').length };
    answer.rows = page.querySelectorAll('#features tbody tr').length;
    answer.owned = window.owned ?? null;
  } catch (error) { answer.error = String(error); }
  fetch('/answer', { method: 'POST', body: JSON.stringify(answer) });
});</script>`;
      // biome-ignore lint/suspicious/noExplicitAny: what the page found
      const answer = await visit<any>((path) =>
        path === '/'
          ? { type: '.html', body: driver }
          : path === '/report.html'
            ? { type: '.html', body: page }
            : undefined,
      );
      expect(answer.error).toBeUndefined();
      expect(answer.edges).toEqual([...answer.edges].sort((a: number, b: number) => b - a));
      expect(answer.turned).toEqual([...answer.turned].sort((a: number, b: number) => a - b));
      expect(answer.names.map((name: string) => name.toLowerCase())[0]).toMatch(/^["<]/);
      expect(answer).toMatchObject({
        state: 'ascending',
        shown: true,
        open: true,
        images: 0,
        owned: null,
        wide: true,
      });
      // A dotted word opens its meaning where it stands.
      expect(answer.apart).toBeLessThan(20);
      expect(answer.image).toContain(HOSTILE[0]);
      expect(answer.script).toContain(HOSTILE[1]);
      expect(answer.reader).toBe('reader 7');
      expect(answer.none).toMatch(/^no items?no users?$|^no items.*no users/);
      expect(answer.off).toEqual({ find: true, sort: 0, rows: answer.rows });
      expect(answer.rows).toBeGreaterThan(100);
    },
    60_000,
  );
});
