import type { RouteOptions } from 'fastify'
import type { App } from './http-app.ts'
import { accessOf, isSafe, requiredRole, type Role, type Scope } from './access.ts'
import { requireFreshSession, requireSession } from './auth.ts'

/** Who may call a route: everyone, an account, or an administrator of the installation. */
export type Audience = 'public' | 'account' | 'administrator'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Set by the scope that authenticates the route; by default everyone may call it. */
    audience?: Audience
    /**
     * A change by administrators that their API tokens may make too: of what programs keep, such as
     * the ranges of sensors. Each is in the audit log.
     */
    acceptsTokens?: true
    /** The key that a public route checks or counts, besides accounts and API tokens. */
    key?: 'report token' | 'bouncer key' | 'either key'
  }
}

/** The demands of a registered route. */
export type RouteAccess = {
  method: string
  /** With parameters as the router writes them: `/api/v1/tokens/:id`. */
  path: string
  audience: Audience
  /** The least powerful role in the workspace; null where the route concerns no workspace. */
  role: Role | null
  /** What an API token with scopes needs; null where no scope counts. */
  scope: Scope | null
  /** Whether it requires a session, and one with a sign-in within the last ten minutes. */
  session: 'any' | 'fresh' | null
  /** The key of attack reporting that the route reads; null for none. */
  key: NonNullable<RouteOptions['config']>['key'] | null
  /** Whether the API reference leaves it out: pages, files and redirects. */
  isHidden: boolean
}

/**
 * Records the demands of every route that is registered afterwards. Complete once the app is ready.
 */
export function recordRouteAccess(app: App): RouteAccess[] {
  const routes: RouteAccess[] = []
  const registered: RouteOptions[] = []
  // Hooks of the scopes run later and complete the options of the route.
  app.addHook('onRoute', (route) => void registered.push(route))
  app.addHook('onReady', async () => void routes.push(...registered.flatMap(describeRoute)))
  return routes
}

/** HEAD is left out: the framework adds it to every GET, with the same hooks. */
function describeRoute(route: RouteOptions): RouteAccess[] {
  const methods = [route.method].flat().filter((method) => method !== 'HEAD')
  return methods.map((method) => ({
    method,
    path: route.url,
    ...demandsOf(route, method),
    key: route.config?.key ?? null,
    isHidden: route.schema?.hide === true,
  }))
}

function demandsOf(
  route: RouteOptions,
  method: string,
): Pick<RouteAccess, 'audience' | 'role' | 'scope' | 'session'> {
  const audience = route.config?.audience ?? 'public'
  if (audience === 'public') return { ...ofSignIn(route), role: null, scope: null }
  const session = sessionOf(route)
  const access = audience === 'account' ? accessOf(route) : 'own'
  if (access === 'own') return { audience, role: null, scope: null, session }
  const scope: Scope = `${access}:${isSafe(method) ? 'read' : 'write'}`
  return {
    audience,
    role: requiredRole(route, method),
    scope: session === null ? scope : null,
    session,
  }
}

/** The sign-in library checks the sessions of its own routes; their description says which. */
function ofSignIn({ schema }: RouteOptions): Pick<RouteAccess, 'audience' | 'session'> {
  const { security = [] } = (schema ?? {}) as { security?: object[] }
  return security.length === 0
    ? { audience: 'public', session: null }
    : { audience: 'account', session: 'any' }
}

function sessionOf({ onRequest }: RouteOptions): RouteAccess['session'] {
  const hooks = [onRequest ?? []].flat()
  if (hooks.includes(requireFreshSession)) return 'fresh'
  return hooks.includes(requireSession) ? 'any' : null
}
