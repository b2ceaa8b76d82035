import type { Kysely } from 'kysely'
import type { ImapAddress } from '../../../setting-values.ts'
import { Fault, messageOf } from '../../../errors.ts'
import type { Logger } from '../../../log.ts'
import { onAbort } from '../../../net/abort.ts'
import { parseHost } from '../../../net/address.ts'
import type { Resolver } from '../../../net/dns.ts'
import { checkTarget } from '../../../net/guard.ts'
import { ImapLost, ImapRefused } from '../../../net/imap/connection/refusals.ts'
import { signIn } from '../../../net/imap/connection/imap-session.ts'
import { readInbox } from '../../../net/imap/fetch/read-inbox.ts'
import { parseDeliveryStatus, type DeliveryFailure } from '../../../protocols/delivery-status.ts'
import { notifyChange } from '../../../store/changes.ts'
import type { DB } from '../../../store/tables.ts'
import { MAX_BOUNCE_BYTES } from '../limits.ts'
import { bounced } from '../messages.ts'
import { hashEmail } from '../opt-out.ts'
import { readReturnPath } from './return-path.ts'
import {
  accountOf,
  findPosition,
  markBounced,
  saveBounce,
  savePosition,
  saveReading,
} from './bounces.sql.ts'

export type BounceDeps = {
  db: Kysely<DB>
  log: Logger
  clock: () => number
  resolver: Resolver
  optOutKey: string
  /** The mailbox of the return path; null where bounces are not read. */
  bounceMailbox: ImapAddress | null
}

/** Reads the bounces of abuse emails in the operator’s mailbox. A problem is logged once. */
export async function readBounces(deps: BounceDeps, signal: AbortSignal): Promise<void> {
  const { db, log, clock, bounceMailbox: mailbox } = deps
  if (!mailbox) return
  const account = accountOf(mailbox)
  const record = (problem: string | null) =>
    saveReading(db, account, { at: new Date(clock()), problem })
  try {
    await readMailbox(deps, mailbox, account, signal)
    if (await record(null)) log.info('the mailbox with bounced abuse emails can be read')
  } catch (error) {
    const isTheirs =
      error instanceof Fault || error instanceof ImapRefused || error instanceof ImapLost
    if (!isTheirs) throw error
    if (await record(messageOf(error)))
      log.warn({ reason: messageOf(error) }, 'the mailbox with bounced abuse emails cannot be read')
  }
}

async function readMailbox(
  deps: BounceDeps,
  { host, port, secure, user, password }: ImapAddress,
  account: string,
  signal: AbortSignal,
): Promise<void> {
  const { db, resolver } = deps
  // The operator names it.
  const target = await checkTarget(parseHost(host), { resolver, allowPrivate: true }, signal)
  const { wire } = await signIn({ target, port, secure, user, password, tlsVerify: true }, signal)
  const stopWatching = onAbort([signal], () =>
    wire.destroy(new ImapLost('timeout', 'The mailbox server was too slow.')),
  )
  try {
    await readInbox(wire, {
      folder: 'INBOX',
      moveTo: null,
      position: await findPosition(db, account),
      maxMessageBytes: MAX_BOUNCE_BYTES,
      signal,
      onMessage: async (bytes) => bytes !== null && recordBounce(deps, bytes),
      onPosition: (position) => savePosition(db, account, position),
    })
  } finally {
    stopWatching()
    await wire.logout()
  }
}

/** @returns whether the message is a bounce of an abuse email */
async function recordBounce({ db, clock, optOutKey }: BounceDeps, bytes: Buffer): Promise<boolean> {
  const status = await parseDeliveryStatus(bytes)
  if (!status) return false
  const id = status.addresses
    .map((address) => readReturnPath(optOutKey, address))
    .find((found) => found !== null)
  // An email has one recipient.
  const [failure] = status.failures
  if (id === undefined) return false
  if (!failure) return true
  await db.transaction().execute(async (trx) => {
    const mail = await markBounced(trx, id, bounced(failure))
    if (!mail) return
    if (isPermanent(failure) && !mail.isTest)
      await saveBounce(trx, hashEmail(mail.recipient), new Date(clock()))
    await notifyChange(trx, mail.workspaceId, 'attacks')
  })
  return true
}

/** A server that could not be reached for days may be back for the next email (RFC 3463, 2). */
const isPermanent = ({ status }: DeliveryFailure) => status.startsWith('5')
