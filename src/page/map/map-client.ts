// The page's side of the worker that draws the map.

import type { Look, PictureKind, Scene } from './picture.js';

export type PainterRequest =
  | { readonly points: OffscreenCanvas; readonly labels: OffscreenCanvas; readonly scene: Scene }
  | { readonly look: Look }
  | { readonly save: PictureKind; readonly to: MessagePort };
export type PainterReply = { readonly file: Blob } | { readonly error: string };

/** The map on two canvases of the page, drawn in a worker until it is closed. */
export function createMapClient(points: HTMLCanvasElement, labels: HTMLCanvasElement, scene: Scene) {
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
    show: (look: Look) => post({ look }),
    save: (kind: PictureKind) =>
      new Promise<Blob>((resolve, reject) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }: MessageEvent<PainterReply>) => {
          port1.close();
          if ('file' in data) resolve(data.file);
          else reject(new Error(data.error));
        };
        post({ save: kind, to: port2 }, [port2]);
      }),
    close: () => worker.terminate(),
  };
}
