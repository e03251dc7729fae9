// The style rules that the page shares with the reports. scripts/page.js generates this module from report/pages/style.ts.
declare module 'virtual:reports.css' {}
declare module '*.css' {}
