import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import { releaseCredential } from '../../mail-credentials/mail-credentials.sql.ts'
import { ifDecryptable } from '../../store/encryption.ts'
import type { DB } from '../../store/tables.ts'
import { deleteOpenLinks } from '../owner-links/owner-links.sql.ts'
import { credentialsOf, eraseSecret } from '../migrations.sql.ts'
import {
  listAccounts,
  lockMailbox,
  saveCorrection,
  stateOf,
  type MailboxRow,
} from './mailboxes/batch-mailboxes.sql.ts'
import { accountKey } from './parse/read-mailboxes.ts'
import { readSide, type ReadSide, type SideDefaults, type SideName } from './parse/read-side.ts'
import { decryptPasswords, encryptPasswords, type Passwords } from './passwords.ts'
import type { MailboxChanges } from './shapes.ts'

type Of = { workspaceId: string; batchId: string; secretKey: string; id: string }

/**
 * Corrects a mailbox that does not wait or run: passwords always, the accounts until both sides
 * have accepted a sign-in. An invalid one becomes ready when nothing is wrong with it any more.
 * Owners have agreed to both accounts: when one of them changes, what they gave and their links are
 * deleted, and they are asked again.
 * @returns why it was not corrected; null when it was
 * @throws Fault `not_found`
 */
export async function correctMailbox(
  trx: Transaction<DB>,
  { workspaceId, batchId, secretKey, id }: Of,
  changes: MailboxChanges,
): Promise<string | null> {
  const row = await lockMailbox(trx, batchId, id)
  if (!row) throw new Fault('not_found', 'The mailbox was not found.')
  if (row.activeId !== null || row.state === 'syncing')
    return 'The mailbox is being synchronized. Pause the batch first.'
  if (row.state === 'done') return 'The batch is finished.'
  if (row.verified && changesAccount(changes))
    return 'Messages of this mailbox may have been copied already: only its passwords can change.'
  const before = readPasswords(row.sealed, secretKey, id)
  const isMoved = movesAccount(row.source, changes.source) || movesAccount(row.destination, changes.destination) // prettier-ignore
  const source = readChanged('source', row, before, changes, isMoved)
  const destination = readChanged('destination', row, before, changes, isMoved)
  const problems = [...source.problems, ...destination.problems]
  if (problems.length === 0 && (await isTaken(trx, row, source)))
    problems.push('The batch has this source already.')
  if (problems.length > 0 && row.state !== 'invalid') return problems.join(' ')
  const passwords = { source: source.password, destination: destination.password }
  const corrected = {
    source: source.address,
    destination: destination.address,
    warning: row.warning,
    message: problems.length > 0 ? problems.join(' ') : null,
    state: stateAfter(row, problems, { source: source.address, destination: destination.address }),
  }
  await saveCorrection(trx, id, corrected, encryptPasswords(passwords, secretKey, id))
  if (isMoved) {
    await deleteOpenLinks(trx, id)
    // Its migrations get the passwords again at their next start.
    for (const migrationId of [row.migrationId, row.dryRunId])
      if (migrationId !== null) await eraseSecret(trx, migrationId)
  }
  // Owners gave them for this mailbox alone, so that nothing else may go on with them.
  for (const credentialId of droppedByOwners(row, corrected))
    await releaseCredential(trx, workspaceId, credentialId, 0)
  return null
}

/** Passwords that were deleted or cannot be decrypted are entered again. */
function readPasswords(sealed: string | null, secretKey: string, id: string): Passwords {
  const kept = sealed && ifDecryptable(() => decryptPasswords(sealed, secretKey, id))
  return kept || { source: '', destination: '' }
}

function changesAccount({ source, destination }: MailboxChanges): boolean {
  return [source, destination].some((side) => side && (side.host ?? side.user) !== undefined)
}

/** A side with its changes, checked like a line of a file. */
function readChanged(
  side: SideName,
  row: MailboxRow,
  before: Passwords,
  changes: MailboxChanges,
  isMoved: boolean,
): ReadSide {
  const changed = changes[side] ?? {}
  const { waitsForOwner, byOwner, credentialId, ...address } = row[side]
  const given: SideDefaults = { ...address, owner: waitsForOwner ?? false }
  // A new secret takes the place of the one before. What the owner has entered is for these two
  // accounts alone: otherwise another server could read it, or the mail could go elsewhere.
  const isReplaced = (changed.password ?? changed.credentialId) !== undefined
  if (isMoved && byOwner) given.owner = true
  else if (!isReplaced) {
    given.password = before[side]
    if (credentialId !== undefined) given.credentialId = credentialId
    if (byOwner) given.byOwner = byOwner
  }
  return readSide(side, () => '', { ...given, ...changed }, { user: '', password: '' })
}

function movesAccount(before: MailboxRow['source'], changed: SideDefaults = {}): boolean {
  // An administrator’s name can be part of the name that opens the mailbox.
  const parts = ['host', 'port', 'secure', 'user', 'tlsVerify', 'administrator'] as const
  return parts.some(
    (part) => changed[part] !== undefined && !isDeepStrictEqual(changed[part], before[part]),
  )
}

/** The permissions of owners that a correction has replaced. */
function droppedByOwners(
  before: MailboxRow,
  after: Pick<MailboxRow, 'source' | 'destination'>,
): string[] {
  const kept = credentialsOf(after)
  const { source, destination } = before
  return [source, destination].flatMap(({ byOwner, credentialId }) =>
    byOwner && credentialId !== undefined && !kept.includes(credentialId) ? [credentialId] : [],
  )
}

/** A mailbox that needed attention waits for the person to retry it. */
function stateAfter(
  { state }: MailboxRow,
  problems: string[],
  sides: Pick<MailboxRow, 'source' | 'destination'>,
): MailboxRow['state'] {
  if (problems.length > 0) return 'invalid'
  const next = stateOf(sides)
  const isFresh = ['invalid', 'needs_attention', 'waiting_for_owner'].includes(state)
  return isFresh || next === 'waiting_for_owner' ? next : state
}

async function isTaken(
  trx: Transaction<DB>,
  { id, batchId }: MailboxRow,
  { address }: ReadSide,
): Promise<boolean> {
  const accounts = await listAccounts(trx, batchId)
  return accounts.some(
    (one) =>
      one.id !== id && one.state !== 'invalid' && accountKey(one.source) === accountKey(address),
  )
}
