// Loads the kernels: the flavour with relaxed SIMD (fused multiply-add) where the runtime has it, else the plain one.

export interface KernelModule {
  readonly module: WebAssembly.Module;
  readonly relaxed: boolean;
}

let loaded: Promise<KernelModule> | undefined;

/** The compiled kernels, once per process. */
export function loadKernels(): Promise<KernelModule> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<KernelModule> {
  const inNode = typeof process !== 'undefined' && process.versions?.node !== undefined;
  if (inNode) {
    // On in Node 22, behind a flag in Node 20; it must be set before anything is compiled.
    const v8 = await import('node:v8');
    v8.setFlagsFromString('--experimental-wasm-relaxed-simd');
  }
  const relaxed = await bytes('kernels-relaxed.wasm', inNode);
  if (WebAssembly.validate(relaxed)) return { module: await WebAssembly.compile(relaxed), relaxed: true };
  return { module: await WebAssembly.compile(await bytes('kernels.wasm', inNode)), relaxed: false };
}

async function bytes(name: string, inNode: boolean): Promise<BufferSource> {
  // Tests import the sources; the kernels are only in dist/.
  const here = import.meta.url.replace(/\/src\/(?=engine\/cpu\/[^/]*$)/, '/dist/');
  const url = new URL(name, here);
  if (inNode) return (await import('node:fs/promises')).readFile(url);
  return (await fetch(url)).arrayBuffer();
}
