// `npm run release` refuses a checkout that is not ready, and says each thing that is missing.

import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { licenceProblems, releaseProblems } from '../scripts/release-checks.js';
import { scratchFolder } from './ingest/scratch.js';

const scratch = scratchFolder();
const REPORT = 'fit function\n';
const READY: Readonly<Record<string, string>> = {
  'package.json': '{ "name": "graphex", "version": "0.3.0", "license": "MIT" }',
  'package-lock.json':
    '{ "version": "0.3.0", "packages": { "": {}, "node_modules/zod": { "license": "MIT" } } }',
  'src/version.ts': "export const VERSION = '0.3.0';\n",
  'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n## [0.3.0] - 2026-12-01\n\n### Added\n- A thing.\n',
  'docs/api/api-report.txt': REPORT,
  'test/fixtures/formats-0.3/expected.json': '{ "version": "0.3.0" }',
  LICENSE: 'MIT\n',
};

let number = 0;
/** The problems of a checkout with these changes; an undefined file is missing. */
function problemsWith(changes: Readonly<Record<string, string | undefined>>, after = ''): string[] {
  const root = scratch.path(`checkout-${number++}`);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=test', '-c', 'user.email=test@localhost', ...args], { cwd: root });
  mkdirSync(root);
  for (const [path, text] of Object.entries({ ...READY, ...changes })) {
    if (text === undefined) continue;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  git('init', '-q');
  git('add', '-A');
  git('commit', '-qm', 'all');
  if (after !== '') writeFileSync(join(root, after), 'new');
  return releaseProblems(root, () => REPORT);
}

describe('a release', () => {
  it('is ready if nothing is missing', () => {
    expect(problemsWith({})).toEqual([]);
  });

  it.each<[RegExp, Readonly<Record<string, string | undefined>>, string?]>([
    [/the tree is not clean: \?\? notes/, {}, 'notes'],
    [
      /src\/version.ts has the version 0.2.0, and package.json 0.3.0/,
      { 'src/version.ts': "VERSION = '0.2.0'" },
    ],
    [/CHANGELOG.md has no section for 0.3.0/, { 'CHANGELOG.md': '## [0.2.0] - 2026-11-16\n- A thing.\n' }],
    [/has no date/, { 'CHANGELOG.md': '## [0.3.0]\n- A thing.\n' }],
    [
      /still under Unreleased/,
      { 'CHANGELOG.md': '## [Unreleased]\n- New.\n\n## [0.3.0] - 2026-12-01\n- A thing.\n' },
    ],
    [/api-report.txt is not current/, { 'docs/api/api-report.txt': 'fit\n' }],
    [/formats-0.3\/expected.json is missing/, { 'test/fixtures/formats-0.3/expected.json': undefined }],
    [/the licence is missing/, { LICENSE: undefined }],
  ])('is not ready: %s', (says, changes, after) => {
    expect(problemsWith(changes, after)).toEqual([expect.stringMatching(says)]);
  });

  it('contains only packages with free licences', () => {
    const odd = {
      'node_modules/odd': { license: 'GPL-3.0' },
      'node_modules/tool': { license: 'GPL-3.0', dev: true },
    };
    expect(licenceProblems(odd)).toEqual(['node_modules/odd has the licence GPL-3.0']);
    const { packages } = JSON.parse(readFileSync(join(import.meta.dirname, '../package-lock.json'), 'utf8'));
    expect(licenceProblems(packages)).toEqual([]);
  });
});
