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
import { breaksCommand } from './command-encoding.ts'

export type Session = {
  wire: Wire
  /**
   * The user’s own namespace: the prefix of every folder but INBOX, and the hierarchy delimiter.
   */
  namespace: Namespace | null
  /** Whether TLS protects the connection. */
  isEncrypted: boolean
  /** Recognized by its greeting, because no capability announces Courier’s behavior. */
  isCourier: boolean
}

export type Namespace = { prefix: ByteString; delimiter: string | null }

/**
 * Signs in. End the session with `wire.logout()` or `wire.destroy()`.
 * @param signal aborts the attempt, which is limited to `TIMEOUTS.signInMs` anyway
 * @throws Fault `invalid_request`, `upstream_rejected` (422: sign-in rejected, no TLS, too many
 *   connections; its `cause` is then an `ImapRefused` with the details), `upstream_unreachable`
 *   (502), `upstream_timeout` (504)
 */
export async function signIn(account: SignIn, signal?: AbortSignal): Promise<Session> {
  rejectControlCharacters(account)
  const deadline = AbortSignal.any([
    AbortSignal.timeout(TIMEOUTS.signInMs),
    ...(signal ? [signal] : []),
  ])
  const client = clientFor(account, await pickAddress(account, deadline))
  let socketError: Error | undefined
  // Without a listener, an error on the socket would end the process.
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

/** Rejects control characters, with which a user could inject commands into the protocol. */
function rejectControlCharacters(account: SignIn): void {
  for (const field of ['user', 'password', 'accessToken'] as const) {
    const value = account[field]
    if (value === undefined || !breaksCommand(value)) continue
    const message = 'must not have line breaks or NUL'
    throw new Fault('invalid_request', `The ${field} ${message}.`, {
      details: [{ path: field, message }],
    })
  }
}

/**
 * A single address is used directly. Of several, the first that answers is used, because a host may
 * have a dead IPv6 address.
 */
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
    // Undefined: STARTTLS if offered. True: STARTTLS is required.
    doSTARTTLS: secure || mayBePlain ? undefined : true,
    tls: { rejectUnauthorized: tlsVerify, minVersion: 'TLSv1.2' },
    auth: accessToken === undefined ? { user, pass: password } : { user, accessToken },
    clientInfo: { name: 'Portreeve' },
    logger: false,
    // ENABLE would change the encoding of names and the meaning of \Recent, LSUB and SEARCH.
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
  const capabilities = [...client.capabilities].map(([name, value]) =>
    value === true ? name : `${name}=${value}`,
  )
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
