// The kernels alone, in both builds: what a table shows is exp(E log ·) to float32 over the whole range.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { digamma } from '../../src/math/special.js';
import { loadKernels } from '../../src/wasm/load.js';
import { JOB, UNIT } from '../../src/wasm/parameter-blocks.js';

await loadKernels(); // switches relaxed SIMD on where Node needs a flag for it

const FLOOR = 1e-18;
const FEATURES = 8;

interface Exports {
  bindWorker(scratch: number, unit: number): void;
  bindJob(job: number): void;
  jobBytes(): number;
  unitBytes(): number;
  scratchBytes(stride: number): number;
  showRows(): void;
}

/** Activities and masses of rows of FEATURES shapes each, with weights Gamma(weights[i], 2) and rates 3. */
function show(flavour: string, shapes: Float32Array, weights: Float32Array) {
  const memory = new WebAssembly.Memory({ initial: 16, maximum: 65536, shared: true });
  const url = new URL(`../../dist/wasm/${flavour}.wasm`, import.meta.url);
  const instance = new WebAssembly.Instance(new WebAssembly.Module(readFileSync(url)), {
    env: { memory, abort: () => {} },
  });
  const kernels = instance.exports as unknown as Exports;
  let end = 65536;
  const allocate = (bytes: number) => {
    end += Math.ceil(bytes / 64) * 64;
    return end - Math.ceil(bytes / 64) * 64;
  };
  const rows = weights.length;
  const [ws, wr] = [allocate(4 * rows), allocate(4 * rows)];
  const [fs, fr, activity] = [0, 1, 2].map(() => allocate(4 * shapes.length)) as [number, number, number];
  const [otherMass, laneMask, mass] = [
    allocate(4 * FEATURES),
    allocate(4 * FEATURES),
    allocate(8 * FEATURES),
  ];
  const scratch = allocate(kernels.scratchBytes(FEATURES));
  new Float32Array(memory.buffer, ws, rows).set(weights);
  new Float32Array(memory.buffer, wr, rows).fill(2);
  new Float32Array(memory.buffer, fs, shapes.length).set(shapes);
  new Float32Array(memory.buffer, fr, shapes.length).fill(3);
  new Uint32Array(memory.buffer, laneMask, FEATURES).fill(0xffffffff);
  const [job, unit] = [allocate(kernels.jobBytes()), allocate(kernels.unitBytes())];
  JOB.write(memory, job, {
    ...{ weightShape: ws, weightRate: wr, featureShape: fs, featureRate: fr, activity, otherMass, laneMask },
    ...{ other: 0, counts: 0, features: FEATURES, stride: FEATURES, geometric: 1, withTerm: 0, prefetch: 0 },
    ...{ sigma: 0.2, tau: 1, shape: 0.1, rate: 0.1, relaxation: 0, relaxationFloor: 0.3 },
    ...{ shapeFloor: 1e-3, activityFloor: FLOOR, scale: 1, steps: 0, freshWeights: 0, firstFeature: 0 },
  });
  kernels.bindWorker(scratch, unit);
  kernels.bindJob(job);
  const nothing = {
    ...{ offsets: 0, neighbors: 0, edgeCounts: 0, edges: 0, tiledRows: 0 },
    ...{ pieceSums: 0, pieces: 0, tileSums: 0, addsTile: 0 },
  };
  UNIT.write(memory, unit, { first: 0, last: rows, mass, ...nothing });
  kernels.showRows();
  return {
    activity: new Float32Array(memory.buffer, activity, shapes.length),
    mass: new Float64Array(memory.buffer, mass, FEATURES),
  };
}

// Even and odd numbers of rows, and blocks that are not full: kernels take rows in blocks, two rows at a time.
test.each(['kernels', 'kernels-relaxed'])('%s: exp(E log) and masses', (flavour) => {
  for (const rows of [1, 2, 31, 512]) {
    const count = rows * FEATURES;
    const at = Float32Array.from({ length: count }, (_, i) => 1e-3 * Math.exp((i / count) * Math.log(1e12)));
    const weights = Float32Array.from(
      { length: rows },
      (_, i) => 0.05 * Math.exp((i / rows) * Math.log(1e6)),
    );
    const { activity, mass } = show(flavour, at, weights);
    const masses = new Float64Array(FEATURES);
    for (let i = 0; i < count; i++) {
      const [x, weight] = [at[i], weights[Math.floor(i / FEATURES)]];
      masses[i % FEATURES] += ((weight / 2) * x) / 3;
      const expected = (Math.exp(digamma(weight)) / 2) * (Math.exp(digamma(x)) / 3);
      // The rounding of 1/x alone is 6e-8/x of e^−1/x.
      const room = 5e-7 + 1.5e-7 / x + 1.5e-7 / weight;
      if (expected > 2 * FLOOR)
        expect(Math.abs(activity[i] / expected - 1), `exp ψ(${x}) at weight ${weight}`).toBeLessThan(room);
      else expect(activity[i]).toBeLessThanOrEqual(Math.fround(3 * FLOOR));
      expect(activity[i]).toBeGreaterThanOrEqual(Math.fround(FLOOR));
    }
    for (let k = 0; k < FEATURES; k++) expect(Math.abs(mass[k] / masses[k] - 1)).toBeLessThan(5e-7);
  }
});

// A row's weight goes through exp ψ of simd.ts, its features through that of activity.ts: if weight and feature are exchanged,
// the activity must stay the same. Both divide 1 by x in the same way, so the tolerance excludes that rounding.
test.each(['kernels', 'kernels-relaxed'])('%s: exp ψ of weights and of features are the same', (flavour) => {
  const groups = 64;
  const values = Float32Array.from(
    { length: groups * FEATURES },
    (_, v) => 0.05 * Math.exp((v / (groups * FEATURES)) * Math.log(1e8)),
  );
  // Group g has the values g, g + 64, …. Each of its rows has one of them as weight and all of them as features.
  const valueIn = (group: number, i: number) => values[i * groups + group];
  const each = <T>(count: number, of: (i: number) => T) => Array.from({ length: count }, (_, i) => of(i));
  const weights = each(groups, (g) => each(FEATURES, (i) => valueIn(g, i))).flat();
  const shapes = weights.flatMap((_, row) => each(FEATURES, (k) => valueIn(Math.floor(row / FEATURES), k)));
  const { activity } = show(flavour, Float32Array.from(shapes), Float32Array.from(weights));
  for (let g = 0; g < groups; g++) {
    const at = (i: number, k: number) => activity[(g * FEATURES + i) * FEATURES + k];
    for (let i = 0; i < FEATURES; i++) {
      for (let k = 0; k < i; k++) {
        const change = Math.abs(at(i, k) / at(k, i) - 1);
        expect(change, `${valueIn(g, i)} and ${valueIn(g, k)}`).toBeLessThan(5e-7);
      }
    }
  }
});

test('the blocks have the same fields in the same order on both sides', () => {
  const source = readFileSync(new URL('../../src/wasm/kernels/params.ts', import.meta.url), 'utf8');
  const fieldsOf = (name: string) => {
    const body = source.match(new RegExp(`class ${name} \\{([^}]*)\\}`))![1];
    return [...body.matchAll(/^ {2}(\w+): (\w+);$/gm)].map(([, field, kind]) => [field, kind]);
  };
  for (const [name, block] of [['JobBlock', JOB] as const, ['UnitBlock', UNIT] as const]) {
    expect(fieldsOf(name).length).toBeGreaterThan(8);
    expect(Object.entries(block.fields)).toEqual(fieldsOf(name));
  }
});
