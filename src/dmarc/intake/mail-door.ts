import type { Kysely } from 'kysely'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { Resolver } from '../../net/dns.ts'
import { openSmtpDoor, type SmtpDoor, type TakenMail } from '../../net/smtp-door.ts'
import { authenticateMail } from '../../protocols/mail-authentication.ts'
import type { DB } from '../../store/tables.ts'
import { findDomainByMailbox, type DomainRow } from '../domains/store.ts'
import { DELIVERY_BYTES } from '../limits.ts'
import { ingest, tellOutcome, type OnReports } from './ingest.ts'
import { setAuthentication } from './store.ts'

export type MailDoorDeps = {
  db: Kysely<DB>
  resolver: Resolver
  log: Logger
  reportDomain: string
  listen: NonNullable<Config['SMTP_LISTEN']>
  certificate: { cert: string; key: string } | null
  onReports?: OnReports | undefined
}

/** Milliseconds for the DNS to say who sent a mail. Nobody waits for it. */
const AUTHENTICATION_DEADLINE = 15_000

/** Mails whose senders are looked into at once; of others it is not known. */
const MOST_AUTHENTICATIONS = 100

/** Takes report mail over SMTP: a mail is answered for once its reports are stored. */
export async function openMailDoor({
  db,
  resolver,
  log,
  reportDomain,
  listen,
  certificate,
  onReports,
}: MailDoorDeps): Promise<SmtpDoor> {
  const background = new Set<Promise<void>>()
  const closing = new AbortController()

  async function takeMail(mail: TakenMail<DomainRow>): Promise<void> {
    const stored: string[] = []
    for (const { id, accountId } of mail.recipients) {
      const origin = { via: 'smtp' as const, accountId, domainId: id, peer: mail.peer, sender: mail.sender }
      const outcome = await ingest(db, origin, [{ name: 'mail', bytes: mail.bytes }])
      tellOutcome('smtp', outcome, onReports)
      const { rejected, deliveries, ...counts } = outcome
      stored.push(...deliveries)
      log.info({ ...counts, rejected: rejected.length, peer: mail.peer }, 'report mail taken')
    }
    if (stored.length === 0 || background.size >= MOST_AUTHENTICATIONS) return
    const looking = lookInto(mail, stored).finally(() => background.delete(looking))
    background.add(looking)
  }

  async function lookInto({ bytes, peer, helo, sender }: TakenMail<DomainRow>, deliveries: string[]): Promise<void> {
    const signal = AbortSignal.any([AbortSignal.timeout(AUTHENTICATION_DEADLINE), closing.signal])
    try {
      const envelope = { ip: peer, helo, sender, mta: reportDomain }
      const authentication = await authenticateMail(bytes, envelope, resolver, signal)
      for (const id of deliveries) await setAuthentication(db, id, authentication)
    } catch (error) {
      log.warn({ err: error }, 'who sent a report mail could not be found out')
    }
  }

  const door = await openSmtpDoor<DomainRow>({
    listen,
    name: reportDomain,
    certificate,
    log,
    limits: { size: DELIVERY_BYTES },
    onRecipient: (address) => recipientOf(db, address, reportDomain),
    onMail: takeMail,
  })
  return {
    port: door.port,
    async close() {
      await door.close()
      closing.abort()
      await Promise.all(background)
    },
  }
}

/** Report addresses only, whatever their case. */
async function recipientOf(db: Kysely<DB>, address: string, reportDomain: string): Promise<DomainRow | null> {
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1) !== reportDomain || !/^r[a-z2-7]{17}$/.test(address.slice(0, at))) return null
  return (await findDomainByMailbox(db, address.slice(0, at))) ?? null
}
