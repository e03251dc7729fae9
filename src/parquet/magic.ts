export function isParquet(first: Uint8Array): boolean {
  return [...'PAR1'].every((letter, i) => first[i] === letter.charCodeAt(0));
}
