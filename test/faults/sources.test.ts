// Paths that are not files: a path that the user named is read as a stream, any other is refused with a sentence.

import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readGraph } from '../../src/index.js';
import { edgesOf, scratchFolder } from '../ingest/scratch.js';

const scratch = scratchFolder();
const command = join(import.meta.dirname, '../../bin/graphex.js');

describe.skipIf(process.platform === 'win32')('a folder of texts', () => {
  const folder = (name: string) => {
    mkdirSync(scratch.path(name));
    scratch.write(`${name}/a.txt`, 'summer sun');
    return scratch.path(name);
  };

  it('with a link to an endless device is refused immediately', async () => {
    const path = folder('zero');
    symlinkSync('/dev/zero', join(path, 'b.txt'));
    await expect(readGraph(`text:${path}`)).rejects.toThrow(/b\.txt: this is a device or leads to one/);
  });

  it('with a pipe, a folder or a broken link is refused immediately', async () => {
    const pipe = folder('pipe');
    execFileSync('mkfifo', [join(pipe, 'b.txt')]);
    await expect(readGraph(`text:${pipe}`)).rejects.toThrow(/b\.txt: this is a pipe/);
    const inner = folder('inner');
    mkdirSync(join(inner, 'b.txt'));
    await expect(readGraph(`text:${inner}`)).rejects.toThrow(/b\.txt: this is a folder/);
    const lost = folder('lost');
    symlinkSync(join(lost, 'b.txt'), join(lost, 'b.txt'));
    await expect(readGraph(`text:${lost}`)).rejects.toMatchObject({ name: 'InputError' });
    const films = scratch.path('films');
    mkdirSync(films);
    execFileSync('mkfifo', [join(films, 'mv_1.txt')]);
    await expect(readGraph(`netflix:${films}`)).rejects.toThrow(/mv_1\.txt: this is a pipe/);
  });

  it('with links to files is read, and a sparse file of a terabyte is a bad document', async () => {
    const path = folder('links');
    symlinkSync(scratch.write('outside.txt', 'winter snow'), join(path, 'b.txt'));
    expect((await readGraph(`text:${path}`)).graph.users.count).toBe(2);
    truncateSync(scratch.write('links/c.txt', ''), 2 ** 40);
    await expect(readGraph(`text:${path}`)).rejects.toThrow(/c\.txt has more than 67108864 bytes/);
  });
});

describe.skipIf(process.platform === 'win32')('DATA', () => {
  it('may be a pipe: named, or one that the shell makes', async () => {
    const pipe = scratch.path('fifo');
    execFileSync('mkfifo', [pipe]);
    const writer = spawn('sh', ['-c', `printf 'a,1\\nb,2\\n' > '${pipe}'`]);
    expect(edgesOf((await readGraph(pipe, { header: false })).graph)).toEqual(['["a","1",1]', '["b","2",1]']);
    writer.kill();
    const shell = execFileSync('bash', [
      '-c',
      `'${process.execPath}' '${command}' check --json --replicates 0 <(printf 'a,1\\nb,2\\n')`,
    ]);
    expect(JSON.parse(shell.toString()).edges).toBe(2);
  });

  it('a pipe that nobody writes to does not keep the command from ending', async () => {
    const pipe = scratch.path('silent');
    execFileSync('mkfifo', [pipe]);
    const child = spawn(process.execPath, [command, 'check', pipe], { stdio: 'ignore' });
    const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
    await new Promise((resolve) => setTimeout(resolve, 4000));
    child.kill('SIGINT');
    expect(await ended).toBe(130);
  });

  it('that is a device or a socket is refused with a sentence', async () => {
    await expect(readGraph('/dev/zero')).rejects.toThrow(/\/dev\/zero: this is a device, not a file/);
    await expect(readGraph('/dev/null')).rejects.toThrow(/this is a device/);
    const path = scratch.path('socket');
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    try {
      await expect(readGraph(path)).rejects.toThrow(/this is a socket, not a file/);
    } finally {
      server.close();
    }
  });

  it('packed and cut short is refused, whatever was read before', async () => {
    const whole = gzipSync(Buffer.from('a,1\nb,2\n'.repeat(100_000)));
    const file = scratch.write('cut.csv.gz', whole.subarray(0, whole.length - 20));
    await expect(readGraph(file)).rejects.toThrow(/gzip data is damaged or cut short/);
  });

  it.each([
    ['UTF-16 with a mark', Buffer.from('\uFEFFa,1\nb,2\n', 'utf16le'), /UTF-16; save it as UTF-8/],
    ['UTF-16 without one', Buffer.from('a,1\nb,2\n', 'utf16le'), /zero bytes/],
    ['Latin-1', Buffer.from('caf\xe9,1\nb,2\n', 'latin1'), /the id is not UTF-8 text/],
    ['two columns then three', Buffer.from('a,1\nb;2\n'), /the row has 1 column where the first row has 2/],
  ])('in another encoding or of mixed rows is told so: %s', async (_, bytes, says) => {
    await expect(readGraph(scratch.write('other.csv', bytes), { header: false })).rejects.toThrow(says);
  });

  it('with numbers written in several ways keeps them apart, and column numbers are bounded', async () => {
    const file = scratch.write('numbers.csv', '1,a\n01,a\n1.0,a\n1e0,a\n+1,a\n');
    expect((await readGraph(file, { header: false })).graph.users.count).toBe(5);
    for (const users of [0, -1, 1.5, Number.POSITIVE_INFINITY, '99999999999999999999']) {
      await expect(readGraph(file, { users, header: false }), String(users)).rejects.toMatchObject({
        name: 'InputError',
      });
    }
  });
});
