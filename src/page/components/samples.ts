import { shown } from '../../text/untrusted.js';
import type { SampleName } from '../protocol.js';

export const ABOUT: Readonly<Record<SampleName, { readonly title: string; readonly about: string }>> = {
  '@sotu': { title: 'State of the Union', about: '233 speeches and their 12,323 words' },
  '@simulated-small': { title: 'Simulated, small', about: 'drawn from the model, so the truth is known' },
  '@simulated': { title: 'Simulated, as in the paper', about: 'the same model at ten times the size' },
};

/** The name of a file, or the title of a sample. */
export function sourceTitle(source: string): string {
  return Object.hasOwn(ABOUT, source) ? `“${ABOUT[source as SampleName].title}”` : shown(source, 40);
}
