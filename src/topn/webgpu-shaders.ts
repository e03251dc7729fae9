// Full rankings in a few kernels over a block of rows, with all scores in one buffer: scores, exclusions, ranks of the relevant candidates,
// and the best few, marked or listed. A workgroup ranks one row. Scores are computed by tiles.

import { INVOCATION, lines } from '../engine/webgpu/wgsl/params.js';

export interface RankShape {
  /** Vectors of four features per row. */
  readonly quads: number;
  readonly candidates: number;
  readonly depth: number;
  readonly top: number;
}

/** Rows and candidates of a tile of scores. */
export const TILE = { rows: 64, candidates: 128 } as const;
const WORKGROUP = 256;
/** Vectors of four features that a step of a tile multiplies. */
const STEP = 4;
/** Relevant candidates that one pass over the scores ranks. */
const RELEVANT_PER_PASS = 8;

const head = ({ quads, candidates, depth, top }: RankShape) => `
struct Block { first: u32, last: u32 }
@group(0) @binding(0) var<uniform> block: Block;
const QUADS = ${quads}u;
const CANDIDATES = ${candidates}u;
const DEPTH = ${depth}u;
const TOP = ${top}u;
// The lowest float stands for no score, because WGSL has no infinity.
const NOTHING = -0x1.fffffep+127f;
`;

/** The row of this workgroup: its number within the block and within the query. */
const ROW = `
  let at = group.y * groups.x + group.x;
  if (block.first + at >= block.last) { return; }
  let row = rows[block.first + at];
  let scored = at * CANDIDATES;`;

/**
 * Scores by tiles. A workgroup of 16 × 16 holds a step of both tables. Each invocation computes the products of 4 rows with 8
 * candidates, each in its own variable, and loads the next step while it works on this one. Tiles of the same candidates run in
 * succession, because a block has fewer rows than candidates.
 */
export function scoreShader(shape: RankShape): string {
  const [ofRows, ofCandidates] = [TILE.rows / 16, TILE.candidates / 16];
  /** What an invocation loads of a step. Adjacent invocations read adjacent values. */
  const fetches = (name: string, tile: number, line: (to: string, quad: string, row: string) => string) =>
    lines((tile * STEP) / WORKGROUP, (p) => {
      const element = `(local + ${p * WORKGROUP}u)`;
      return line(`${name}${p}`, `${element} % ${STEP}u`, `${element} / ${STEP}u`);
    });
  const fetch = (name: string, tile: number, table: string, first: string, end: string) =>
    fetches(
      name,
      tile,
      (to, quad, row) => `${to} = vec4f(0.0);
      if (next + ${quad} < QUADS && ${first} + ${row} < ${end}) {
        ${to} = ${table}[(${first} + ${row}) * QUADS + next + ${quad}];
      }`,
    );
  const both = {
    declare:
      fetches('a', TILE.rows, (to) => `var ${to}: vec4f;`) +
      fetches('b', TILE.candidates, (to) => `var ${to}: vec4f;`),
    fetch:
      fetch('a', TILE.rows, 'users', 'firstRow', 'block.last') +
      fetch('b', TILE.candidates, 'items', 'firstItem', 'CANDIDATES'),
    hold:
      fetches('a', TILE.rows, (to, quad, row) => `heldRows[${quad} * ${TILE.rows}u + ${row}] = ${to};`) +
      fetches(
        'b',
        TILE.candidates,
        (to, quad, row) => `heldItems[${quad} * ${TILE.candidates}u + ${row}] = ${to};`,
      ),
  };
  const product = (i: number, j: number) =>
    ['x', 'y', 'z', 'w'].reduce((sum, f) => `fma(own.${f}, item${j}.${f}, ${sum})`, `sum${i}_${j}`);
  return `${head(shape)}
@group(0) @binding(1) var<storage, read> users: array<vec4f>;
@group(0) @binding(2) var<storage, read> items: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> scores: array<f32>;
var<workgroup> heldRows: array<vec4f, ${TILE.rows * STEP}>;
var<workgroup> heldItems: array<vec4f, ${TILE.candidates * STEP}>;
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  let lines = (block.last - block.first + ${TILE.rows - 1}u) / ${TILE.rows}u;
  let tile = group.y * groups.x + group.x;
  let firstRow = block.first + (tile % lines) * ${TILE.rows}u;
  let firstItem = (tile / lines) * ${TILE.candidates}u;
  if (firstItem >= CANDIDATES) { return; }
  let x = local % 16u;
  let y = local / 16u;
  ${lines(ofRows, (i) => lines(ofCandidates, (j) => `var sum${i}_${j} = 0.0;`))}
  ${both.declare}
  var next = 0u;
  ${both.fetch}
  for (; next < QUADS;) {
    ${both.hold}
    workgroupBarrier();
    next += ${STEP}u;
    ${both.fetch}
    for (var s = 0u; s < ${STEP}u; s++) {
      ${lines(ofCandidates, (j) => `let item${j} = heldItems[s * ${TILE.candidates}u + ${16 * j}u + x];`)}
      ${lines(
        ofRows,
        (i) => `{
        let own = heldRows[s * ${TILE.rows}u + ${16 * i}u + y];
        ${lines(ofCandidates, (j) => `sum${i}_${j} = ${product(i, j)};`)}
      }`,
      )}
    }
    workgroupBarrier();
  }
  ${lines(
    ofRows,
    (i) => `if (firstRow + ${16 * i}u + y < block.last) {
    let at = (firstRow + ${16 * i}u + y - block.first) * CANDIDATES;
    ${lines(ofCandidates, (j) => {
      const item = `firstItem + ${16 * j}u + x`;
      return `if (${item} < CANDIDATES) { scores[at + ${item}] = sum${i}_${j}; }`;
    })}
  }`,
  )}
}
`;
}

/**
 * Adds the weights from all of a row's items, one item after the other, because two may have the same target. With `weighed`, each item
 * has a factor.
 */
export function itemWeightShader(shape: RankShape, weighed: boolean): string {
  return `${head(shape)}
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> histories: array<u32>;
@group(0) @binding(3) var<storage, read> history: array<u32>;
@group(0) @binding(4) var<storage, read> offsets: array<u32>;
@group(0) @binding(5) var<storage, read> targets: array<u32>;
@group(0) @binding(6) var<storage, read> weights: array<f32>;
${weighed ? '@group(0) @binding(7) var<storage, read> factors: array<f32>;' : ''}
@group(0) @binding(${weighed ? 8 : 7}) var<storage, read_write> scores: array<f32>;
var<workgroup> had: vec2u;
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  let at = group.y * groups.x + group.x;
  if (block.first + at >= block.last) { return; }
  let scored = at * CANDIDATES;
  if (local == 0u) {
    let row = rows[block.first + at];
    had = vec2u(histories[row], histories[row + 1u]);
  }
  let items = workgroupUniformLoad(&had);
  for (var h = items.x; h < items.y; h++) {
    let item = history[h];
    for (var e = offsets[item] + local; e < offsets[item + 1u]; e += ${WORKGROUP}u) {
      scores[scored + targets[e]] += ${weighed ? 'factors[h] * ' : ''}weights[e];
    }
    storageBarrier();
  }
}
`;
}

/** Removes the scores of excluded candidates: one list per row, or one list for all rows. */
export function leaveOutShader(shape: RankShape, perRow: boolean): string {
  return `${head(shape)}
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<u32>;
@group(0) @binding(4) var<storage, read_write> scores: array<f32>;
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  ${ROW}
  let list = ${perRow ? 'row' : '0u'};
  for (var i = offsets[list] + local; i < offsets[list + 1u]; i += ${WORKGROUP}u) {
    scores[scored + values[i]] = NOTHING;
  }
}
`;
}

/** Rank of each relevant candidate: 1 + the candidates with a higher score, or with the same score and a smaller position. */
export function rankShader(shape: RankShape): string {
  const each = (line: (j: number) => string) => lines(RELEVANT_PER_PASS, line);
  return `${head(shape)}
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> relevant: array<u32>;
@group(0) @binding(4) var<storage, read> scores: array<f32>;
@group(0) @binding(5) var<storage, read_write> ranks: array<u32>;
var<workgroup> above: array<atomic<u32>, ${RELEVANT_PER_PASS}>;
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  ${ROW}
  let end = offsets[row + 1u];
  for (var first = offsets[row]; first < end; first += ${RELEVANT_PER_PASS}u) {
    if (local < ${RELEVANT_PER_PASS}u) { atomicStore(&above[local], 0u); }
    ${each(
      (j) => `let p${j} = relevant[min(first + ${j}u, end - 1u)];
    let s${j} = scores[scored + p${j}];
    var n${j} = 0u;`,
    )}
    for (var c = local; c < CANDIDATES; c += ${WORKGROUP}u) {
      let s = scores[scored + c];
      ${each((j) => `n${j} += select(0u, 1u, s > s${j} || (s == s${j} && c < p${j}));`)}
    }
    workgroupBarrier();
    ${each((j) => `atomicAdd(&above[${j}], n${j});`)}
    workgroupBarrier();
    if (local < ${RELEVANT_PER_PASS}u && first + local < end) {
      let rank = atomicLoad(&above[local]) + 1u;
      ranks[first + local] = select(0u, rank, rank <= DEPTH);
    }
    workgroupBarrier();
  }
}
`;
}

/**
 * Finds the best TOP candidates of a row by bisection over bits: first the score of the last of them, then, among candidates of
 * that score, its position. Runs `each` for every one of them, as `c` with the score `score`.
 */
const eachOfTheBest = (each: string) => `
  let least = keyOf(NOTHING) + 1u;
  let most = 0xffffffffu;
  let wanted = min(TOP, countKeys(local, scored, least, most, CANDIDATES));
  if (wanted == 0u) { return; }
  var key = 0u;
  for (var bit = 0x80000000u; bit > 0u; bit >>= 1u) {
    if (countKeys(local, scored, key | bit, most, CANDIDATES) >= wanted) { key |= bit; }
  }
  var higher = 0u;
  if (key < most) { higher = countKeys(local, scored, key + 1u, most, CANDIDATES); }
  var position = 0u;
  for (var bit = 1u << firstLeadingBit(CANDIDATES); bit > 0u; bit >>= 1u) {
    let tried = position | bit;
    if (tried < CANDIDATES && higher + countKeys(local, scored, key, key, tried) < wanted) { position = tried; }
  }
  for (var c = local; c < CANDIDATES; c += ${WORKGROUP}u) {
    let score = scores[scored + c];
    let own = keyOf(score);
    if (own > key || (own == key && c <= position)) { ${each} }
  }`;

const COUNT_KEYS = `
var<workgroup> counted: atomic<u32>;
var<workgroup> total: u32;

// Integers in the order of the scores.
fn keyOf(score: f32) -> u32 {
  let bits = select(bitcast<u32>(score), 0u, score == 0.0); // −0 counts as 0
  return select(bits ^ 0x80000000u, ~bits, (bits >> 31u) == 1u);
}

/** Candidates of the row with a key from \`least\` to \`most\` and a position below \`before\`. */
fn countKeys(local: u32, scored: u32, least: u32, most: u32, before: u32) -> u32 {
  var n = 0u;
  for (var c = local; c < before; c += ${WORKGROUP}u) {
    let key = keyOf(scores[scored + c]);
    n += select(0u, 1u, key >= least && key <= most);
  }
  atomicAdd(&counted, n);
  workgroupBarrier();
  if (local == 0u) { total = atomicExchange(&counted, 0u); }
  return workgroupUniformLoad(&total);
}
`;

/** Marks the best TOP candidates of every row that has a relevant one. */
export function shownShader(shape: RankShape): string {
  return `${head(shape)}
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> offsets: array<u32>;
@group(0) @binding(3) var<storage, read> scores: array<f32>;
@group(0) @binding(4) var<storage, read_write> shown: array<atomic<u32>>;
${COUNT_KEYS}
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  ${ROW}
  if (offsets[row] == offsets[row + 1u]) { return; }
  ${eachOfTheBest('atomicStore(&shown[c], 1u);')}
}
`;
}

/** Lists the best TOP candidates of every row, in any order: TOP pairs of position + 1 and score. */
export function listShader(shape: RankShape): string {
  return `${head(shape)}
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> scores: array<f32>;
@group(0) @binding(3) var<storage, read_write> lists: array<vec2u>;
var<workgroup> listed: atomic<u32>;
${COUNT_KEYS}
@compute @workgroup_size(${WORKGROUP})
fn main(${INVOCATION}) {
  ${ROW}
  // Some GPUs fail to zero this, as they should. The barriers of counting come before the first use.
  if (local == 0u) { atomicStore(&listed, 0u); }
  ${eachOfTheBest('lists[(block.first + at) * TOP + atomicAdd(&listed, 1u)] = vec2u(c + 1u, bitcast<u32>(score));')}
}
`;
}
