// What a release needs, as sentences on what is missing. scripts/release.js runs it; test/release.test.ts tries each fault.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Licences that allow use, change and distribution. */
export const FREE_LICENCES = [
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
  '0BSD',
  'Unlicense',
  'BlueOak-1.0.0',
];

const read = (root, path) => (existsSync(join(root, path)) ? readFileSync(join(root, path), 'utf8') : '');
const readJson = (root, path) => JSON.parse(read(root, path) || '{}');

/** Everything that is wrong with the checkout at `root`; `apiReport` makes what docs/api/api-report.txt must hold. */
export function releaseProblems(root, apiReport) {
  const { version, license, private: isPrivate } = readJson(root, 'package.json');
  const all = [
    ...treeProblems(root),
    ...versionProblems(root, version),
    ...changelogProblems(read(root, 'CHANGELOG.md'), version),
    ...fixtureProblems(root, version),
    ...licenceProblems(readJson(root, 'package-lock.json').packages ?? {}),
  ];
  if (read(root, 'docs/api/api-report.txt') !== apiReport()) {
    all.push('docs/api/api-report.txt is not current: run npm run docs:api and read what changed');
  }
  if (license === undefined || !existsSync(join(root, 'LICENSE'))) all.push('the licence is missing');
  if (isPrivate) all.push('package.json says private');
  return all;
}

function treeProblems(root) {
  const changed = execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }).trim();
  return changed === '' ? [] : [`the tree is not clean: ${changed.split('\n')[0].trim()}`];
}

function versionProblems(root, version) {
  if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? '')) return [`package.json has the version ${version}`];
  const { version: locked } = readJson(root, 'package-lock.json');
  const [, said] = /VERSION = '([^']+)'/.exec(read(root, 'src/version.ts')) ?? [];
  const places = [
    ['package-lock.json', locked],
    ['src/version.ts', said],
  ];
  return places
    .filter(([, found]) => found !== version)
    .map(([place, found]) => `${place} has the version ${found}, and package.json ${version}`);
}

function changelogProblems(text, version) {
  const sections = text.split(/^## /m).slice(1);
  const section = sections.find((one) => one.startsWith(`[${version}]`));
  const entries = (one) => one.split('\n').filter((line) => line.startsWith('- ')).length;
  const problems = [];
  if (!section || entries(section) === 0) problems.push(`CHANGELOG.md has no section for ${version}`);
  else if (!/^\[[^\]]+\] - \d{4}-\d\d-\d\d$/m.test(section.split('\n')[0])) {
    problems.push(`CHANGELOG.md: the section for ${version} has no date`);
  }
  const waiting = sections.find((one) => one.startsWith('[Unreleased]'));
  if (waiting && entries(waiting) > 0) {
    problems.push(`CHANGELOG.md: entries are still under Unreleased; move them to a new version`);
  }
  return problems;
}

/** Each version that changes a format keeps its files; see scripts/format-fixtures.js. */
function fixtureProblems(root, version) {
  const [minor] = /^\d+\.\d+/.exec(version ?? '') ?? [];
  const path = `test/fixtures/formats-${minor}/expected.json`;
  const { version: made } = readJson(root, path);
  if (made === undefined)
    return [`${path} is missing: run node scripts/format-fixtures.js on a built checkout`];
  return made.startsWith(`${minor}.`) ? [] : [`${path} was made by version ${made}`];
}

/** Packages that npm would install with this one. */
export function licenceProblems(packages) {
  return Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && !dev)
    .filter(([, { license }]) => !FREE_LICENCES.includes(license ?? ''))
    .map(([path, { license }]) => `${path} has the licence ${license}`);
}
