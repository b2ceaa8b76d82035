import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { Plan } from '../../config.ts'
import type { DB } from '../../store/tables.ts'
import { changeAccount, requireAccount, requireEmail } from '../accounts.ts'
import { findAccountByEmail, hasAccounts, insertAccount, type AccountRow } from '../accounts.sql.ts'
import { NAME_LENGTH } from '../shapes.ts'
import { createOidcProvider, isOidcSetUp, type Identity, type OidcConfig } from './oidc-provider.ts'
import { findIdentityOwner, insertIdentity, type IdentityOwner } from './oidc-identities.sql.ts'
import { isShownName } from '../../http/shown-name.ts'

/** Why a sign-in with OIDC failed. The dashboard has a text for each. */
const OIDC_ERRORS = [
  'expired',
  'provider',
  'provider_unreachable',
  'issuer_differs',
  'group_not_allowed',
  'email_missing',
  'email_unverified',
  'account_exists',
  'account_disabled',
  'sign_up_closed',
  'setup_needed',
  'linked_elsewhere',
  'not_signed_in',
] as const
export type OidcErrorCode = (typeof OIDC_ERRORS)[number]

export class OidcError extends Error {
  readonly code: OidcErrorCode
  /** The error code of the provider, where it sent one. */
  readonly providerError: string | null

  constructor(code: OidcErrorCode, providerError: string | null = null) {
    super(`sign-in with OIDC failed: ${code}`)
    this.code = code
    this.providerError = providerError
  }
}

export type OidcSignInDeps = {
  db: Kysely<DB>
  log: Logger
  config: OidcConfig & { DEFAULT_PLAN: Plan }
  providerId: string
}

/**
 * Finds or creates the account of an identity. An identity is the issuer and its subject, never an
 * email address: an account that has the address already is not opened, its owner must link it.
 * @throws OidcError
 */
export async function resolveIdentity(
  deps: OidcSignInDeps,
  identity: Identity,
): Promise<IdentityOwner> {
  const { db, log, providerId } = deps
  if (identity.hasMoreGroups)
    log.warn(
      { subject: identity.subject },
      'the provider left out the groups of a person; let it send only those of the application',
    )
  requireAllowedGroup(deps.config, identity)
  const owner =
    (await findIdentityOwner(db, providerId, identity.subject)) ?? (await signUp(deps, identity))
  if (owner.disabledAt) throw new OidcError('account_disabled')
  await applyAdminGroup(deps, owner, identity)
  return owner
}

/**
 * Adds an identity to the account that is signed in.
 * @throws OidcError when it belongs to another account
 */
export async function linkIdentity(
  { db, config, providerId }: OidcSignInDeps,
  accountId: string,
  identity: Identity,
): Promise<void> {
  requireAllowedGroup(config, identity)
  const owner = await findIdentityOwner(db, providerId, identity.subject)
  if (owner?.id === accountId) return
  const link = { accountId, provider: providerId, subject: identity.subject }
  if (owner || !(await insertIdentity(db, link))) throw new OidcError('linked_elsewhere')
}

/**
 * For the command line: lets an account sign in as this subject of the configured provider.
 * @throws Fault `not_found`, `conflict`
 */
export async function linkSubject(
  db: Kysely<DB>,
  config: OidcConfig,
  email: string,
  subject: string,
): Promise<AccountRow> {
  if (!isOidcSetUp(config)) throw new Fault('conflict', 'Set OIDC_ISSUER first.')
  const account = await requireAccount(db, email)
  const provider = createOidcProvider(config).id
  if (!(await insertIdentity(db, { accountId: account.id, provider, subject })))
    throw new Fault('conflict', 'This subject is linked to an account already.')
  return account
}

function requireAllowedGroup({ OIDC_ALLOWED_GROUPS }: OidcConfig, { groups }: Identity): void {
  if (OIDC_ALLOWED_GROUPS.length === 0) return
  if (!groups.some((group) => OIDC_ALLOWED_GROUPS.includes(group)))
    throw new OidcError('group_not_allowed')
}

async function signUp(
  { db, config, providerId }: OidcSignInDeps,
  identity: Identity,
): Promise<IdentityOwner> {
  if (!(await hasAccounts(db))) throw new OidcError('setup_needed')
  if (identity.email && (await findAccountByEmail(db, identity.email)))
    throw new OidcError('account_exists')
  if (config.OIDC_SIGNUP === 'off') throw new OidcError('sign_up_closed')
  const email = requireVerifiedEmail(config, identity)
  const owner = await db.transaction().execute(async (trx) => {
    const account = await insertAccount(trx, {
      email,
      emailVerified: true,
      name: isShownName(identity.name, NAME_LENGTH) ? identity.name : '',
      plan: config.DEFAULT_PLAN,
      admin: false,
      password: null,
    })
    if (!account) return undefined
    await insertIdentity(trx, {
      accountId: account.id,
      provider: providerId,
      subject: identity.subject,
    })
    return { id: account.id, email, admin: false, disabledAt: null }
  })
  if (!owner) throw new OidcError('account_exists')
  return owner
}

function requireVerifiedEmail(
  { OIDC_TRUST_EMAIL }: OidcConfig,
  { email, isEmailVerified }: Identity,
): string {
  if (email === null) throw new OidcError('email_missing')
  if (!isEmailVerified && OIDC_TRUST_EMAIL === 'off') throw new OidcError('email_unverified')
  try {
    return requireEmail(email)
  } catch {
    throw new OidcError('email_missing')
  }
}

/** Makes members of the group administrators and others not. The last administrator stays one. */
async function applyAdminGroup(
  { db, log, config: { OIDC_ADMIN_GROUP } }: OidcSignInDeps,
  { id, admin }: IdentityOwner,
  { groups, hasMoreGroups }: Identity,
): Promise<void> {
  if (OIDC_ADMIN_GROUP === undefined || hasMoreGroups) return
  const isAdmin = groups.includes(OIDC_ADMIN_GROUP)
  if (isAdmin === admin) return
  await changeAccount(db, id, { admin: isAdmin }).catch((error: unknown) => {
    if (!(error instanceof Fault) || error.code !== 'conflict') throw error
    log.warn({ accountId: id }, 'the last administrator left the admin group and keeps the role')
  })
}
