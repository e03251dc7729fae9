import { useEffect, useMemo, useRef } from 'preact/hooks';
import { grouped } from '../../text/numbers.js';
import { Button } from '../components/controls.js';
import { dark } from '../components/hooks.js';
import { save } from '../components/save.js';
import type { ItemMap } from '../protocol.js';
import { createMapClient } from './map-client.js';
import type { PackedNames } from './packed-names.js';
import type { Picture, PictureKind } from './picture.js';
import { type Frame, panBy, toMap, type View, WHOLE, zoomAt } from './view.js';

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

/** A place on the frame, in pixels from its corner. */
interface Place {
  readonly left: number;
  readonly top: number;
}

/** The map of items, moved by drag, wheel, pinch, arrow keys, plus and minus. */
export function MapOfItems({ map, titles, features, noun, chosen, near, feature, onChoose }: MapProps) {
  const frame = useRef<HTMLDivElement>(null);
  const points = useRef<HTMLCanvasElement>(null);
  const labels = useRef<HTMLCanvasElement>(null);
  const view = useRef<View>(WHOLE);
  const picture = useRef<Picture | undefined>(undefined);
  /** The pointers that are down, and how far they have moved. */
  const held = useRef(new Map<number, Place>());
  const moved = useRef(0);
  // A canvas can be transferred only once.
  const drawing = useMemo(() => ++drawings, [map, titles, dark.value]);
  const state = useRef({ chosen, near, feature });
  state.current = { chosen, near, feature };

  const size = (): Frame => {
    const { clientWidth, clientHeight } = frame.current!;
    return { width: Math.max(1, clientWidth), height: Math.max(1, clientHeight) };
  };
  const show = (moving: boolean) => {
    // Effects end shortly after the frame is gone.
    if (!frame.current) return;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    picture.current?.show({ view: view.current, frame: size(), ratio, ...state.current, moving });
  };

  useEffect(() => {
    const { fontFamily, color, backgroundColor } = getComputedStyle(document.body);
    const drawn = createMapClient(points.current!, labels.current!, {
      map,
      titles,
      features,
      dark: dark.value,
      fontFamily,
      ink: color,
      ground: backgroundColor,
    });
    picture.current = drawn;
    const observer = new ResizeObserver(() => show(false));
    observer.observe(frame.current!);
    return () => {
      observer.disconnect();
      drawn.close();
    };
  }, [map, titles, dark.value]);

  useEffect(() => {
    if (chosen !== undefined) {
      const { x, y, zoom } = view.current;
      const far = Math.hypot(map.x[chosen] - x, map.y[chosen] - y) * zoom > 0.8;
      if (far) view.current = { x: map.x[chosen], y: map.y[chosen], zoom: Math.max(zoom, 3) };
    }
    show(false);
  }, [chosen, near, feature]);

  const turn = (next: View, moving = true) => {
    view.current = next;
    show(moving);
  };
  const zoom = (factor: number, { left, top }: Place, moving?: boolean) =>
    turn(zoomAt(view.current, size(), left, top, factor), moving);
  const middle = (): Place => ({ left: size().width / 2, top: size().height / 2 });
  const placeOf = ({ clientX, clientY }: MouseEvent): Place => {
    const box = frame.current!.getBoundingClientRect();
    return { left: clientX - box.left, top: clientY - box.top };
  };
  const drag = (event: PointerEvent) => {
    const before = held.current.get(event.pointerId);
    if (!before) return;
    const now = placeOf(event);
    const [dx, dy] = [now.left - before.left, now.top - before.top];
    moved.current += Math.abs(dx) + Math.abs(dy);
    const other = [...held.current].find(([id]) => id !== event.pointerId)?.[1];
    if (other) {
      const apart = (p: Place) => Math.hypot(p.left - other.left, p.top - other.top);
      zoom(apart(now) / Math.max(1, apart(before)), other);
    } else turn(panBy(view.current, size(), dx, dy));
    held.current.set(event.pointerId, now);
  };
  const release = (event: PointerEvent) => {
    if (!held.current.delete(event.pointerId) || moved.current >= 5 || event.type !== 'pointerup') return;
    const item = nearest(map, view.current, size(), placeOf(event));
    if (item !== undefined) onChoose(item);
  };
  const press = (event: KeyboardEvent) => {
    const { width, height } = size();
    const pan = (dx: number, dy: number) => () => turn(panBy(view.current, { width, height }, dx, dy));
    const actions: Readonly<Record<string, () => void>> = {
      ArrowLeft: pan(width / 10, 0),
      ArrowRight: pan(-width / 10, 0),
      ArrowUp: pan(0, height / 10),
      ArrowDown: pan(0, -height / 10),
      '+': () => zoom(1.3, middle()),
      '-': () => zoom(1 / 1.3, middle()),
      '0': () => turn(WHOLE),
    };
    if (!Object.hasOwn(actions, event.key)) return;
    event.preventDefault();
    actions[event.key]();
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
        onWheel={(event) => {
          event.preventDefault();
          zoom(Math.exp(-event.deltaY / 400), placeOf(event));
        }}
        onPointerDown={(event) => {
          frame.current!.setPointerCapture(event.pointerId);
          held.current.set(event.pointerId, placeOf(event));
          moved.current = 0;
        }}
        onPointerMove={drag}
        onPointerUp={release}
        onPointerCancel={release}
        onKeyDown={press}
      >
        <canvas ref={points} key={`points ${drawing}`} />
        <canvas ref={labels} key={`labels ${drawing}`} />
      </div>
      <p class="zoom">
        <Button aria-label="Zoom in" onClick={() => zoom(1.6, middle(), false)}>
          +
        </Button>
        <Button aria-label="Zoom out" onClick={() => zoom(1 / 1.6, middle(), false)}>
          −
        </Button>
        <Button onClick={() => turn(WHOLE, false)}>Whole map</Button>
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
function nearest({ x: xs, y: ys }: ItemMap, view: View, frame: Frame, place: Place): number | undefined {
  const [x, y] = toMap(view, frame, place.left, place.top);
  const [edge] = toMap(view, frame, place.left + 14, place.top);
  let best: number | undefined;
  let least = (edge - x) ** 2;
  for (let j = 0; j < xs.length; j++) {
    const d2 = (xs[j] - x) ** 2 + (ys[j] - y) ** 2;
    if (d2 < least) {
      least = d2;
      best = j;
    }
  }
  return best;
}
