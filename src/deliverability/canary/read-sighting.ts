import { fieldValues, type Message } from '../../protocols/mail/message.ts'
import { parseMailDate } from '../../protocols/mail/mail-date.ts'

/**
 * Why a mailbox lets the sender through whatever a filter thinks; null where it does not. Microsoft
 * writes the verdict of its filter: `SFE` for a safe sender of the user, `SKA` for an allow list,
 * `SKN` for a rule that skipped the filter (anti-spam message headers, Microsoft Learn).
 */
export function findAllowListing(header: Message): string | null {
  const microsoft = fieldValues(header, 'x-forefront-antispam-report').join(';')
  const verdict = /(?:^|;)\s*SFV:(SFE|SKA|SKN)\b/i.exec(microsoft)?.[1]
  if (verdict) return `SFV:${verdict.toUpperCase()}`
  const status = fieldValues(header, 'x-spam-status').join(' ')
  const rule = /\b(USER_IN_(?:DEF_|SPF_|DKIM_)?(?:WELCOME|WHITE)LIST)\b/.exec(status)?.[1]
  return rule ?? null
}

/**
 * Seconds between the submission and the arrival at the last server, by its own clock; null where
 * it names no time.
 */
export function delayOf(header: Message, sentAt: Date): number | null {
  const [topmost = ''] = fieldValues(header, 'received')
  const text = topmost.slice(0, 2_000)
  const arrivedAt = parseMailDate(text.slice(text.lastIndexOf(';') + 1))
  if (!arrivedAt) return null
  return Math.max(0, Math.round((arrivedAt.getTime() - sentAt.getTime()) / 1000))
}
