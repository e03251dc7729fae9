// `graphex/report` in Node, where charts need a document.

export { chartDocument } from './report/charts/svg-document.js';
export * from './report.js';
