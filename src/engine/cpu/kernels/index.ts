// The WebAssembly module: every exported function works on shared memory at addresses that the host hands in.
export * from './edges';
export * from './rows';
export * from './terms';
export * from './rank';
export * from './linear';
