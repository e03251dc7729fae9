// The page's side of the worker that draws the map.

import type { Look, Picture, PictureKind, Scene } from './picture.js';

export type PainterRequest =
  | { readonly points: OffscreenCanvas; readonly labels: OffscreenCanvas; readonly scene: Scene }
  | { readonly look: Look }
  | { readonly save: PictureKind };
export type PainterReply = { readonly file: Blob } | { readonly error: string };

/** The map on two canvases of the page, drawn in a worker. */
export function createMapClient(points: HTMLCanvasElement, labels: HTMLCanvasElement, scene: Scene): Picture {
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
