export interface PublicName {
  readonly name: string;
  readonly entry: 'graphex' | 'graphex/report';
  readonly task: string;
  readonly isValue: boolean;
  readonly browser: boolean;
}
export function publicNames(): PublicName[];
export function documentation(entry: PublicName): string;
export function examples(entry: PublicName): string[];
export function apiPages(): Record<string, string>;
export function apiReport(): string;
