// The map: points below, names above, and files of both. It is drawn in a worker, because drawing waits for the GPU or for
// its emulation.

import { escapeXml } from '../../report/charts/ink.js';
import { present, shortTitle } from '../../text/phrases.js';
import { shown } from '../../text/untrusted.js';
import type { ItemMap } from '../protocol.js';
import { placeLabels } from './label-placement.js';
import { createPace } from './pace.js';
import { nameAt, type PackedNames } from './packed-names.js';
import { cssColour, featureColours } from './palette.js';
import { growth, pointPainter } from './points.js';
import { type Frame, toScreen, type View, WHOLE } from './view.js';

/** The parts of the map that do not change. */
export interface Scene {
  readonly map: ItemMap;
  /** Titles, '' for items without one; undefined if there are none. */
  readonly titles: PackedNames | undefined;
  readonly features: number;
  readonly dark: boolean;
  readonly fontFamily: string;
  readonly ink: string;
  readonly ground: string;
}

export interface Look {
  readonly view: View;
  readonly frame: Frame;
  /** Screen pixels per CSS pixel. */
  readonly ratio: number;
  readonly chosen: number | undefined;
  readonly near: readonly number[];
  /** The feature whose items are highlighted. */
  readonly feature: number | undefined;
  readonly moving: boolean;
}

export type PictureKind = 'svg' | 'png';

export interface Picture {
  show(look: Look): void;
  /** The visible part as a file. */
  save(kind: PictureKind): Promise<Blob>;
}

/** Milliseconds without a movement after which all points are drawn. */
const RESTING = 200;
/** Pixels of a saved file per CSS pixel. */
const FINE = 2;
const LABEL = 13;

export function createPicture(points: OffscreenCanvas, labels: OffscreenCanvas, scene: Scene): Picture {
  const { map, titles, ink, ground } = scene;
  const count = map.x.length;
  const colours = featureColours(scene.features, scene.dark);
  const colour = new Uint8Array(3 * count);
  const radius = new Float32Array(count);
  for (let j = 0; j < count; j++) {
    for (let c = 0; c < 3; c++) colour[3 * j + c] = colours[3 * map.feature[j] + c];
    radius[j] = Math.min(6, 1.2 + 0.5 * Math.log2(1 + map.degree[j]));
  }
  const titled = (item: number) =>
    titles !== undefined && titles.offsets[item + 1] > titles.offsets[item] ? 1 : 0;
  // Items with a title are labelled first, the most common ones before all others.
  const order = Uint32Array.from(map.degree.keys()).sort(
    (a, b) => titled(b) - titled(a) || map.degree[b] - map.degree[a],
  );
  const paintPoints = pointPainter(points, { x: map.x, y: map.y, colour, radius });
  const over = labels.getContext('2d')!;
  const font = `${LABEL}px ${scene.fontFamily}`;
  const text = (item: number) =>
    titled(item) ? shortTitle(shown(nameAt(titles!, item), 1000), 24) : shown(nameAt(map.names, item), 24);
  const widths = new Map<string, number>();
  const width = (said: string) => {
    const known = widths.get(said);
    if (known !== undefined) return known;
    over.font = font;
    const measured = over.measureText(said).width;
    widths.set(said, measured);
    return measured;
  };
  const pace = createPace(count);
  let look: Look = {
    ...{ view: WHOLE, frame: { width: 1, height: 1 }, ratio: 1 },
    ...{ chosen: undefined, near: [], feature: undefined, moving: false },
  };
  let faded: { readonly feature: number; readonly mask: Uint8Array; readonly order: Uint32Array } | undefined;
  let isAsked = false;
  let rest: ReturnType<typeof setTimeout> | undefined;

  /** The chosen feature, with a mask of all other items. It is made once per choice, not per frame. */
  const drawnBack = () => {
    const { feature } = look;
    if (feature === undefined) return undefined;
    if (faded?.feature !== feature) {
      const mask = Uint8Array.from(map.feature, (own) => (own === feature ? 0 : 1));
      faded = { feature, mask, order: order.filter((item) => mask[item] === 0) };
    }
    return faded;
  };
  const marks = () =>
    (look.chosen === undefined ? [] : [look.chosen, ...look.near]).map((item) => {
      const [left, top] = toScreen(look.view, look.frame, map.x[item], map.y[item]);
      const own = item === look.chosen;
      return { left, top, radius: own ? 8 : 5, thick: own ? 2.5 : 1.5, item };
    });
  const named = () =>
    placeLabels(
      { x: map.x, y: map.y, order: drawnBack()?.order ?? order, text, width },
      look.view,
      look.frame,
      marks().map(({ item }) => item),
    );
  const write = (context: OffscreenCanvasRenderingContext2D, ratio: number) => {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = font;
    context.lineJoin = 'round';
    context.fillStyle = ink;
    context.strokeStyle = ink;
    for (const mark of marks()) {
      context.beginPath();
      context.arc(mark.left, mark.top, mark.radius, 0, 7);
      context.lineWidth = mark.thick;
      context.stroke();
    }
    context.lineWidth = 4;
    context.strokeStyle = ground;
    for (const label of named()) {
      context.strokeText(label.text, label.left, label.top);
      context.fillText(label.text, label.left, label.top);
    }
  };
  const sized = (canvas: OffscreenCanvas, ratio: number) => {
    const { width: w, height: h } = look.frame;
    const [wide, tall] = [Math.round(w * ratio), Math.round(h * ratio)];
    // Setting the size clears a canvas and reallocates its memory.
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== tall) canvas.height = tall;
  };
  const paintFirst = (most: number, ratio: number) => {
    sized(points, ratio);
    paintPoints(look.view, look.frame, ratio, drawnBack()?.mask, most);
  };
  const paint = () => {
    isAsked = false;
    const { frame, ratio } = look;
    paintFirst(rest === undefined ? count : pace.count(), ratio);
    sized(labels, ratio);
    over.setTransform(ratio, 0, 0, ratio, 0, 0);
    over.clearRect(0, 0, frame.width, frame.height);
    write(over, ratio);
  };
  const ask = () => {
    if (!isAsked) requestAnimationFrame(paint);
    isAsked = true;
  };
  const png = async () => {
    const { frame } = look;
    const file = new OffscreenCanvas(FINE * frame.width, FINE * frame.height);
    const context = file.getContext('2d')!;
    context.fillStyle = ground;
    context.fillRect(0, 0, file.width, file.height);
    // A WebGL canvas is cleared when the task that painted it ends.
    paintFirst(count, FINE);
    context.drawImage(points, 0, 0);
    write(context, FINE);
    ask();
    return file.convertToBlob({ type: 'image/png' });
  };
  const svg = () => {
    const { view, frame } = look;
    const mask = drawnBack()?.mask;
    const grown = growth(view.zoom);
    const circle = (left: number, top: number, r: string | number, look: string) =>
      `<circle cx="${left.toFixed(1)}" cy="${top.toFixed(1)}" r="${r}" ${look}/>`;
    const dots = Array.from(map.x, (x, j) => {
      const [left, top] = toScreen(view, frame, x, map.y[j]);
      const isVisible = left >= -9 && top >= -9 && left <= frame.width + 9 && top <= frame.height + 9;
      const fill = `fill="${cssColour(colours, map.feature[j])}" fill-opacity="${mask?.[j] ? 0.08 : 0.8}"`;
      return isVisible && circle(left, top, (radius[j] * grown).toFixed(1), fill);
    });
    const lines = present([
      `<svg xmlns="http://www.w3.org/2000/svg" width="${frame.width}" height="${frame.height}" viewBox="0 0 ${frame.width} ${frame.height}" font-family="system-ui, sans-serif" font-size="${LABEL}">`,
      `<rect width="100%" height="100%" fill="${ground}"/>`,
      ...dots,
      ...marks().map(({ left, top, radius: r, thick }) =>
        circle(left, top, r, `fill="none" stroke="${ink}" stroke-width="${thick}"`),
      ),
      ...named().map(
        ({ left, top, text: said }) =>
          `<text x="${left.toFixed(1)}" y="${top.toFixed(1)}" fill="${ink}" stroke="${ground}" stroke-width="4" stroke-linejoin="round" paint-order="stroke">${escapeXml(said)}</text>`,
      ),
      '</svg>\n',
    ]);
    return new Blob(
      lines.map((line) => `${line}\n`),
      { type: 'image/svg+xml' },
    );
  };
  return {
    show(next) {
      look = next;
      if (next.moving) {
        clearTimeout(rest);
        rest = setTimeout(() => {
          rest = undefined;
          ask();
        }, RESTING);
        if (!isAsked) pace.time();
      }
      ask();
    },
    save: async (kind) => (kind === 'png' ? png() : svg()),
  };
}
