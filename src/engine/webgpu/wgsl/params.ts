// What changes between half-steps: one uniform block that all kernels share, except the edge pass, which reads its first two words.

import type { Activity, SideHyper } from '../../engine.js';

const MEAN_ACTIVITY = 1;
const MASS_GIVEN = 2;
const HAS_UNSEEN = 4;

export const MAX_FEATURES = 512;
/** Bytes of a block: 12 words, padded to 64 bytes, and a mass per feature; a multiple of 256, as offsets must be. */
export const PARAMS_BYTES = 2304;
const MASS_AT = 16;

export const paramsWgsl = (quads: number): string => `
struct Params {
  first: u32, last: u32, flags: u32, partials: u32,
  sigma: f32, tau: f32, shape: f32, rate: f32,
  size: f32, logNorm: f32, constant: f32, chunk: u32,
  relaxation: f32, scale: f32, unused1: f32, unused2: f32,
  mass: array<vec4f, ${quads}>,
}
@group(0) @binding(0) var<uniform> params: Params;
const MEAN_ACTIVITY = ${MEAN_ACTIVITY}u;
const MASS_GIVEN = ${MASS_GIVEN}u;
const HAS_UNSEEN = ${HAS_UNSEEN}u;
`;

/** WGSL of `count` lines. */
export const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => line(i)).join('\n');

/** What tells the invocations of a two-dimensional dispatch apart. */
export const INVOCATION = `@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u,
        @builtin(local_invocation_index) local: u32`;

/** The mass of the other side: that of the parameters, else that of the totals. */
export const OTHER_MASS = `
fn otherMass(quad: u32) -> vec4f {
  if ((params.flags & MASS_GIVEN) != 0u) { return params.mass[quad]; }
  return otherTotals[quad] + otherTotals[QUADS + quad];
}`;

/** Adds up \`parts\` over the workgroup, as a tree: the sum is then in parts[0]. */
export const addUp = (workgroup: number): string => `
  workgroupBarrier();
  for (var half = ${workgroup / 2}u; half > 0u; half /= 2u) {
    if (local < half) { parts[local] += parts[local + half]; }
    workgroupBarrier();
  }`;

export interface Params {
  readonly first: number;
  readonly last: number;
  readonly hyper?: SideHyper;
  readonly activity?: Activity;
  /** Mass of the other side, if it differs from the other table's own. */
  readonly mass?: ArrayLike<number> | undefined;
  /** Number of partial sums that the next kernel adds, and how many of them one invocation takes. */
  readonly partials?: number;
  readonly chunk?: number;
  readonly relaxation?: number | undefined;
  /** A fixed-point count is the count times this. */
  readonly scale?: number;
  /** log Γ(1−σ). */
  readonly logNorm?: number;
  /** What each feature adds to the row terms, whatever its state. */
  readonly constant?: number;
}

export function writeParams(into: DataView, params: Params): void {
  const { hyper, mass } = params;
  const flags =
    (params.activity === 'mean' ? MEAN_ACTIVITY : 0) |
    (mass ? MASS_GIVEN : 0) |
    (hyper && hyper.size > 0 ? HAS_UNSEEN : 0);
  const words = [params.first, params.last, flags, params.partials ?? 0];
  for (const [i, word] of words.entries()) into.setUint32(4 * i, word, true);
  const numbers = [
    hyper?.sigma,
    hyper?.tau,
    hyper?.shape,
    hyper?.rate,
    hyper?.size,
    params.logNorm,
    params.constant,
  ];
  for (const [i, number] of numbers.entries()) into.setFloat32(16 + 4 * i, number ?? 0, true);
  into.setUint32(44, params.chunk ?? 1, true);
  into.setFloat32(48, params.relaxation ?? 0, true);
  into.setFloat32(52, params.scale ?? 1, true);
  if (mass) for (let k = 0; k < mass.length; k++) into.setFloat32(4 * (MASS_AT + k), mass[k], true);
}
