// A document to draw charts in, for environments without one.

/** The page's document, or one made by happy-dom. Make it once, draw many. */
export async function chartDocument(): Promise<Document> {
  if (typeof document !== 'undefined') return document;
  const { Window } = await import('happy-dom');
  return new Window().document as unknown as Document;
}
