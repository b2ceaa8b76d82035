import { markup, type Html } from '../../http/markup.ts'
import { alertLink, type LinkTarget } from '../alert-link.ts'
import type { AlertRow } from '../alerts.sql.ts'
import { alertEmail } from '../messages.ts'
import { oneLine, plain } from './notification.ts'

/** The colors of a status, on a light and on a dark page alike. */
const COLORS = { bad: '#b3231f', warning: '#8a5a00', good: '#09673c', neutral: '#4d5b66' } as const
const ACCENT = '#055b86'
const FONT = "-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif"

function colorOf({ severity, phase }: Pick<AlertRow, 'severity' | 'phase'>): string {
  if (phase === 'resolved') return COLORS.good
  if (severity === 'info') return COLORS.neutral
  return severity === 'warning' ? COLORS.warning : COLORS.bad
}

/**
 * The alerts of an email as HTML: the color of each status, and one button to its page. Inline
 * styles and no images, which mail clients would remove.
 */
export function renderAlertHtml(
  alerts: readonly AlertRow[],
  hidden: number,
  target: LinkTarget,
  actionPageOf: (alert: AlertRow) => string | null,
): string {
  const blocks = alerts.map((alert) => block(alert, alertLink(alert, target), actionPageOf(alert)))
  const [, ...footer] = alertEmail.footer(target.baseUrl).split('\n')
  return markup`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${oneLine(alerts[0]?.title ?? '')}</title>
</head>
<body style="margin:0;padding:16px;font-family:${FONT};font-size:15px;line-height:22px;">
<div style="max-width:600px;">
${blocks}
${hidden > 0 ? paragraph(alertEmail.more(hidden)) : null}
<p style="margin:24px 0 0;font-size:13px;line-height:19px;opacity:0.75;">${footer.map((line) => markup`${line}<br>`)}</p>
</div>
</body>
</html>
`.text
}

function block(alert: AlertRow, link: string | null | undefined, actionPage: string | null): Html {
  const color = colorOf(alert)
  const at = `${alert.at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return markup`<div style="margin:0 0 20px;padding:4px 0 4px 16px;border-left:4px solid ${color};">
<h1 style="margin:0 0 8px;font-size:18px;line-height:24px;color:${color};">${oneLine(alert.title)}</h1>
${plain(alert.text)
  .split(/\n{2,}/)
  .map(paragraph)}
${alert.nextStep ? paragraph(alertEmail.nextStep(plain(alert.nextStep))) : null}
${link ? markup`<p style="margin:12px 0;"><a href="${link}" style="display:inline-block;padding:8px 16px;border-radius:6px;background-color:${ACCENT};color:#ffffff;text-decoration:none;font-weight:600;">${alertEmail.details}</a></p>` : null}
${actionPage ? markup`<p style="margin:8px 0 0;font-size:13px;"><a href="${actionPage}">${alertEmail.actions}</a></p>` : null}
<p style="margin:8px 0 0;font-size:13px;opacity:0.75;">${at}</p>
</div>`
}

function paragraph(text: string): Html {
  const lines = text.split('\n').map((line) => markup`${line}<br>`)
  return markup`<p style="margin:0 0 8px;">${lines}</p>`
}
