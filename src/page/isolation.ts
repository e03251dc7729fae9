// A service worker keeps the files for offline use, and adds the two headers that let threads share memory, for hosts that
// cannot send them. A page that is not isolated yet is reloaded once.

const TRIED = 'graphex-isolation-tried';

export async function becomeIsolated(): Promise<void> {
  if (!('serviceWorker' in navigator) || !window.isSecureContext) return;
  try {
    await navigator.serviceWorker.register(new URL('./service-worker.js', document.baseURI), {
      type: 'module',
    });
    await navigator.serviceWorker.ready;
  } catch {
    return; // without service workers the page works in one thread
  }
  if (window.crossOriginIsolated) {
    sessionStorage.removeItem(TRIED);
    return;
  }
  // Only before the user has opened something: a reload would lose it.
  if (sessionStorage.getItem(TRIED) || document.documentElement.dataset.begun) return;
  sessionStorage.setItem(TRIED, 'yes');
  location.reload();
}
