// The WebAssembly module. Every exported function works on the host's memory, at the addresses that the host passes.
export { resetEdgeTerm, takeEdgeTerm } from './edges';
export { bindJob, bindWorker, jobBytes, unitBytes } from './params';
export * from './fold-fresh';
export * from './rows';
export * from './terms';
export * from './scores';
export * from './linear';
export * from './regression';
export * from './ridge';
export * from './pairs';
export * from './sums';
export * from './trials';
