import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../http/schema.ts'
import { PROVIDER_IDS } from './providers.ts'

const Provider = Type.Enum([...PROVIDER_IDS])

export const MailProviderShape = Type.Object({
  id: Provider,
  name: Type.String(),
  hosts: Type.Array(Type.String(), {
    description: 'Its IMAP servers. Its tokens are sent to no other host.',
  }),
  needsUser: Type.Boolean({ description: 'Whether a sign-in needs `user`.' }),
})

export const MailProviders = Type.Object({
  providers: Type.Array(MailProviderShape),
  redirectUri: Type.String({ description: 'To register at each provider.' }),
})

export const MailCredential = Type.Object({
  id: Uuid,
  provider: Provider,
  account: Type.String({ description: 'Whose mailbox it is.' }),
  state: Type.Enum(['valid', 'consent_needed'], {
    description: '`consent_needed`: sign in at the provider again.',
  }),
  problem: Nullable(Type.String({ description: 'Why a new sign-in is needed.' })),
  createdAt: Timestamp,
  keepUntil: Timestamp,
})

export const NewConsent = Type.Object(
  {
    provider: Provider,
    user: Type.Optional(
      Type.String({ maxLength: 500, description: 'The account that the provider suggests.' }),
    ),
    credentialId: Type.Optional({
      ...Uuid,
      description: 'A credential to renew, with the same account.',
    } as typeof Uuid),
  },
  { examples: [{ provider: 'google', user: 'alice@example.com' }] },
)
export type NewConsent = Static<typeof NewConsent>

export const StartedConsent = Type.Object({
  id: Uuid,
  url: Type.String({ description: 'The page of the provider.' }),
  expiresAt: Timestamp,
})

export const Consent = Type.Object({
  id: Uuid,
  state: Type.Enum(['pending', 'granted', 'failed', 'expired']),
  problem: Nullable(Type.String()),
  credential: Nullable(MailCredential),
})

nameComponents({
  MailProvider: MailProviderShape,
  MailProviders,
  MailCredential,
  NewMailConsent: NewConsent,
  StartedMailConsent: StartedConsent,
  MailConsent: Consent,
})
