import type { Kysely } from 'kysely'
import type { Config } from '../../config.ts'
import { Fault } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { Resolver } from '../../net/dns.ts'
import { startSmtpServer, smtpReply, type SmtpServer, type ReceivedMail } from '../../net/smtp-server.ts'
import { authenticateMail } from '../../protocols/mail/mail-authentication.ts'
import { REPORT_LIMITS } from '../../protocols/reports/report-limits.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { findDomainByMailbox, type DomainRow } from '../domains/store.ts'
import { DELIVERY_BYTES, INTAKE_LIMITS, type IntakeLimits } from '../limits.ts'
import { admitMail, requireRoom, scopesOf } from '../usage/admission.ts'
import { ingest, tellOutcome, type OnReports } from './ingest.ts'
import { setAuthentication } from './store.ts'
import { addCost } from '../usage/store.ts'

export type MailListenerDeps = {
  db: Kysely<DB>
  resolver: Resolver
  log: Logger
  reportDomain: string
  listen: NonNullable<Config['SMTP_LISTEN']>
  certificate: { cert: string; key: string } | null
  onReports?: OnReports | undefined
  limits?: IntakeLimits | undefined
}

/** Milliseconds for the DNS to say who sent a mail. Nobody waits for it. */
const AUTHENTICATION_DEADLINE = 15_000

/** Mails whose senders are looked into at once; of others it is not known. */
const MOST_AUTHENTICATIONS = 100

/** Takes report mail over SMTP: a mail is answered for once its reports are stored. */
export async function startMailListener({
  db,
  resolver,
  log,
  reportDomain,
  listen,
  certificate,
  onReports,
  limits = INTAKE_LIMITS,
}: MailListenerDeps): Promise<SmtpServer> {
  const background = new Set<Promise<void>>()
  const closing = new AbortController()

  async function takeMail(mail: ReceivedMail<DomainRow>): Promise<void> {
    // All or none: the sender hears one answer, and sends again to all.
    for (const domain of mail.recipients) await admitted(admitMail(db, domain, mail.bytes.length, limits))
    const stored: string[] = []
    for (const domain of mail.recipients) {
      const { id, accountId } = domain
      const origin = { via: 'smtp' as const, accountId, domainId: id, peer: mail.peer, sender: mail.sender }
      const outcome = await ingest(db, origin, [{ name: 'mail', bytes: mail.bytes }])
      tellOutcome('smtp', outcome, onReports)
      const { rejected, deliveries, ...counts } = outcome
      const { unpackedBytes, records, foreign: otherDomain } = outcome
      await addCost(db, scopesOf(domain), {
        unpackedBytes,
        records,
        otherDomain,
        unreadable: rejected.length - otherDomain,
      })
      if (rejected.length > 0) await notifyChange(db, accountId, 'dmarc', id)
      stored.push(...deliveries)
      log.info({ ...counts, rejected: rejected.length, peer: mail.peer }, 'report mail taken')
    }
    if (stored.length === 0 || background.size >= MOST_AUTHENTICATIONS || !mayAuthenticate(mail.bytes)) return
    const looking = lookInto(mail, stored).finally(() => background.delete(looking))
    background.add(looking)
  }

  async function lookInto({ bytes, peer, helo, sender }: ReceivedMail<DomainRow>, deliveries: string[]): Promise<void> {
    const signal = AbortSignal.any([AbortSignal.timeout(AUTHENTICATION_DEADLINE), closing.signal])
    try {
      const envelope = { ip: peer, helo, sender, mta: reportDomain }
      const authentication = await authenticateMail(bytes, envelope, resolver, signal)
      for (const id of deliveries) await setAuthentication(db, id, authentication)
    } catch (error) {
      log.warn({ err: error }, 'who sent a report mail could not be found out')
    }
  }

  const server = await startSmtpServer<DomainRow>({
    listen,
    name: reportDomain,
    certificate,
    log,
    limits: { size: DELIVERY_BYTES },
    async onRecipient(address) {
      const domain = await recipientOf(db, address, reportDomain)
      if (domain) await admitted(requireRoom(db, domain, limits))
      return domain
    },
    onMail: takeMail,
  })
  return {
    port: server.port,
    async close() {
      await server.close()
      closing.abort()
      await Promise.all(background)
    },
  }
}

/** The words of a limit, as SMTP says them: the sender's server keeps the mail and tries again. */
async function admitted(admission: Promise<void>): Promise<void> {
  try {
    await admission
  } catch (error) {
    throw error instanceof Fault ? smtpReply(452, `4.2.2 ${error.message}`) : error
  }
}

const MAX_AUTHENTICATED_BYTES = 5 * 1024 * 1024
const MAX_SIGNATURES = 20

/** Each signature is a question to the DNS and a hash over the mail: nobody has dozens of them. */
function mayAuthenticate(bytes: Buffer): boolean {
  if (bytes.length > MAX_AUTHENTICATED_BYTES) return false
  const header =
    bytes
      .subarray(0, REPORT_LIMITS.header)
      .toString('latin1')
      .split(/\r?\n\r?\n/, 1)[0] ?? ''
  return (header.match(/^dkim-signature[ \t]*:/gim)?.length ?? 0) <= MAX_SIGNATURES
}

/** Report addresses only, whatever their case. */
async function recipientOf(db: Kysely<DB>, address: string, reportDomain: string): Promise<DomainRow | null> {
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1) !== reportDomain || !/^r[a-z2-7]{17}$/.test(address.slice(0, at))) return null
  return (await findDomainByMailbox(db, address.slice(0, at))) ?? null
}
