// The visible part of the map: a centre and a zoom. Positions on the map run from −1 to 1.

export interface View {
  readonly x: number;
  readonly y: number;
  /** The magnification; 1 shows the whole map. */
  readonly zoom: number;
}

export const WHOLE: View = { x: 0, y: 0, zoom: 1 };
const MOST_ZOOM = 200;

export interface Frame {
  readonly width: number;
  readonly height: number;
}

/** Pixels per unit of the map. */
export function scaleOf({ zoom }: View, { width, height }: Frame): number {
  return (zoom * Math.min(width, height)) / 2.1;
}

export function toScreen(view: View, frame: Frame, x: number, y: number): readonly [number, number] {
  const scale = scaleOf(view, frame);
  return [frame.width / 2 + (x - view.x) * scale, frame.height / 2 - (y - view.y) * scale];
}

export function toMap(view: View, frame: Frame, left: number, top: number): readonly [number, number] {
  const scale = scaleOf(view, frame);
  return [view.x + (left - frame.width / 2) / scale, view.y - (top - frame.height / 2) / scale];
}

export function zoomAt(view: View, frame: Frame, left: number, top: number, factor: number): View {
  const zoom = Math.max(0.8, Math.min(MOST_ZOOM, view.zoom * factor));
  const [x, y] = toMap(view, frame, left, top);
  const scale = scaleOf({ ...view, zoom }, frame);
  return bounded({ x: x - (left - frame.width / 2) / scale, y: y + (top - frame.height / 2) / scale, zoom });
}

export function panBy(view: View, frame: Frame, dx: number, dy: number): View {
  const scale = scaleOf(view, frame);
  return bounded({ ...view, x: view.x - dx / scale, y: view.y + dy / scale });
}

function bounded({ x, y, zoom }: View): View {
  const within = (value: number) => Math.max(-1.2, Math.min(1.2, value));
  return { x: within(x), y: within(y), zoom };
}
