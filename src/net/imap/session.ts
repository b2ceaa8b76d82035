import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import { ImapFlow } from 'imapflow'
import { Fault } from '../../errors.ts'
import { onAbort } from '../abort.ts'
import { classify } from '../address.ts'
import { openSocket, type Target } from '../guard.ts'
import { TIMES } from './limits.ts'
import type { ByteString } from './mailbox-name.ts'
import { faultOfSignIn, tooSlow } from './sign-in-fault.ts'
import { createWire, type Wire } from './wire.ts'

export type SignIn = {
  /** As the guard checked it (`checkTarget`). */
  target: Target
  port: number
  /** TLS from the first byte; else STARTTLS where offered, and plain only to an address that is not public. */
  secure: boolean
  user: string
  /** One of the two. The token is for XOAUTH2 or OAUTHBEARER. */
  password?: string
  accessToken?: string
  /** Default true. */
  tlsVerify?: boolean
}

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
  refuseControls(account)
  const deadline = AbortSignal.any([AbortSignal.timeout(TIMES.signIn), ...(signal ? [signal] : [])])
  const client = clientFor(account, await pickAddress(account, deadline))
  let shown: Error | undefined
  // Without a listener an error on the socket would end the process.
  client.on('error', (error: Error) => (shown ??= error))
  const { promise: late, reject } = Promise.withResolvers<never>()
  const leave = onAbort([deadline], () => {
    reject(tooSlow(account))
    client.close()
  })
  try {
    await Promise.race([client.connect(), late])
    return sessionOf(client)
  } catch (error) {
    client.close()
    throw faultOfSignIn(error, shown, account)
  } finally {
    leave()
  }
}

/** Control characters in what goes onto a line of a text protocol would be commands of the user's own. */
function refuseControls(account: SignIn): void {
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
    connectionTimeout: TIMES.signIn,
    greetingTimeout: TIMES.signIn,
    socketTimeout: TIMES.signIn,
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
    isCourier: /\bCourier-IMAP\b/.test(client.greeting ?? ''),
  }
}
