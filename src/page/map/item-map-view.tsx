import { useEffect, useMemo, useRef } from 'preact/hooks';
import { grouped } from '../../text/numbers.js';
import { Button } from '../components/controls.js';
import { useDark } from '../components/hooks.js';
import { save } from '../components/save.js';
import type { ItemMap } from '../protocol.js';
import { createMapClient } from './map-client.js';
import type { PackedNames } from './packed-names.js';
import type { Picture, PictureKind } from './picture.js';
import { panBy, toMap, type View, WHOLE, zoomAt } from './view.js';

interface MapProps {
  readonly map: ItemMap;
  /** Titles of the items, if there are some. */
  readonly titles: PackedNames | undefined;
  readonly features: number;
  readonly noun: string;
  /** The chosen item, its neighbours, and the highlighted feature. */
  readonly chosen: number | undefined;
  readonly near: readonly number[];
  readonly feature: number | undefined;
  onChoose(item: number): void;
}

let drawings = 0;

/** The map of items, moved by drag, wheel, pinch, arrow keys, plus and minus. */
export function MapOfItems({ map, titles, features, noun, chosen, near, feature, onChoose }: MapProps) {
  const frame = useRef<HTMLDivElement>(null);
  const points = useRef<HTMLCanvasElement>(null);
  const labels = useRef<HTMLCanvasElement>(null);
  const view = useRef<View>(WHOLE);
  const picture = useRef<Picture | undefined>(undefined);
  const show = useRef<(moving: boolean) => void>(() => undefined);
  const dark = useDark();
  // A canvas can be transferred only once.
  const drawing = useMemo(() => ++drawings, [map, titles, dark]);
  const state = useRef({ chosen, near, feature });
  state.current = { chosen, near, feature };

  useEffect(() => {
    const { fontFamily, color, backgroundColor } = getComputedStyle(document.body);
    const drawn = createMapClient(points.current!, labels.current!, {
      ...{ map, titles, features, dark, fontFamily, ink: color, ground: backgroundColor },
    });
    picture.current = drawn;
    const { clientWidth, clientHeight } = frame.current!;
    const size = { width: Math.max(1, clientWidth), height: Math.max(1, clientHeight) };
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    show.current = (moving) =>
      drawn.show({ view: view.current, frame: { ...size }, ratio, ...state.current, moving });
    const observer = new ResizeObserver(([entry]) => {
      size.width = Math.max(1, Math.floor(entry.contentRect.width));
      size.height = Math.max(1, Math.floor(entry.contentRect.height));
      show.current(false);
    });
    observer.observe(frame.current!);
    const stop = listen(
      frame.current!,
      view,
      size,
      () => show.current(true),
      (left, top) => {
        const item = nearest(map, view.current, size, left, top);
        if (item !== undefined) onChoose(item);
      },
    );
    return () => {
      observer.disconnect();
      stop();
      drawn.close();
    };
  }, [map, titles, dark]);

  useEffect(() => {
    if (chosen !== undefined) {
      const { x, y, zoom } = view.current;
      const far = Math.hypot(map.x[chosen] - x, map.y[chosen] - y) * zoom > 0.8;
      if (far) view.current = { x: map.x[chosen], y: map.y[chosen], zoom: Math.max(zoom, 3) };
    }
    show.current(false);
  }, [chosen, near, feature]);

  const zoom = (factor: number) => {
    const { clientWidth: width, clientHeight: height } = frame.current!;
    view.current = zoomAt(view.current, { width, height }, width / 2, height / 2, factor);
    show.current(false);
  };
  const take = async (kind: PictureKind) => save(`map.${kind}`, await picture.current!.save(kind));
  return (
    <div class="map">
      <div
        ref={frame}
        class="frame"
        role="application"
        tabIndex={0}
        aria-label={`Map of ${grouped(map.x.length)} ${noun}. Arrow keys move it, plus and minus zoom. The table below lists the same items.`}
      >
        <canvas ref={points} key={`points ${drawing}`} />
        <canvas ref={labels} key={`labels ${drawing}`} />
      </div>
      <p class="zoom">
        <Button aria-label="Zoom in" onClick={() => zoom(1.6)}>
          +
        </Button>
        <Button aria-label="Zoom out" onClick={() => zoom(1 / 1.6)}>
          −
        </Button>
        <Button
          onClick={() => {
            view.current = WHOLE;
            show.current(false);
          }}
        >
          Whole map
        </Button>
      </p>
      <p class="take">
        <span class="quiet">Save this view</span>
        {(['svg', 'png'] as const).map((kind) => (
          <Button
            key={kind}
            aria-label={`Save the map as ${kind.toUpperCase()}`}
            onClick={() => void take(kind)}
          >
            {kind.toUpperCase()}
          </Button>
        ))}
      </p>
    </div>
  );
}

/** The nearest item within a few pixels. */
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

/** Listens to pointers, wheel and keys. Returns a function that stops it. */
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
