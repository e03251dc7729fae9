// A shell in which `graphex` and `npx graphex` are the built command line. One process runs one command after the other; only a
// server has a process of its own.

import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll } from 'vitest';
import { bin, graphexIn } from './run.js';

const run = promisify(execFile);

/** Reads a number of texts, folder and arguments, each ended by a zero; writes status, lengths and what the command has written. */
function answer(socket: Socket): void {
  let asked = '';
  socket.setEncoding('utf8').on('data', async (text: string) => {
    asked += text;
    const [count, ...texts] = asked.split('\0');
    if (texts.length <= Number(count)) return;
    const [folder, ...args] = texts.slice(0, Number(count));
    const failed = ({ message }: Error) => ({ status: 70, stdout: '', stderr: message });
    const { status, stdout, stderr } = await graphexIn(folder, args).catch(failed);
    const lengths = [stdout, stderr].map((written) => Buffer.byteLength(written));
    socket.end(`${status} ${lengths.join(' ')}\n${stdout}${stderr}`);
  });
  socket.on('error', () => {});
}

/** Runs programs in `folder`, with the commands on their path. */
export function commandShell(folder: string) {
  const server = createServer(answer);
  const listening = new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterAll(() => void server.close());
  const commands = join(folder, 'commands');
  mkdirSync(commands, { recursive: true });
  const own = `exec "${process.execPath}" "${bin}" "$@"`;
  const client = `[ "$1" = serve ] && ${own}
exec 3<>/dev/tcp/127.0.0.1/$GRAPHEX_PORT
printf '%s\\0' $(($# + 1)) "$PWD" "$@" >&3
read -r status written reported <&3
head -c $written <&3
head -c $reported <&3 >&2
exit $status`;
  for (const [name, lines] of [
    ['graphex', client],
    ['npx', `shift\n${client}`],
  ]) {
    writeFileSync(join(commands, name), `#!/bin/bash\n${lines}\n`);
    chmodSync(join(commands, name), 0o755);
  }
  const env = async () => {
    await listening;
    const { port } = server.address() as AddressInfo;
    return { ...process.env, PATH: `${commands}:${process.env.PATH}`, GRAPHEX_PORT: String(port) };
  };
  return {
    env,
    run: async (program: string, args: readonly string[]) =>
      run(program, args, { cwd: folder, env: await env(), maxBuffer: 1 << 26 }),
  };
}
