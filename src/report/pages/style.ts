// Style rules that pages share. Those that are not here differ between the reports and the browser page.

import { INK } from '../charts/ink.js';

const colours = (shade: 'light' | 'dark') =>
  Object.entries(INK)
    .map(([name, ink]) => `--${name}:${ink[shade]}`)
    .join(';');

/** Colours, fonts, links and tables, of the manual too. */
export const FOUNDATION = `
:root{${colours('light')};--link:#2463a6;--line:#dfe3e8;--soft:#f5f6f8;color-scheme:light dark}
@media(prefers-color-scheme:dark){:root{${colours('dark')};--link:#7db5f2;--line:#2c333b;--soft:#1c2127}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--text);font:1.0625rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
a{color:var(--link);text-underline-offset:.18em}
table{border-collapse:collapse;width:100%;font-size:.97rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;border-bottom:1px solid var(--line);vertical-align:baseline}
`;

/** Titles, cards, facts and the cells of tables. */
export const CONTENT = `
h1{font-size:clamp(1.7rem,1.2rem + 2.2vw,2.4rem);line-height:1.15;letter-spacing:-.02em;margin:0 0 .6rem;text-wrap:balance;overflow-wrap:anywhere}
h2{font-size:1.35rem;line-height:1.25;letter-spacing:-.01em}
h3{font-size:1.0625rem;margin:1.6rem 0 .4rem}
p{margin:0 0 1rem;text-wrap:pretty}
.lead{font-size:1.2rem;line-height:1.5;color:var(--muted);margin-bottom:1.2rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(15rem,100%),1fr));gap:1rem;margin:1.2rem 0 1.4rem}
.card{border:1px solid var(--line);border-top:4px solid var(--muted);border-radius:.5rem;padding:.9rem 1.1rem 1rem;background:var(--soft)}
.card p{margin:.3rem 0 0}.card .kicker{font-size:.95rem;color:var(--muted);margin:0}
.card strong{display:block;font-size:1.6rem;line-height:1.2;letter-spacing:-.01em}
.card.auto{border-top-color:var(--auto)}.card.sparse{border-top-color:var(--sparse)}.card.dense{border-top-color:var(--dense)}.card.ranking{border-top-color:var(--ranking)}
.card.auto strong{color:var(--auto)}.card.sparse strong{color:var(--sparse)}.card.dense strong{color:var(--dense)}.card.ranking strong{color:var(--ranking)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:.8rem 1.4rem;margin:1.2rem 0}
.facts dt{font-size:.95rem;color:var(--muted)}.facts dd{margin:0;font-size:1.35rem;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.scroll{overflow-x:auto;margin:1rem 0 1.4rem}
figcaption{font-size:.95rem;color:var(--muted);margin-top:.5rem}
caption{caption-side:bottom;text-align:left;font-size:.95rem;color:var(--muted);padding-top:.5rem}
thead th{font-weight:600;color:var(--muted);font-size:.93rem;vertical-align:bottom}
tbody th{font-weight:600;overflow-wrap:anywhere;min-width:6rem}
.number{text-align:right;padding-right:0;padding-left:.8rem;white-space:nowrap}.number+:is(td,th):not(.number){padding-left:1.6rem}
thead .number{white-space:normal}
summary{cursor:pointer;font-weight:600}
details:not(.badge,.behind){border:1px solid var(--line);border-radius:.5rem;margin:0 0 1rem;padding:.6rem 1rem;background:var(--soft)}
.words dt{font-weight:600;margin-top:1rem}.words dd{margin:.15rem 0 0}
`;
