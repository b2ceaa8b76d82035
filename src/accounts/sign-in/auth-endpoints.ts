import { Type, type TSchema } from 'typebox'
import {
  AuthDone,
  BackupCodes,
  CurrentSession,
  PasswordChanged,
  SessionList,
  SignedIn,
  SignedOut,
  SignedUp,
  TwoFactorChanged,
  TwoFactorSecret,
  TwoFactorVerified,
} from './auth-shapes.ts'
import { Email, Name, OwnPassword, Password } from '../shapes.ts'

export type AuthEndpoint = {
  method: 'GET' | 'POST'
  path: string
  summary: string
  answer: TSchema
  body?: TSchema
  session?: true
}

const Code = Type.String({ minLength: 6, maxLength: 20 })
const VerifiedCode = Type.Object({
  code: Code,
  trustDevice: Type.Optional(
    Type.Boolean({ description: 'Whether this browser may skip the code for 30 days.' }),
  ),
})
const ConfirmedByPassword = Type.Object({ password: Type.Optional(OwnPassword) })

/**
 * The endpoints of better-auth that are exposed. The others, such as social sign-in, are
 * unreachable.
 */
export const AUTH_ENDPOINTS: AuthEndpoint[] = [
  {
    method: 'POST',
    path: '/sign-in/email',
    summary: 'Sign in',
    answer: SignedIn,
    body: Type.Object({
      email: Email,
      password: OwnPassword,
      rememberMe: Type.Optional(Type.Boolean()),
    }),
  },
  {
    method: 'POST',
    path: '/sign-up/email',
    summary: 'Sign up',
    answer: SignedUp,
    body: Type.Object({ email: Email, password: Password, name: Name }),
  },
  { method: 'POST', path: '/sign-out', summary: 'Sign out', answer: SignedOut },
  {
    method: 'GET',
    path: '/get-session',
    summary: 'Get the current session',
    answer: CurrentSession,
  },
  {
    method: 'GET',
    path: '/list-sessions',
    summary: 'List sessions',
    answer: SessionList,
    session: true,
  },
  {
    method: 'POST',
    path: '/revoke-session',
    summary: 'End a session',
    answer: AuthDone,
    session: true,
    body: Type.Object({ token: Type.String({ maxLength: 200 }) }),
  },
  {
    method: 'POST',
    path: '/revoke-other-sessions',
    summary: 'End all other sessions',
    answer: AuthDone,
    session: true,
  },
  {
    method: 'POST',
    path: '/update-user',
    summary: 'Change the name of the account',
    answer: AuthDone,
    session: true,
    body: Type.Object({ name: Name }),
  },
  {
    method: 'POST',
    path: '/change-password',
    summary: 'Change the password of the account',
    answer: PasswordChanged,
    session: true,
    body: Type.Object({
      currentPassword: OwnPassword,
      newPassword: Password,
      revokeOtherSessions: Type.Optional(Type.Boolean()),
    }),
  },
  {
    method: 'POST',
    path: '/two-factor/verify-totp',
    summary: 'Verify the code of an authenticator app',
    answer: TwoFactorVerified,
    body: VerifiedCode,
  },
  {
    method: 'POST',
    path: '/two-factor/verify-backup-code',
    summary: 'Sign in with a backup code',
    answer: TwoFactorVerified,
    body: VerifiedCode,
  },
  {
    method: 'POST',
    path: '/two-factor/enable',
    summary: 'Set up an authenticator app',
    answer: TwoFactorSecret,
    session: true,
    body: ConfirmedByPassword,
  },
  {
    method: 'POST',
    path: '/two-factor/disable',
    summary: 'Remove the authenticator app',
    answer: TwoFactorChanged,
    session: true,
    body: ConfirmedByPassword,
  },
  {
    method: 'POST',
    path: '/two-factor/generate-backup-codes',
    summary: 'Replace the backup codes',
    answer: BackupCodes,
    session: true,
    body: ConfirmedByPassword,
  },
]
