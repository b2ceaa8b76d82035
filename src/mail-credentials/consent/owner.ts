import { randomBytes } from 'node:crypto'
import type { Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { newUuid } from '../../store/uuid.ts'
import { requireClient, type CredentialDeps } from '../access-token.ts'
import { MAX_OPEN_CONSENTS } from '../limits.ts'
import { toFault } from '../oauth-problem.ts'
import type { ProviderId } from '../providers.ts'
import { decryptChecks, encryptChecks } from '../access-tokens.ts'
import { EXPIRED, hashOf, insertGranted, problemOf, type ConsentFailure } from './consent.ts'
import {
  claimOwnersConsent,
  countOwnersConsents,
  insertConsent,
  markFailed,
  markGranted,
} from './oauth-consents.sql.ts'

/** The owner of a mailbox, who signs in by a link. */
export type Owner = { workspaceId: string; linkId: string }

/** What a sign-in of an owner is for. */
export type OwnerHooks = {
  /**
   * Signs in to the mailbox with the token.
   * @throws Fault when the mail server rejects it
   */
  verify: (owner: Owner, accessToken: string) => Promise<void>
  /**
   * Continues the migration with the credential, in the transaction that stores it.
   * @returns the path of the owner’s own page
   * @throws Fault when the link was used or revoked meanwhile
   */
  accept: (trx: Transaction<DB>, owner: Owner, credentialId: string) => Promise<{ path: string }>
}

export type OwnerConsentDeps = CredentialDeps & { redirectUri: string }

/** Begins a sign-in of an owner at a provider. The browser keeps `secret` until the answer. */
export type StartOwnerConsent = (
  owner: Owner & { provider: ProviderId; user: string },
) => Promise<{ url: string; secret: string }>

export function createOwnerConsents(deps: OwnerConsentDeps): StartOwnerConsent {
  const { db, secretKey, redirectUri } = deps
  return async ({ workspaceId, linkId, provider, user }) => {
    const client = await requireClient(deps.clients, { provider })
    if ((await countOwnersConsents(db, linkId)) >= MAX_OPEN_CONSENTS)
      throw new Fault('rate_limited', 'Too many sign-ins were begun. Wait ten minutes.')
    const { url, checks } = await client.start(redirectUri, user).catch((error: unknown) => {
      throw toFault(error)
    })
    const [id, secret] = [newUuid(), randomBytes(32).toString('base64url')]
    await insertConsent(db, {
      id,
      workspaceId,
      ownerLinkId: linkId,
      browserHash: hashOf(secret),
      provider,
      username: user,
      credentialId: null,
      hash: hashOf(checks.state),
      sealed: encryptChecks(checks, secretKey, id),
    })
    return { url, secret }
  }
}

/**
 * Completes a sign-in of an owner with the answer of the provider, after the mail server has accepted
 * the token.
 * @param secret of the browser that began it
 * @param query of the redirect
 * @returns the path of the owner’s own page
 */
export async function finishOwnerConsent(
  deps: OwnerConsentDeps & { owner: OwnerHooks },
  secret: string,
  query: URLSearchParams,
): Promise<{ path: string } | ConsentFailure> {
  const { db, secretKey, redirectUri } = deps
  const consent = await claimOwnersConsent(db, hashOf(query.get('state') ?? ''), hashOf(secret))
  if (!consent) return { problem: EXPIRED, provider: null }
  const { workspaceId, ownerLinkId: linkId } = consent
  const client = await requireClient(deps.clients, consent)
  const { provider } = client
  try {
    const checks = decryptChecks(consent.sealed, secretKey, consent.id)
    const given = await client.finish(new URL(`${redirectUri}?${query.toString()}`), checks)
    await deps.owner.verify({ workspaceId, linkId }, given.accessToken)
    return await db.transaction().execute(async (trx) => {
      const granted = await insertGranted(trx, consent, given, secretKey)
      const page = await deps.owner.accept(trx, { workspaceId, linkId }, granted.id)
      await markGranted(trx, consent.id, granted.id)
      return page
    })
  } catch (error) {
    const problem = problemOf(error)
    if (problem === null) throw error
    await markFailed(db, consent.id, problem.message)
    return { problem, provider }
  } finally {
    await notifyChange(db, workspaceId, 'migrations', consent.id)
  }
}
