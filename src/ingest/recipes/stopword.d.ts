declare module 'stopword/dist/stopword.esm.mjs' {
  /** English stop words, lower case. */
  export const eng: readonly string[];
}
