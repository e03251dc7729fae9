// The colours of the reports as CSS custom properties. scripts/page.js generates this module from the reports' list of colours.
declare module 'virtual:ink.css' {}
declare module '*.css' {}
