import { Type, type Static } from 'typebox'
import { nameComponents, Nullable } from '../../http/schema.ts'
import { PROVIDER_IDS } from '../providers.ts'

export const MailClient = Type.Object({
  provider: Type.Enum([...PROVIDER_IDS]),
  name: Type.String(),
  hosts: Type.Array(Type.String()),
  origin: Nullable(
    Type.Enum(['environment', 'dashboard'], {
      description: 'Where it was set; null when it was not. The environment wins.',
    }),
  ),
  clientId: Nullable(Type.String()),
  hasSecret: Type.Boolean(),
  tenant: Nullable(Type.String({ description: 'Of Microsoft: whose accounts can sign in.' })),
  problem: Nullable(
    Type.String({ description: 'Why the provider rejects it. What uses it waits until then.' }),
  ),
})

export const MailClients = Type.Object({
  clients: Type.Array(MailClient),
  redirectUri: Type.String({ description: 'To register at each provider.' }),
})

const Text = { minLength: 1, maxLength: 1_000, pattern: '^[\\x21-\\x7e]+$' }

export const ClientChange = Type.Object(
  {
    clientId: Type.String(Text),
    clientSecret: Type.Optional(
      Type.String({ ...Text, description: 'Left out, the stored one of the same client stays.' }),
    ),
    tenant: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: '^[\\w.-]+$',
        description: 'Of Microsoft. Default: OAUTH_MICROSOFT_TENANT.',
      }),
    ),
  },
  { examples: [{ clientId: '1234.apps.googleusercontent.com', clientSecret: 'secret' }] },
)
export type ClientChange = Static<typeof ClientChange>

nameComponents({ MailClient, MailClients, MailClientChange: ClientChange })
