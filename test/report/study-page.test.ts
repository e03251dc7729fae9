import { Window } from 'happy-dom';
import { beforeAll, describe, expect, it } from 'vitest';
import { sideTable } from '../../src/ingest/side-table.js';
import { titlesOf } from '../../src/ingest/title-table.js';
import { simulate } from '../../src/process/poisson-model.js';
import { STUDY_PICTURES, type StudyPictures, studyPictures } from '../../src/report/charts/study.js';
import { chartDocument } from '../../src/report/charts/svg-document.js';
import { renderStudyPage } from '../../src/report/pages/study.js';
import { resultsJson } from '../../src/report/terminal/study.js';
import { checkReceipt } from '../../src/study/receipt.js';
import type { StudyOrigin, StudyResults } from '../../src/study/results.js';
import { study } from '../../src/study/study.js';
import { withoutDraws } from '../study/undrawn-study.js';

const parseTitles = (text: string, ids: Parameters<typeof titlesOf>[1], name: string) =>
  titlesOf(sideTable(new TextEncoder().encode(text), name), ids, name);

const SIDE = { sigma: 0.2, tau: 1, shape: 0.3, rate: 0.3, size: 40 };
const ORIGIN: StudyOrigin = {
  source: 'data/<b>ratings</b>.csv',
  sourceFrom: null,
  read: {},
  kind: 'table',
  format: 'text table',
  rows: { rows: 1234, kept: 1200, merged: 30, rejected: 4 },
  columns: { users: 'user_id', items: '2' },
  titles: null,
  runtime: 'Node 20',
  machine: { cpu: 'a processor', cores: 2, memory: 2 ** 33, system: 'Linux' },
  threads: null,
};

let results: StudyResults;
let pictures: StudyPictures;
let page: string;

beforeAll(async () => {
  const { graph } = await simulate({ users: SIDE, items: SIDE, features: 3, seed: 3, multigraph: true });
  const csv = `id,title\n${Array.from({ length: graph.items.count }, (_, j) => `${graph.items.ids.at(j)},Item & <script>${j}`).join('\n')}`;
  const plain = await study(graph, {
    features: [2, 3],
    draws: 8,
    iterations: 40,
    baselines: ['popularity'],
    ranker: true,
    repeats: 2,
    engine: 'reference',
    titles: parseTitles(csv, graph.items.ids, 'titles.csv'),
  });
  results = { ...plain, receipt: { ...plain.receipt, origin: ORIGIN } };
  pictures = studyPictures(await chartDocument(), results);
  page = renderStudyPage(results, pictures);
}, 240_000);

/** The page has no link without a target, no NaN or undefined, and no empty cell. */
function expectWhole(page: string): void {
  const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map((m) => m[1]));
  const targets = [...page.matchAll(/(?:href="#|popovertarget=")([^"]+)"/g)].map((m) => m[1]);
  expect(targets.length).toBeGreaterThan(40);
  expect(targets.filter((target) => !ids.has(target))).toEqual([]);
  const text = page.replace(/<(style|script)\b.*?<\/\1>/gs, '').replace(/<svg.*?<\/svg>/gs, '');
  expect(text.replace(/<[^>]+>/g, ' ')).not.toMatch(/\b(undefined|NaN|null|\[object Object\]|Infinity)\b/);
  expect(text).not.toMatch(/<td[^>]*><\/td>/);
}

describe('report.html', () => {
  it('is self-contained: nothing fetched', () => {
    expect(page).not.toMatch(/<script[^>]*src|<link|<img|<iframe|@import|url\(/i);
    // Names of the SVG namespace are no addresses to fetch.
    expect(
      page.replaceAll('http://www.w3.org/2000/svg', '').replaceAll('http://www.w3.org/1999/xlink', ''),
    ).not.toMatch(/https?:/);
    expect(page).toMatch(/<meta name="viewport"/);
    expect(page).toMatch(/prefers-color-scheme:dark/);
  });

  it('escapes what comes from the data', () => {
    expect(page).toContain('Item &#38; &#60;script&#62;');
    expect(page).toContain('&#60;b&#62;ratings');
  });

  it('begins with three cards, names its sections at the top, and folds what most people skip', () => {
    const [beginning] = page.split('<section id=').slice(1);
    expect(beginning.match(/class="card short/g)).toHaveLength(3);
    const sections = [...page.matchAll(/<section id="([^"]+)"/g)].map((m) => m[1]);
    const contents = /<nav aria-label="Contents">(.*?)<\/nav>/s.exec(page)![1];
    expect([...contents.matchAll(/href="#([^"]+)"/g)].map((m) => m[1])).toEqual(sections);
    expect(page.match(/<details/g)!.length).toBeGreaterThan(5);
  });

  it('says that data were thinned, and that no command repeats such a study', () => {
    const origin = { ...ORIGIN, kept: { users: 0.5, items: 0.3 } };
    const thinned = { ...results, receipt: { ...results.receipt, origin } };
    const said = renderStudyPage(thinned, pictures).replaceAll('\u00a0', ' ');
    expect(said).toContain('Thinned: 50 % of the users and 30 % of the items, kept at random.');
    expect(said).not.toContain('results.json</span>');
    expect(page).toContain('results.json</span>');
    expect(() => checkReceipt(JSON.parse(resultsJson(thinned)))).toThrow('that study was of thinned data');
    expect(checkReceipt(JSON.parse(resultsJson(results))).data[0].source).toBe(ORIGIN.source);
  });

  it('defines nothing twice', () => {
    const ids = [...page.matchAll(/<(?:dt|section) id="([^"]+)"/g)].map((m) => m[1]);
    expect(ids.length).toBe(new Set(ids).size);
  });

  it('has a target for every dotted word and every link; shows no undefined, NaN or null', () => {
    expectWhole(page);
    for (const { wide, narrow } of Object.values(pictures)) {
      for (const svg of [wide, ...narrow]) expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  it('shows the figures of the results: test and models, of the K with the highest bound', () => {
    const k = results.chosen.features;
    for (const kind of ['auto', 'sparse', 'dense']) {
      const own = results.runs[0].fits.filter((fit) => fit.model === kind);
      const chosen = own.find((fit) => fit.features === k)!;
      if (kind === 'auto') expect(Math.max(...own.map((fit) => fit.bound))).toBe(chosen.bound);
      // A fit with two names is shown once, under both.
      if (chosen.sameAs !== null) {
        expect(page).toContain(`>${chosen.sameAs} = ${kind}</`);
        continue;
      }
      const { observed, draws } = chosen.predictive!;
      expect(page).toContain(`>${observed.items!.toLocaleString('en-US')}<`);
      expect(page).toContain(`<b>${Math.round(draws.items!.mean).toLocaleString('en-US')}</b>`);
    }
    for (const row of results.runs[0].leaderboard.rows)
      expect(page).toContain(row.all.recall.mean.toFixed(3));
    expect(page).toContain('sum of counts');
    expect(page).toContain('Over several splits');
  });

  it('draws every picture, wide and narrow, the same each time', async () => {
    expect(Object.keys(pictures)).toEqual([...STUDY_PICTURES]);
    for (const { wide, narrow } of Object.values(pictures)) {
      expect(wide).toMatch(/^<svg.*<title>.+<\/title><desc>.+<\/desc>/s);
      expect(narrow.length).toBeGreaterThan(0);
      for (const svg of narrow) expect(Number(/ width="(\d+)"/.exec(svg)![1])).toBeLessThanOrEqual(420);
    }
    // The same bytes as in a whole document.
    const { document } = new Window();
    expect(studyPictures(document as unknown as Document, results)).toEqual(pictures);
  });

  it('says what was corrected, and that the dense model was not', async () => {
    const believed = { held: 4, replicas: 5, low: 1, high: 12_345, pValue: 0.42 };
    const corrected = {
      ...results,
      receipt: { ...results.receipt, settings: { ...results.receipt.settings, calibrate: 5 } },
      runs: results.runs.map((run) => ({
        ...run,
        fits: run.fits.map((fit) =>
          fit.model !== 'sparse'
            ? fit
            : {
                ...fit,
                predictive: {
                  ...fit.predictive!,
                  calibration: { replicas: 5, statistics: { users: believed, edges: believed } },
                },
              },
        ),
      })),
    };
    const with5 = renderStudyPage(corrected, studyPictures(await chartDocument(), corrected));
    expectWhole(with5);
    // Only the users and the edges of each sparse fit were corrected.
    expect(with5.match(/<br>corrected 1 … 12,345/g)!.length).toBe(with5.match(/<br>corrected /g)!.length);
    expect(with5).toMatch(/for each row of the table: .*4, –, 4/s);
    expect(with5).toContain('Those of the dense model are not corrected');
    expect(with5).toContain('id="what-corrected"');
    expect(page).not.toContain('id="what-corrected"');
    expect(page).toContain('--calibrate 20');
  });

  it('can be made from results.json, which holds no lists to look up', () => {
    const { atlas: _, ...read } = results;
    const again = renderStudyPage(JSON.parse(JSON.stringify(read)), pictures);
    expectWhole(again);
    expect(again).toContain('<div class="topic" id="feature-');
    expect(again).not.toContain('id="find"');
    expect(page).toContain('id="find"');
  });

  it('does not mention draws if there are none', async () => {
    const undrawn = withoutDraws(results);
    const drawn = studyPictures(await chartDocument(), undrawn);
    expect(Object.keys(drawn)).toEqual(['density', 'degrees', 'split', 'ranking']);
    const without = renderStudyPage(undrawn, drawn);
    expectWhole(without);
    // The sizes of the sides have intervals of their own.
    expect(without.replaceAll(/90 % interval [\d,.]+ to [\d,.]+/g, '')).not.toMatch(
      /predictive|90 % interval|p-value|Which model predicts|Error of the predictions/i,
    );
    expect(without).toContain('Over several splits');
    expect(page).toMatch(/predictive|90 % interval|p-value/i);
  });
});
