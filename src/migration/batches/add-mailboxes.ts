import type { Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import type { DB } from '../../store/tables.ts'
import { newUuid } from '../../store/uuid.ts'
import { correctMailbox } from './correct-mailbox.ts'
import { BATCH_LIMITS } from './limits.ts'
import { insertMailboxes, listAccounts } from './mailboxes/batch-mailboxes.sql.ts'
import { decodeText } from './parse/decode-text.ts'
import { accountKey, joined, readMailboxes, type ReadFile } from './parse/read-mailboxes.ts'
import { encryptPasswords } from './passwords.ts'
import type { MailboxList } from './shapes.ts'
import type { AddedLines } from './batch-view.ts'

/**
 * Reads the list of a request.
 * @throws Fault `invalid_request`
 */
export function readList(request: MailboxList): ReadFile {
  const text = request.text ?? decodeText(Buffer.from(request.file ?? '', 'base64'))
  return readMailboxes(text, request)
}

/**
 * Reads the list of a request whose lines are stored.
 * @throws Fault `invalid_request` also when no column was recognized
 */
export function readListToAdd(request: MailboxList): ReadFile {
  const list = readList(request)
  if (list.columns.some((field) => field !== null)) return list
  const details = [{ path: 'columns', message: 'is required for this list' }]
  throw new Fault('invalid_request', 'The columns were not recognized. Name them in “columns”.', {
    details,
  })
}

/**
 * Adds mailboxes to a batch, within the transaction that has locked it. Invalid lines are stored
 * too, to be corrected.
 * @param existing what becomes of a line whose source the batch has
 * @throws Fault `invalid_request` when the batch would have too many
 */
export async function addMailboxes(
  trx: Transaction<DB>,
  of: { workspaceId: string; batchId: string; secretKey: string },
  { mailboxes }: ReadFile,
  existing: 'reject' | 'update' = 'reject',
): Promise<AddedLines> {
  const { batchId, secretKey } = of
  const before = await listAccounts(trx, batchId)
  const known = new Map(
    before
      .filter(({ state }) => state !== 'invalid')
      .map((one) => [accountKey(one.source), one] as const),
  )
  const into = new Map(before.map(({ destination, line }) => [accountKey(destination), line]))
  const result: AddedLines = { added: 0, updated: 0, invalid: [] }
  const rows = []
  for (const { passwords, problem, ...mailbox } of mailboxes) {
    const same = problem === null ? known.get(accountKey(mailbox.source)) : undefined
    if (same && existing === 'update') {
      // A line without a password keeps the sign-in of the mailbox.
      const changed = (password: string) => (password === '' ? {} : { password })
      const changes = {
        source: changed(passwords.source),
        destination: changed(passwords.destination),
      }
      const refused = await correctMailbox(trx, { ...of, id: same.id }, changes)
      if (refused === null) result.updated += 1
      else result.invalid.push({ line: mailbox.line, message: refused })
      continue
    }
    const message =
      problem ?? (same ? `The batch has this source already, from line ${same.line}.` : null)
    if (message === null) result.added += 1
    else result.invalid.push({ line: mailbox.line, message })
    const shared = message === null ? into.get(accountKey(mailbox.destination)) : undefined
    const note =
      shared === undefined ? null : `The destination is the same as that of line ${shared} before.`
    const id = newUuid()
    const sealed = encryptPasswords(passwords, secretKey, id)
    rows.push({ ...mailbox, id, message, warning: joined(mailbox.warning, note), sealed })
  }
  if (before.length + rows.length > BATCH_LIMITS.maxMailboxes) {
    const most = BATCH_LIMITS.maxMailboxes.toLocaleString('en-US')
    throw new Fault('invalid_request', `A batch has up to ${most} mailboxes. Create another batch.`)
  }
  await insertMailboxes(trx, batchId, rows)
  return result
}
