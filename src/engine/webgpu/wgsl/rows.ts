// Kernels per row. `updateShader` is the half-step after the edge pass: it adds the partial sums of a row's tasks in order, updates weight
// and features, sets the new activity, and adds up the mass of its workgroup's rows. It can also start from counts, which `countShader`
// adds up. `refreshShader` only sets activities and adds up masses. `termsShader` sums the rows' contribution to the bound.

import { ACTIVITY_FLOOR, RELAXATION_FLOOR, WEIGHT_SHAPE_FLOOR } from '../../engine.js';
import { powerOfTwo } from '../layout.js';
import { FIXED_WGSL } from './fixed.js';
import { GAMMA_WGSL } from './gamma.js';
import { addUp, INVOCATION, OTHER_MASS, paramsWgsl } from './params.js';

const WORKGROUP = 128;

export type RowLayout = ReturnType<typeof rowLayout>;

/** Lanes of a row and rows of a workgroup. */
export function rowLayout(features: number, mostSlots: number) {
  const quads = Math.ceil(features / 4);
  const lanes = Math.min(powerOfTwo(quads), 32);
  /** Lanes that together add up the partial sums of one quad (four features). */
  const split = mostSlots > 8 ? Math.min(16, WORKGROUP / lanes) : 1;
  const rows = WORKGROUP / (lanes * split);
  return { features, quads, lanes, perLane: Math.ceil(quads / lanes), split, rows };
}

function head({ features, quads, lanes, split, rows }: RowLayout): string {
  const remainder = features % 4;
  return `${paramsWgsl(quads)}
${GAMMA_WGSL}
const QUADS = ${quads}u;
const LANES = ${lanes}u;
const SPLIT = ${split}u;
const ROWS = ${rows}u;
var<workgroup> quads: array<vec4f, ${WORKGROUP}>;

// One for real features, zero for the padding of a row's last quad.
fn laneMask(quad: u32) -> vec4f {
  ${remainder === 0 ? '' : `if (quad == ${quads - 1}u) { return vec4f(${[0, 1, 2, 3].map((c) => (c < remainder ? '1.0' : '0.0')).join(', ')}); }`}
  return vec4f(1.0);
}

fn activityOf(weight: vec2f, shape: vec4f, rate: vec4f, mask: vec4f) -> vec4f {
  var product = vec4f(0.0);
  if ((params.flags & MEAN_ACTIVITY) != 0u) {
    product = (weight.x / weight.y) * (shape / rate);
  } else {
    product = (expDigamma(weight.x) / weight.y) * (expDigammas(shape) / rate);
  }
  return max(product, vec4f(${ACTIVITY_FLOOR})) * mask;
}
`;
}

/** The bindings of a table's values, from number `first` on. */
const tableBindings = (first: number, access: 'read' | 'read_write') =>
  `@group(0) @binding(${first}) var<storage, ${access}> weights: array<vec2f>;
@group(0) @binding(${first + 1}) var<storage, ${access}> shapes: array<vec4f>;
@group(0) @binding(${first + 2}) var<storage, ${access}> rates: array<vec4f>;`;

const PLACE = `
  let at = group.y * groups.x + group.x;
  let lane = local % LANES;
  let part = (local / LANES) % SPLIT;
  let row = params.first + at * ROWS + local / (LANES * SPLIT);
  let live = row < params.last;`;

/** Adds a quad of every row of the workgroup, in row order, to the partial masses. */
const ADD_MASS = `
    quads[local] = mean;
    workgroupBarrier();
    if (local < LANES && quad < QUADS) {
      var total = quads[local];
      for (var r = 1u; r < ROWS; r++) { total += quads[local + r * LANES * SPLIT]; }
      masses[at * QUADS + quad] = total;
    }
    workgroupBarrier();`;

/** WGSL that sets `total` to the sum of a row's partial sums of one quad, in all lanes of the quad. */
const ADD_SLOTS = `
    var total = vec4f(0.0);
    if (quad < QUADS) {
      var slot = begin + part;
      var total1 = vec4f(0.0);
      var total2 = vec4f(0.0);
      var total3 = vec4f(0.0);
      for (; slot + 3u * SPLIT < end; slot += 4u * SPLIT) {
        total += partials[slot * QUADS + quad];
        total1 += partials[(slot + SPLIT) * QUADS + quad];
        total2 += partials[(slot + 2u * SPLIT) * QUADS + quad];
        total3 += partials[(slot + 3u * SPLIT) * QUADS + quad];
      }
      total = (total + total1) + (total2 + total3);
      for (; slot < end; slot += SPLIT) { total += partials[slot * QUADS + quad]; }
    }
    if (SPLIT > 1u) {
      quads[local] = total;
      workgroupBarrier();
      if (part == 0u) { for (var p = 1u; p < SPLIT; p++) { total += quads[local + p * LANES]; } }
      workgroupBarrier();
    }`;

const SLOTS_OF_ROW = `
  var begin = 0u;
  var end = 0u;
  if (live) { begin = firstSlot[row]; end = firstSlot[row + 1u]; }`;

/** The first half of a half-step: adds a row's expected counts to the fixed-point counts (two words of 32 bits each). */
export function countShader(layout: RowLayout): string {
  return `${head(layout)}
${FIXED_WGSL}
@group(0) @binding(1) var<storage, read> firstSlot: array<u32>;
@group(0) @binding(2) var<storage, read> partials: array<vec4f>;
@group(0) @binding(3) var<storage, read> activity: array<vec4f>;
@group(0) @binding(4) var<storage, read_write> counts: array<vec2u>;
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  ${PLACE}
  ${SLOTS_OF_ROW}
  for (var v = 0u; v < ${layout.perLane}u; v++) {
    let quad = v * LANES + lane;
    ${ADD_SLOTS}
    if (live && part == 0u && quad < QUADS && begin < end) {
      let cell = row * QUADS + quad;
      let expected = activity[cell] * total;
      for (var c = 0u; c < 4u; c++) {
        counts[4u * cell + c] = sumFixed(counts[4u * cell + c], toFixed(expected[c]));
      }
    }
  }
}
`;
}

/** Where an update reads the expected counts: from the partial sums of the edge pass, or from fixed-point counts. */
export type CountSource = 'partials' | 'counts';

export function updateShader(layout: RowLayout, source: CountSource): string {
  const { perLane, lanes } = layout;
  const fused = source === 'partials';
  const tree: string[] = [];
  for (let half = lanes / 2; half >= 1; half /= 2) {
    tree.push(`if (lane < ${half}u) { sums[local] += sums[local + ${half}u]; }
  workgroupBarrier();`);
  }
  return `${head(layout)}
${
  fused
    ? `@group(0) @binding(1) var<storage, read> firstSlot: array<u32>;
@group(0) @binding(2) var<storage, read> partials: array<vec4f>;`
    : `${FIXED_WGSL}
@group(0) @binding(2) var<storage, read> counts: array<vec2u>;`
}
${tableBindings(3, 'read_write')}
@group(0) @binding(6) var<storage, read_write> activity: array<vec4f>;
@group(0) @binding(7) var<storage, read> otherTotals: array<vec4f>;
@group(0) @binding(8) var<storage, read_write> masses: array<vec4f>;
var<workgroup> sums: array<vec2f, ${WORKGROUP}>;

${OTHER_MASS}
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  ${PLACE}
  ${fused ? SLOTS_OF_ROW : ''}
  var expected: array<vec4f, ${perLane}>;
  var sum = vec2f(0.0);
  for (var v = 0u; v < ${perLane}u; v++) {
    let quad = v * LANES + lane;
    ${fused ? ADD_SLOTS : ''}
    if (live && part == 0u && quad < QUADS) {
      let cell = row * QUADS + quad;
      ${
        fused
          ? 'expected[v] = activity[cell] * total;'
          : 'for (var c = 0u; c < 4u; c++) { expected[v][c] = fromFixed(counts[4u * cell + c]); }'
      }
      sum += vec2f(dot(expected[v], vec4f(1.0)), dot(shapes[cell] / rates[cell], otherMass(quad)));
    }
  }
  sums[local] = sum;
  workgroupBarrier();
  ${tree.join('\n  ')}
  let both = sums[local - lane - part * LANES];
  let weight = vec2f(max(both.x - params.sigma, ${WEIGHT_SHAPE_FLOOR}), params.tau + both.y);
  let weightMean = weight.x / weight.y;
  if (live && part == 0u && lane == 0u) { weights[row] = weight; }
  for (var v = 0u; v < ${perLane}u; v++) {
    let quad = v * LANES + lane;
    var mean = vec4f(0.0);
    if (live && part == 0u && quad < QUADS) {
      let cell = row * QUADS + quad;
      let mask = laneMask(quad);
      let farther = expected[v] + params.relaxation * (expected[v] - (shapes[cell] - params.shape));
      let moved = select(expected[v], max(farther, ${RELAXATION_FLOOR} * expected[v]), params.relaxation > 0.0);
      let shape = (params.shape + moved) * mask;
      let rate = select(vec4f(1.0), params.rate + weightMean * otherMass(quad), mask > vec4f(0.0));
      shapes[cell] = shape;
      rates[cell] = rate;
      activity[cell] = activityOf(weight, shape, rate, mask);
      mean = weightMean * (shape / rate);
    }
    ${ADD_MASS}
  }
}
`;
}

export function refreshShader(layout: RowLayout): string {
  return `${head(layout)}
${tableBindings(1, 'read')}
@group(0) @binding(4) var<storage, read_write> activity: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> masses: array<vec4f>;
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  ${PLACE}
  for (var v = 0u; v < ${layout.perLane}u; v++) {
    let quad = v * LANES + lane;
    var mean = vec4f(0.0);
    if (live && part == 0u && quad < QUADS) {
      let cell = row * QUADS + quad;
      let weight = weights[row];
      activity[cell] = activityOf(weight, shapes[cell], rates[cell], laneMask(quad));
      mean = (weight.x / weight.y) * (shapes[cell] / rates[cell]);
    }
    ${ADD_MASS}
  }
}
`;
}

export function termsShader(layout: RowLayout): string {
  return `${head(layout)}
${tableBindings(1, 'read')}
@group(0) @binding(4) var<storage, read_write> sums: array<f32>;
var<workgroup> parts: array<f32, ${WORKGROUP}>;
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  ${PLACE}
  var sum = 0.0;
  if (live && part == 0u) {
    for (var v = 0u; v < ${layout.perLane}u; v++) {
      let quad = v * LANES + lane;
      if (quad >= QUADS) { break; }
      let shape4 = shapes[row * QUADS + quad];
      let rate4 = rates[row * QUADS + quad];
      for (var c = 0u; c < 4u && 4u * quad + c < ${layout.features}u; c++) {
        let shape = shape4[c];
        let logRate = log(rate4[c]);
        sum += params.constant + (params.shape - 1.0) * (digamma(shape) - logRate)
          - params.rate * (shape / rate4[c]) + (gammaEntropy(shape) - logRate);
      }
    }
    if (lane == 0u) {
      let weight = weights[row];
      let logRate = log(weight.y);
      sum += (-1.0 - params.sigma) * (digamma(weight.x) - logRate) - params.tau * (weight.x / weight.y)
        + (gammaEntropy(weight.x) - logRate);
    }
  }
  parts[local] = sum;
  ${addUp(WORKGROUP)}
  if (local == 0u) { sums[at] = parts[0]; }
}
`;
}

/** Sets all weights to one Gamma and all features to another. params.shape … hold the four numbers. */
export function fillShader(layout: RowLayout): string {
  return `${head(layout)}
${tableBindings(1, 'read_write')}
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  ${PLACE}
  if (!live || part != 0u) { return; }
  if (lane == 0u) { weights[row] = vec2f(params.sigma, params.tau); }
  for (var quad = lane; quad < QUADS; quad += LANES) {
    let mask = laneMask(quad);
    shapes[row * QUADS + quad] = params.shape * mask;
    rates[row * QUADS + quad] = select(vec4f(1.0), vec4f(params.rate), mask > vec4f(0.0));
  }
}
`;
}
