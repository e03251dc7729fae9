// The checksum of Parquet pages: Node's own if it exists, otherwise by a table.

const native = globalThis.process?.getBuiltinModule?.('node:zlib')?.crc32;

export const crc32: (bytes: Uint8Array) => number = native ?? crc32ByTable;

let table: Uint32Array | undefined;

export function crc32ByTable(bytes: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    return rest;
  });
  let sum = 0xffffffff;
  for (let i = 0; i < bytes.length; i++) sum = table[(sum ^ bytes[i]) & 255] ^ (sum >>> 8);
  return ~sum >>> 0;
}
