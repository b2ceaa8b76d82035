import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../http/http-schema.ts'
import { CertificatePem, ShownCertificate } from './clients/shapes.ts'
import { PROVIDER_IDS, PURPOSES } from './providers.ts'

const Provider = Type.Enum([...PROVIDER_IDS])

const MailProviderShape = Type.Object({
  id: Provider,
  name: Type.String(),
  hosts: Type.Array(Type.String(), {
    description: 'Its IMAP servers. Its tokens are sent to no other host.',
  }),
  needsUser: Type.Boolean({ description: 'Whether a sign-in needs `user`.' }),
})

export const MailProviders = Type.Object({
  providers: Type.Array(MailProviderShape),
  forAdministrators: Type.Array(
    Type.Object({
      id: Provider,
      name: Type.String(),
      hosts: Type.Array(Type.String()),
      kinds: Type.Array(Type.Enum(['service_account', 'app'])),
      scope: Type.String({ description: 'What an administrator allows.' }),
    }),
    { description: 'Providers at which an administrator can sign in to all mailboxes.' },
  ),
  redirectUri: Type.String({ description: 'To register at each provider.' }),
})

export const MailCredential = Type.Object({
  id: Uuid,
  provider: Provider,
  kind: Type.Enum(['person', 'service_account', 'app'], {
    description:
      '`person`: the permission of the owner of one mailbox. The others open all mailboxes of an organization: a service account of Google, an application of Microsoft.',
  }),
  account: Type.String({
    description: 'Whose mailbox it is; the email of the service account; the tenant.',
  }),
  clientId: Nullable(
    Type.String({ description: 'The client ID that an administrator allowed to open mailboxes.' }),
  ),
  state: Type.Enum(['valid', 'consent_needed'], {
    description:
      '`consent_needed`: sign in at the provider again, or correct what `problem` names.',
  }),
  problem: Nullable(Type.String({ description: 'Why a new sign-in is needed.' })),
  certificate: Nullable(ShownCertificate, {
    description: 'Of an application that authenticates itself with a certificate.',
  }),
  createdAt: Timestamp,
  keepUntil: Timestamp,
})

export const NewConsent = Type.Object(
  {
    provider: Provider,
    purpose: Type.Optional(
      Type.Enum([...PURPOSES], {
        description:
          '`mailbox`, unless given. `postmaster`: statistics of Google Postmaster Tools.',
      }),
    ),
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

const Id = Type.String({ minLength: 1, maxLength: 200, pattern: '^[\\w.:@-]+$' })

/** A sign-in of an administrator for all mailboxes of an organization. */
export const AdministratorRequest = Type.Object(
  {
    provider: Provider,
    serviceAccount: Type.Optional(
      Type.String({
        maxLength: 20_000,
        description: 'The JSON key file of a service account with domain-wide delegation, as text.',
      }),
    ),
    app: Type.Optional(
      Type.Object(
        {
          tenant: Type.String({ ...Id, description: 'The ID or a domain of the organization.' }),
          clientId: Id,
          clientSecret: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000 })),
          clientCertificate: Type.Optional(CertificatePem),
        },
        {
          description: 'An application with `IMAP.AccessAsApp`.',
          oneOf: [{ required: ['clientSecret'] }, { required: ['clientCertificate'] }],
        },
      ),
    ),
    user: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'A mailbox to check a service account with.',
      }),
    ),
  },
  {
    oneOf: [{ required: ['serviceAccount'] }, { required: ['app'] }],
    examples: [
      {
        provider: 'microsoft',
        app: { tenant: 'example.com', clientId: '11111111-2222', clientSecret: 'secret' },
      },
    ],
  },
)
export type AdministratorRequest = Static<typeof AdministratorRequest>

export const AdministratorCheck = Type.Object({
  user: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'The mailbox to check it with; by default the one that was rejected last.',
    }),
  ),
})

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
  MailAdministrator: AdministratorRequest,
})
