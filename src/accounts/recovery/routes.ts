import { Type } from 'typebox'
import { callerOf, requireFreshSession, requireSession } from '../../http/auth.ts'
import { Done, responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { Email, Password } from '../shapes.ts'
import { originOf } from '../sign-in/open-session.ts'
import type { EmailChange } from './email-change.ts'
import type { PasswordReset } from './password-reset.ts'

export type RecoveryRoutesDeps = { passwordReset: PasswordReset; emailChange: EmailChange }

const Code = Type.String({ maxLength: 20, description: 'Eight digits.' })

/** Forgotten passwords, for everyone. */
export function passwordResetRoutes(app: App, { passwordReset }: RecoveryRoutesDeps): void {
  const config = { limit: 'password resets' } as const
  app.post(
    '/api/v1/password-reset',
    {
      config,
      schema: {
        summary: 'Request a link to reset the password',
        operationId: 'requestPasswordReset',
        description:
          'Emails a link that is valid for 30 minutes, where the address has an account. The answer is the same where it has none.',
        body: Type.Object({ email: Email }),
        response: responses(Done),
      },
    },
    async (request) => {
      await passwordReset.request(request.body.email, request.ip)
      return { success: true as const }
    },
  )
  app.post(
    '/api/v1/password-reset/confirm',
    {
      config,
      schema: {
        summary: 'Reset the password',
        operationId: 'resetPassword',
        description:
          'Requires the token after the # of the link. Ends all sessions and opens none; second factors stay.',
        body: Type.Object({ token: Type.String({ maxLength: 4000 }), password: Password }),
        response: responses(Done),
      },
    },
    async (request) => {
      const { token, password } = request.body
      await passwordReset.confirm(token, password, originOf(request))
      return { success: true as const }
    },
  )
}

/** Changes the address of the account. */
export function emailChangeRoutes(app: App, { emailChange }: RecoveryRoutesDeps): void {
  const common = { security: [{ session: [] }] }
  app.post(
    '/api/v1/account/email',
    {
      onRequest: requireFreshSession,
      schema: {
        summary: 'Start a change of the email address',
        operationId: 'startEmailChange',
        ...common,
        description: 'Emails a code to the present and to the new address.',
        body: Type.Object({ email: Email }),
        response: responses(
          Success(
            Type.Object({
              state: Type.String({ description: 'Send it with the codes, within 30 minutes.' }),
            }),
          ),
        ),
      },
    },
    async (request) => {
      const { accountId: id, email } = callerOf(request)
      const state = await emailChange.request({ id, email }, request.body.email, request.ip)
      return { success: true as const, data: { state } }
    },
  )
  app.post(
    '/api/v1/account/email/confirm',
    {
      onRequest: requireSession,
      schema: {
        summary: 'Confirm a change of the email address',
        operationId: 'confirmEmailChange',
        ...common,
        body: Type.Object({
          state: Type.String({ maxLength: 4000 }),
          oldCode: Code,
          newCode: Code,
        }),
        response: responses(Success(Type.Object({ email: Type.String() }))),
      },
    },
    async (request) => {
      const { accountId: id, email } = callerOf(request)
      const changed = await emailChange.confirm({ id, email }, request.body, originOf(request))
      return { success: true as const, data: { email: changed } }
    },
  )
}
