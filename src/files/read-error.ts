import { InputError } from '../errors.js';

/** Turns a system error on reading into an InputError that says what to do; leaves other errors unchanged. */
export function readError(path: string, cause: unknown, missing = '; check the path'): unknown {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (cause instanceof InputError || typeof code !== 'string') return cause;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new InputError(`${path}: there is no such file${missing}`);
  }
  if (code === 'EACCES' || code === 'EPERM') {
    return new InputError(
      `${path}: no permission to read it; change its permissions or read it as its owner`,
    );
  }
  if (code === 'EISDIR') return new InputError(`${path}: this is a folder; give a file`);
  if (code === 'EAGAIN') {
    return new InputError(`${path}: it waits for input and has no end; copy what you need into a file first`);
  }
  if (code.startsWith('Z_')) {
    return new InputError(
      `${path}: the gzip data is damaged or cut short (${message}); fetch or compress it again`,
    );
  }
  return new InputError(`${path}: it cannot be read (${message}); check the file and the disk`);
}
