// The colours of the reports as custom properties; scripts/page.js writes it from their one list.
declare module 'virtual:ink.css' {}
declare module '*.css' {}
