import { Type } from 'typebox'
import { Failure, nameComponents, Nullable, Timestamp, Uuid } from '../http/schema.ts'
import { PlanName } from './shapes.ts'

/** What better-auth answers, in its own shapes. */
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
})

const Session = Type.Object({
  id: Uuid,
  token: Type.String({ description: 'Names the session in `revoke-session`; it is not the cookie.' }),
  userId: Uuid,
  expiresAt: Timestamp,
  createdAt: Timestamp,
  updatedAt: Timestamp,
  ipAddress: Nullable(Type.String()),
  userAgent: Nullable(Type.String()),
  authenticatedAt: Type.String({ format: 'date-time', description: 'When the password was last entered in it.' }),
})

const token = Nullable(Type.String({ description: 'The new session; null when none was created.' }))
export const SignedIn = Type.Object({
  redirect: Type.Boolean(),
  token: Type.String(),
  url: Type.Optional(Type.String()),
  user: User,
})
/** The same whether or not the address has an account, so it holds only what was sent. */
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
  code: Type.Optional(Type.String({ description: 'A stable word for programs.' })),
})
/** A refusal of ours, or one of the library's: ours is tried first, because it has fields that the library's does not name. */
export const Refused = Type.Union([Failure, AuthFailure])

nameComponents({ User, Session, AuthFailure })
