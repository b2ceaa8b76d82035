import type { PrivateTargets } from '../config.ts'
import { Fault } from '../errors.ts'
import { parseHost } from '../net/address.ts'
import type { Resolver } from '../net/dns.ts'
import { checkTarget } from '../net/guard.ts'
import type { SignIn } from '../net/imap/connection/sign-in.ts'
import type { Connection } from './shapes.ts'
import type { AccountAddress } from './store.ts'

export type NetDeps = { resolver: Resolver; allowPrivate: PrivateTargets }

/** What opens an account. */
export type AccountSecret = { password?: string; accessToken?: string }

/**
 * An account on a server to which we may connect.
 * @param path where the connection stands in the request, for the details of a fault
 * @throws Fault `invalid_request`, `target_not_allowed`, `upstream_unreachable`, `upstream_timeout`
 */
export async function resolveAccount(
  connection: AccountAddress & AccountSecret,
  deps: NetDeps,
  signal: AbortSignal,
  path = 'host',
): Promise<SignIn> {
  const { port, secure, user, tlsVerify, password, accessToken } = connection
  const target = await checkTarget(parseHost(connection.host, path), deps, signal)
  return {
    target,
    port,
    secure,
    user,
    tlsVerify,
    ...(accessToken === undefined ? { password } : { accessToken }),
  }
}

/** Where a connection stands in a request; undefined where it is the request. */
type RequestSide = 'source' | 'destination' | undefined

/**
 * How to reach an account, apart from what opens it. The host is written as people write it,
 * without a trailing dot.
 */
export function splitConnection(
  connection: Connection,
  side?: RequestSide,
): { reached: AccountAddress; secret: AccountSecret } {
  const { port, secure, user, tlsVerify, password, accessToken } = connection
  const host = parseHost(connection.host, pathOf(side, 'host'))
  refuseControls({ user, password, accessToken }, side)
  const reached = {
    host: host.kind === 'ip' ? host.address : host.name,
    port,
    secure,
    user,
    tlsVerify,
  }
  return { reached, secret: requireSecret({ password, accessToken }, side) }
}

/** @throws Fault `invalid_request` when there is none */
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

/** A line break in what goes onto a line of a protocol would be a command of the user's own. */
function refuseControls(fields: Record<string, string | undefined>, side: RequestSide): void {
  for (const [name, value] of Object.entries(fields)) {
    // oxlint-disable-next-line no-control-regex
    if (value === undefined || !/[\0\r\n]/.test(value)) continue
    const [path, message] = [pathOf(side, name), 'must not have line breaks or NUL']
    throw new Fault('invalid_request', `${path} ${message}.`, { details: [{ path, message }] })
  }
}

function pathOf(side: RequestSide, field: string): string {
  return side === undefined ? field : `${side}.${field}`
}
