// Parameter blocks: the host writes them by field name into WebAssembly memory, and a kernel reads them. Fields lie in order, each
// at a multiple of its size, as AssemblyScript lays out a class (kernels/params.ts has the classes).

type Kind = 'u32' | 'f64';
type Fields = Readonly<Record<string, Kind>>;
type Places<F extends Fields> = { readonly [name in keyof F]: number };
type Values<F extends Fields> = { readonly [name in keyof F]?: number | undefined };

const SIZES = { u32: 4, f64: 8 } as const;

function block<const F extends Fields>(fields: F) {
  let end = 0;
  const places = Object.entries(fields).map(([name, kind]) => {
    const at = Math.ceil(end / SIZES[kind]) * SIZES[kind];
    end = at + SIZES[kind];
    return { name, kind, at };
  });
  return {
    fields,
    bytes: end,
    /** Byte offset of each field. */
    at: Object.fromEntries(places.map(({ name, at }) => [name, at])) as Places<F>,
    /** Fields without a value become 0. */
    write(memory: WebAssembly.Memory, address: number, values: Values<F>): void {
      const view = new DataView(memory.buffer, address, end);
      for (const { name, kind, at } of places) {
        if (kind === 'u32') view.setUint32(at, values[name] ?? 0, true);
        else view.setFloat64(at, values[name] ?? 0, true);
      }
    },
  };
}

/** What the units of a job's part share. */
export const JOB = block({
  weightShape: 'u32',
  weightRate: 'u32',
  featureShape: 'u32',
  featureRate: 'u32',
  activity: 'u32',
  other: 'u32',
  otherMass: 'u32',
  laneMask: 'u32',
  counts: 'u32',
  features: 'u32',
  stride: 'u32',
  geometric: 'u32',
  withTerm: 'u32',
  prefetch: 'u32',
  steps: 'u32',
  freshWeights: 'u32',
  sigma: 'f64',
  tau: 'f64',
  shape: 'f64',
  rate: 'f64',
  relaxation: 'f64',
  relaxationFloor: 'f64',
  shapeFloor: 'f64',
  activityFloor: 'f64',
  scale: 'f64',
  firstFeature: 'f64',
});

export const UNIT = block({
  first: 'u32',
  last: 'u32',
  offsets: 'u32',
  neighbors: 'u32',
  edgeCounts: 'u32',
  tiledRows: 'u32',
  edges: 'u32',
  pieceSums: 'u32',
  pieces: 'u32',
  tileSums: 'u32',
  addsTile: 'u32',
  mass: 'u32',
});
