import { Fault, messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { onAbort } from '../../net/abort.ts'
import { parseHost } from '../../net/address.ts'
import { checkTarget } from '../../net/guard.ts'
import { readInbox } from '../../net/imap/inbox.ts'
import { ImapLost, ImapRefused } from '../../net/imap/refusals.ts'
import { signIn } from '../../net/imap/session.ts'
import { notifyChange } from '../../store/changes.ts'
import { decrypt } from '../../store/encryption.ts'
import { ingest, tellOutcome } from '../intake/ingest.ts'
import { DELIVERY_BYTES } from '../limits.ts'
import type { DmarcDeps } from '../route.ts'
import { markFailed, markFetched, moveMark, type MailboxRow } from './store.ts'

/** Whose secret a mailbox's password is. */
export function encryptionContext(id: string): string {
  return `dmarc-mailbox/${id}/password`
}

/**
 * Reads the reports that came into a mailbox; a message is marked or moved once its reports are stored. What fails is
 * written into the row.
 * @returns since when the mailbox cannot be read, and why; null when it could
 */
export async function fetchMailbox(
  row: MailboxRow,
  deps: DmarcDeps,
  { signal, limit }: { signal: AbortSignal; limit: AbortSignal },
  log: Logger,
): Promise<{ since: Date; error: string } | null> {
  const told = () => notifyChange(deps.db, row.accountId, 'dmarc', row.id)
  try {
    await read(row, deps, signal, limit)
    await markFetched(deps.db, row.id)
    await told()
    return null
  } catch (error) {
    if (signal.aborted) throw signal.reason
    if (!isTheirs(error)) throw error
    log.info({ mailbox: row.id }, `a mailbox could not be read: ${messageOf(error)}`)
    const since = (await markFailed(deps.db, row.id, messageOf(error))) ?? new Date()
    await told()
    return { since, error: messageOf(error) }
  }
}

/** What the server, or the way to it, is to blame for. */
function isTheirs(error: unknown): boolean {
  return error instanceof Fault || error instanceof ImapRefused || error instanceof ImapLost
}

async function read(row: MailboxRow, deps: DmarcDeps, outer: AbortSignal, limit: AbortSignal): Promise<void> {
  const { db, secretKey } = deps
  const { id, accountId, port, secure, username: user, tlsVerify, folder, moveTo, uidValidity, lastUid } = row
  const signal = AbortSignal.any([outer, limit])
  const password = decrypt(row.sealed, secretKey, encryptionContext(id))
  const target = await checkTarget(parseHost(row.host), deps, signal)
  const { wire } = await signIn({ target, port, secure, user, password, tlsVerify }, signal)
  let messages = 0
  // A server that lets each answer drip would keep us for hours: its connection ends with the time.
  const leave = onAbort([signal], () => wire.destroy(new ImapLost('timeout', TOO_SLOW)))
  try {
    await readInbox(wire, {
      folder,
      moveTo,
      mark: { uidValidity, lastUid },
      largest: DELIVERY_BYTES,
      signal,
      async onMessage(bytes) {
        if (bytes === null) return false
        const outcome = await ingest(db, { via: 'mailbox', accountId }, [{ name: 'mail', bytes }])
        tellOutcome('mailbox', outcome, deps.onReports)
        // A mail without a report of ours is somebody's mail: it stays as it is.
        return outcome.stored + outcome.duplicates + outcome.failureReports > 0
      },
      async onMark(mark) {
        await moveMark(db, id, mark)
        messages += 1
      },
    })
  } catch (error) {
    // Who gave us messages all the while has only too many for one look.
    if (!limit.aborted || outer.aborted || messages === 0) throw error
  } finally {
    leave()
    await wire.logout()
  }
}

const TOO_SLOW = 'The mailbox gave no message in the time for one look.'
