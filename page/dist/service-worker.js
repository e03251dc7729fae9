const VERSION = "109e7cd2f2327900";
const FILES = ["./assets/charts-Cmuur0pB.js","./assets/columns-CepP4b53.js","./assets/device-C0R9Is1P.js","./assets/draw-tasks-22UTqatk.js","./assets/draw-tasks-rurGjyQW.js","./assets/engine-B-ZAxvw7.js","./assets/engine-D6D3vXi1.js","./assets/errors-CDQlRE3j.js","./assets/explore-BNXL6iPM.js","./assets/figure--xA1Y2N_.js","./assets/fit-B3nGYI1z.js","./assets/gibbs-tasks-B_RQLVEy.js","./assets/gibbs-tasks-Lkiwnt3x.js","./assets/graph-DIqTcNIj.js","./assets/half-steps-D9sw37Cl.js","./assets/icon-C2yBwz_x.svg","./assets/index-DSYfGOXo.css","./assets/index-PXchCEkj.js","./assets/kernels-B4G_5Zsi.wasm","./assets/kernels-relaxed-DH7DdZ5I.wasm","./assets/linear-tasks-DZePE2kH.js","./assets/linear-tasks-zhuRyjxY.js","./assets/memory-DRIplzoF.js","./assets/options-ChcwOHNi.js","./assets/predict-qe6xoJbT.js","./assets/prediction-BK06kWuf.js","./assets/prediction-DNBYkAch.js","./assets/predictive-D8OhGJUB.js","./assets/ranking-tasks-CFJ8VGTw.js","./assets/recommend-BXWDzRBy.js","./assets/report-DMEoIBhO.js","./assets/reports-umESAfqS.js","./assets/rolldown-runtime-DK3Fl9T5.js","./assets/rows-DmaDcOmD.js","./assets/save-CeG0JwOk.js","./assets/session-BYU-bDz-.js","./assets/sparsity-Dxh_CzL9.js","./assets/special-De5SNQxr.js","./assets/table-BlyWWA5D.js","./assets/thinning-BjHTe57w.js","./assets/verdict-RrpjmAgl.js","./index.html","./samples/sotu.json","./samples/sotu.tsv.gz"];
// Keeps the files of the page, so that it works offline after the first visit, and answers with the two headers that let
// threads share memory, for hosts that cannot send them. The build writes the list of files and its version in front.

/* global FILES, VERSION */
const CACHE = `graphex-page-${VERSION}`;
const HEADERS = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

self.addEventListener('install', (event) => {
  event.waitUntil(
    (async () => {
      const cache = await caches.open(CACHE);
      // Past the browser's own store: a file that is kept must be that of this version.
      await cache.addAll(FILES.map((file) => new Request(file, { cache: 'reload' })));
      await self.skipWaiting();
    })(),
  );
});

self.addEventListener('activate', (event) => {
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) {
        if (name.startsWith('graphex-page-') && name !== CACHE) await caches.delete(name);
      }
      await self.clients.claim();
    })(),
  );
});

self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  const base = new URL('./', self.location.href);
  if (request.method !== 'GET' || url.origin !== base.origin || !url.pathname.startsWith(base.pathname))
    return;
  const file = url.pathname.slice(base.pathname.length) || 'index.html';
  // What is no file of the page (an API beside it) goes to the network untouched.
  if (!FILES.includes(`./${file}`)) return;
  event.respondWith(
    (async () => {
      const cache = await caches.open(CACHE);
      const kept = await cache.match(new URL(file, base));
      const answer = kept ?? (await fetch(request));
      const headers = new Headers(answer.headers);
      for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
      return new Response(answer.body, { status: answer.status, statusText: answer.statusText, headers });
    })(),
  );
});
