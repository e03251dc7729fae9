import type { ts } from '@ts-morph/common';
export const root: string;
export const dist: string;
export function declarationProgram(entries: readonly string[]): ts.Program;
