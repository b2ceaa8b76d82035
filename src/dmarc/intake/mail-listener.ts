import type { Kysely } from 'kysely'
import type { Config } from '../../config.ts'
import { Fault } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { Resolver } from '../../net/dns.ts'
import type { MailReceiver, MailRecipient } from '../../net/mail-receiver.ts'
import {
  startSmtpServer,
  smtpReply,
  type SmtpServer,
  type ReceivedMail,
} from '../../net/smtp-server.ts'
import {
  authenticateMail,
  isCheapToAuthenticate,
} from '../../protocols/mail/mail-authentication.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { findDomainByMailbox, type DomainRow } from '../domains/dmarc-domains.sql.ts'
import { MAX_DELIVERY_BYTES, INTAKE_LIMITS, type IntakeLimits } from '../limits.ts'
import { admitMail, requireCapacity, scopesOf } from '../usage/admission.ts'
import { ingest, notifyOutcome, type OnReports } from './ingest.ts'
import { setAuthentication } from './report-intake.sql.ts'
import { addUsage } from '../usage/report-usage.sql.ts'

export type MailListenerDeps = {
  db: Kysely<DB>
  resolver: Resolver
  log: Logger
  reportDomain: string
  listen: NonNullable<Config['SMTP_LISTEN']>
  certificate: { cert: string; key: string } | null
  onReports?: OnReports | undefined
  limits?: IntakeLimits | undefined
  mailReceivers?: readonly MailReceiver[] | undefined
}

/** Who gets a mail: the domain of a report address, or another address of this service. */
type Recipient = { domain: DomainRow; other?: never } | { other: MailRecipient; domain?: never }

/** Milliseconds for the DNS queries that authenticate an email, in the background. */
const AUTHENTICATION_TIMEOUT_MS = 15_000

/**
 * Emails authenticated at the same time. Beyond that, an email stays without authentication
 * results.
 */
const MAX_CONCURRENT_AUTHENTICATIONS = 100

/**
 * Starts the SMTP server for reports. It acknowledges an email only after its reports are stored.
 */
export async function startMailListener({
  db,
  resolver,
  log,
  reportDomain,
  listen,
  certificate,
  onReports,
  limits = INTAKE_LIMITS,
  mailReceivers = [],
}: MailListenerDeps): Promise<SmtpServer> {
  const background = new Set<Promise<void>>()
  const closing = new AbortController()

  async function acceptMail({ recipients, ...mail }: ReceivedMail<Recipient>): Promise<void> {
    const domains = recipients.flatMap(({ domain }) => domain ?? [])
    // First what knows a repetition: after a failure the sender repeats the mail for all.
    if (domains.length > 0) await acceptReports({ ...mail, recipients: domains })
    for (const { other } of recipients) await other?.receive(mail)
  }

  async function acceptReports(mail: ReceivedMail<DomainRow>): Promise<void> {
    // All recipients or none: the sender gets one response and retries for all.
    for (const domain of mail.recipients)
      await deferIfRefused(admitMail(db, domain, mail.bytes.length, limits))
    const stored: string[] = []
    for (const domain of mail.recipients) {
      const { id, workspaceId } = domain
      const origin = {
        via: 'smtp' as const,
        workspaceId,
        domainId: id,
        domain: domain.domain,
        peer: mail.peer,
        sender: mail.sender,
      }
      const outcome = await ingest(db, origin, [{ name: 'mail', bytes: mail.bytes }])
      notifyOutcome('smtp', outcome, onReports)
      const { rejected, deliveries, ...counts } = outcome
      const { unpackedBytes, records, foreign: otherDomain } = outcome
      await addUsage(db, await scopesOf(db, domain), {
        unpackedBytes,
        records,
        otherDomain,
        unreadable: rejected.length - otherDomain,
      })
      if (rejected.length > 0) await notifyChange(db, workspaceId, 'dmarc', id)
      stored.push(...deliveries)
      log.info({ ...counts, rejected: rejected.length, peer: mail.peer }, 'report mail accepted')
    }
    if (
      stored.length === 0 ||
      background.size >= MAX_CONCURRENT_AUTHENTICATIONS ||
      !isCheapToAuthenticate(mail.bytes)
    )
      return
    const task = authenticate(mail, stored).finally(() => background.delete(task))
    background.add(task)
  }

  async function authenticate(
    { bytes, peer, helo, sender }: ReceivedMail<DomainRow>,
    deliveries: string[],
  ): Promise<void> {
    const signal = AbortSignal.any([AbortSignal.timeout(AUTHENTICATION_TIMEOUT_MS), closing.signal])
    try {
      const envelope = { ip: peer, helo, sender }
      const authentication = await authenticateMail(bytes, envelope, resolver, signal)
      for (const id of deliveries) await setAuthentication(db, id, authentication)
    } catch (error) {
      log.warn({ err: error }, 'report mail could not be authenticated')
    }
  }

  const server = await startSmtpServer<Recipient>({
    listen,
    name: reportDomain,
    certificate,
    log,
    limits: { maxMailBytes: MAX_DELIVERY_BYTES },
    async onRecipient(address) {
      for (const receiver of mailReceivers) {
        const other = await receiver.findRecipient(address)
        if (other) return { other }
      }
      const domain = await findRecipient(db, address, reportDomain)
      if (domain) await deferIfRefused(requireCapacity(db, domain, limits))
      return domain && { domain }
    },
    wantsTranscript: ({ other }) => other?.wantsTranscript === true,
    onMail: acceptMail,
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

/** Turns a refusal into SMTP reply 452, so that the sender's server keeps the email and retries. */
async function deferIfRefused(admission: Promise<void>): Promise<void> {
  try {
    await admission
  } catch (error) {
    throw error instanceof Fault ? smtpReply(452, `4.2.2 ${error.message}`) : error
  }
}

/** The domain of a report address, in any case; null for every other address. */
async function findRecipient(
  db: Kysely<DB>,
  address: string,
  reportDomain: string,
): Promise<DomainRow | null> {
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1) !== reportDomain || !/^r[a-z2-7]{17}$/.test(address.slice(0, at)))
    return null
  return (await findDomainByMailbox(db, address.slice(0, at))) ?? null
}
