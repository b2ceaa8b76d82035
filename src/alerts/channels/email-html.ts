import { emailButton, emailPage, emailParagraph } from '../../http/email-page.ts'
import { markup, type Html } from '../../http/markup.ts'
import { alertLink, type LinkTarget } from '../alert-link.ts'
import type { AlertRow } from '../alerts.sql.ts'
import { alertEmail } from '../messages.ts'
import { oneLine, plain } from './notification.ts'

/** The colors of a status, on a light and on a dark page alike. */
const COLORS = { bad: '#b3231f', warning: '#8a5a00', good: '#09673c', neutral: '#4d5b66' } as const

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
  return emailPage(
    oneLine(alerts[0]?.title ?? ''),
    markup`${blocks}
${hidden > 0 ? emailParagraph(alertEmail.more(hidden)) : null}
<p style="margin:24px 0 0;font-size:13px;line-height:19px;opacity:0.75;">${footer.map((line) => markup`${line}<br>`)}</p>`,
  )
}

function block(alert: AlertRow, link: string | null | undefined, actionPage: string | null): Html {
  const color = colorOf(alert)
  const at = `${alert.at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
  return markup`<div style="margin:0 0 20px;padding:4px 0 4px 16px;border-left:4px solid ${color};">
<h1 style="margin:0 0 8px;font-size:18px;line-height:24px;color:${color};">${oneLine(alert.title)}</h1>
${plain(alert.text)
  .split(/\n{2,}/)
  .map(emailParagraph)}
${alert.nextStep ? emailParagraph(alertEmail.nextStep(plain(alert.nextStep))) : null}
${link ? emailButton(link, alertEmail.details) : null}
${actionPage ? markup`<p style="margin:8px 0 0;font-size:13px;"><a href="${actionPage}">${alertEmail.actions}</a></p>` : null}
<p style="margin:8px 0 0;font-size:13px;opacity:0.75;">${at}</p>
</div>`
}
