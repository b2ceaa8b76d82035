import { Fault } from '../../errors.ts'
import type { DB } from '../../store/tables.ts'
import { newUuid } from '../../store/uuid.ts'
import type { Kysely, Transaction } from 'kysely'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import { breaksCommand } from '../../net/imap/connection/command-encoding.ts'
import type { CredentialDeps } from '../access-token.ts'
import { readValidCertificate } from '../clients/client-certificate.ts'
import { requireRoom } from '../consent/consent.ts'
import { KEEP_DAYS } from '../limits.ts'
import { OAuthRejected, toFault } from '../oauth-problem.ts'
import type { ProviderId } from '../providers.ts'
import type { AdministratorRequest } from '../shapes.ts'
import {
  findCredential,
  insertCredential,
  lockCredential,
  saveAdministrator,
  type CredentialRow,
} from '../mail-credentials.sql.ts'
import { requireAdministratorProvider } from './administrator-provider.ts'
import { decryptAdministrator, encryptAdministrator, type AdministratorSecret } from './secret.ts'
import { readServiceAccount } from './service-account.ts'
import { requestAdministratorToken } from './token-request.ts'

export type AdministratorDeps = CredentialDeps & {
  db: Kysely<DB>
  guardedFetch: GuardedFetch
  /** Continues what waits for a credential, in the transaction that corrects it. */
  onRenewed: (trx: Transaction<DB>, workspaceId: string, credentialId: string) => Promise<void>
}

type Caller = { workspaceId: string; accountId: string }

/**
 * Stores an administrator’s credential, after the provider has accepted it: an application always, a
 * service account for the mailbox of the request.
 * @throws Fault `invalid_request`, `conflict`, `upstream_*`
 */
export async function addAdministrator(
  deps: AdministratorDeps,
  { workspaceId, accountId }: Caller,
  request: AdministratorRequest,
): Promise<string> {
  const { db, secretKey } = deps
  await requireRoom(db, workspaceId)
  const secret = await readSecret(request)
  await requireAccepted(deps, request.provider, secret, request.user)
  const id = newUuid()
  await insertCredential(db, {
    ...columnsOf(secret, secretKey, id),
    id,
    workspaceId,
    provider: request.provider,
    subject: null,
    createdBy: accountId,
    keepDays: KEEP_DAYS.administrator,
  })
  return id
}

/** Replaces the key or secret of a credential, and continues what waited for it. */
export async function correctAdministrator(
  deps: AdministratorDeps,
  workspaceId: string,
  id: string,
  request: AdministratorRequest,
): Promise<void> {
  const row = await requireAdministrator(deps.db, workspaceId, id)
  if (row.provider !== request.provider)
    throw new Fault('conflict', `This sign-in is for ${row.provider}. Add another one instead.`)
  const secret = await readSecret(request)
  await requireAccepted(deps, row.provider, secret, request.user ?? row.problemUser ?? undefined)
  await saveAccepted(deps, row, secret)
}

/**
 * Checks a credential again, and continues what waited for it.
 * @param user the mailbox to check it with; by default the one that was rejected last
 */
export async function checkAdministrator(
  deps: AdministratorDeps,
  workspaceId: string,
  id: string,
  user?: string,
): Promise<void> {
  const row = await requireAdministrator(deps.db, workspaceId, id)
  const secret = decryptAdministrator(row.sealed, deps.secretKey, id)
  await requireAccepted(deps, row.provider, secret, user ?? row.problemUser ?? undefined)
  await saveAccepted(deps, row, secret)
}

async function requireAdministrator(
  db: Kysely<DB>,
  workspaceId: string,
  id: string,
): Promise<CredentialRow> {
  const row = await findCredential(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The sign-in to the mailbox was not found.')
  if (row.kind !== 'person') return row
  throw new Fault('conflict', 'This is the sign-in of a person, who can renew it at the provider.')
}

async function saveAccepted(
  { db, secretKey, onRenewed }: AdministratorDeps,
  { id, workspaceId }: CredentialRow,
  secret: AdministratorSecret,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await lockCredential(trx, workspaceId, id))) return
    await saveAdministrator(trx, id, columnsOf(secret, secretKey, id))
    await onRenewed(trx, workspaceId, id)
  })
}

async function readSecret({
  serviceAccount,
  app,
}: AdministratorRequest): Promise<AdministratorSecret> {
  if (!app)
    return { kind: 'service_account', account: await readServiceAccount(serviceAccount ?? '') }
  const { clientSecret, clientCertificate: pem, ...named } = app
  if (pem === undefined) return { kind: 'app', app: { ...named, clientSecret: clientSecret ?? '' } }
  const clientCertificate = readValidCertificate(pem, 'app.clientCertificate')
  return { kind: 'app', app: { ...named, clientCertificate } }
}

async function requireAccepted(
  { clients, guardedFetch }: AdministratorDeps,
  provider: ProviderId,
  secret: AdministratorSecret,
  user: string | undefined,
): Promise<void> {
  const found = await requireAdministratorProvider(clients, provider, secret)
  if (user !== undefined && breaksCommand(user))
    throw new Fault('invalid_request', 'user must not have line breaks.')
  // Only a request for a mailbox shows whether a service account may open mailboxes.
  if (secret.kind === 'service_account' && user === undefined) return
  await requestAdministratorToken(found, secret, user ?? '', guardedFetch).catch(
    (error: unknown) => {
      throw error instanceof OAuthRejected
        ? new Fault('upstream_rejected', error.problem.message, { cause: error })
        : toFault(error)
    },
  )
}

function columnsOf(secret: AdministratorSecret, secretKey: string, id: string) {
  const [account, clientId] =
    secret.kind === 'app'
      ? [secret.app.tenant, secret.app.clientId]
      : [secret.account.email, secret.account.clientId]
  return {
    kind: secret.kind,
    account,
    clientId,
    certificate: (secret.kind === 'app' && secret.app.clientCertificate?.certificate) || null,
    sealed: encryptAdministrator(secret, secretKey, id),
  }
}
