import { readFileSync } from 'node:fs';
import { openTensors } from './mutate.js';

/** Everything in the file except times. */
export function modelContents(file: string): object {
  const { header, data } = openTensors(readFileSync(file));
  const { seconds, checksum, ...metadata } = header.__metadata__ as Record<string, string>;
  if (metadata.members) {
    const heads = JSON.parse(metadata.members) as Record<string, string>[];
    metadata.members = JSON.stringify(heads.map(({ seconds: _, ...head }) => head));
  }
  return { header: { ...header, __metadata__: metadata }, data: Buffer.from(data).toString('hex') };
}
