import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { ImapFlow } from 'imapflow'
import { Fault } from '../../../errors.ts'
import { onAbort } from '../../abort.ts'
import { classify } from '../../address.ts'
import { openSocket } from '../../guard.ts'
import { TIMEOUTS } from '../limits.ts'
import { isCourierGreeting } from '../quirks.ts'
import type { ByteString } from '../folders/mailbox-name.ts'
import type { SignIn } from './sign-in.ts'
import { signInFault, signInTimeout } from './sign-in-fault.ts'
import { createWire, type Wire } from './wire.ts'

export type Session = {
  wire: Wire
  /** The user's own namespace: what stands before every folder but INBOX, and between the levels. */
  namespace: Namespace | null
  /** Whether TLS protects it. */
  isEncrypted: boolean
  /** By its greeting: Courier has habits that nothing else tells of. */
  isCourier: boolean
}

export type Namespace = { prefix: ByteString; delimiter: string | null }

/**
 * Signs in. End the session with `wire.logout()` or `wire.destroy()`.
 * @param signal ends the attempt; it has `TIMES.signIn` anyway
 * @throws Fault `invalid_request`, `upstream_rejected` (422: sign-in refused, no TLS, too many connections; then its
 *   `cause` is an `ImapRefused` that tells which), `upstream_unreachable` (502), `upstream_timeout` (504)
 */
export async function signIn(account: SignIn, signal?: AbortSignal): Promise<Session> {
  rejectControlCharacters(account)
  const deadline = AbortSignal.any([AbortSignal.timeout(TIMEOUTS.signInMs), ...(signal ? [signal] : [])])
  const client = clientFor(account, await pickAddress(account, deadline))
  let socketError: Error | undefined
  // Without a listener an error on the socket would end the process.
  client.on('error', (error: Error) => (socketError ??= error))
  const { promise: late, reject } = Promise.withResolvers<never>()
  const leave = onAbort([deadline], () => {
    reject(signInTimeout(account))
    client.close()
  })
  try {
    await Promise.race([client.connect(), late])
    return sessionOf(client)
  } catch (error) {
    client.close()
    throw signInFault(error, socketError, account)
  } finally {
    leave()
  }
}

/** Control characters in what goes onto a line of a text protocol would be commands of the user's own. */
function rejectControlCharacters(account: SignIn): void {
  for (const field of ['user', 'password', 'accessToken'] as const) {
    const value = account[field]
    // oxlint-disable-next-line no-control-regex
    if (value === undefined || !/[\0\r\n]/.test(value)) continue
    const message = 'must not have line breaks or NUL'
    throw new Fault('invalid_request', `The ${field} ${message}.`, { details: [{ path: field, message }] })
  }
}

/** One address is used as it is; among several, the first that answers (a host may have a dead IPv6 address). */
async function pickAddress({ target, port }: SignIn, deadline: AbortSignal): Promise<string> {
  const [first = ''] = target.addresses
  if (target.addresses.length === 1) return first
  const probe = await openSocket(target, port, deadline)
  const address = probe.remoteAddress ?? first
  probe.destroy()
  return address
}

function clientFor(account: SignIn, address: string): ImapFlow {
  const { target, port, secure, user, password, accessToken, tlsVerify = true } = account
  const mayBePlain = target.addresses.every((each) => !classify(each).public)
  return new ImapFlow({
    host: address,
    port,
    secure,
    servername: target.servername,
    // Undefined: where offered. True: or nothing.
    doSTARTTLS: secure || mayBePlain ? undefined : true,
    tls: { rejectUnauthorized: tlsVerify, minVersion: 'TLSv1.2' },
    auth: accessToken === undefined ? { user, pass: password } : { user, accessToken },
    clientInfo: { name: 'Portreeve' },
    logger: false,
    // ENABLE would change how names are encoded and what \Recent, LSUB and SEARCH mean.
    disableAutoEnable: true,
    disableIMAP4rev2: true,
    disableAutoIdle: true,
    disableCompression: true,
    connectionTimeout: TIMEOUTS.signInMs,
    greetingTimeout: TIMEOUTS.signInMs,
    socketTimeout: TIMEOUTS.signInMs,
    maxLiteralSize: 64 * 1024,
    maxLineLength: 64 * 1024,
    maxResponseSize: 1024 * 1024,
  })
}

function sessionOf(client: ImapFlow): Session {
  const capabilities = [...client.capabilities].map(([name, value]) => (value === true ? name : `${name}=${value}`))
  const { prefix = '', delimiter = null } = client.namespace ?? {}
  const { socket } = client.unbind() as { socket: Socket & Duplex }
  socket.setTimeout(0)
  socket.setNoDelay(true)
  return {
    wire: createWire(socket, { capabilities }),
    namespace: client.namespace ? { prefix, delimiter } : null,
    isEncrypted: 'encrypted' in socket,
    isCourier: isCourierGreeting(client.greeting ?? ''),
  }
}
