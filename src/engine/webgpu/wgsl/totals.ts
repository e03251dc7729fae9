// Small sums at the end of a half-step, all in a fixed order: partial masses in two levels, the unseen mass, and the edge term. Also
// the sum of the weights, and their scaling by a common factor.

import { powerOfTwo } from '../layout.js';
import { GAMMA_WGSL } from './gamma.js';
import { addUp, INVOCATION, OTHER_MASS, paramsWgsl } from './params.js';

const WORKGROUP = 256;
export const REDUCE_WORKGROUP = 64;

/** First level: each invocation adds `chunk` partial masses of one quad. */
export function massShader(quads: number): string {
  return `${paramsWgsl(quads)}
@group(0) @binding(1) var<storage, read> masses: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4f>;
const QUADS = ${quads}u;
@compute @workgroup_size(${REDUCE_WORKGROUP})
fn main(@builtin(global_invocation_id) id: vec3u) {
  let quad = id.x % QUADS;
  let begin = (id.x / QUADS) * params.chunk;
  if (begin >= params.partials) { return; }
  let end = min(begin + params.chunk, params.partials);
  var total = vec4f(0.0);
  for (var i = begin; i < end; i++) { total += masses[i * QUADS + quad]; }
  sums[id.x] = total;
}
`;
}

/**
 * Second level, and the unseen mass, in one workgroup. The integral runs over t = e^x with x = y − e^(bend−y), which makes the left tail
 * vanish fast. Its points y are a fixed step apart; the masses determine its ends.
 */
export function finishShader(features: number): string {
  const quads = Math.ceil(features / 4);
  const lanes = powerOfTwo(quads);
  const ways = WORKGROUP / lanes;
  return `${paramsWgsl(quads)}
${GAMMA_WGSL}
@group(0) @binding(1) var<storage, read> sums: array<vec4f>;
@group(0) @binding(2) var<storage, read> otherTotals: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> totals: array<vec4f>;
const QUADS = ${quads}u;
const LANES = ${lanes}u;
const WAYS = ${ways}u;
var<workgroup> parts: array<vec4f, ${WORKGROUP}>;
var<workgroup> ratios: array<vec4f, QUADS>;
var<workgroup> terms: array<f32, ${WORKGROUP}>;
var<workgroup> times: array<f32, ${WORKGROUP}>;
var<workgroup> points: u32;
var<workgroup> left: f32;
var<workgroup> bend: f32;

${OTHER_MASS}
@compute @workgroup_size(${WORKGROUP})
fn main(@builtin(local_invocation_index) local: u32) {
  let quad = local % LANES;
  let way = local / LANES;
  var total = vec4f(0.0);
  if (quad < QUADS) {
    for (var i = way; i < params.partials; i += WAYS) { total += sums[i * QUADS + quad]; }
  }
  parts[local] = total;
  workgroupBarrier();
  if (way == 0u && quad < QUADS) {
    for (var i = 1u; i < WAYS; i++) { total += parts[local + i * LANES]; }
    totals[quad] = total;
    let mass = otherMass(quad);
    totals[2u * QUADS + quad] = mass;
    ratios[quad] = mass / params.rate;
  }
  workgroupBarrier();
  if ((params.flags & HAS_UNSEEN) == 0u) {
    if (way == 0u && quad < QUADS) { totals[QUADS + quad] = vec4f(0.0); }
    return;
  }

  let power = 1.0 - params.sigma;
  let step = 0.2 / sqrt(max(1.0, power / 3.0));
  if (local == 0u) {
    var largest = 0.0;
    var sum = 0.0;
    for (var i = 0u; i < QUADS; i++) {
      let r = ratios[i];
      largest = max(largest, max(max(r.x, r.y), max(r.z, r.w)));
      sum += dot(r, vec4f(1.0));
    }
    bend = -log(max(max(params.tau, largest), params.shape * sum)) - 3.0;
    left = bend - log(40.0 / power + 1.0);
    // Beyond this, e^(−τt) t^(1−σ) is negligible in float32.
    let right = log((40.0 + 4.0 * power) / params.tau);
    points = u32(ceil(max(right - left, 1.0) / step)) + 1u;
  }
  workgroupBarrier();
  let count = workgroupUniformLoad(&points);
  var unseenMass = vec4f(0.0);
  for (var base = 0u; base < count; base += ${WORKGROUP}u) {
    var term = 0.0;
    var t = 0.0;
    if (base + local < count) {
      let y = f32(base + local) * step;
      let bent = exp(bend - left - y);
      let x = left + y - bent;
      t = exp(x);
      var product = 0.0;
      for (var k = 0u; k < ${features}u; k++) { product += logOnePlus(t * ratios[k / 4u][k % 4u]); }
      term = (1.0 + bent) * exp(power * x - params.tau * t - params.shape * product - params.logNorm);
    }
    terms[local] = term;
    times[local] = t;
    workgroupBarrier();
    if (quad < QUADS) {
      for (var i = way; i < ${WORKGROUP}u; i += WAYS) { unseenMass += terms[i] / (1.0 + times[i] * ratios[quad]); }
    }
    workgroupBarrier();
  }
  parts[local] = unseenMass;
  workgroupBarrier();
  if (way == 0u && quad < QUADS) {
    for (var i = 1u; i < WAYS; i++) { unseenMass += parts[local + i * LANES]; }
    let cell = vec4u(4u * quad) + vec4u(0u, 1u, 2u, 3u);
    let factor = params.size * step * params.shape / params.rate;
    totals[QUADS + quad] = select(vec4f(0.0), factor * unseenMass, cell < vec4u(${features}u));
  }
}
`;
}

/** Least edge terms per workgroup of the last sum, and the most workgroups. */
const TERM_SHARE = 1024;
export const MOST_TERM_SUMS = 512;
export const termSums = (terms: number): number => Math.min(MOST_TERM_SUMS, Math.ceil(terms / TERM_SHARE));

/** Each workgroup adds up `value` over its share of the array `values`, as a tree. */
const sumShader = (element: string, value: string): string => `
@group(0) @binding(0) var<storage, read> values: array<${element}>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
var<workgroup> parts: array<f32, ${WORKGROUP}>;
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  let share = (arrayLength(&values) + groups.x - 1u) / groups.x;
  let end = min((group.x + 1u) * share, arrayLength(&values));
  var total = 0.0;
  for (var i = group.x * share + local; i < end; i += ${WORKGROUP}u) { total += ${value}; }
  parts[local] = total;
  ${addUp(WORKGROUP)}
  if (local == 0u) { sums[group.x] = parts[0]; }
}
`;

export const termSumShader = sumShader('f32', 'values[i]');

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
