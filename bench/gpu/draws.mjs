// Random numbers for graphs of 100 million edges: a 32-bit generator in registers, normals, and Walker's alias table.

export function createRandom(seed) {
  let a = seed >>> 0 || 1;
  let b = 0x9e3779b9 ^ a;
  let c = 0x243f6a88;
  let counter = 1;
  /** sfc32 (Doty-Humphrey): 32 bits. */
  const bits = () => {
    const t = (a + b + counter++) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t;
    return t >>> 0;
  };
  for (let i = 0; i < 20; i++) bits();
  const uniform = () => (bits() + 0.5) / 2 ** 32;
  const normal = () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
  return { bits, uniform, normal };
}

export class Alias {
  constructor(weights) {
    const n = weights.length;
    const total = weights.reduce((sum, w) => sum + w, 0);
    this.chance = new Float64Array(n);
    this.alias = new Uint32Array(n);
    const scaled = Float64Array.from(weights, (w) => (w * n) / total);
    const small = [];
    const large = [];
    for (let i = 0; i < n; i++) (scaled[i] < 1 ? small : large).push(i);
    while (small.length > 0 && large.length > 0) {
      const less = small.pop();
      const more = large.pop();
      this.chance[less] = scaled[less];
      this.alias[less] = more;
      scaled[more] += scaled[less] - 1;
      (scaled[more] < 1 ? small : large).push(more);
    }
    for (const i of [...small, ...large]) this.chance[i] = 1;
  }

  draw(random) {
    const x = random.uniform() * this.chance.length;
    const i = Math.floor(x);
    return x - i < this.chance[i] ? i : this.alias[i];
  }
}
