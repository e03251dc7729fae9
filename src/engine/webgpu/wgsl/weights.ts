// Kernels over the weights of rows: the sum of their means, and scaling by a common factor.

import { INVOCATION, paramsWgsl } from './params.js';
import { sumShader } from './totals.js';

const WORKGROUP = 256;
export const MOST_WEIGHT_SUMS = 256;
export const weightSums = (rows: number): number => Math.min(MOST_WEIGHT_SUMS, Math.ceil(rows / WORKGROUP));

export const weightSumShader = sumShader('vec2f', 'values[i].x / values[i].y');

export const SCALE_WORKGROUP = WORKGROUP;

/** Multiplies every weight and the mass by params.constant. Dispatched over the rows, with at least one invocation per quad. */
export const scaleShader = (quads: number): string => `${paramsWgsl(quads)}
@group(0) @binding(1) var<storage, read_write> weights: array<vec2f>;
@group(0) @binding(2) var<storage, read_write> totals: array<vec4f>;
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  let i = (group.y * groups.x + group.x) * ${WORKGROUP}u + local;
  if (i < params.last) { weights[i].y = weights[i].y / params.constant; }
  if (i < ${quads}u) { totals[i] = totals[i] * params.constant; }
}
`;
