import { Fault } from '../../../errors.ts'
import { sendMail } from '../../../net/smtp.ts'
import { VERSION } from '../../../version.ts'
import { serviceOf } from '../../../abuse/services.ts'
import type { OutgoingReport, RelayCredentials, RelayService } from './relay-service.ts'

const REPORT_ADDRESS = 'reports@dshield.org'
const NO_MAIL = 'This service has no mail relay (SMTP_URL), which DShield needs.'

/** RFC 3834: prevents automatic replies. */
const HEADERS = { 'Auto-Submitted': 'auto-generated' }

/** Mails reports to DShield in its own format, at most once an hour. */
export const dshield: RelayService = {
  id: 'dshield',
  name: 'DShield',
  homepage: 'https://isc.sans.edu/myaccount.html',
  accountLabel: 'User ID',
  keyLabel: 'Authentication key',
  accountPattern: /^\d{1,12}$/,
  keyPattern: /^[0-9a-zA-Z+/=]{6,128}$/,
  perDay: 5_000,
  addressSeconds: 60 * 60,
  intervalSeconds: 60 * 60,
  batchSize: 500,
  needsMail: true,
  async send(reports, credentials, deps, signal) {
    if (!deps.mailRelay) return { state: 'stopped', reason: NO_MAIL }
    const relay = { ...deps.mailRelay, beforeMessage: deps.beforeHandover }
    await sendMail(relay, composeMail(REPORT_ADDRESS, reports, credentials), signal)
    return { state: 'sent' }
  },
  async test(credentials, { mailRelay, email }, signal) {
    if (!mailRelay) throw new Fault('unavailable', NO_MAIL)
    await sendMail(mailRelay, composeMail(email, [EXAMPLE], { ...credentials, key: 'KEY' }), signal)
    return `A sample was sent to ${email}. DShield does not confirm a key without reports.`
  },
}

const EXAMPLE: OutgoingReport = {
  address: '192.0.2.1',
  services: ['ssh'],
  port: 22,
  count: 5,
  reportedAt: new Date(0),
}

/** The subject has the user, the time zone and the key; each line is a report. */
function composeMail(
  to: string,
  reports: OutgoingReport[],
  { account, key }: RelayCredentials,
): Parameters<typeof sendMail>[1] {
  const subject = `FORMAT DSHIELD USERID ${account} TZ +00:00 AUTHKEY ${key} PORTREEVE ${VERSION}`
  const lines = reports.map((report) => `${lineOf(report, account)}\n`)
  return { to, subject, headers: HEADERS, text: lines.join('') }
}

/**
 * Fields separated by tabs; unknown ones are `???`: the port of the attacker, and the address of
 * the server, which is not passed on.
 */
function lineOf({ address, services, port, count, reportedAt }: OutgoingReport, account: string) {
  const at = reportedAt.toISOString()
  const [defaultPort] = serviceOf(services[0] ?? 'other').defaultPorts
  const target = port ?? defaultPort ?? '???'
  const time = `${at.slice(0, 10)} ${at.slice(11, 19)} +00:00`
  return [time, account, count, address, '???', '???', target, 'TCP', ''].join('\t')
}
