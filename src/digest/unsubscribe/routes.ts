import type { App } from '../../http/http-server.ts'
import { publicPage } from '../../http/public-page.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DigestDeps } from '../delivery/digest-email.ts'
import { unsubscribe } from '../digest-subscriptions.sql.ts'
import { donePage, questionPage, unknownPage } from './unsubscribe-page.ts'
import { unsubscribeToken } from './unsubscribe-token.ts'

/**
 * `/digest/unsubscribe/{token}`, the link in an email: a page for people, and for mail clients the
 * POST of RFC 8058, which needs no login and may be repeated. Mail providers send
 * `List-Unsubscribe=One-Click` in either form encoding (section 3.2); a client that sends something
 * else is unsubscribed, too.
 */
export function unsubscribeRoutes(app: App, deps: DigestDeps): void {
  const keys = [deps.secretKey, ...(deps.previousKey ? [deps.previousKey] : [])]
  const settingsUrl = `${deps.baseUrl}/alerts/digest`
  publicPage(app, {
    url: '/digest/unsubscribe/:token',
    limit: 'public pages',
    tokenLength: 200,
    formBytes: 4_096,
    open: async (token) => unsubscribeToken.read(keys, token),
    unknown: () => unknownPage(settingsUrl),
    ask: () => questionPage(),
    async act(member) {
      if (await unsubscribe(deps.db, member))
        await notifyChange(deps.db, member.workspaceId, 'alerts')
      return donePage(`${settingsUrl}?workspace=${member.workspaceId}`)
    },
  })
}
