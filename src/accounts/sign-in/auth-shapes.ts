import { Type } from 'typebox'
import { Failure, nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { SIGN_IN_METHODS } from '../../http/auth.ts'
import { PlanName } from '../shapes.ts'

/** The response bodies of better-auth. */
const User = Type.Object({
  id: Uuid,
  name: Type.String(),
  email: Type.String(),
  emailVerified: Type.Boolean(),
  image: Type.Null(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  plan: PlanName,
  admin: Type.Boolean(),
  disabledAt: Type.Optional(Nullable(Timestamp)),
  twoFactorEnabled: Type.Optional(
    Type.Boolean({ description: 'Whether sign-in with the password needs a code.' }),
  ),
})

const Session = Type.Object({
  id: Uuid,
  token: Type.String({
    description: 'Identifies the session in `revoke-session`. It is not the cookie.',
  }),
  userId: Uuid,
  expiresAt: Timestamp,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  ipAddress: Nullable(Type.String()),
  userAgent: Nullable(Type.String()),
  authenticatedAt: Type.String({
    format: 'date-time',
    description: 'Time of the last sign-in or confirmation in this session.',
  }),
  signedInWith: Type.Enum([...SIGN_IN_METHODS], {
    description: 'The strongest proof that opened the session.',
  }),
})

const token = Nullable(Type.String({ description: 'The new session; null when none was created.' }))
const SignedInSession = Type.Object({
  redirect: Type.Boolean(),
  token: Type.String(),
  url: Type.Optional(Type.String()),
  user: User,
})
const CodeNeeded = Type.Object({
  twoFactorRedirect: Type.Literal(true, {
    description:
      'The password is right. Send a code to `two-factor/verify-totp` within 10 minutes.',
  }),
  twoFactorMethods: Type.Array(Type.String()),
})
export const SignedIn = Type.Union([SignedInSession, CodeNeeded])
export const TwoFactorVerified = Type.Object({ token: Type.String(), user: User })
export const TwoFactorSecret = Type.Object({
  method: Type.Literal('totp'),
  totpURI: Type.String({
    description:
      'For a QR code. The app is used only after a code of it was sent to `two-factor/verify-totp`.',
  }),
  backupCodes: Type.Array(Type.String(), { description: 'Ten codes, each valid once.' }),
})
export const TwoFactorChanged = Type.Object({ status: Type.Boolean() })
export const BackupCodes = Type.Object({
  status: Type.Boolean(),
  backupCodes: Type.Array(Type.String()),
})
/**
 * Identical whether or not the address has an account, so it contains only the data that was sent.
 */
export const SignedUp = Type.Object({
  token: Type.Null(),
  user: Type.Object({ email: Type.String(), name: Type.String() }),
})
export const SignedOut = Type.Object({ success: Type.Boolean() })
export const CurrentSession = Nullable(Type.Object({ session: Session, user: User }))
export const SessionList = Type.Array(Session)
export const AuthDone = Type.Object({ status: Type.Boolean() })
export const PasswordChanged = Type.Object({ token, user: User })

const AuthFailure = Type.Object({
  message: Type.Optional(Type.String()),
  code: Type.Optional(Type.String({ description: 'A stable code for programs.' })),
})
/**
 * A failure of this service or of the library. Ours comes first, because it has fields that the
 * library's lacks.
 */
export const Refused = Type.Union([Failure, AuthFailure])

nameComponents({ User, Session, AuthFailure })
