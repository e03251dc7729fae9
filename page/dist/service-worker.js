const VERSION = "73dd131e07fedb29";
const FILES = ["./assets/asking-tasks-DXPdR0YE.js","./assets/asking-tasks-xiiYeTCG.js","./assets/charts-B7k-IBlR.js","./assets/columns-BDsXUyWw.js","./assets/device-DThp13Ba.js","./assets/distributions-QyLuB_6O.js","./assets/draw-tasks-DZCN4563.js","./assets/draw-tasks-rurGjyQW.js","./assets/engine-CizYQUOb.js","./assets/engine-ivwGRKr9.js","./assets/errors-CDQlRE3j.js","./assets/explore-DUbi8cXx.js","./assets/figure-C906UCeO.js","./assets/fit-7Mtz3jFW.js","./assets/gibbs-tasks-B_RQLVEy.js","./assets/gibbs-tasks-DogbTL6-.js","./assets/graph-DIqTcNIj.js","./assets/half-steps-D9sw37Cl.js","./assets/icon-C2yBwz_x.svg","./assets/index-R1Ggdwy0.css","./assets/index-eP-bt4Mf.js","./assets/kernels-B4G_5Zsi.wasm","./assets/kernels-relaxed-DH7DdZ5I.wasm","./assets/linear-tasks-CLnn_yCJ.js","./assets/linear-tasks-zhuRyjxY.js","./assets/memory-DRIplzoF.js","./assets/options-Czfx1w41.js","./assets/predict-lmNgR9Vp.js","./assets/prediction-Crjc7Mg2.js","./assets/prediction-D9qxaGtO.js","./assets/predictive-FYsT6U4e.js","./assets/quadrature-abzwqxZB.js","./assets/ranking-tasks-CFJ8VGTw.js","./assets/recommend-ChW8b8h1.js","./assets/report-lIH7astm.js","./assets/reports-Bpxks2RA.js","./assets/rolldown-runtime-DK3Fl9T5.js","./assets/rows-DmaDcOmD.js","./assets/save-CeG0JwOk.js","./assets/session-Dqev4-jQ.js","./assets/sparsity-Di_gX4ev.js","./assets/special-De5SNQxr.js","./assets/table-Cw9YZ1vo.js","./assets/thinning-67eCRelF.js","./assets/verdict-CyDgHpeg.js","./index.html","./samples/sotu.json","./samples/sotu.tsv.gz"];
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
