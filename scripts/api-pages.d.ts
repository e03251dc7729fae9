export interface PublicName {
  readonly name: string;
  readonly room: string;
  readonly browser: boolean;
}
export function publicNames(): PublicName[];
export function documentation(entry: PublicName): string;
export function examples(entry: PublicName): string[];
export function apiPages(): Record<string, string>;
