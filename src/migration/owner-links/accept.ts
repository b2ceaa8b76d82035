import type { Kysely, Transaction } from 'kysely'
import { insertAuditEntries } from '../../accounts/audit/audit-log.sql.ts'
import { Fault } from '../../errors.ts'
import type { Enqueue, Job } from '../../jobs/job.ts'
import { signIn } from '../../net/imap/connection/imap-session.ts'
import { ifDecryptable } from '../../store/encryption.ts'
import type { DB } from '../../store/tables.ts'
import { SECOND_MS } from '../../time.ts'
import { resolveAccount, type AccountSecret, type NetDeps } from '../mailbox-accounts.ts'
import { lockMailbox, saveCorrection, stateOf } from '../batches/mailboxes/batch-mailboxes.sql.ts'
import { decryptPasswords, encryptPasswords } from '../batches/passwords.ts'
import { queueMailboxes } from '../batches/batch-progress.sql.ts'
import { lockBatch, notifyBatch } from '../batches/batches.sql.ts'
import { releaseCredentials } from '../consent/migration-consents.sql.ts'
import {
  credentialsOf,
  resumeMigration,
  saveSides,
  type AccountAddress,
} from '../migrations.sql.ts'
import {
  decryptSecrets,
  encryptSecrets,
  type MigrationData,
  type Secrets,
} from '../submit-migration.ts'
import { OWNER_ACTOR } from './audit-actor.ts'
import { OWNER_PAGE_PATH } from './create-links.ts'
import { claimLink, lockWaitingMigration, type OpenedLink } from './owner-links.sql.ts'
import { createOwnerToken } from './owner-token.ts'
import { OWNER_ACCESS_PATH } from './withdrawal/withdraw-permission.ts'

export type AcceptDeps = NetDeps & {
  db: Kysely<DB>
  secretKey: string
  job: Job<MigrationData>
  scheduler: Job
}

/** What the owner has given: a password, or a permission at the provider. */
export type Given = { password: string } | { credentialId: string }

const SIGN_IN_LIMIT_MS = 20 * SECOND_MS

/**
 * Signs in to the mailbox of a link with what the owner has given.
 * @throws Fault when the mail server rejects it or does not answer
 */
export async function verifySecret(
  deps: NetDeps,
  { side, ...sides }: OpenedLink,
  secret: AccountSecret,
): Promise<void> {
  const { administrator: _, ...address } = sides[side]
  const signal = AbortSignal.timeout(SIGN_IN_LIMIT_MS)
  const account = await resolveAccount({ ...address, ...secret }, deps, signal)
  const session = await signIn(account, signal)
  await session.wire.logout()
}

/**
 * Stores what the owner has given, and starts or continues the migration once no side waits.
 * @returns the path of the owner’s own page
 * @throws Fault `conflict` when the link was used or revoked meanwhile, or the mailbox is being copied
 */
export async function acceptSecret(
  trx: Transaction<DB>,
  deps: AcceptDeps,
  link: OpenedLink,
  given: Given,
  enqueue: Enqueue,
): Promise<{ path: string }> {
  const { token, hash } = createOwnerToken()
  // First the batch, then its mailboxes, as everywhere.
  if (link.batchId !== null) await lockBatch(trx, link.workspaceId, link.batchId)
  if (!(await claimLink(trx, link.id, hash)))
    throw new Fault('conflict', 'This link was used or revoked, or has expired.')
  if (link.batchId !== null && link.mailboxId !== null)
    await acceptForMailbox(trx, deps, link, link.batchId, link.mailboxId, given, enqueue)
  else if (link.migrationId !== null)
    await acceptForMigration(trx, deps, link, link.migrationId, given, enqueue)
  await audit(trx, link, given)
  return { path: `${OWNER_ACCESS_PATH}/${token}` }
}

/** Records the sign-in in the workspace’s audit log. */
async function audit(trx: Transaction<DB>, link: OpenedLink, given: Given): Promise<void> {
  const { workspaceId, side, batchId, mailboxId, migrationId } = link
  const { user, host } = link[side]
  const entry = {
    workspaceId,
    actorId: null,
    actorEmail: OWNER_ACTOR,
    token: null,
    what: 'Sign in to a mailbox by a link',
    route: `POST ${OWNER_PAGE_PATH}/:token`,
    details: {
      side,
      user,
      host,
      way: 'password' in given ? 'password' : 'provider',
      ...(batchId === null ? { migrationId } : { batchId, mailboxId }),
    },
  }
  await insertAuditEntries(trx, [entry])
}

async function acceptForMigration(
  trx: Transaction<DB>,
  { secretKey, job }: AcceptDeps,
  { workspaceId, side }: OpenedLink,
  id: string,
  given: Given,
  enqueue: Enqueue,
): Promise<void> {
  const row = await lockWaitingMigration(trx, workspaceId, id)
  if (!row) throw new Fault('conflict', 'The migration no longer waits for this sign-in.')
  const { sealed } = row
  const kept = sealed && ifDecryptable(() => decryptSecrets(sealed, secretKey, id))
  const before: Secrets = kept || { source: {}, destination: {} }
  const sides = {
    source: row.source,
    destination: row.destination,
    [side]: signedIn(row[side], given),
  }
  const secrets = { ...before, [side]: 'password' in given ? given : {} }
  await saveSides(trx, { id, ...sides }, encryptSecrets(secrets, secretKey, id))
  await releaseCredentials(trx, workspaceId, replacedCredentials(row[side]), 0)
  if (sides.source.waitsForOwner || sides.destination.waitsForOwner) return
  await resumeMigration(trx, workspaceId, id)
  await enqueue(trx, job, { migrationId: id, workspaceId })
}

async function acceptForMailbox(
  trx: Transaction<DB>,
  { secretKey, scheduler }: AcceptDeps,
  { workspaceId, side }: OpenedLink,
  batchId: string,
  id: string,
  given: Given,
  enqueue: Enqueue,
): Promise<void> {
  const row = await lockMailbox(trx, batchId, id)
  if (!row || row.state === 'done' || row.activeId !== null)
    throw new Fault('conflict', 'The mailbox is being copied, or the migration has ended.')
  const { sealed } = row
  const kept = sealed && ifDecryptable(() => decryptPasswords(sealed, secretKey, id))
  const before = kept || { source: '', destination: '' }
  const sides = {
    source: row.source,
    destination: row.destination,
    [side]: signedIn(row[side] as AccountAddress, given),
  }
  const passwords = { ...before, [side]: 'password' in given ? given.password : '' }
  const state = row.state === 'invalid' ? row.state : stateOf(sides)
  const { warning } = row
  const message = state === 'invalid' ? row.message : null
  const corrected = { ...sides, state, warning, message }
  await saveCorrection(trx, id, corrected, encryptPasswords(passwords, secretKey, id))
  await releaseCredentials(trx, workspaceId, replacedCredentials(row[side]), 0)
  if (state === 'ready') await queueMailboxes(trx, batchId, ['ready'], 'sync', { ids: [id] })
  await enqueue(trx, scheduler, {})
  await notifyBatch(trx, workspaceId, batchId)
}

/** The account with the sign-in of its owner, in place of any other. */
function signedIn(
  {
    waitsForOwner: _waits,
    administrator: _administrator,
    credentialId: _before,
    ...address
  }: AccountAddress,
  given: Given,
): AccountAddress {
  return {
    ...address,
    byOwner: true,
    ...('credentialId' in given && { credentialId: given.credentialId }),
  }
}

const replacedCredentials = (address: Partial<AccountAddress>) =>
  credentialsOf({ source: address, destination: {} })
