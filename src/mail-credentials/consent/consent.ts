import { createHash } from 'node:crypto'
import type { Transaction } from 'kysely'
import { Fault, invalidField, messageOf } from '../../errors.ts'
import { breaksCommand } from '../../net/imap/connection/command-encoding.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { newUuid } from '../../store/uuid.ts'
import { encrypted, requireClient, type CredentialDeps } from '../access-token.ts'
import { MAX_CREDENTIALS, MAX_OPEN_CONSENTS } from '../limits.ts'
import type { Grant } from '../oauth-client.ts'
import { OAuthRejected, toFault, type OAuthProblem } from '../oauth-problem.ts'
import {
  identifiesPerson,
  PURPOSES,
  type MailProvider,
  type ProviderId,
  type Purpose,
} from '../providers.ts'
import {
  countCredentials,
  findCredential,
  findOfIdentity,
  insertCredential,
  lockCredential,
  saveTokens,
} from '../mail-credentials.sql.ts'
import { decryptChecks, encryptChecks } from '../access-tokens.ts'
import {
  claimConsent,
  countOpenConsents,
  insertConsent,
  markFailed,
  markGranted,
  type ConsentRow,
  type Starter,
} from './oauth-consents.sql.ts'

export type ConsentDeps = CredentialDeps & {
  redirectUri: string
  /** Continues what waits for this credential, in the transaction that renews it. */
  onRenewed: (trx: Transaction<DB>, workspaceId: string, credentialId: string) => Promise<void>
}

/** What a person wants to allow: access to a new mailbox, or to one whose permission has ended. */
export type ConsentRequest = {
  provider: ProviderId
  purpose?: Purpose | undefined
  user?: string | undefined
  credentialId?: string | undefined
}

/**
 * Begins a sign-in at a provider.
 * @returns the page of the provider to open in the same browser
 * @throws Fault `not_found`, `conflict`, `invalid_request`, `rate_limited`, `upstream_*`
 */
export async function startConsent(
  deps: ConsentDeps,
  starter: Starter,
  { provider, purpose = 'mailbox', user = '', credentialId }: ConsentRequest,
): Promise<{ id: string; url: string; expiresAt: Date }> {
  const client = await requireClient(deps.clients, { provider, purpose })
  const username = user.trim() || null
  await requireSensible(deps, starter, client.provider, { purpose, username, credentialId })
  const { url, checks } = await client
    .start(client.provider.loopbackUri ?? deps.redirectUri, username, purpose)
    .catch((error: unknown) => {
      throw toFault(error)
    })
  const id = newUuid()
  const expiresAt = await insertConsent(deps.db, {
    ...starter,
    id,
    provider,
    purpose,
    username,
    credentialId: credentialId ?? null,
    hash: hashOf(checks.state),
    sealed: encryptChecks(checks, deps.secretKey, id),
  })
  return { id, url, expiresAt }
}

async function requireSensible(
  { db }: ConsentDeps,
  starter: Starter,
  provider: MailProvider,
  {
    purpose,
    username,
    credentialId,
  }: { purpose: Purpose; username: string | null; credentialId: string | undefined },
): Promise<void> {
  if (username !== null && breaksCommand(username))
    throw invalidField('user', 'must not have line breaks')
  if (credentialId !== undefined) {
    const known = await findCredential(db, starter.workspaceId, credentialId)
    if (known?.provider !== provider.id || known.kind !== 'person' || known.purpose !== purpose)
      throw new Fault('not_found', `The sign-in at ${provider.name} was not found.`)
  } else if (username === null && !identifiesPerson(provider))
    throw invalidField('user', `is required: ${provider.name} does not tell whose mailbox it is`)
  if ((await countOpenConsents(db, starter)) >= MAX_OPEN_CONSENTS)
    throw new Fault(
      'rate_limited',
      `You have ${MAX_OPEN_CONSENTS} sign-ins in progress. Complete one, or wait ten minutes.`,
    )
  if (credentialId === undefined) await requireRoom(db, starter.workspaceId)
}

/** @throws Fault `conflict` when the workspace has as many credentials as it may */
export async function requireRoom(db: CredentialDeps['db'], workspaceId: string): Promise<void> {
  if ((await countCredentials(db, workspaceId)) < MAX_CREDENTIALS) return
  throw new Fault(
    'conflict',
    `A workspace can have up to ${MAX_CREDENTIALS} sign-ins to mailboxes. Delete one first.`,
  )
}

export type ConsentFailure = { problem: OAuthProblem; provider: MailProvider | null }
export type ConsentOutcome =
  | { account: string; credentialId: string; provider: MailProvider; purpose: Purpose }
  | ConsentFailure

/**
 * Completes a sign-in with the answer of the provider. It is accepted once, from the browser
 * session that began it, for ten minutes.
 * @param query of the redirect
 * @param purposes for which an answer is accepted here
 */
export async function finishConsent(
  deps: ConsentDeps,
  caller: Pick<Starter, 'accountId' | 'sessionId'>,
  query: URLSearchParams,
  purposes: readonly Purpose[] = PURPOSES,
): Promise<ConsentOutcome> {
  const consent = await claimConsent(deps.db, hashOf(query.get('state') ?? ''), caller, purposes)
  if (!consent) return { problem: EXPIRED, provider: null }
  const { provider } = await requireClient(deps.clients, consent)
  try {
    const { id: credentialId, account } = await grant(deps, consent, query)
    return { account, credentialId, provider, purpose: consent.purpose }
  } catch (error) {
    const problem = problemOf(error)
    if (problem === null) throw error
    await markFailed(deps.db, consent.id, problem.message)
    return { problem, provider }
  } finally {
    await notifyChange(deps.db, consent.workspaceId, 'migrations', consent.id)
  }
}

export const EXPIRED: OAuthProblem = {
  kind: 'consent',
  message:
    'This sign-in has expired, was completed already, or was begun in another browser. Start again where you began.',
}

export function problemOf(error: unknown): OAuthProblem | null {
  if (error instanceof OAuthRejected) return error.problem
  return error instanceof Fault ? { kind: 'later', message: messageOf(error) } : null
}

/** @returns the credential, and the account that it is for */
async function grant(
  deps: ConsentDeps,
  consent: ConsentRow,
  query: URLSearchParams,
): Promise<Granted> {
  const { db, secretKey, onRenewed } = deps
  const { workspaceId, provider, purpose } = consent
  const client = await requireClient(deps.clients, consent)
  const checks = decryptChecks(consent.sealed, secretKey, consent.id)
  const redirectUri = client.provider.loopbackUri ?? deps.redirectUri
  const answer = new URL(`${redirectUri}?${query.toString()}`)
  const given = await client.finish(answer, checks, purpose)
  const subject = given.person?.subject ?? null
  const known =
    consent.credentialId ??
    (subject === null
      ? undefined
      : await findOfIdentity(db, { workspaceId, provider, purpose, subject }))
  return db.transaction().execute(async (trx) => {
    const renewed = known && (await renew(trx, consent, known, given, secretKey))
    const granted = renewed || (await insertGranted(trx, consent, given, secretKey))
    if (renewed) await onRenewed(trx, workspaceId, granted.id)
    await markGranted(trx, consent.id, granted.id)
    return granted
  })
}

type Granted = { id: string; account: string }

/**
 * Gives a credential new tokens, if the same person has signed in: otherwise what waits for it would
 * continue with another mailbox.
 */
async function renew(
  trx: Transaction<DB>,
  { workspaceId }: ConsentRow,
  id: string,
  { person, ...tokens }: Grant,
  secretKey: string,
): Promise<Granted | undefined> {
  const row = await lockCredential(trx, workspaceId, id)
  if (!row) return undefined
  if (row.subject !== null && row.subject !== person?.subject) {
    const message = `You signed in as ${person?.account ?? 'another user'}, but this is for ${row.account}. Sign in again with that account.`
    throw new OAuthRejected({ kind: 'consent', message })
  }
  await saveTokens(trx, id, encrypted(tokens, secretKey, id))
  return { id, account: row.account }
}

/** Stores the tokens of a new permission. */
export async function insertGranted(
  trx: Transaction<DB>,
  { workspaceId, accountId, ownerLinkId, provider, purpose, username }: ConsentRow,
  { person, ...tokens }: Grant,
  secretKey: string,
): Promise<Granted> {
  const id = newUuid()
  const account = person?.account ?? username ?? ''
  await insertCredential(trx, {
    id,
    workspaceId,
    provider,
    purpose,
    account,
    subject: person?.subject ?? null,
    createdBy: accountId,
    isOwners: ownerLinkId !== null,
    ...encrypted(tokens, secretKey, id),
  })
  return { id, account }
}

/** States are stored as hashes, so that a copy of the database completes no sign-in. */
export function hashOf(state: string): Buffer {
  return createHash('sha256').update(state).digest()
}
