// Keeps the files of the page for offline use, and adds the two headers that let threads share memory, for hosts that cannot
// send them. The build puts the list of files and the version in front.

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
      // Not from the browser's own cache: every file must be of this version.
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
  // Other requests, such as those to a server's endpoints, go to the network unchanged.
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
