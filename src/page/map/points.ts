// Points on a canvas: by WebGL, which draws a hundred thousand in one call, or by canvas commands without it.

import { type Frame, scaleOf, toScreen, type View } from './view.js';

interface Points {
  readonly x: Float32Array;
  readonly y: Float32Array;
  /** RGB of each, 0 to 255. */
  readonly colour: Uint8Array;
  /** Radius of each in pixels of the whole map. */
  readonly radius: Float32Array;
}

/** Draws the first `count` points. `faded` has 1 for each point that is drawn faintly. */
type PaintPoints = (
  view: View,
  frame: Frame,
  ratio: number,
  faded: Uint8Array | undefined,
  count: number,
) => void;

const VERTEX = `#version 300 es
in vec2 place; in vec3 colour; in float radius; in float faded;
uniform vec4 view; uniform vec2 size; uniform float ratio;
out vec4 tint;
void main() {
  vec2 at = (place - view.xy) * view.z / size * 2.0;
  gl_Position = vec4(at, 0.0, 1.0);
  gl_PointSize = radius * view.w * ratio * 2.0;
  tint = vec4(colour / 255.0, mix(0.8, 0.08, faded));
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 tint; out vec4 shade;
void main() {
  float edge = length(gl_PointCoord - 0.5) * 2.0;
  float alpha = tint.a * (1.0 - smoothstep(0.8, 1.0, edge));
  shade = vec4(tint.rgb * alpha, alpha);
}`;

/** Points grow a little with the zoom. */
export const growth = (zoom: number) => Math.min(3, Math.max(1, zoom ** 0.35));

export function pointPainter(canvas: OffscreenCanvas, points: Points): PaintPoints {
  const gl = canvas.getContext('webgl2', { antialias: false, premultipliedAlpha: true });
  return gl ? byWebgl(gl, points) : byHand(canvas, points);
}

function byWebgl(gl: WebGL2RenderingContext, { x, y, colour, radius }: Points): PaintPoints {
  const program = gl.createProgram();
  for (const [type, source] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(type)!;
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  const places = new Float32Array(2 * x.length);
  for (let i = 0; i < x.length; i++) {
    places[2 * i] = x[i];
    places[2 * i + 1] = y[i];
  }
  const buffer = (name: string, data: Float32Array | Uint8Array, size: number) => {
    const made = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, made);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    const at = gl.getAttribLocation(program, name);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, size, data instanceof Uint8Array ? gl.UNSIGNED_BYTE : gl.FLOAT, false, 0, 0);
    return made;
  };
  buffer('place', places, 2);
  buffer('colour', colour, 3);
  buffer('radius', radius, 1);
  const none = new Uint8Array(x.length);
  const fading = buffer('faded', none, 1);
  let last: Uint8Array | undefined;
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  const uniform = (name: string) => gl.getUniformLocation(program, name);
  const [view4, size2, ratio1] = [uniform('view'), uniform('size'), uniform('ratio')];
  return (view, frame, ratio, faded, count) => {
    if (faded !== last) {
      gl.bindBuffer(gl.ARRAY_BUFFER, fading);
      gl.bufferData(gl.ARRAY_BUFFER, faded ?? none, gl.DYNAMIC_DRAW);
      last = faded;
    }
    gl.viewport(0, 0, frame.width * ratio, frame.height * ratio);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.uniform4f(view4, view.x, view.y, scaleOf(view, frame), growth(view.zoom));
    gl.uniform2f(size2, frame.width, frame.height);
    gl.uniform1f(ratio1, ratio);
    gl.drawArrays(gl.POINTS, 0, count);
  };
}

function byHand(canvas: OffscreenCanvas, { x, y, colour, radius }: Points): PaintPoints {
  const context = canvas.getContext('2d')!;
  return (view, frame, ratio, faded, count) => {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, frame.width, frame.height);
    const grown = growth(view.zoom);
    for (let i = 0; i < count; i++) {
      const [left, top] = toScreen(view, frame, x[i], y[i]);
      if (left < -9 || top < -9 || left > frame.width + 9 || top > frame.height + 9) continue;
      const r = radius[i] * grown;
      context.globalAlpha = faded?.[i] ? 0.08 : 0.8;
      context.fillStyle = `rgb(${colour[3 * i]},${colour[3 * i + 1]},${colour[3 * i + 2]})`;
      context.fillRect(left - r, top - r, 2 * r, 2 * r);
    }
  };
}
