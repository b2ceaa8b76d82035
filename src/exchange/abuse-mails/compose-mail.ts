import type { OutgoingMail } from '../../net/smtp.ts'
import { VERSION } from '../../version.ts'
import { serviceOf, type Service } from '../../abuse/services.ts'
import { MAX_PARTS } from './limits.ts'
import { mailSubject, mailText, testNote } from './messages.ts'
import type { AbuseMail, MailedReport } from './abuse-mails.sql.ts'

/** RFC 3834: prevents automatic replies. */
const NO_REPLIES = { 'Auto-Submitted': 'auto-generated', 'X-Auto-Response-Suppress': 'All' }

/** Report types of X-ARF 0.2, by our categories of attacks. */
const REPORT_TYPES: Partial<Record<Service['category'], string>> = {
  bruteforce: 'login-attack',
  scan: 'portscan',
  ddos: 'ddos',
}
const OTHER_TYPE = 'login-attack'

/**
 * Composes an email about one network: a text for people, and an X-ARF 0.2 report for each address.
 * In test mode it goes to the contact instead.
 * @param optOutUrl null in previews and test mode: whoever has it can opt the recipient out
 */
export function composeAbuseMail(
  mail: Pick<AbuseMail, 'id' | 'day' | 'recipient' | 'network' | 'isTest' | 'contact'>,
  reports: MailedReport[],
  optOutUrl: string | null,
): OutgoingMail {
  const { id, day, recipient, network, isTest, contact } = mail
  const inParts = reports.slice(0, MAX_PARTS)
  const text = mailText({ day, network, contact, optOutUrl, reports, parts: inParts.length })
  return {
    to: isTest ? contact : recipient,
    replyTo: contact,
    subject: mailSubject({ day, reports }),
    text: isTest ? `${testNote(recipient)}\n\n${text}` : text,
    headers: {
      ...NO_REPLIES,
      ...(optOutUrl !== null && { 'List-Unsubscribe': `<${optOutUrl}>` }),
      // The header marks an email with a single report (X-ARF 0.2).
      ...(reports.length === 1 && { 'X-XARF': 'PLAIN' }),
    },
    attachments: inParts.map((report, index) => ({
      filename: reports.length === 1 ? 'report.txt' : `report-${index + 1}.txt`,
      content: xarfOf(report, { id: `${id}-${index + 1}`, contact }),
    })),
  }
}

/** A report in X-ARF 0.2: YAML, whose values are addresses, numbers and our own words. */
function xarfOf(
  { address, services, port, count, lastAt }: MailedReport,
  { id, contact }: { id: string; contact: string },
): string {
  const [service = 'other'] = services
  const type = REPORT_TYPES[serviceOf(service).category] ?? OTHER_TYPE
  const fields: [string, string | number][] = [
    ['Reported-From', contact],
    ['Category', 'abuse'],
    ['Report-Type', type],
    ['Service', service],
    ...(port === null ? [] : [['Port', port] as [string, number]]),
    ['Version', '0.2'],
    ['User-Agent', `Portreeve ${VERSION}`],
    ['Date', lastAt.toUTCString().replace('GMT', '+0000')],
    ['Source-Type', address.includes(':') ? 'ipv6' : 'ipv4'],
    ['Source', address],
    ['Report-ID', `${id}@portreeve`],
    ['Occurrences', count],
    ['Attachment', 'none'],
    ['Schema-URL', `http://www.x-arf.org/schema/abuse_${type}_0.1.2.json`],
  ]
  return `---\n${fields.map(([name, value]) => `${name}: ${yamlOf(value)}\n`).join('')}`
}

/** Quoted where YAML would read something else than text. */
function yamlOf(value: string | number): string {
  if (typeof value === 'number') return String(value)
  return /^[A-Za-z][\w .,@/-]*$/.test(value) ? value : JSON.stringify(value)
}
