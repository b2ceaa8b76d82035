import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { Done, responses } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import { listAccounts } from '../accounts.sql.ts'
import type { Auth } from './better-auth-loader.ts'

/**
 * Signs visitors of a demo in, without a password, as the owner of its data. Their sessions are
 * those of one account, so they contain neither the address nor the browser of a visitor.
 */
export function demoSessionRoute(app: App, { db, auth }: { db: Kysely<DB>; auth: Auth }): void {
  app.post(
    '/api/v1/demo/session',
    {
      config: { limit: 'session requests' },
      schema: { hide: true, response: responses(Done) },
    },
    async (_request, reply) => {
      const [owner] = await listAccounts(db, {}, { limit: 1, offset: 0 })
      if (!owner) throw new Fault('unavailable', 'The demo is starting. Try again in a minute.')
      const { startSession } = await auth.api()
      const { headers } = await startSession({
        body: { accountId: owner.id, method: 'password' },
        headers: new Headers(),
        returnHeaders: true,
      })
      reply.header('set-cookie', headers.getSetCookie())
      return { success: true as const }
    },
  )
}
