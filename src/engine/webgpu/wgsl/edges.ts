// The edge pass: for each task, Σ_j w_ij B_jk over its edges, with λ = Σ_k A_ik B_jk and w = 1/(1−e^−λ), or count/λ in a multigraph;
// and, if requested, the edge term of the bound from the same λ.

import type { Layout } from '../layout.js';
import { INVOCATION, lines } from './params.js';

interface EdgeKernel {
  readonly layout: Layout;
  /** Several tasks share a subgroup: a team is `lanes` wide. */
  readonly short: boolean;
  readonly multigraph: boolean;
  readonly withTerm: boolean;
}

export function edgeShader(kernel: EdgeKernel): string {
  return kernel.layout.subgroups ? subgroupShader(kernel) : plainShader(kernel);
}

function head({ layout, multigraph, withTerm }: EdgeKernel): string {
  return `
struct Range { first: u32, last: u32 }
@group(0) @binding(0) var<uniform> range: Range;
@group(0) @binding(1) var<storage, read> tasks: array<vec4u>;
@group(0) @binding(2) var<storage, read> neighbors: array<u32>;
@group(0) @binding(3) var<storage, read> own: array<vec4f>;
@group(0) @binding(4) var<storage, read> other: array<vec4f>;
@group(0) @binding(5) var<storage, read_write> partials: array<vec4f>;
${withTerm ? '@group(0) @binding(6) var<storage, read_write> terms: array<f32>;' : ''}
${multigraph ? '@group(0) @binding(7) var<storage, read> counts: array<f32>;' : ''}
const QUADS = ${layout.quads}u;
const LANES = ${layout.lanes}u;
const NONE = 0xffffffffu;

// 1 − e^−λ. Its leading digits cancel for small λ.
fn oneMinusExp(lambda: f32) -> f32 {
  let series = lambda * (1.0 - lambda * (0.5 - lambda * (0.16666667 - lambda * (0.041666667
    - lambda * (0.0083333333 - lambda * 0.0013888889)))));
  return select(1.0 - exp(-lambda), series, lambda < 0.3);
}
`;
}

/** WGSL that sets `w` (and adds to `term`) from λ and, in a multigraph, `count`. */
function weigh({ multigraph, withTerm }: EdgeKernel, termIf: string): string {
  if (multigraph) {
    return `w = count / lambda;
      ${withTerm ? `if (${termIf}) { term += count * log(lambda); }` : ''}`;
  }
  return `let seen = oneMinusExp(lambda);
      w = 1.0 / seen;
      ${withTerm ? `if (${termIf}) { term += lambda + log(seen); }` : ''}`;
}

function subgroupShader(kernel: EdgeKernel): string {
  const { layout, short, multigraph, withTerm } = kernel;
  const { quads, lanes, perLane, steps, workgroup } = layout;
  const team = short ? lanes : layout.team;
  const parallel = team / lanes;
  // The last quad of a lane may lie beyond the row.
  const guard = (v: number) => (lanes * (v + 1) > quads ? `lane < ${quads - lanes * v}u` : 'true');
  const quad = (v: number) => `${lanes * v}u + lane`;

  // λ of step u ends in lane u of its edge: at each level, a lane keeps the half of the steps that it will own.
  const reduce: string[] = [];
  for (let half = steps / 2; half >= 1; half /= 2) {
    reduce.push(`let upper${half} = (lane & ${half}u) != 0u;`);
    for (let u = 0; u < half; u++) {
      reduce.push(`d${u} = select(d${u}, d${u + half}, upper${half})
        + subgroupShuffleXor(select(d${u + half}, d${u}, upper${half}), ${half}u);`);
    }
  }
  for (let mask = steps; mask < lanes; mask *= 2) reduce.push(`d0 += subgroupShuffleXor(d0, ${mask}u);`);
  const spread: string[] = [];
  for (let mask = lanes; mask < team; mask *= 2) {
    for (let v = 0; v < perLane; v++) spread.push(`sum${v} += subgroupShuffleXor(sum${v}, ${mask}u);`);
  }
  const spreadTerm: string[] = [];
  for (let mask = 1; mask < team; mask *= 2) spreadTerm.push(`term += subgroupShuffleXor(term, ${mask}u);`);

  return `enable subgroups;
diagnostic(off, subgroup_uniformity);
${head(kernel)}
@compute @workgroup_size(${workgroup})
fn main(${INVOCATION}, @builtin(subgroup_invocation_id) invocation: u32) {
  let at = ((group.y * groups.x + group.x) * ${workgroup}u + local) / ${team}u;
  let lane = local % LANES;
  let place = (local / LANES) % ${parallel}u;
  let first = invocation - lane;
  let exists = at < arrayLength(&tasks);
  var task = vec4u(0u);
  if (exists) {
    task = tasks[at];
    if (task.x < range.first || task.x >= range.last) { task.w = 0u; }
  }
  let live = task.w > 0u;
  // All teams of a subgroup iterate equally often, so that every lane takes part in every shuffle.
  let most = subgroupMax(task.w);
  let edges = task.z;
  ${lines(
    perLane,
    (v) => `var own${v} = vec4f(0.0); var sum${v} = vec4f(0.0);
  if (live && ${guard(v)}) { own${v} = own[task.x * QUADS + ${quad(v)}]; }`,
  )}
  ${withTerm ? 'var term = 0.0;' : ''}
  for (var done = 0u; done < most; done += ${steps * parallel}u) {
    // This lane's own edge: the lane reads its neighbour and later computes its weight.
    let mine = done + (lane % ${steps}u) * ${parallel}u + place;
    let valid = mine < task.w;
    var id = NONE;
    ${multigraph ? 'var count = 0.0;' : ''}
    if (valid) {
      id = neighbors[edges + mine];
      ${multigraph ? 'count = counts[edges + mine];' : ''}
    }
    ${lines(steps, (u) => `let id${u} = subgroupShuffle(id, first + ${u}u);`)}
    ${lines(steps, (u) => lines(perLane, (v) => `var b${u}_${v} = vec4f(0.0);`))}
    ${lines(
      steps,
      (u) => `if (id${u} != NONE) {
      let row = id${u} * QUADS;
      ${lines(perLane, (v) => `if (${guard(v)}) { b${u}_${v} = other[row + ${quad(v)}]; }`)}
    }`,
    )}
    ${lines(steps, (u) => `var d${u} = ${Array.from({ length: perLane }, (_, v) => `dot(own${v}, b${u}_${v})`).join(' + ')};`)}
    ${reduce.join('\n    ')}
    let lambda = d0;
    var w = 0.0;
    if (valid) {
      ${weigh(kernel, lanes > steps ? `lane < ${steps}u` : 'true')}
    }
    ${lines(
      steps,
      (u) => `{
      let weight = subgroupShuffle(w, first + ${u}u);
      ${lines(perLane, (v) => `sum${v} += weight * b${u}_${v};`)}
    }`,
    )}
  }
  ${spread.join('\n  ')}
  if (live && place == 0u) {
    ${lines(perLane, (v) => `if (${guard(v)}) { partials[task.y * QUADS + ${quad(v)}] = sum${v}; }`)}
  }
  ${
    withTerm
      ? `${spreadTerm.join('\n  ')}
  if (exists && place == 0u && lane == 0u) { terms[task.y] = term; }`
      : ''
  }
}
`;
}

/** One workgroup per task; sums over lanes go through workgroup memory. */
function plainShader(kernel: EdgeKernel): string {
  const { layout, multigraph, withTerm } = kernel;
  const { lanes, perLane, workgroup } = layout;
  const parallel = workgroup / lanes;
  return `${head(kernel)}
var<workgroup> dots: array<f32, ${workgroup}>;
var<workgroup> quads: array<vec4f, ${workgroup}>;
@compute @workgroup_size(${workgroup})
fn main(${INVOCATION}) {
  let at = group.y * groups.x + group.x;
  if (at >= arrayLength(&tasks)) { return; }
  let task = tasks[at];
  let inRange = task.x >= range.first && task.x < range.last;
  ${withTerm ? 'if (!inRange && local == 0u) { terms[task.y] = 0.0; }' : ''}
  if (!inRange) { return; }
  let lane = local % LANES;
  let place = local / LANES;
  var a: array<vec4f, ${perLane}>;
  var sum: array<vec4f, ${perLane}>;
  for (var v = 0u; v < ${perLane}u; v++) {
    let quad = v * LANES + lane;
    if (quad < QUADS) { a[v] = own[task.x * QUADS + quad]; }
  }
  ${withTerm ? 'var term = 0.0;' : ''}
  for (var done = 0u; done < task.w; done += ${parallel}u) {
    let mine = done + place;
    let valid = mine < task.w;
    var b: array<vec4f, ${perLane}>;
    var d = 0.0;
    ${multigraph ? 'var count = 0.0;' : ''}
    if (valid) {
      let row = neighbors[task.z + mine] * QUADS;
      ${multigraph ? 'count = counts[task.z + mine];' : ''}
      for (var v = 0u; v < ${perLane}u; v++) {
        let quad = v * LANES + lane;
        if (quad < QUADS) { b[v] = other[row + quad]; d += dot(a[v], b[v]); }
      }
    }
    dots[local] = d;
    workgroupBarrier();
    var lambda = 0.0;
    for (var i = 0u; i < LANES; i++) { lambda += dots[local - lane + i]; }
    workgroupBarrier();
    if (valid) {
      var w = 0.0;
      ${weigh(kernel, 'lane == 0u')}
      for (var v = 0u; v < ${perLane}u; v++) { sum[v] += w * b[v]; }
    }
  }
  for (var v = 0u; v < ${perLane}u; v++) {
    quads[local] = sum[v];
    workgroupBarrier();
    let quad = v * LANES + lane;
    if (place == 0u && quad < QUADS) {
      var total = quads[local];
      for (var p = 1u; p < ${parallel}u; p++) { total += quads[local + p * LANES]; }
      partials[task.y * QUADS + quad] = total;
    }
    workgroupBarrier();
  }
  ${
    withTerm
      ? `dots[local] = term;
  workgroupBarrier();
  if (local == 0u) {
    var total = 0.0;
    for (var i = 0u; i < ${workgroup}u; i++) { total += dots[i]; }
    terms[task.y] = total;
  }`
      : ''
  }
}
`;
}
