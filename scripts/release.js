// npm run release: builds, checks everything that a release needs, and makes the tarball in release/. It publishes nothing.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './declarations.js';
import { releaseProblems } from './release-checks.js';

const FOLDER = 'release';
const npm = (...args) =>
  execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

npm('run', 'page');
// Imported now, because it reads the declarations that were just built.
const { apiReport } = await import('./api-pages.js');
const problems = releaseProblems(root, apiReport);
if (problems.length > 0) {
  process.stderr.write(`${problems.map((problem) => `not ready: ${problem}`).join('\n')}\n`);
  process.exit(1);
}
mkdirSync(join(root, FOLDER), { recursive: true });
const [{ filename }] = JSON.parse(npm('pack', '--json', '--ignore-scripts', '--pack-destination', FOLDER));
const path = join(FOLDER, filename);
const hash = createHash('sha256')
  .update(readFileSync(join(root, path)))
  .digest('hex');
const megabytes = (statSync(join(root, path)).size / 1e6).toFixed(1);
process.stdout.write(
  `${path}: ${megabytes} MB, SHA-256 ${hash}\nNothing was published: npm publish ${path} does that.\n`,
);
