import { Fault, messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { onAbort } from '../../net/abort.ts'
import { parseHost } from '../../net/address.ts'
import { checkTarget } from '../../net/guard.ts'
import { readInbox } from '../../net/imap/fetch/read-inbox.ts'
import { ImapLost, ImapRefused } from '../../net/imap/connection/refusals.ts'
import { ConsentNeeded } from '../../mail-credentials/access-token.ts'
import { signInWithToken } from '../../mail-credentials/mailbox-sign-in.ts'
import { signIn, type Session } from '../../net/imap/connection/imap-session.ts'
import type { SignIn } from '../../net/imap/connection/imap-sign-in.ts'
import { notifyChange } from '../../store/changes.ts'
import { decrypt } from '../../store/encryption.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import { ingest, notifyOutcome } from '../intake/ingest.ts'
import { MAX_DELIVERY_BYTES } from '../limits.ts'
import type { DmarcDeps } from '../route-deps.ts'
import { markFailed, markFetched, moveMark, type MailboxRow } from './report-mailboxes.sql.ts'

/** The column with the passwords of mailboxes. */
export const MAILBOX_ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'dmarc_mailbox', id: 'id', column: 'sealed', contextOf: encryptionContext },
]

/** Binds a mailbox's encrypted password to its row. */
export function encryptionContext(id: string): string {
  return `dmarc-mailbox/${id}/password`
}

/** Since when a mailbox cannot be read, and why. */
export type MailboxFailure = { since: Date; error: string; needsSignIn: boolean }

/**
 * Reads the reports of a mailbox. A message is marked or moved after its reports are stored. A
 * failure is recorded in the row.
 * @returns the start and cause of the current failure; null after a successful read
 */
export async function fetchMailbox(
  row: MailboxRow,
  deps: DmarcDeps,
  { signal, limit }: { signal: AbortSignal; limit: AbortSignal },
  log: Logger,
): Promise<MailboxFailure | null> {
  const notify = () => notifyChange(deps.db, row.workspaceId, 'dmarc', row.id)
  try {
    await readMailbox(row, deps, signal, limit)
    await markFetched(deps.db, row.id)
    await notify()
    return null
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (!isMailboxFailure(error)) throw error
    log.info({ mailbox: row.id }, `mailbox failed: ${messageOf(error)}`)
    const needsSignIn = error instanceof ConsentNeeded
    const since = (await markFailed(deps.db, row.id, messageOf(error), needsSignIn)) ?? new Date()
    await notify()
    return { since, error: messageOf(error), needsSignIn }
  }
}

/**
 * Whether the mail server or the network caused the error, rather than a defect of this service.
 */
function isMailboxFailure(error: unknown): boolean {
  return error instanceof Fault || error instanceof ImapRefused || error instanceof ImapLost
}

async function readMailbox(
  row: MailboxRow,
  deps: DmarcDeps,
  outer: AbortSignal,
  limit: AbortSignal,
): Promise<void> {
  const { db } = deps
  const {
    id,
    workspaceId,
    port,
    secure,
    username: user,
    tlsVerify,
    folder,
    moveTo,
    uidValidity,
    lastUid,
  } = row
  const signal = AbortSignal.any([outer, limit])
  const target = await checkTarget(parseHost(row.host), deps, signal)
  const account = { target, port, secure, user, tlsVerify }
  const { wire } = await signInTo(row, account, deps, signal)
  let messages = 0
  // A server that sends byte by byte could hold the connection for hours: it is closed at the
  // limit.
  const stopWatching = onAbort([signal], () => wire.destroy(new ImapLost('timeout', TOO_SLOW)))
  try {
    await readInbox(wire, {
      folder,
      moveTo,
      position: { uidValidity, lastUid },
      maxMessageBytes: MAX_DELIVERY_BYTES,
      signal,
      async onMessage(bytes) {
        if (bytes === null) return false
        for (const receiver of deps.mailReceivers ?? [])
          if (await receiver.pickUp?.(workspaceId, bytes)) return true
        const outcome = await ingest(db, { via: 'mailbox', workspaceId }, [{ name: 'mail', bytes }])
        notifyOutcome('mailbox', outcome, deps.onReports)
        // A message without a report is personal mail: it is left unchanged.
        return outcome.stored + outcome.duplicates + outcome.failureReports > 0
      },
      async onPosition(mark) {
        await moveMark(db, id, mark)
        messages += 1
      },
    })
  } catch (error) {
    // A mailbox that delivered messages until the limit only has too many for one read.
    if (!limit.aborted || outer.aborted || messages === 0) throw error
  } finally {
    stopWatching()
    await wire.logout()
  }
}

/** Signs in with the password of a mailbox, or with its sign-in at the provider. */
async function signInTo(
  { id, workspaceId, sealed, credentialId, host }: MailboxRow,
  account: SignIn,
  { secretKey, openTokens }: DmarcDeps,
  signal: AbortSignal,
): Promise<Session> {
  if (sealed !== null) {
    const password = decrypt(sealed, secretKey, encryptionContext(id))
    return signIn({ ...account, password }, signal)
  }
  if (credentialId === null)
    throw new Fault('conflict', 'Its sign-in was deleted. Delete the mailbox and add it again.')
  const { user, tlsVerify = true } = account
  const use = { workspaceId, credentialId, isWork: true }
  const freshToken = await openTokens(use, { host, tlsVerify, user })
  return signInWithToken(account, freshToken, signal)
}

const TOO_SLOW = 'The mailbox server sent no message before the time limit.'
