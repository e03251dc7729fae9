// The documents are consistent: their links work, and no line is a placeholder.

import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const inFolder = (folder: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}/${name}`);
const manual = [...inFolder('docs'), ...inFolder('docs/appendix')];
const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', ...manual];

/** Links and pictures to files, without their anchors. */
function linksOf(page: string): string[] {
  const text = readFileSync(join(root, page), 'utf8').replace(/```[\s\S]*?```/g, '');
  return [...text.matchAll(/\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g)]
    .map((match) => match[1])
    .filter((target) => !/^[a-z]+:/.test(target));
}

/** The anchors of a page's headings, as GitHub and the manual's site make them. */
function headingsOf(text: string): string[] {
  const used = new Map<string, number>();
  return [...text.matchAll(/^#{1,6} +(.+?) *$/gm)].map(([, heading]) => {
    const anchor = heading
      .toLowerCase()
      .replace(/[`*_]|\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N} -]/gu, '')
      .replaceAll(' ', '-');
    const times = used.get(anchor) ?? 0;
    used.set(anchor, times + 1);
    return times === 0 ? anchor : `${anchor}-${times}`;
  });
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

  it.each(pages)('%s links to headings that exist', (page) => {
    const text = readFileSync(join(root, page), 'utf8').replace(/```[\s\S]*?```/g, '');
    const lost = [...text.matchAll(/\]\(([^)\s#]*)#([^)\s]+)\)/g)]
      .filter(([, target]) => !/^[a-z]+:/.test(target))
      .filter(([, target, anchor]) => {
        const path = target === '' ? join(root, page) : join(root, dirname(page), target);
        return existsSync(path) && !headingsOf(readFileSync(path, 'utf8')).includes(anchor);
      });
    expect(lost.map(([link]) => link)).toEqual([]);
  });

  const answers = inFolder('docs').filter((page) => !/README|cookbook|tour/.test(page));

  it.each(answers)('%s answers one question in at most 1,200 words and ends with links', (page) => {
    const text = readFileSync(join(root, page), 'utf8').replace(/```[\s\S]*?```/g, '');
    expect(text.split(/\s+/).length).toBeLessThanOrEqual(1200);
    expect(text).toMatch(/\n## See also\n\n\S(?![\s\S]*\n## )/);
  });

  it('the changelog has an entry in one or two lines each', () => {
    const lines = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split('\n');
    expect(lines.filter((line) => line.length > 240)).toEqual([]);
    expect(lines.filter((line) => /^## /.test(line))).toHaveLength(3);
  });

  it('the manual leads to every page of it', () => {
    const reached = new Set(['docs/README.md']);
    for (const page of reached) {
      for (const target of linksOf(page)) {
        const path = join(dirname(page), target);
        if (path.startsWith('docs/') && path.endsWith('.md')) reached.add(path);
      }
    }
    expect(manual.filter((page) => !reached.has(page))).toEqual([]);
  });

  it('nothing refers to a document that readers do not have', () => {
    const sources = ['src', 'test', 'bench'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && name !== 'docs.test.ts')
        .map((name) => `${folder}/${name}`),
    );
    const strange = [...pages, ...sources].flatMap((page) =>
      readFileSync(join(root, page), 'utf8')
        .split('\n')
        .flatMap((line, i) =>
          /\bsections? \d|\bthe specification\b|\bshared\/(spec|design)/i.test(line)
            ? [`${page}:${i + 1} ${line}`]
            : [],
        ),
    );
    expect(strange).toEqual([]);
  });

  it.each(pages)('%s has no line that is one word in capitals', (page) => {
    const lines = readFileSync(join(root, page), 'utf8').split('\n');
    expect(lines.filter((line) => /^\s*[A-Z][A-Z_]{2,}\s*$/.test(line))).toEqual([]);
  });

  it('what their commands write in a checkout is ignored by git and by biome', () => {
    const commands = ['README.md', 'docs/tour.md', 'docs/cookbook.md'].map((page) =>
      readFileSync(join(root, page), 'utf8'),
    );
    const outputs = [...commands.join('\n').matchAll(/ -o ([^ \n`]+)/g)].map(([, output]) => output);
    expect(outputs).toContain('check');
    expect(outputs).toContain('ratings.csv');
    const checkout = mkdtempSync(join(tmpdir(), 'graphex-checkout-'));
    const run = (program: string, ...args: string[]) =>
      execFileSync(program, args, { cwd: checkout, encoding: 'utf8', stdio: 'pipe' });
    try {
      for (const name of ['.gitignore', 'biome.json']) copyFileSync(join(root, name), join(checkout, name));
      run('git', 'init', '-q');
      run('git', 'add', '-A');
      // Biome would reformat these texts, so every folder that git does not ignore must be listed.
      for (const output of [...outputs, 'any']) {
        const folder = !output.includes('.');
        if (folder) mkdirSync(join(checkout, output), { recursive: true });
        writeFileSync(join(checkout, folder ? `${output}/results.json` : output), '{ "a":\n1 }');
      }
      expect(run('git', 'ls-files', '--others', '--exclude-standard')).toBe('any/results.json\n');
      run(join(root, 'node_modules/.bin/biome'), 'check', '.');
    } finally {
      rmSync(checkout, { recursive: true, force: true });
    }
  });
});
