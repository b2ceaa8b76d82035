import * as oidc from 'openid-client'
import { Fault } from '../../errors.ts'
import { describeFailure, isBusy, isTemporary, OAuthRejected } from '../oauth-problem.ts'
import type { MailProvider } from '../providers.ts'
import type { AdministratorSecret } from './secret.ts'

/** What was asked for when a provider rejected it. */
type Asked = { secret: AdministratorSecret; provider: MailProvider; user: string }

/**
 * Explains why an administrator’s credential got no token.
 * @returns OAuthRejected of the kind `consent` when the administrator must change something; a Fault
 *   `upstream_rejected` where only this mailbox is concerned
 */
export function describeAdministratorFailure(error: unknown, asked: Asked): OAuthRejected | Fault {
  if (!(error instanceof oidc.ResponseBodyError) || isBusy(error.status))
    return describeFailure(error, asked.provider)
  const description = error.error_description ?? ''
  if (isTemporary({ error: error.error, description }))
    return describeFailure(error, asked.provider)
  const number = /AADSTS(\d+)/.exec(description)?.[1] ?? ''
  const code = number === '' ? error.error.replace(/[^\w.:-]/g, '').slice(0, 80) : `AADSTS${number}`
  if (asked.secret.kind === 'service_account' && isUnknownUser(error.error, description))
    return new Fault(
      'upstream_rejected',
      `${asked.provider.name} has no mailbox ${asked.user} that this service account may open. Check its spelling and its domain. (${code})`,
    )
  const message = messageOf(error.error, number, asked)
  if (message === undefined) return describeFailure(error, asked.provider)
  return new OAuthRejected({ kind: 'consent', message: `${message} (${code})` }, error)
}

/** Google describes a wrong `sub` so; other causes have the same code. */
function isUnknownUser(error: string, description: string): boolean {
  return error === 'invalid_grant' && /user id|invalid email/i.test(description)
}

function messageOf(error: string, number: string, { secret, provider }: Asked): string | undefined {
  const { name } = provider
  if (secret.kind === 'service_account') {
    const { clientId, email } = secret.account
    const messages: Record<string, string> = {
      unauthorized_client: `Domain-wide delegation isn’t allowed for the client ID ${clientId} with the scope ${provider.mailScopes.join(' ')}. Add both in the Admin console of ${name}; it can take some minutes.`,
      access_denied: `Domain-wide delegation isn’t allowed for the client ID ${clientId}. Add it in the Admin console of ${name}.`,
      invalid_grant: `${name} rejects the key of ${email}: it was deleted, the service account is disabled, or the clock of this service is wrong. Upload a new key.`,
      invalid_client: `${name} doesn’t know the service account ${email}. Upload a new key.`,
      invalid_scope: `${name} rejects the scope ${provider.mailScopes.join(' ')}.`,
    }
    return messages[error]
  }
  const { clientId, clientCertificate, tenant } = secret.app
  const unknownCertificate = `${name} doesn’t accept the certificate of the application ${clientId}. Upload it there, without its key (Certificates & secrets).`
  const wrongSecret = clientCertificate
    ? unknownCertificate
    : `${name} rejects the secret of the application ${clientId}: it is wrong or has expired. Enter a new one.`
  const unknownTenant = `${name} has no tenant ${tenant}. Enter its ID or domain.`
  const numbers: Record<string, string> = {
    7000215: wrongSecret,
    7000222: wrongSecret,
    700027: unknownCertificate,
    700024: `${name} rejects the time of the request. Correct the clock of this service.`,
    7000112: `The application ${clientId} is disabled at ${name}. Enable it.`,
    700016: `The application ${clientId} isn’t in the tenant ${tenant}. Check both IDs, and grant admin consent.`,
    90002: unknownTenant,
    900023: unknownTenant,
    500011: `The tenant ${tenant} has no Exchange Online.`,
    65001: `The application ${clientId} has no admin consent for IMAP.AccessAsApp. Grant it.`,
  }
  const messages: Record<string, string> = {
    invalid_client: wrongSecret,
    unauthorized_client: `The application ${clientId} may not open mailboxes. Add IMAP.AccessAsApp, and grant admin consent.`,
    invalid_scope: `${name} rejects the scope ${provider.mailScopes.join(' ')}.`,
  }
  return numbers[number] ?? messages[error]
}
