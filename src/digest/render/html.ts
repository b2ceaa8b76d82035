import type { DigestDocument, Item, PassRate, Section } from '../content/digest-document.ts'
import { footer as messages } from '../messages.ts'
import { markup, type Html } from '../../http/markup.ts'
import { COLORS, FONT, STYLES, TONES } from './style.ts'

/*
 * Markup for mail clients: tables, because Outlook on Windows lays out with Word; inline styles,
 * because some clients remove style sheets; classes only for what may be missing (dark colors,
 * narrow screens); and no images, because clients load none before the reader agrees.
 */

/**
 * Renders a digest as an HTML document.
 * @param baseUrl public URL of the service
 */
export function renderHtml(digest: DigestDocument, baseUrl: string): string {
  return markup`<!DOCTYPE html>
<html lang="en" xmlns:o="urn:schemas-microsoft-com:office:office">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no, date=no, address=no, email=no">
<title>${digest.subject}</title>
<!--[if mso]><xml><o:OfficeDocumentSettings><o:PixelsPerInch>96</o:PixelsPerInch></o:OfficeDocumentSettings></xml><style>h1, h2, p, a, td { font-family: Arial, sans-serif !important; }</style><![endif]-->
<style>${STYLES}</style>
</head>
<body class="page" style="margin:0;padding:0;background-color:${COLORS.page};-webkit-text-size-adjust:100%;">
${preheader(digest.preheader)}
<table role="presentation" class="page" ${TABLE} width="100%" bgcolor="${COLORS.page}"><tr><td class="outer" align="center" style="padding:24px 12px;font-family:${FONT};">
<!--[if mso]><table role="presentation" width="600" cellpadding="0" cellspacing="0" border="0"><tr><td><![endif]-->
<table role="presentation" ${TABLE} width="100%" align="center" style="max-width:600px;text-align:left;">
${header(digest)}
${verdict(digest)}
${digest.sections.map(section)}
${button(digest.homeUrl)}
${footer(digest, baseUrl)}
</table>
<!--[if mso]></td></tr></table><![endif]-->
</td></tr></table>
</body>
</html>
`.text
}

const TABLE = markup`cellpadding="0" cellspacing="0" border="0"`

/** The spaces keep clients from showing the first words of the body, too. */
function preheader(text: string): Html {
  const filler = '\u00a0\u200c'.repeat(90)
  return markup`<div style="display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px;color:${COLORS.page};mso-hide:all;">${text}${filler}</div>`
}

/** The style of a text; its font is that of the cell around everything. */
const text = (size: number, color: string, more = '') =>
  `margin:0;font-size:${size}px;line-height:${Math.round(size * 1.45)}px;color:${color};${more}`

function header({ title, subtitle }: DigestDocument): Html {
  return markup`<tr><td style="padding:0 4px 16px;">
<p class="accent" style="${text(13, COLORS.accent, 'font-weight:700;padding-bottom:4px;')}">Portreeve</p>
<h1 class="ink" style="${text(23, COLORS.ink, 'font-weight:700;')}">${title}</h1>
<p class="soft" style="${text(14, COLORS.soft, 'padding-top:2px;')}">${subtitle}</p>
</td></tr>`
}

function verdict({ verdict: { tone, title, text: sentence }, quiet }: DigestDocument): Html {
  const { color, wash } = TONES[tone]
  return markup`<tr><td class="wash-${tone}" bgcolor="${wash}" style="background-color:${wash};border-left:4px solid ${color};border-radius:6px;padding:16px 20px;">
<h2 class="${tone}" style="${text(19, color, 'font-weight:700;')}">${title}</h2>
${[sentence, ...quiet].map((line) => markup`<p class="ink" style="${text(15, COLORS.ink, 'padding-top:4px;')}">${line}</p>`)}
</td></tr>`
}

function section({ title, lead, items, rates = [], more, url }: Section): Html {
  const rows = [
    ...items.map(item),
    ...rates.map(rate),
    ...(more > 0 ? [link(url, messages.more(more), 14)] : []),
  ]
  return markup`<tr><td style="padding:20px 0 0;">
<table role="presentation" class="card" ${TABLE} width="100%" bgcolor="${COLORS.surface}" style="background-color:${COLORS.surface};border:1px solid ${COLORS.line};border-radius:8px;">
<tr><td class="cell" style="padding:14px 20px;">
<h2 class="ink" style="${text(16, COLORS.ink, 'font-weight:700;')}">${title}</h2>
${lead ? markup`<p class="soft" style="${text(13, COLORS.soft, 'padding-top:2px;')}">${lead}</p>` : null}
</td></tr>
${rows.map((row) => markup`<tr><td class="cell row" style="padding:10px 20px;border-top:1px solid ${COLORS.line};">${row}</td></tr>\n`)}</table>
</td></tr>`
}

function item({ tone, label, title, detail, url }: Item): Html {
  const { color, wash } = TONES[tone]
  const head = url
    ? link(url, title, 15)
    : markup`<p class="ink" style="${text(15, COLORS.ink)}">${title}</p>`
  const rest = detail
    ? markup`<p class="soft" style="${text(13, COLORS.soft, BREAK)}">${detail}</p>`
    : null
  return markup`<table role="presentation" ${TABLE} width="100%"><tr><td class="chip" width="104" valign="top" style="width:104px;padding-top:1px;"><span class="${tone} wash-${tone}" style="${text(12, color, `font-weight:600;white-space:nowrap;background-color:${wash};border-radius:4px;padding:2px 7px;`)}">${label}</span></td><td class="text" valign="top">${head}${rest}</td></tr></table>`
}

function rate({ domain, url, share, rate: percentage, summary, tone, notes }: PassRate): Html {
  return markup`<table role="presentation" ${TABLE} width="100%"><tr><td valign="bottom">${link(url, domain, 15)}</td><td class="${tone}" valign="bottom" align="right" style="${text(15, TONES[tone].color, 'font-weight:700;white-space:nowrap;padding-left:12px;')}">${percentage}</td></tr></table>
${share === null ? null : bar(share)}
<p class="soft" style="${text(13, COLORS.soft)}">${summary}</p>
${notes.map((note) => markup`<p class="${note.tone}" style="${text(13, TONES[note.tone].color, BREAK)}">${note.text}</p>`)}`
}

/** Long names of hosts may break anywhere on a phone. */
const BREAK = 'padding-top:2px;word-break:break-word;'

/** Two cells whose widths are the shares. A single failure shows, and a single success. */
function bar(share: number): Html {
  const passed =
    share === 0 || share === 1 ? share * 100 : Math.min(99, Math.max(1, Math.round(share * 100)))
  const cell = (width: number, name: 'pass' | 'fail') =>
    width === 0
      ? null
      : markup`<td class="${name}" width="${width}%" height="8" bgcolor="${COLORS[name]}" style="width:${width}%;height:8px;font-size:1px;line-height:8px;background-color:${COLORS[name]};">&nbsp;</td>`
  return markup`<table role="presentation" ${TABLE} width="100%" style="margin:6px 0 4px;"><tr>${cell(passed, 'pass')}${cell(100 - passed, 'fail')}</tr></table>`
}

function link(url: string, label: string, size: number): Html {
  return markup`<a class="accent" href="${url}" style="${text(size, COLORS.accent, 'text-decoration:none;font-weight:500;word-break:break-word;')}">${label}</a>`
}

/** The padding is that of the cell, because Outlook on Windows ignores that of a link. */
function button(url: string): Html {
  return markup`<tr><td style="padding:24px 0 0;"><table role="presentation" ${TABLE}><tr><td class="button" bgcolor="${COLORS.accent}" style="background-color:${COLORS.accent};border-radius:6px;padding:10px 20px;"><a class="on-accent" href="${url}" style="${text(15, COLORS.onAccent, 'text-decoration:none;font-weight:600;')}">${messages.dashboard}</a></td></tr></table></td></tr>`
}

function footer({ footer: parts }: DigestDocument, baseUrl: string): Html {
  const { reason, next, settingsUrl, unsubscribeUrl } = parts
  const line = (content: string | Html) =>
    markup`<p class="soft" style="${text(12, COLORS.soft, 'padding-top:4px;')}">${content}</p>`
  const way = (url: string, label: string) =>
    markup`<a class="soft" href="${url}" style="color:${COLORS.soft};text-decoration:underline;">${label}</a>`
  const ways = unsubscribeUrl
    ? markup`${way(settingsUrl, messages.settings)} &nbsp;·&nbsp; ${way(unsubscribeUrl, messages.unsubscribe)}`
    : way(settingsUrl, messages.settings)
  return markup`<tr><td style="padding:24px 4px 0;">
${next ? line(next) : null}
${line(reason)}
${line(messages.sentBy(baseUrl))}
${line(ways)}
</td></tr>`
}
