import { Type, type Static } from 'typebox'
import { nameComponents, Uuid } from '../http/schema.ts'

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

nameComponents({ RenewedSecret })
