import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp } from '../../http/http-schema.ts'
import { MAX_PEM_LENGTH } from '../limits.ts'
import { PROVIDER_IDS } from '../providers.ts'

/** The certificate of a client. Its private key is never returned. */
export const ShownCertificate = Type.Object({
  expiresAt: Timestamp,
  state: Type.Enum(['valid', 'expiring', 'expired'], {
    description: '`expiring`: within 30 days.',
  }),
  thumbprint: Type.String({ description: 'SHA-1 in hex, as Microsoft Entra shows it.' }),
})

/** A certificate and its private key, as the operator has them. */
export const CertificatePem = Type.String({
  minLength: 1,
  maxLength: MAX_PEM_LENGTH,
  description:
    'A certificate and its RSA private key without a passphrase, as PEM, in any order. In place of `clientSecret`.',
})

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
  certificate: Nullable(ShownCertificate, { description: 'In place of a secret.' }),
  acceptsCertificate: Type.Boolean(),
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
      Type.String({
        ...Text,
        description: 'Without this and a certificate, what is stored of the same client stays.',
      }),
    ),
    clientCertificate: Type.Optional(CertificatePem),
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

nameComponents({
  MailClientCertificate: ShownCertificate,
  MailClient,
  MailClients,
  MailClientChange: ClientChange,
})
