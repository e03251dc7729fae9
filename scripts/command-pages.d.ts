/** The pages by file name. */
export function commandPages(): Promise<Record<string, string>>;
