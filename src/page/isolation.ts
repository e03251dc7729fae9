// Works offline, and on hosts that cannot send headers: a service worker keeps the files, and adds the two headers that
// let threads share memory. A page that is not isolated yet is loaded once more, and never a second time.

const TRIED = 'graphex-isolation-tried';

export async function becomeIsolated(): Promise<void> {
  if (!('serviceWorker' in navigator) || !window.isSecureContext) return;
  try {
    await navigator.serviceWorker.register(new URL('./service-worker.js', document.baseURI), {
      type: 'module',
    });
    await navigator.serviceWorker.ready;
  } catch {
    return; // a browser that keeps no service workers still has the page, in one thread
  }
  if (window.crossOriginIsolated) {
    sessionStorage.removeItem(TRIED);
    return;
  }
  // Only before anybody has begun: what was dropped would be lost.
  if (sessionStorage.getItem(TRIED) || document.documentElement.dataset.begun) return;
  sessionStorage.setItem(TRIED, 'yes');
  location.reload();
}
