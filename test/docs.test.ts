// The documents hang together: what they link to is there, and no line waits for its text.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const docs = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'));
const pages = ['README.md', 'ARCHITECTURE.md', ...docs.map((name) => `docs/${name}`)];

/** Links and pictures to files, without their anchors. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(/```[\s\S]*?```/g, '');
  return [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)]
    .map((match) => match[1])
    .filter((target) => !/^[a-z]+:/.test(target));
}

describe('documents', () => {
  it('README.md links to those in docs/', () => {
    const linked = linksOf('README.md').filter((target) => target.startsWith('docs/'));
    expect(linked.length).toBeGreaterThan(3);
  });

  it.each(pages)('%s links to files that exist', (page) => {
    const lost = linksOf(page).filter((target) => !existsSync(join(root, dirname(page), target)));
    expect(lost).toEqual([]);
  });

  it.each(pages)('%s has no line that is one word in capitals', (page) => {
    const lines = readFileSync(join(root, page), 'utf8').split('\n');
    expect(lines.filter((line) => /^\s*[A-Z][A-Z_]{2,}\s*$/.test(line))).toEqual([]);
  });
});
