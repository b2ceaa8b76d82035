import type { App } from '../../../http/http-server.ts'
import { publicPage } from '../../../http/public-page.ts'
import type { Enqueue } from '../../../jobs/job.ts'
import { hashOfToken, TOKEN_LENGTH } from '../owner-token.ts'
import { accessPage, unknownPage, withdrawnPage } from './withdrawal-pages.ts'
import { findAccess } from './withdrawal.sql.ts'
import { OWNER_ACCESS_PATH, withdrawAccess, type WithdrawDeps } from './withdraw-permission.ts'

/**
 * `/mailbox-access/{token}`: the page of an owner who has signed in, on which only they can withdraw
 * that.
 */
export function ownerAccessRoutes(app: App, deps: WithdrawDeps & { enqueue: Enqueue }): void {
  publicPage(app, {
    url: `${OWNER_ACCESS_PATH}/:token`,
    limit: 'sign-in attempts',
    tokenLength: TOKEN_LENGTH,
    formBytes: 4_096,
    open: async (token) => (await findAccess(deps.db, hashOfToken(token))) ?? null,
    unknown: unknownPage,
    ask: accessPage,
    async act(access) {
      if (access.withdrawnAt !== null || !access.isStored) return accessPage(access)
      const revocation = await withdrawAccess(deps, access, deps.enqueue)
      return withdrawnPage(access[access.side].user, revocation)
    },
  })
}
