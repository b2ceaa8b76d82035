import type { PrivateTargets } from '../setting-values.ts'
import { Fault, invalidField } from '../errors.ts'
import { parseHost } from '../net/address.ts'
import type { Resolver } from '../net/dns.ts'
import type { OpenTokens } from '../mail-credentials/token-source.ts'
import { checkTarget } from '../net/guard.ts'
import type { SignIn } from '../net/imap/connection/imap-sign-in.ts'
import type { MigrationAccount } from './engine/connections/fresh-sign-in.ts'
import type { Connection } from './shapes.ts'
import type { AccountAddress } from './migrations.sql.ts'
import { breaksCommand } from '../net/imap/connection/command-encoding.ts'

export type NetDeps = { resolver: Resolver; allowPrivate: PrivateTargets }
export type AccountDeps = NetDeps & { openTokens: OpenTokens }

/** The secret of an account: a password or an OAuth access token. */
export type AccountSecret = { password?: string; accessToken?: string }

/**
 * Resolves an account’s host and checks that it is an allowed target.
 * @param path the host’s path in the request, for the details of a fault
 * @throws Fault `invalid_request`, `target_not_allowed`, `upstream_unreachable`, `upstream_timeout`
 */
export async function resolveAccount(
  connection: AccountAddress & AccountSecret,
  deps: NetDeps,
  signal: AbortSignal,
  path = 'host',
): Promise<SignIn> {
  const { port, secure, user, tlsVerify, administrator, password, accessToken } = connection
  const target = await checkTarget(parseHost(connection.host, path), deps, signal)
  return {
    target,
    port,
    secure,
    user,
    tlsVerify,
    ...(administrator && { administrator }),
    ...(accessToken === undefined ? { password } : { accessToken }),
  }
}

/**
 * Resolves an account as `resolveAccount`, and opens its credential where it has one.
 * @param side of the account in the request, for the details of a fault
 * @throws Fault as `resolveAccount`, `not_found`, `conflict`
 */
export async function openAccount(
  connection: AccountAddress & AccountSecret,
  { openTokens, ...deps }: AccountDeps,
  {
    workspaceId,
    signal,
    side,
    isWork = false,
  }: { workspaceId: string; signal: AbortSignal; side?: RequestSide; isWork?: boolean },
): Promise<MigrationAccount> {
  const { credentialId, host, tlsVerify, user } = connection
  const path = pathOf(side, 'credentialId')
  const freshToken =
    credentialId === undefined
      ? undefined
      : await openTokens({ workspaceId, credentialId, path, isWork }, { host, tlsVerify, user })
  const account = await resolveAccount(connection, deps, signal, pathOf(side, 'host'))
  return { account, freshToken }
}

/** The side of a connection in the request body; undefined when it is the whole body. */
type RequestSide = 'source' | 'destination' | undefined

/**
 * Splits a connection into its address and its secret. The host is normalized, without a trailing
 * dot.
 */
export function splitConnection(
  connection: Connection & { owner?: true },
  side?: RequestSide,
): { reached: AccountAddress; secret: AccountSecret } {
  const { port, secure, user, tlsVerify, administrator, password, accessToken } = connection
  const { credentialId, owner: waitsForOwner } = connection
  const host = parseHost(connection.host, pathOf(side, 'host'))
  const named = {
    'administrator.user': administrator?.user,
    'administrator.separator': administrator?.separator,
  }
  refuseControls({ user, password, accessToken, ...named }, side)
  if (administrator && password === undefined) {
    const details = [{ path: pathOf(side, 'password'), message: 'is required' }]
    throw new Fault('invalid_request', 'An administrator signs in with a password.', { details })
  }
  const reached = {
    host: host.kind === 'ip' ? host.address : host.name,
    port,
    secure,
    user,
    tlsVerify,
    ...(administrator && { administrator }),
    ...(credentialId !== undefined && { credentialId }),
    ...(waitsForOwner && { waitsForOwner }),
  }
  const hasSecret = credentialId === undefined && !waitsForOwner
  const secret = hasSecret ? requireSecret({ password, accessToken }, side) : {}
  return { reached, secret }
}

/**
 * Returns the secret of a connection.
 * @throws Fault `invalid_request` when it has none
 */
export function requireSecret(
  { password, accessToken }: AccountSecret,
  side?: RequestSide,
): AccountSecret {
  refuseControls({ password, accessToken }, side)
  if (accessToken !== undefined) return { accessToken }
  if (password !== undefined) return { password }
  const details = [{ path: pathOf(side, 'password'), message: 'is required' }]
  throw new Fault(
    'invalid_request',
    `${side ?? 'The connection'} needs a password or an access token.`,
    { details },
  )
}

/** A line break would let a value inject an IMAP command. */
function refuseControls(fields: Record<string, string | undefined>, side: RequestSide): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined || !breaksCommand(value)) continue
    const [path, message] = [pathOf(side, name), 'must not have line breaks or NUL']
    throw invalidField(path, message)
  }
}

function pathOf(side: RequestSide, field: string): string {
  return side === undefined ? field : `${side}.${field}`
}
