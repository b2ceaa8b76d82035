import { Type, type Static } from 'typebox'
import { nameComponents, Uuid } from '../http/http-schema.ts'

export const Secret = Type.String({ minLength: 1, maxLength: 10_000 })

export const CredentialId = {
  ...Uuid,
  description: 'A sign-in at the provider of the mailbox, instead of a password.',
} as typeof Uuid

/** Requires one of the ways to sign in. */
export const REQUIRES_SECRET = {
  anyOf: ['password', 'accessToken', 'credentialId'].map((name) => ({ required: [name] })),
}

/** How an account signs in, where the earlier secret was deleted. */
export const RenewedSecret = Type.Object(
  {
    password: Type.Optional(Secret),
    accessToken: Type.Optional(Secret),
    credentialId: Type.Optional(CredentialId),
  },
  REQUIRES_SECRET,
)
export type RenewedSecret = Static<typeof RenewedSecret>

/** How an account of a failed migration signs in. */
export const RetrySecret = Type.Object(
  {
    ...RenewedSecret.properties,
    owner: Type.Optional(
      Type.Literal(true, {
        description:
          'The owner signs in by a link (`/api/v1/imap/migrate/{id}/owner-links`). The migration waits for that.',
      }),
    ),
  },
  { anyOf: [...REQUIRES_SECRET.anyOf, { required: ['owner'] }] },
)
export type RetrySecret = Static<typeof RetrySecret>

nameComponents({ RenewedSecret, RetrySecret })
