const VERSION = "600c311ab4ced28e";
const FILES = ["./assets/asking-tasks-BFJUFybq.js","./assets/asking-tasks-CPpFqAZP.js","./assets/charts-B1hBziGs.js","./assets/columns-CupnJ4P6.js","./assets/device-CHbsZeZv.js","./assets/distributions-Dxw5FXsF.js","./assets/draw-tasks-BMV8cOj8.js","./assets/draw-tasks-Dnd2KAOg.js","./assets/engine-DRX-vhdb.js","./assets/engine-D_39lWRV.js","./assets/errors-CDQlRE3j.js","./assets/explore-B8G9Oh_v.js","./assets/figure-DmBNC8cQ.js","./assets/fit-CQCwVi93.js","./assets/gibbs-tasks-BoUh26yb.js","./assets/gibbs-tasks-jSwMZJab.js","./assets/graph-DIqTcNIj.js","./assets/half-steps-D9sw37Cl.js","./assets/icon-C2yBwz_x.svg","./assets/index-Cvss2hyA.js","./assets/index-R1Ggdwy0.css","./assets/kernels-B4G_5Zsi.wasm","./assets/kernels-relaxed-DH7DdZ5I.wasm","./assets/linear-tasks-Be4eWVjQ.js","./assets/linear-tasks-zhuRyjxY.js","./assets/memory-DRIplzoF.js","./assets/options-CLC0uhXd.js","./assets/predict-DaAXRD5f.js","./assets/prediction-CLYtgoY4.js","./assets/prediction-Cj81lDEJ.js","./assets/predictive-Da8IJXnI.js","./assets/quadrature-Zda5BHtQ.js","./assets/ranking-tasks-CFJ8VGTw.js","./assets/recommend-D0dmF0MA.js","./assets/report-DrzoPO47.js","./assets/reports-BHd904q2.js","./assets/rolldown-runtime-DK3Fl9T5.js","./assets/rows-CYxI1weU.js","./assets/save-CeG0JwOk.js","./assets/session-Dypktl0J.js","./assets/sparsity-CsVy1TaX.js","./assets/special-XNkK-85Q.js","./assets/streams-DX3U33jx.js","./assets/table-mVBxKeHp.js","./assets/thinning-Dyv-00b0.js","./assets/verdict-CrBp0IvE.js","./index.html","./samples/sotu.json","./samples/sotu.tsv.gz"];
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
