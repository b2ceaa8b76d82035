import type { OAuthClients } from '../access-token.ts'
import { Fault, invalidField } from '../../errors.ts'
import {
  ADMINISTRATOR_KINDS,
  administratorProvider,
  type MailProvider,
  type ProviderId,
} from '../providers.ts'
import type { AdministratorSecret } from './secret.ts'

/**
 * The provider of an administrator’s credential.
 * @throws Fault `invalid_request` when it offers no such sign-in, `conflict` when it is not set up
 */
export async function requireAdministratorProvider(
  clients: OAuthClients,
  id: ProviderId,
  secret: AdministratorSecret,
): Promise<MailProvider> {
  if (!ADMINISTRATOR_KINDS[id].includes(secret.kind)) {
    const offered = ADMINISTRATOR_KINDS[id].join(' or ') || 'no sign-in for administrators'
    const [path, message] = ['provider', `offers ${offered}`]
    throw invalidField(path, message)
  }
  const client = secret.kind === 'app' ? secret.app : { clientId: secret.account.clientId }
  const provider = administratorProvider(id, client, (await clients.find('other'))?.provider)
  if (provider) return provider
  throw new Fault(
    'conflict',
    `Signing in with ${id} is not set up on this service: /docs/guide/mail-providers.html has the steps.`,
  )
}
