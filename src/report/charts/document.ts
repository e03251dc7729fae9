// A document to draw charts in, for environments without one.

import { createSvgDocument } from './svg-document.js';

/** The page's document, or a small one of our own. Make it once, draw many. */
export async function chartDocument(): Promise<Document> {
  return typeof document === 'undefined' ? createSvgDocument() : document;
}
