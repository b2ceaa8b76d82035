import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../errors.ts'
import { notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import { KEEP_DAYS } from './limits.ts'
import type { OAuthClient, Tokens } from './oauth-client.ts'
import { OAuthRejected, toFault } from './oauth-problem.ts'
import { fingerprintOf } from './clients/client-fingerprint.ts'
import { findClientProblem, saveClientProblem } from './clients/oauth-clients.sql.ts'
import type { MailProvider, ProviderId, Purpose } from './providers.ts'
import {
  findCredential,
  lockCredential,
  markProblem,
  saveTokens,
  type CredentialRow,
} from './mail-credentials.sql.ts'
import { decryptTokens, encryptTokens } from './access-tokens.ts'

/** The clients of this service at the providers that are set up. */
export type OAuthClients = {
  find(id: ProviderId, purpose?: Purpose): Promise<OAuthClient | undefined>
  list(): Promise<OAuthClient[]>
}

/** Called in the transaction that records why an administrator’s sign-in was rejected. */
export type OnProblem = (
  trx: Transaction<DB>,
  row: Pick<CredentialRow, 'id' | 'workspaceId' | 'account'>,
  problem: string,
) => Promise<void>

export type CredentialDeps = { db: Kysely<DB>; secretKey: string; clients: OAuthClients }

/** Called in the transaction that records that a provider rejects the client of this service. */
export type OnClientRejected = (
  trx: Transaction<DB>,
  workspaceId: string,
  rejected: { provider: Pick<MailProvider, 'id' | 'name'>; problem: string; since: Date },
) => Promise<void>

type AccessDeps = CredentialDeps & { onClientRejected: OnClientRejected }

/** The person must sign in at the provider again. */
export class ConsentNeeded extends Fault {
  constructor({ account }: Pick<CredentialRow, 'account'>, problem: string) {
    super('upstream_rejected', `${account}: ${problem}`)
    this.name = 'ConsentNeeded'
  }
}

/** The provider rejects the client of this service, until an administrator of it corrects it. */
export class ClientRejected extends Fault {
  constructor(problem: string) {
    super('upstream_rejected', problem)
    this.name = 'ClientRejected'
  }
}

/**
 * Returns an access token of a credential, and gets a new one where little time is left.
 * @param rejected the token that the IMAP server rejected: it is not returned again
 * @throws ConsentNeeded, Fault `not_found`, `conflict`, `upstream_unreachable`, `upstream_rejected`
 */
export type ReadAccessToken = (
  workspaceId: string,
  id: string,
  rejected?: string,
) => Promise<string>

export function createAccessTokens(deps: AccessDeps): ReadAccessToken {
  /** Connections of this instance share a refresh, so that they wait with one transaction. */
  const refreshes = new Map<string, Promise<string>>()

  return async (workspaceId, id, rejected) => {
    const row = requireFound(await findCredential(deps.db, workspaceId, id))
    const current = currentToken(row, deps.secretKey, rejected)
    if (current !== null) return current
    let running = refreshes.get(id)
    if (!running) {
      running = refreshOnce(deps, row, rejected).finally(() => refreshes.delete(id))
      refreshes.set(id, running)
    }
    return running
  }
}

/**
 * Refreshes under the lock of the row: of two refreshes with one refresh token, a provider that
 * rotates them ends the whole permission (RFC 9700, 4.14.2).
 */
async function refreshOnce(
  deps: AccessDeps,
  { id, workspaceId }: CredentialRow,
  rejected: string | undefined,
): Promise<string> {
  const outcome = await deps.db.transaction().execute(async (trx) => {
    const row = requireFound(await lockCredential(trx, workspaceId, id))
    // Another instance may have refreshed it while this one waited.
    const current = currentToken(row, deps.secretKey, rejected)
    return current ?? (await refresh(trx, deps, row, rejected))
  })
  // Thrown after the commit, which stores the problem.
  if (typeof outcome !== 'string') throw outcome
  return outcome
}

async function refresh(
  trx: Transaction<DB>,
  { clients, secretKey, onClientRejected }: AccessDeps,
  row: CredentialRow,
  rejected: string | undefined,
): Promise<string | ConsentNeeded | ClientRejected> {
  const { id, workspaceId } = row
  const client = await requireClient(clients, row)
  const stored = decryptTokens(row.sealed, secretKey, id)
  // The token at hand may still do while the provider does not answer.
  const usable = row.isValid && stored.accessToken !== rejected ? stored.accessToken : null
  const { provider } = client
  const known = await findClientProblem(trx, provider.id)
  if (known?.fingerprint.equals(fingerprintOf(provider))) {
    if (usable === null) await onClientRejected(trx, workspaceId, { ...known, provider })
    return usable ?? new ClientRejected(known.problem)
  }
  try {
    const tokens = await client.refresh(stored.refreshToken)
    await saveTokens(trx, id, encrypted(tokens, secretKey, id))
    return tokens.accessToken
  } catch (error) {
    const problem = error instanceof OAuthRejected ? error.problem : null
    if (problem?.kind === 'consent') {
      await markProblem(trx, id, problem.message)
      await notifyChange(trx, workspaceId, 'migrations', id)
      return new ConsentNeeded(row, problem.message)
    }
    if (problem?.isClientRejected) {
      const { message } = problem
      const found = {
        provider: provider.id,
        fingerprint: fingerprintOf(provider),
        problem: message,
      }
      const since = await saveClientProblem(trx, found)
      if (usable === null)
        await onClientRejected(trx, workspaceId, { provider, problem: message, since })
      return usable ?? new ClientRejected(message)
    }
    if (usable !== null) return usable
    throw toFault(error)
  }
}

/**
 * Refreshes a credential to find out whether its provider accepts the client of this service again.
 * @returns false while it rejects the client
 * @throws Fault when that could not be found out
 */
export async function probeClient(
  { db, clients, secretKey }: CredentialDeps,
  { id, workspaceId }: Pick<CredentialRow, 'id' | 'workspaceId'>,
): Promise<boolean> {
  return db.transaction().execute(async (trx) => {
    const row = requireFound(await lockCredential(trx, workspaceId, id))
    const client = await requireClient(clients, row)
    try {
      const tokens = await client.refresh(decryptTokens(row.sealed, secretKey, id).refreshToken)
      await saveTokens(trx, id, encrypted(tokens, secretKey, id))
      return true
    } catch (error) {
      if (!(error instanceof OAuthRejected) || error.problem.kind === 'later') throw toFault(error)
      // A permission that has ended is rejected only after the client was accepted.
      if (error.problem.kind === 'consent') await markProblem(trx, id, error.problem.message)
      return error.problem.kind === 'consent'
    }
  })
}

export function encrypted(tokens: Tokens, secretKey: string, id: string) {
  return {
    sealed: encryptTokens(tokens, secretKey, id),
    lifetimeSeconds: tokens.lifetimeSeconds,
    keepDays: KEEP_DAYS.unused,
  }
}

/** The stored token, if it can be used; null when it must be refreshed. */
function currentToken(
  row: CredentialRow,
  secretKey: string,
  rejected: string | undefined,
): string | null {
  if (row.problem !== null) throw new ConsentNeeded(row, row.problem)
  if (!row.isFresh) return null
  const { accessToken } = decryptTokens(row.sealed, secretKey, row.id)
  return accessToken === rejected ? null : accessToken
}

/** @throws Fault `not_found` */
export function requireFound(row: CredentialRow | undefined): CredentialRow {
  if (row) return row
  throw new Fault('not_found', 'The sign-in to the mailbox was not found. Sign in again.')
}

/** @throws Fault `conflict` when the operator has removed the provider from the settings */
export async function requireClient(
  clients: OAuthClients,
  { provider, purpose }: { provider: ProviderId; purpose?: Purpose },
): Promise<OAuthClient> {
  const client = await clients.find(provider, purpose)
  if (client) return client
  throw new Fault(
    'conflict',
    `Signing in with ${provider} is not set up on this service. An administrator of the service can add the client ID: /docs/guide/mail-providers.html has the steps.`,
  )
}
