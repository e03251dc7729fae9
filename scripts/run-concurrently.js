// Runs npm scripts concurrently and prints the output of each in one piece. It fails if one of them fails: node
// scripts/run-concurrently.js NAME …
import { spawn } from 'node:child_process';

const run = (name) =>
  new Promise((resolve) => {
    const child = spawn('npm', ['run', '--silent', name], { stdio: ['ignore', 'pipe', 'pipe'], shell: true });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
    child.on('close', (status) => {
      process.stdout.write(`${name}: ${status === 0 ? 'done' : `status ${status}`}\n${said}`);
      resolve(status ?? 1);
    });
  });
const statuses = await Promise.all(process.argv.slice(2).map(run));
process.exit(Math.max(...statuses));
