import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../version.ts'

/** A service that sends mail on behalf of other domains (`data/mail-senders.json`). */
export type MailSender = {
  id: string
  name: string
  /** Base domains of its host names. */
  ptrDomains: string[] | null
  /** Its page on setting up a domain. */
  docs: string | null
}

const { senders } = JSON.parse(readFileSync(join(ROOT, 'data', 'mail-senders.json'), 'utf8')) as {
  senders: MailSender[]
}

const MAIL_SENDERS: readonly MailSender[] = senders

const BY_HOST_DOMAIN = new Map(
  MAIL_SENDERS.flatMap((sender) => (sender.ptrDomains ?? []).map((domain) => [domain, sender])),
)

/**
 * Finds the service that a host belongs to, by the longest suffix of its name.
 * @param hostname a reverse name that was confirmed by a forward lookup: anyone can claim others
 */
export function findSenderByHost(hostname: string): MailSender | null {
  const labels = hostname.toLowerCase().replace(/\.$/, '').split('.')
  for (let at = 0; at < labels.length; at++) {
    const sender = BY_HOST_DOMAIN.get(labels.slice(at).join('.'))
    if (sender) return sender
  }
  return null
}
