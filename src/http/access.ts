import type { FastifyRequest, RouteOptions } from 'fastify'
import { Fault } from '../errors.ts'

/** The roles of a workspace, from the most to the least powerful. */
export const ROLES = ['owner', 'admin', 'member', 'read-only'] as const
export type Role = (typeof ROLES)[number]

/** The parts of the API that a token can be limited to. */
export const MODULES = [
  'checks',
  'dmarc',
  'monitoring',
  'delisting',
  'migrations',
  'attacks',
  'webhooks',
  'alerts',
  'workspace',
] as const
export type Module = (typeof MODULES)[number]

/** `dmarc:read`, `webhooks:write`; `*` stands for all modules, and write includes read. */
export const SCOPES = ['*', ...MODULES].flatMap(
  (module) => [`${module}:read`, `${module}:write`] as Scope[],
)
export type Scope = `${Module | '*'}:${'read' | 'write'}`

/**
 * What a route of the account scope concerns: a module of the workspace, or the account itself
 * (`own`), which is independent of roles and workspaces.
 */
export type Access = Module | 'own'

/** The access of routes by the beginning of their path; the longest one counts. */
const ACCESS_BY_PATH: Record<string, Access> = {
  '/api/auth': 'own',
  '/api/v1/account': 'own',
  '/api/v1/account/usage': 'workspace',
  '/api/v1/abuse': 'attacks',
  '/api/v1/addresses': 'workspace',
  '/api/v1/alerts': 'alerts',
  '/api/v1/blacklist-check': 'checks',
  '/api/v1/canaries': 'checks',
  '/api/v1/complaints': 'checks',
  '/api/v1/delisting': 'delisting',
  '/api/v1/digest': 'alerts',
  '/api/v1/dmarc': 'dmarc',
  '/api/v1/dmarc-check': 'checks',
  '/api/v1/dns-check': 'checks',
  '/api/v1/domains': 'checks',
  '/api/v1/events': 'workspace',
  '/api/v1/imap': 'migrations',
  '/api/v1/invitations': 'own',
  '/api/v1/mail-tests': 'checks',
  '/api/v1/monitoring': 'monitoring',
  '/api/v1/overview': 'workspace',
  '/api/v1/postmaster': 'checks',
  '/api/v1/problems': 'workspace',
  '/api/v1/shared-checks': 'checks',
  '/api/v1/snds': 'checks',
  '/api/v1/spam-rates': 'checks',
  '/api/v1/ssl-check': 'checks',
  '/api/v1/tokens': 'workspace',
  '/api/v1/workspaces': 'workspace',
  '/api/webhook': 'webhooks',
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The access of this route, where its path does not tell. */
    access?: Access
    /** The least powerful role that may call this route: by default read-only to read, member to change. */
    role?: Role
  }
}

/** The role and the API token that access depends on. */
export type Permissions = {
  role: Role
  via: 'token' | 'session'
  /** The scopes of an API token; null for a session, and for a token without restrictions. */
  scopes: Scope[] | null
}

type AccessRoute = Pick<RouteOptions, 'url' | 'config'>

/**
 * The access of a route.
 * @throws Error for a path that no entry covers, so that a new route cannot be open by omission
 */
export function accessOf({ url, config }: AccessRoute): Access {
  if (config?.access) return config.access
  const prefix = Object.keys(ACCESS_BY_PATH)
    .filter((path) => url === path || url.startsWith(`${path}/`))
    .toSorted((a, b) => b.length - a.length)[0]
  if (prefix === undefined) throw new Error(`ACCESS_BY_PATH in http/access.ts lacks ${url}`)
  return ACCESS_BY_PATH[prefix] as Access
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS'])

export const isSafe = (method: string): boolean => SAFE_METHODS.has(method)

/** The least powerful role that may call a route. */
export function requiredRole({ config }: AccessRoute, method: string): Role {
  return config?.role ?? (isSafe(method) ? 'read-only' : 'member')
}

/** The reason why a caller may not call a route, if there is one. */
export function rejectAccess(
  {
    routeOptions,
    method,
  }: Pick<FastifyRequest, 'method'> & {
    routeOptions: { url?: string | undefined; config?: AccessRoute['config'] }
  },
  { role, scopes }: Permissions,
): Fault | undefined {
  const route = { url: routeOptions.url ?? '', config: routeOptions.config } as AccessRoute
  const access = accessOf(route)
  if (access === 'own') return rejectScopesOnOwn(method, scopes)
  const needed = requiredRole(route, method)
  if (!isAtLeast(role, needed)) return new Fault('forbidden', roleMessage(role, needed))
  const right = isSafe(method) ? 'read' : 'write'
  if (!hasScope(scopes, access, right))
    return new Fault('forbidden', `This API token lacks the scope “${access}:${right}”.`)
  return undefined
}

/** A restricted token is for modules of a workspace: it changes nothing of its account. */
function rejectScopesOnOwn(method: string, scopes: Scope[] | null): Fault | undefined {
  return scopes === null || isSafe(method)
    ? undefined
    : new Fault('forbidden', 'This API token is limited to scopes. It cannot change the account.')
}

export function isAtLeast(role: Role, needed: Role): boolean {
  return ROLES.indexOf(role) <= ROLES.indexOf(needed)
}

export function hasScope(scopes: Scope[] | null, module: Module, right: 'read' | 'write'): boolean {
  if (scopes === null) return true
  const rights = right === 'read' ? (['read', 'write'] as const) : (['write'] as const)
  return rights.some((each) => scopes.includes(`${module}:${each}`) || scopes.includes(`*:${each}`))
}

function roleMessage(role: Role, needed: Role): string {
  return needed === 'owner'
    ? 'This requires an owner of the workspace.'
    : `This requires the role “${needed}” in this workspace. Yours is “${role}”.`
}

export const WORKSPACE_HEADER = 'x-workspace'

/**
 * The id of the workspace that a request names: in its path, in the header `X-Workspace` or, for
 * event streams and downloads of browsers, in the query parameter `workspace`.
 */
export function namedWorkspace({
  headers,
  params,
  query,
}: Pick<FastifyRequest, 'headers' | 'params' | 'query'>): string | undefined {
  const inPath = (params as { workspaceId?: string }).workspaceId
  const header = headers[WORKSPACE_HEADER]
  const inQuery = (query as { workspace?: unknown }).workspace
  return [inPath, header, inQuery].find((id): id is string => typeof id === 'string' && id !== '')
}
