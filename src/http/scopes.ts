import { accessOf, isSafe } from './access.ts'
import { requireFreshSession, type AuthHooks } from './auth.ts'
import type { Audience } from './route-access.ts'
import { security } from './http-schema.ts'
import type { App } from './http-server.ts'

/** The routes of a module, by who may call them. */
export type Routes<Context> = {
  /** For everyone, without an account. */
  public?(app: App, context: Context): void
  /** For accounts, by API token or session. A route may require more with a hook of its own. */
  account?(app: App, context: Context): void
  /** For administrators. Changes need a session with a recent sign-in, but for `acceptsTokens`. */
  administrator?(app: App, context: Context): void
}

/**
 * Registers the routes of all modules. The scopes of accounts and of administrators authenticate
 * every request in a hook of the scope, so that a route in them cannot be open by omission. What an
 * administrator changes concerns everyone: a stolen token must not do it.
 */
export function addRoutes<Context>(
  app: App,
  { account, admin }: Pick<AuthHooks, 'account' | 'admin'>,
  modules: Routes<Context>[],
  context: Context,
): void {
  for (const routes of modules) routes.public?.(app, context)
  addScope(app, 'account', account, (scope) => {
    scope.addHook('onRoute', (route) => void accessOf(route))
    for (const routes of modules) routes.account?.(scope, context)
  })
  addScope(app, 'administrator', admin, (scope) => {
    scope.addHook('onRoute', (route) => {
      if ([route.method].flat().every(isSafe) || route.config?.acceptsTokens) return
      route.onRequest = [...[route.onRequest ?? []].flat(), requireFreshSession]
      route.schema = { ...route.schema, security: [{ session: [] }] }
    })
    for (const routes of modules) routes.administrator?.(scope, context)
  })
}

function addScope(
  app: App,
  audience: Audience,
  authenticate: AuthHooks['account'],
  register: (scope: App) => void,
): void {
  void app.register(async (scope: App) => {
    scope.addHook('onRequest', authenticate)
    scope.addHook('onRoute', (route) => {
      route.schema = { security, ...route.schema }
      route.config = { ...route.config, audience }
    })
    register(scope)
  })
}
