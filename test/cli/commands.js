// Runs command lines one after the other, each as `bin/graphex.js` would, and returns what each has written.

import { main } from '../../dist/cli/main.js';

/** Keeps what is written to a stream, until it is told to stop; returns the text. */
function keep(stream) {
  const own = stream.write;
  const pieces = [];
  stream.write = (piece, encoding, done) => {
    pieces.push(Buffer.from(piece, typeof encoding === 'string' ? encoding : 'utf8'));
    const written = typeof encoding === 'function' ? encoding : done;
    if (written) process.nextTick(written);
    return true;
  };
  return () => {
    stream.write = own;
    return Buffer.concat(pieces).toString();
  };
}

process.on('message', async ({ folder, args }) => {
  process.chdir(folder);
  const [stdout, stderr] = [keep(process.stdout), keep(process.stderr)];
  const status = await main([process.execPath, 'graphex', ...args]);
  process.send({ status, stdout: stdout(), stderr: stderr() });
});
process.on('disconnect', () => process.exit());
