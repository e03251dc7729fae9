// How a study's sentences write numbers and lists.

/** '1,235'. */
export function grouped(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** 'a, b and c'. */
export function list(parts: readonly string[]): string {
  if (parts.length < 2) return parts.join('');
  const separator = parts.some((part) => part.includes(',')) ? '; ' : ', ';
  return `${parts.slice(0, -1).join(separator)}${separator === '; ' ? '; and ' : ' and '}${parts.at(-1)}`;
}

/** Three decimals with a true minus sign. */
export function signed(value: number): string {
  return value.toFixed(3).replace('-', '−');
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
