import type { Duplex } from 'node:stream'
import type { Socket } from 'node:net'
import type { ImapFlowOptions } from 'imapflow'
import { Fault, invalidField } from '../../../errors.ts'
import { onAbort } from '../../abort.ts'
import { classify } from '../../address.ts'
import { openSocket } from '../../guard.ts'
import { requireNetwork } from '../../offline.ts'
import { readStatus } from '../folders/mailbox.ts'
import { TIMEOUTS } from '../limits.ts'
import { isCourierGreeting } from '../quirks.ts'
import type { ByteString } from '../folders/mailbox-name.ts'
import type { Value } from './response.ts'
import { requireCyrusUser } from './cyrus-user.ts'
import type { ImapClient, LoginMethod } from './imap-client.ts'
import { ImapLost, ImapRefused, isTemporary } from './refusals.ts'
import { UNCHECKED_CYRUS_USER, type Administrator, type SignIn } from './imap-sign-in.ts'
import { signInFault, signInTimeout, unreadableInboxFault } from './sign-in-fault.ts'
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

type Namespace = { prefix: ByteString; delimiter: string | null }

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
  return account.administrator
    ? signInAsAdministrator(account, account.administrator, deadline)
    : openSession(account, deadline)
}

/** Administrators whose LIST showed the mailbox: later connections of an account need no check. */
const checkedUsers = new WeakSet<Administrator>()

/** The session can read INBOX. Otherwise access rights would make the mailbox look empty. */
async function signInAsAdministrator(
  account: SignIn,
  administrator: Administrator,
  deadline: AbortSignal,
): Promise<Session> {
  if (administrator.method === 'cyrus' && !checkedUsers.has(administrator))
    await checkCyrusUser(account, administrator, deadline)
  const session = await openSession(account, deadline).catch(async (error: unknown) => {
    if (!isUncheckedCyrus(error)) throw error
    await checkCyrusUser(account, administrator, deadline)
    return openSession(account, deadline)
  })
  await withWire(session, account, deadline, ({ wire }) => readStatus(wire, 'INBOX')).catch(
    (error: unknown) => {
      session.wire.destroy(new ImapLost('ours', 'INBOX cannot be read.'))
      const isDenied = error instanceof ImapRefused && !isTemporary(error.refusal)
      throw isDenied ? unreadableInboxFault(account, error) : error
    },
  )
  return session
}

async function checkCyrusUser(
  account: SignIn,
  administrator: Administrator,
  deadline: AbortSignal,
): Promise<void> {
  const { administrator: _, ...own } = account
  const session = await openSession({ ...own, user: administrator.user }, deadline)
  try {
    await withWire(session, account, deadline, ({ wire }) =>
      requireCyrusUser(wire, account.user, account.target.host),
    )
    checkedUsers.add(administrator)
  } finally {
    await session.wire.logout()
  }
}

async function withWire<T>(
  session: Session,
  account: SignIn,
  deadline: AbortSignal,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const tooLate = () => session.wire.destroy(new ImapLost('timeout', 'It did not answer in time.'))
  const leave = onAbort([deadline], tooLate)
  try {
    return await work(session)
  } catch (error) {
    throw deadline.aborted ? signInTimeout(account) : error
  } finally {
    leave()
  }
}

function isUncheckedCyrus(error: unknown): boolean {
  return (
    error instanceof Fault && (error.cause as Error | undefined)?.message === UNCHECKED_CYRUS_USER
  )
}

/** How passwords are sent to servers that understand one way only. */
const methods = new WeakMap<SignIn['target'], LoginMethod>()

/**
 * A server that has not understood a sign-in may understand the other way: some announce AUTH=PLAIN
 * and know LOGIN only, such as the proxy Perdition.
 */
async function openSession(account: SignIn, deadline: AbortSignal): Promise<Session> {
  const known = methods.get(account.target)
  const first = await tryToSignIn(account, deadline, known)
  if ('session' in first) return first.session
  const { fault, otherMethod } = first
  if (otherMethod === null || known !== undefined || !isNotUnderstood(fault, account)) throw fault
  const second = await tryToSignIn(account, deadline, otherMethod)
  if ('fault' in second) throw fault
  methods.set(account.target, otherMethod)
  return second.session
}

function isNotUnderstood({ cause }: Fault, { accessToken, administrator }: SignIn): boolean {
  if (accessToken !== undefined || administrator || !(cause instanceof ImapRefused)) return false
  const { status, responseCode, text } = cause.refusal
  return responseCode === null && (status === 'BAD' || UNSUPPORTED.test(text))
}

/** Perdition: “NO AUTHENTICATE mechanism not supported, mate”. */
const UNSUPPORTED = /\bmechanism\b|\bunsupported\b|\bnot (?:supported|implemented)\b/i

type Attempt = { session: Session } | { fault: Fault; otherMethod: LoginMethod | null }

async function tryToSignIn(
  account: SignIn,
  deadline: AbortSignal,
  method: LoginMethod | undefined,
): Promise<Attempt> {
  requireNetwork()
  const client = await clientFor(account, await pickAddress(account, deadline), method)
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
    return { session: sessionOf(client) }
  } catch (error) {
    client.close()
    return { fault: signInFault(error, socketError, account), otherMethod: client.otherMethod() }
  } finally {
    leave()
  }
}

/** Rejects control characters, with which a user could inject commands into the protocol. */
function rejectControlCharacters(account: SignIn): void {
  const { user, password, accessToken, administrator } = account
  const fields = {
    user,
    password,
    accessToken,
    'administrator.user': administrator?.user,
    'administrator.separator': administrator?.separator,
  }
  for (const [field, value] of Object.entries(fields)) {
    if (value === undefined || !breaksCommand(value)) continue
    const message = 'must not have line breaks or NUL'
    throw invalidField(field, message, `The ${field}`)
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

async function clientFor(
  account: SignIn,
  address: string,
  method: LoginMethod | undefined,
): Promise<ImapClient> {
  const { ImapClient } = await import('./imap-client.ts')
  const { administrator } = account
  const isUserChecked = administrator !== undefined && checkedUsers.has(administrator)
  return new ImapClient(optionsFor(account, address), account, { isUserChecked, method })
}

function optionsFor(
  { target, port, secure, requireStartTls = false, tlsVerify = true }: SignIn,
  address: string,
): Omit<ImapFlowOptions, 'auth'> {
  const mayBePlain = !requireStartTls && target.addresses.every((each) => !classify(each).public)
  return {
    host: address,
    port,
    secure,
    servername: target.servername,
    // Undefined: STARTTLS if offered. True: STARTTLS is required.
    doSTARTTLS: secure || mayBePlain ? undefined : true,
    tls: { rejectUnauthorized: tlsVerify, minVersion: 'TLSv1.2' },
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
  }
}

function sessionOf(client: ImapClient): Session {
  const capabilities = [...client.capabilities].map(([name, value]) =>
    value === true ? name : `${name}=${value}`,
  )
  const { prefix = '', delimiter = null } = client.namespace ?? {}
  const { socket } = client.unbind() as { socket: Socket & Duplex }
  socket.setTimeout(0)
  socket.setNoDelay(true)
  const wire = createWire(socket, { capabilities })
  if (wire.capabilities.has('ID')) introduce(wire)
  return {
    wire,
    namespace: client.namespace ? { prefix, delimiter } : null,
    isEncrypted: 'encrypted' in socket,
    isCourier: isCourierGreeting(client.greeting ?? ''),
  }
}

/**
 * Names this client (RFC 2971): some servers require it before a mailbox is opened. Nothing waits
 * for the response.
 */
function introduce(wire: Wire): void {
  const data = (values: Value[]) => values[0] === 'ID'
  wire.run(['ID ("name" "Portreeve")'], { data }).catch(() => undefined)
}
