/** The version of this library, as in package.json (a test compares them). */
export const VERSION = '0.2.0';
