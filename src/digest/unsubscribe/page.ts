import { createHash } from 'node:crypto'
import { unsubscribePage as messages } from '../messages.ts'
import { markup, Html } from '../render/escape.ts'

const STYLE = new Html(`
:root{color-scheme:light dark;--page:#f5f8f9;--card:#fff;--line:#dbe2e5;--ink:#16232f;--soft:#4d5b66;--accent:#055b86;--on:#fafcfd}
@media (prefers-color-scheme:dark){:root{--page:#0c151d;--card:#131e27;--line:#26343f;--ink:#e3ebef;--soft:#a3b1bb;--accent:#7cc4ea;--on:#04202f}}
body{margin:0;padding:48px 16px;background:var(--page);color:var(--ink);font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}
main{max-width:28rem;margin:0 auto;padding:28px;background:var(--card);border:1px solid var(--line);border-radius:10px}
.brand{margin:0 0 16px;font-size:14px;font-weight:700;color:var(--accent)}
h1{margin:0 0 8px;font-size:22px;line-height:1.3}
p{margin:0 0 20px;color:var(--soft)}
button{font:inherit;font-weight:600;padding:10px 20px;border:0;border-radius:6px;background:var(--accent);color:var(--on);cursor:pointer}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
a{color:var(--accent)}
`)

const STYLE_HASH = createHash('sha256').update(STYLE.text).digest('base64')

/** The page loads nothing; its form is sent to the service alone. */
export const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  // The address contains the token.
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
}

/** The page of the link in an email: a button, because link scanners open every link. */
export function questionPage(): string {
  const button = markup`<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button type="submit">${messages.button}</button></form>`
  return page(messages.title, messages.question, button)
}

export function donePage(settingsUrl: string): string {
  return page(messages.done, messages.doneText, settingsLink(settingsUrl))
}

export function unknownPage(settingsUrl: string): string {
  return page(messages.unknown, messages.unknownText, settingsLink(settingsUrl))
}

const settingsLink = (url: string) => markup`<a href="${url}">${messages.settings}</a>`

function page(title: string, text: string, action: Html): string {
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
