import { useEffect, useMemo, useRef } from 'preact/hooks';
import { grouped } from '../../text/numbers.js';
import { shown } from '../../text/untrusted.js';
import { useDark } from '../parts/dark.js';
import type { ItemMap } from '../protocol.js';
import { placeLabels } from './labels.js';
import { createPace } from './pace.js';
import { featureColours } from './palette.js';
import { createPainter } from './points.js';
import { panBy, toMap, toScreen, type View, WHOLE, zoomAt } from './view.js';

export interface MapProps {
  readonly map: ItemMap;
  readonly features: number;
  readonly noun: string;
  /** The chosen item, its neighbours, and the items that are not drawn back. */
  readonly chosen: number | undefined;
  readonly near: readonly number[];
  readonly feature: number | undefined;
  onChoose(item: number): void;
}

/** The map of items: drag, wheel, pinch, arrows, plus and minus. */
export function MapOfItems({ map, features, noun, chosen, near, feature, onChoose }: MapProps) {
  const frame = useRef<HTMLDivElement>(null);
  const points = useRef<HTMLCanvasElement>(null);
  const labels = useRef<HTMLCanvasElement>(null);
  const view = useRef<View>(WHOLE);
  const redraw = useRef<() => void>(() => undefined);
  const order = useMemo(
    () => Uint32Array.from(map.degree.keys()).sort((a, b) => map.degree[b] - map.degree[a]),
    [map],
  );
  const faded = useMemo(
    () =>
      feature === undefined ? undefined : Uint8Array.from(map.feature, (own) => (own === feature ? 0 : 1)),
    [map, feature],
  );
  const dark = useDark();
  const state = useRef({ chosen, near, faded });
  state.current = { chosen, near, faded };

  useEffect(() => {
    const colours = featureColours(features, dark);
    const colour = new Uint8Array(3 * map.ids.length);
    const radius = new Float32Array(map.ids.length);
    for (let j = 0; j < map.ids.length; j++) {
      colour.set(colours.subarray(3 * map.feature[j], 3 * map.feature[j] + 3), 3 * j);
      radius[j] = Math.min(6, 1.2 + 0.5 * Math.log2(1 + map.degree[j]));
    }
    const canvas = points.current!;
    const painter = createPainter(canvas, { x: map.x, y: map.y, colour, radius });
    const named = labels.current!;
    const over = named.getContext('2d')!;
    const style = getComputedStyle(document.body);
    const font = `13px ${style.fontFamily}`;
    const widths = new Map<string, number>();
    const width = (text: string) => {
      const known = widths.get(text);
      if (known !== undefined) return known;
      over.font = font;
      const measured = over.measureText(text).width;
      widths.set(text, measured);
      return measured;
    };
    const size = { width: 1, height: 1 };
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    let asked = 0;
    let rest: ReturnType<typeof setTimeout> | undefined;
    const pace = createPace(map.x.length);
    const paint = () => {
      asked = 0;
      const { chosen: now, near: around, faded: back } = state.current;
      painter.paint(view.current, size, ratio, back, rest === undefined ? map.x.length : pace.count());
      over.setTransform(ratio, 0, 0, ratio, 0, 0);
      over.clearRect(0, 0, size.width, size.height);
      over.font = font;
      over.lineJoin = 'round';
      over.lineWidth = 4;
      over.strokeStyle = style.backgroundColor;
      const marked = now === undefined ? [] : [now, ...around];
      over.fillStyle = style.color;
      for (const item of marked) {
        const [left, top] = toScreen(view.current, size, map.x[item], map.y[item]);
        over.beginPath();
        over.arc(left, top, item === now ? 8 : 5, 0, 7);
        over.lineWidth = item === now ? 2.5 : 1.5;
        over.strokeStyle = style.color;
        over.stroke();
      }
      over.lineWidth = 4;
      over.strokeStyle = style.backgroundColor;
      const wanted = back ? Array.from(order).filter((item) => back[item] === 0) : order;
      const text = (item: number) => shown(map.ids[item], 24);
      for (const label of placeLabels(
        { x: map.x, y: map.y, order: wanted, text, width },
        view.current,
        size,
        marked,
      )) {
        over.strokeText(label.text, label.left, label.top);
        over.fillText(label.text, label.left, label.top);
      }
    };
    const ask = () => {
      if (asked === 0) asked = requestAnimationFrame(paint);
    };
    redraw.current = ask;
    const move = () => {
      clearTimeout(rest);
      rest = setTimeout(() => {
        rest = undefined;
        ask();
      }, RESTING);
      if (asked !== 0) return;
      ask();
      pace.time();
    };
    const observer = new ResizeObserver(([entry]) => {
      size.width = Math.max(1, Math.floor(entry.contentRect.width));
      size.height = Math.max(1, Math.floor(entry.contentRect.height));
      for (const each of [canvas, named]) {
        each.width = size.width * ratio;
        each.height = size.height * ratio;
      }
      ask();
    });
    observer.observe(frame.current!);
    const stop = listen(frame.current!, view, size, move, (left, top) => {
      const item = nearest(map, view.current, size, left, top);
      if (item !== undefined) onChoose(item);
    });
    return () => {
      observer.disconnect();
      stop();
      cancelAnimationFrame(asked);
      clearTimeout(rest);
      painter.close();
    };
  }, [map, dark]);

  useEffect(() => {
    if (chosen !== undefined) {
      const { x, y, zoom } = view.current;
      const far = Math.hypot(map.x[chosen] - x, map.y[chosen] - y) * zoom > 0.8;
      if (far) view.current = { x: map.x[chosen], y: map.y[chosen], zoom: Math.max(zoom, 3) };
    }
    redraw.current();
  }, [chosen, near, faded]);

  const zoom = (factor: number) => {
    const { clientWidth: width, clientHeight: height } = frame.current!;
    view.current = zoomAt(view.current, { width, height }, width / 2, height / 2, factor);
    redraw.current();
  };
  return (
    <div class="map">
      <div
        ref={frame}
        class="frame"
        role="application"
        tabIndex={0}
        aria-label={`Map of ${grouped(map.ids.length)} ${noun}. Arrow keys move it, plus and minus zoom. The table below has the same.`}
      >
        {/* A canvas whose painter was closed cannot be painted again. */}
        <canvas ref={points} key={`points ${dark}`} />
        <canvas ref={labels} />
      </div>
      <p class="zoom">
        <button type="button" aria-label="Zoom in" onClick={() => zoom(1.6)}>
          +
        </button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1 / 1.6)}>
          −
        </button>
        <button
          type="button"
          onClick={() => {
            view.current = WHOLE;
            redraw.current();
          }}
        >
          Whole
        </button>
      </p>
    </div>
  );
}

/** Milliseconds without a movement after which all points are drawn. */
const RESTING = 200;

/** The item at most a few pixels away. */
function nearest(
  map: ItemMap,
  view: View,
  size: { readonly width: number; readonly height: number },
  left: number,
  top: number,
): number | undefined {
  const [x, y] = toMap(view, size, left, top);
  const [edge] = toMap(view, size, left + 14, top);
  let best: number | undefined;
  let least = (edge - x) ** 2;
  for (let j = 0; j < map.x.length; j++) {
    const d2 = (map.x[j] - x) ** 2 + (map.y[j] - y) ** 2;
    if (d2 < least) {
      least = d2;
      best = j;
    }
  }
  return best;
}

/** Pointers, wheel and keys; returns how to stop listening. */
function listen(
  frame: HTMLElement,
  view: { current: View },
  size: { readonly width: number; readonly height: number },
  ask: () => void,
  click: (left: number, top: number) => void,
): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  const held = new Map<number, { left: number; top: number }>();
  let moved = 0;
  const place = (event: MouseEvent) => {
    const box = frame.getBoundingClientRect();
    return { left: event.clientX - box.left, top: event.clientY - box.top };
  };
  const turn = (next: View) => {
    view.current = next;
    ask();
  };
  frame.addEventListener(
    'wheel',
    (event) => {
      event.preventDefault();
      const { left, top } = place(event);
      turn(zoomAt(view.current, size, left, top, Math.exp(-event.deltaY / 400)));
    },
    { signal, passive: false },
  );
  frame.addEventListener(
    'pointerdown',
    (event) => {
      frame.setPointerCapture(event.pointerId);
      held.set(event.pointerId, place(event));
      moved = 0;
    },
    { signal },
  );
  frame.addEventListener(
    'pointermove',
    (event) => {
      const before = held.get(event.pointerId);
      if (!before) return;
      const now = place(event);
      const [dx, dy] = [now.left - before.left, now.top - before.top];
      moved += Math.abs(dx) + Math.abs(dy);
      const other = [...held].find(([id]) => id !== event.pointerId)?.[1];
      if (other) {
        const apart = (p: typeof now) => Math.hypot(p.left - other.left, p.top - other.top);
        turn(zoomAt(view.current, size, other.left, other.top, apart(now) / Math.max(1, apart(before))));
      } else turn(panBy(view.current, size, dx, dy));
      held.set(event.pointerId, now);
    },
    { signal },
  );
  const release = (event: PointerEvent) => {
    if (held.delete(event.pointerId) && moved < 5 && event.type === 'pointerup') {
      const { left, top } = place(event);
      click(left, top);
    }
  };
  frame.addEventListener('pointerup', release, { signal });
  frame.addEventListener('pointercancel', release, { signal });
  frame.addEventListener(
    'keydown',
    (event) => {
      const { width, height } = size;
      const moves: Readonly<Record<string, View>> = {
        ArrowLeft: panBy(view.current, size, width / 10, 0),
        ArrowRight: panBy(view.current, size, -width / 10, 0),
        ArrowUp: panBy(view.current, size, 0, height / 10),
        ArrowDown: panBy(view.current, size, 0, -height / 10),
        '+': zoomAt(view.current, size, width / 2, height / 2, 1.3),
        '-': zoomAt(view.current, size, width / 2, height / 2, 1 / 1.3),
        '0': WHOLE,
      };
      const next = moves[event.key];
      if (!next) return;
      event.preventDefault();
      turn(next);
    },
    { signal },
  );
  return () => controller.abort();
}
