/** Licences that let anybody use, change and pass on. */
export declare const FREE_LICENCES: readonly string[];
/** Everything that is wrong with the checkout at `root`. */
export declare function releaseProblems(root: string, apiReport: () => string): string[];
/** Packages of a lock file that npm would install, and whose licence is not free. */
export declare function licenceProblems(
  packages: Readonly<Record<string, { readonly dev?: boolean; readonly license?: string }>>,
): string[];
