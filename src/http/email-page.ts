import { markup, type Html } from './markup.ts'

const ACCENT = '#055b86'
const FONT = "-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

/** An email as HTML. Inline styles and no images, which mail clients would remove. */
export function emailPage(title: string, body: Html): string {
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
</head>
<body style="margin:0;padding:16px;font-family:${FONT};font-size:15px;line-height:22px;">
<div style="max-width:600px;">
${body}
</div>
</body>
</html>
`.text
}

export function emailParagraph(text: string): Html {
  const lines = text.split('\n').map((line) => markup`${line}<br>`)
  return markup`<p style="margin:0 0 8px;">${lines}</p>`
}

export function emailButton(href: string, label: string): Html {
  return markup`<p style="margin:12px 0;"><a href="${href}" style="display:inline-block;padding:8px 16px;border-radius:6px;background-color:${ACCENT};color:#ffffff;text-decoration:none;font-weight:600;">${label}</a></p>`
}
