import { createHash } from 'node:crypto'
import { Html, markup } from './markup.ts'
import { oneLine } from './shown-name.ts'

const STYLE = new Html(`
:root{color-scheme:light dark;--page:#f5f8f9;--card:#fff;--line:#dbe2e5;--field:#75838d;--ink:#16232f;--soft:#4d5b66;--accent:#055b86;--on:#fafcfd;--bad:#a3211b}
@media (prefers-color-scheme:dark){:root{--page:#0c151d;--card:#131e27;--line:#26343f;--field:#7d8c97;--ink:#e3ebef;--soft:#a3b1bb;--accent:#7cc4ea;--on:#04202f;--bad:#ff9d94}}
*{box-sizing:border-box}
body{margin:0;padding:48px 16px;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
main{max-width:28rem;margin:0 auto;padding:28px;background:var(--card);border:1px solid var(--line);border-radius:10px}
.brand{margin:0 0 16px;font-size:14px;font-weight:700;color:var(--accent)}
h1{margin:0 0 8px;font-size:22px;line-height:1.3;overflow-wrap:anywhere}
h2{margin:0 0 4px;font-size:17px;line-height:1.3}
p{margin:0 0 20px;color:var(--soft)}
section{margin:20px 0 0;padding:20px 0 0;border-top:1px solid var(--line)}
section p{margin:0 0 12px}
form{display:flex;flex-wrap:wrap;gap:12px;align-items:end}
label{display:grid;gap:4px;font-size:14px;font-weight:600}
select,input[type=password]{font:inherit;width:100%;min-height:44px;padding:8px 12px;border:1px solid var(--field);border-radius:6px;background:var(--card);color:var(--ink)}
.problem{color:var(--bad);font-weight:600}
button{font:inherit;font-weight:600;min-height:44px;padding:10px 20px;border:0;border-radius:6px;background:var(--accent);color:var(--on);cursor:pointer}
.second button{background:none;border:1px solid var(--field);color:var(--ink)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
a{color:var(--accent)}
`)

const STYLE_HASH = createHash('sha256').update(STYLE.text).digest('base64')

/** Headers of a page that loads nothing, and whose forms are sent to the service alone. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  // The address may contain a token.
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

/**
 * A page that works without scripts and without signing in, for links in messages.
 * @param givenTitle also the heading
 * @param action what follows the text
 */
export function plainPage(givenTitle: string, givenText: string, action: Html): string {
  // Both can contain names that the reader did not choose.
  const [title, text] = [oneLine(givenTitle, Infinity), oneLine(givenText, Infinity)]
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Portreeve</title>
<style>${STYLE}</style>
</head>
<body><main><p class="brand">Portreeve</p><h1>${title}</h1><p>${text}</p>${action}</main></body>
</html>
`.text
}
