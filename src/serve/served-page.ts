// A page that the server writes itself: self-contained, with nothing from elsewhere.

import { createHash } from 'node:crypto';
import { type Content, Html, html } from '../report/pages/html.js';

export interface ServedPage {
  readonly html: string;
  /** Its policy: only this style sheet and this script take effect, and the script talks to its own server alone. */
  readonly policy: string;
}

interface PageParts {
  readonly title: string;
  readonly style: string;
  readonly body: Content;
  readonly script?: string;
}

export function servedPage({ title, style, body, script }: PageParts): ServedPage {
  const scripted = script === undefined ? '' : ` script-src ${hash(script)}; connect-src 'self';`;
  return {
    html: String(html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width"><style>${new Html(style)}</style></head><body>${body}${
      script !== undefined && html`<script>${new Html(script)}</script>`
    }</body></html>`),
    policy: `default-src 'none';${scripted} style-src ${hash(style)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  };
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
