// Thrift's compact protocol, as far as a Parquet file that graphex writes needs it.

/** A value with its kind, which stands in front of it in a struct and once in a list. */
export interface Encoded {
  readonly kind: number;
  readonly bytes: Uint8Array;
}

const [TRUE, FALSE, BYTE, I32, I64, BINARY, LIST, STRUCT] = [1, 2, 3, 5, 6, 8, 9, 12];

export const boolean = (value: boolean): Encoded => ({
  kind: value ? TRUE : FALSE,
  bytes: new Uint8Array(0),
});
export const byte = (value: number): Encoded => ({ kind: BYTE, bytes: Uint8Array.of(value) });
export const i32 = (value: number): Encoded => ({ kind: I32, bytes: zigzag(value) });
export const i64 = (value: number): Encoded => ({ kind: I64, bytes: zigzag(value) });

export function text(value: string): Encoded {
  const bytes = new TextEncoder().encode(value);
  return { kind: BINARY, bytes: joined([varint(bytes.length), bytes]) };
}

/** A list of values of one kind, at least one. */
export function list(values: readonly Encoded[], kind = values[0]?.kind ?? STRUCT): Encoded {
  const many = values.length >= 15;
  const head = Uint8Array.of(((many ? 15 : values.length) << 4) | kind);
  const length = many ? [varint(values.length)] : [];
  return { kind: LIST, bytes: joined([head, ...length, ...values.map(({ bytes }) => bytes)]) };
}

/** A struct of fields by ascending number, each at most 15 above the one before. */
export function struct(...fields: readonly (readonly [number, Encoded])[]): Encoded {
  const parts: Uint8Array[] = [];
  let last = 0;
  for (const [id, { kind, bytes }] of fields) {
    parts.push(Uint8Array.of(((id - last) << 4) | kind), bytes);
    last = id;
  }
  parts.push(Uint8Array.of(0));
  return { kind: STRUCT, bytes: joined(parts) };
}

/** A whole number in groups of seven bits, the lowest first. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}

function zigzag(value: number): Uint8Array {
  return varint(value < 0 ? -2 * value - 1 : 2 * value);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
