// The WebAssembly module: every exported function works on the host's memory, on what the blocks and addresses that the
// host hands in say.
export { resetEdgeTerm, takeEdgeTerm } from './edges';
export { bindScratch, jobBytes, unitBytes } from './params';
export * from './fold-fresh';
export * from './rows';
export * from './terms';
export * from './scores';
export * from './linear';
export * from './regression';
export * from './ridge';
export * from './pairs';
