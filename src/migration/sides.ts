import type { PrivateTargets } from '../config.ts'
import { Fault } from '../errors.ts'
import { parseHost } from '../net/address.ts'
import type { Resolver } from '../net/dns.ts'
import { checkTarget } from '../net/guard.ts'
import type { SignIn } from '../net/imap/session.ts'
import type { Connection } from './shapes.ts'
import type { Reached } from './store.ts'

export type NetDeps = { resolver: Resolver; allowPrivate: PrivateTargets }

/** What opens an account. */
export type Secret = { password?: string; accessToken?: string }

/**
 * An account on a server to which we may connect.
 * @param path where the connection stands in the request, for the details of a fault
 * @throws Fault `invalid_request`, `target_not_allowed`, `upstream_unreachable`, `upstream_timeout`
 */
export async function accountOf(
  connection: Reached & Secret,
  deps: NetDeps,
  signal: AbortSignal,
  path = 'host',
): Promise<SignIn> {
  const { port, secure, user, tlsVerify, password, accessToken } = connection
  const target = await checkTarget(parseHost(connection.host, path), deps, signal)
  return { target, port, secure, user, tlsVerify, ...(accessToken === undefined ? { password } : { accessToken }) }
}

/** How to reach an account, apart from what opens it. The host is written as people write it, without a trailing dot. */
export function partsOf(connection: Connection, path: string): { reached: Reached; secret: Secret } {
  const { port, secure, user, tlsVerify, password, accessToken } = connection
  const host = parseHost(connection.host, `${path}.host`)
  refuseControls({ user, password, accessToken }, path)
  const reached = { host: host.kind === 'ip' ? host.address : host.name, port, secure, user, tlsVerify }
  return { reached, secret: secretOf({ password, accessToken }, path) }
}

/** @throws Fault `invalid_request` when there is none */
export function secretOf({ password, accessToken }: Secret, path: string): Secret {
  refuseControls({ password, accessToken }, path)
  if (accessToken !== undefined) return { accessToken }
  if (password !== undefined) return { password }
  const details = [{ path: `${path}.password`, message: 'is required' }]
  throw new Fault('invalid_request', `${path} needs a password or an access token.`, { details })
}

/** A line break in what goes onto a line of a protocol would be a command of the user's own. */
function refuseControls(fields: Record<string, string | undefined>, path: string): void {
  for (const [name, value] of Object.entries(fields)) {
    // oxlint-disable-next-line no-control-regex
    if (value === undefined || !/[\0\r\n]/.test(value)) continue
    const message = 'must not have line breaks or NUL'
    throw new Fault('invalid_request', `${path}.${name} ${message}.`, {
      details: [{ path: `${path}.${name}`, message }],
    })
  }
}
