// The worker that draws the map, and its end in the page.

import type { Canvas, Look, Picture, PictureKind, Scene } from './picture.js';

export type PainterRequest =
  | { readonly points: Canvas; readonly labels: Canvas; readonly scene: Scene }
  | { readonly look: Look }
  | { readonly save: PictureKind };
export type PainterReply = { readonly file: Blob } | { readonly error: string };

/** A picture on two canvases of the page, drawn elsewhere where the browser can. */
export function hirePainter(points: HTMLCanvasElement, labels: HTMLCanvasElement, scene: Scene): Picture {
  if (!('transferControlToOffscreen' in points)) return drawnHere(points, labels, scene);
  const worker = new Worker(new URL('./map-worker.ts', import.meta.url), {
    type: 'module',
    name: 'graphex-map',
  });
  const post = (request: PainterRequest, transfer: Transferable[] = []) =>
    worker.postMessage(request, transfer);
  const handed = { points: points.transferControlToOffscreen(), labels: labels.transferControlToOffscreen() };
  post({ ...handed, scene }, [handed.points, handed.labels]);
  return {
    show: (look) => post({ look }),
    save: (kind) =>
      new Promise((resolve, reject) => {
        worker.onmessage = ({ data }: MessageEvent<PainterReply>) => {
          if ('file' in data) resolve(data.file);
          else reject(new Error(data.error));
        };
        post({ save: kind });
      }),
    close: () => worker.terminate(),
  };
}

/** An old browser has no canvas to hand over: the page draws itself, and fetches how. */
function drawnHere(points: HTMLCanvasElement, labels: HTMLCanvasElement, scene: Scene): Picture {
  const picture = import('./picture.js').then(({ createPicture }) => createPicture(points, labels, scene));
  return {
    show: (look) => void picture.then((drawn) => drawn.show(look)),
    save: async (kind) => (await picture).save(kind),
    close: () => void picture.then((drawn) => drawn.close()),
  };
}
