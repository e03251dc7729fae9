// The page's side of the worker that draws the map.

import type { Canvas, Look, Picture, PictureKind, Scene } from './picture.js';

export type PainterRequest =
  | { readonly points: Canvas; readonly labels: Canvas; readonly scene: Scene }
  | { readonly look: Look }
  | { readonly save: PictureKind };
export type PainterReply = { readonly file: Blob } | { readonly error: string };

/** The map on two canvases of the page, drawn in a worker if the browser can transfer a canvas. */
export function createMapClient(points: HTMLCanvasElement, labels: HTMLCanvasElement, scene: Scene): Picture {
  if (!('transferControlToOffscreen' in points)) return drawInPage(points, labels, scene);
  const worker = new Worker(new URL('./map-worker.ts', import.meta.url), {
    type: 'module',
    name: 'graphex-map',
  });
  const post = (request: PainterRequest, transfer: Transferable[] = []) =>
    worker.postMessage(request, transfer);
  const canvases = {
    points: points.transferControlToOffscreen(),
    labels: labels.transferControlToOffscreen(),
  };
  post({ ...canvases, scene }, [canvases.points, canvases.labels]);
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

/** Draws in the page, for older browsers. */
function drawInPage(points: HTMLCanvasElement, labels: HTMLCanvasElement, scene: Scene): Picture {
  const picture = import('./picture.js').then(({ createPicture }) => createPicture(points, labels, scene));
  return {
    show: (look) => void picture.then((drawn) => drawn.show(look)),
    save: async (kind) => (await picture).save(kind),
    close: () => void picture.then((drawn) => drawn.close()),
  };
}
