import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import ipaddr from 'ipaddr.js'
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server'
import type { HostPort } from '../setting-values.ts'
import { Fault, messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { explainListenError } from './acceptors.ts'
import { canonical } from './address.ts'
import { MINUTE_MS } from '../time.ts'

/** A message as its client delivered it. `sender` is "" for the null reverse-path. */
export type ReceivedMail<Recipient> = {
  bytes: Buffer
  recipients: Recipient[]
  sender: string
  /** The name in the client’s HELO or EHLO, and its address. */
  helo: string
  peer: string
  connection: SmtpConnection
  /** The commands and replies of the session so far, without the message; empty if none is kept. */
  transcript: string[]
}

/** How a client delivered a message. */
export type SmtpConnection = {
  /** Version and cipher; null for a session without TLS. */
  tls: { version: string; cipher: string } | null
  /** Whether the server offered STARTTLS. */
  isTlsOffered: boolean
  /** Whether the client greeted with EHLO. */
  isExtended: boolean
  /** Parameters of MAIL FROM, such as `BODY=8BITMIME`. */
  parameters: string[]
}

export type SmtpServerOptions<Recipient> = {
  listen: HostPort
  /** The name in the server’s greeting. */
  name: string
  /** Files of a certificate chain and its key (PEM); null: no STARTTLS. */
  certificate: { cert: string; key: string } | null
  /** The owner of a recipient address; null for an unknown one, whose mail is rejected. */
  onRecipient: (address: string) => Promise<Recipient | null>
  /** Stores a message durably; if it throws, the client gets a temporary error. */
  onMail: (mail: ReceivedMail<Recipient>) => Promise<void>
  /** Whether the transcript of a session is passed on with a message for this recipient. */
  wantsTranscript?: (recipient: Recipient) => boolean
  log: Logger
  limits?: Partial<SmtpServerLimits>
}

export type SmtpServerLimits = {
  maxMailBytes: number
  /** Size of all mail being received; beyond it, clients get a temporary error. */
  maxTotalBytes: number
  maxConnections: number
  /** Connections from one IPv4 address or one IPv6 /64. */
  maxConnectionsPerClient: number
  maxMailsPerMinutePerClient: number
  maxRecipients: number
  /** Addresses of one mail that are looked up; the others get the answer for too many recipients. */
  maxRecipientLookups: number
  idleMs: number
  /** Time for one message to arrive, even if its client never stops sending. */
  transferMs: number
  /** Duration of one connection, even if its client never stops sending commands. */
  sessionMs: number
  /** Time for clients to finish when the server closes. */
  closingMs: number
}

const LIMITS: SmtpServerLimits = {
  maxMailBytes: 25 * 1024 * 1024,
  maxTotalBytes: 100 * 1024 * 1024,
  maxConnections: 200,
  maxConnectionsPerClient: 20,
  maxMailsPerMinutePerClient: 600,
  maxRecipients: 10,
  maxRecipientLookups: 20,
  idleMs: MINUTE_MS,
  transferMs: 300_000,
  sessionMs: 900_000,
  closingMs: 5_000,
}

export type SmtpServer = { port: number; close(): Promise<void> }

/** Longest interval between two checks for connections that last too long. */
const SESSION_SWEEP_MS = 10_000

/** Milliseconds between two checks for connections without a mail while the server stops. */
const CLOSING_SWEEP_MS = 50

/** Milliseconds for a client to close its connection after the response that the service stops. */
const GOODBYE_MS = 500

/** Delay of the refusal of a mail, as that of a 429: a peer may repeat at once. */
const REFUSAL_DELAY_MS = 500

/** How often the certificate’s file is checked, because renewal sends no notification. */
const CERTIFICATE_CHECK_MS = MINUTE_MS

/**
 * Starts a server that accepts mail for known recipients only. It does not relay, and offers no
 * sign-in.
 * @throws Fault `unavailable` when it cannot listen, `invalid_request` when the certificate is
 *   unusable
 */
export async function startSmtpServer<Recipient>(
  options: SmtpServerOptions<Recipient>,
): Promise<SmtpServer> {
  const limits = { ...LIMITS, ...options.limits }
  const server = createServer(options, limits)
  const { address, port } = options.listen
  // A client that disconnects is no error; without a listener it would end the process. One that
  // prevents listening arrives below, too.
  server.on('error', (error: Error) =>
    options.log.debug({ err: error }, 'an SMTP connection was interrupted'),
  )
  server.listen(port, address)
  try {
    await once(server.server, 'listening')
  } catch (cause) {
    throw explainListenError(cause, { host: address, port, setting: 'SMTP_LISTEN' })
  }
  const stopEnding = endLongSessions(server, limits)
  const stopWatching = watchCertificate(server, options)
  return {
    port: (server.server.address() as AddressInfo).port,
    async close() {
      stopEnding()
      stopWatching()
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      const stopSweeping = endIdleSessions(server)
      await closed
      stopSweeping()
    },
  }
}

/** The recipients of the current mail of a session, and how many addresses were looked up for it. */
type RecipientsOf<Recipient> = { accepted: Map<string, Recipient>; lookups: number }

function createServer<Recipient>(
  options: SmtpServerOptions<Recipient>,
  limits: SmtpServerLimits,
): SMTPServer {
  const { name, certificate, onRecipient } = options
  const peers = createPeers(limits)
  const recipients = new WeakMap<SMTPServerSession, RecipientsOf<Recipient>>()
  const tooMany = () => smtpReply(452, '4.5.3 Too many recipients')
  const transfers = createTransfers(limits)
  const transcripts = options.wantsTranscript ? createTranscripts() : null

  async function addRecipient(address: string, session: SMTPServerSession): Promise<void> {
    // Thousands of commands that arrive together would be answered in one turn of the event loop,
    // and the requests of others would wait for them.
    await nextTurn()
    if (session.envelope.rcptTo.length >= limits.maxRecipients) throw tooMany()
    const { accepted, lookups } = recipients.get(session) ?? { accepted: new Map(), lookups: 0 }
    if (accepted.has(address)) return
    // Each is a query, and the requests of others wait for the same connections.
    if (lookups >= limits.maxRecipientLookups) throw tooMany()
    recipients.set(session, { accepted, lookups: lookups + 1 })
    const recipient = await onRecipient(address.toLowerCase())
    if (recipient === null) throw smtpReply(550, '5.1.1 Recipient address not found; no relaying')
    accepted.set(address, recipient)
  }

  async function take(stream: SMTPServerDataStream, session: SMTPServerSession): Promise<string> {
    const bytes = await transfers.read(stream).catch((error: unknown) => {
      // A client reads no response before it has sent its last byte.
      if (!stream.readableEnded) hangUp(server, session, error)
      throw error
    })
    const { mailFrom, rcptTo } = session.envelope
    const accepted = recipients.get(session)?.accepted
    const sender = mailFrom === false ? '' : mailFrom.address
    const found = rcptTo.flatMap(({ address }) => accepted?.get(address) ?? [])
    const isWanted = found.some((recipient) => options.wantsTranscript?.(recipient))
    await options.onMail({
      bytes,
      recipients: found,
      sender,
      helo: session.hostNameAppearsAs,
      peer: canonical(session.remoteAddress),
      connection: factsOf(session, certificate !== null),
      transcript: isWanted ? (transcripts?.linesOf(session.id) ?? []) : [],
    })
    return '2.0.0 Accepted'
  }

  /**
   * Rejections of the service are sent as they are. For any other error, the client is only told to
   * retry.
   */
  function answering<T>(
    work: Promise<T>,
    answer: (error?: Error | null, message?: string) => void,
  ): void {
    work.then(
      (message) => answer(null, typeof message === 'string' ? message : undefined),
      (error: Error & { responseCode?: number }) => {
        if (error.responseCode === undefined)
          options.log.error({ err: error }, 'a message could not be accepted')
        answer(
          error.responseCode === undefined
            ? smtpReply(451, '4.3.0 Temporary failure; try again later')
            : error,
        )
      },
    )
  }

  const server = new SMTPServer({
    name,
    banner: 'reports and tests only',
    size: limits.maxMailBytes,
    maxClients: limits.maxConnections,
    socketTimeout: limits.idleMs,
    closeTimeout: limits.closingMs,
    disabledCommands: certificate ? ['AUTH'] : ['AUTH', 'STARTTLS'],
    // The library would otherwise look up every client with the system’s resolver.
    disableReverseLookup: true,
    logger: transcripts ? transcripts.logger : false,
    ...(certificate && readCertificate(certificate)),
    onConnect: (session, callback) => answering(peers.arrive(session), callback),
    onClose: (session, callback) => {
      peers.leave(session)
      transcripts?.forget(session.id)
      callback()
    },
    onMailFrom(_address, session, callback) {
      recipients.delete(session)
      answering(peers.mail(session), callback)
    },
    onRcptTo: ({ address }, session, callback) =>
      answering(addRecipient(address, session), callback),
    onData: (stream, session, callback) => answering(take(stream, session), callback),
  })
  return server
}

function factsOf(session: SMTPServerSession, isTlsOffered: boolean): SmtpConnection {
  const { envelope, secure, transmissionType, tlsOptions } = session
  const cipher = tlsOptions as
    | { name?: string; standardName?: string; version?: string }
    | undefined
  const args = (envelope.mailFrom && envelope.mailFrom.args) || {}
  return {
    tls: secure
      ? { version: cipher?.version ?? 'TLS', cipher: cipher?.standardName ?? cipher?.name ?? '' }
      : null,
    isTlsOffered,
    isExtended: /^(?:E|UTF8)/.test(transmissionType),
    parameters: Object.entries(args).map(([name, value]) =>
      typeof value === 'string' ? `${name}=${value}` : name,
    ),
  }
}

/** Lines that are kept of one session, and characters of each. */
const MAX_TRANSCRIPT_LINES = 100
const MAX_TRANSCRIPT_CHARACTERS = 300

/**
 * Keeps the first commands and replies of each open session, which the library passes to its logger.
 * The message itself is not among them.
 */
function createTranscripts() {
  const sessions = new Map<string, string[]>()
  function add({ tnx, cid }: { tnx?: string; cid?: string }, side: string, line?: unknown): void {
    if (cid === undefined || (tnx !== 'command' && tnx !== 'send')) return
    const lines = sessions.get(cid) ?? []
    if (lines.length >= MAX_TRANSCRIPT_LINES) return
    lines.push(`${side} ${String(line).slice(0, MAX_TRANSCRIPT_CHARACTERS)}`)
    sessions.set(cid, lines)
  }
  const ignore = () => {}
  return {
    logger: { debug: add, info: ignore, error: ignore, warn: ignore, trace: ignore, fatal: ignore },
    linesOf: (session: string) => [...(sessions.get(session) ?? [])],
    forget: (session: string) => void sessions.delete(session),
  }
}

/** The properties of the library’s connections that are used here; its types do not export them. */
type Connection = {
  session: SMTPServerSession
  _socket: Socket
  send(code: number, text: string): void
}

const connectionsOf = (server: SMTPServer) => [...(server.connections as Set<Connection>)]

/** Sends the reason and closes the connection, also during a message. */
function hangUp(server: SMTPServer, session: SMTPServerSession, reason: unknown): void {
  const connection = connectionsOf(server).find((each) => each.session === session)
  connection?.send(421, messageOf(reason))
}

/** Closes connections that last too long, whatever they send. */
function endLongSessions(server: SMTPServer, { sessionMs }: SmtpServerLimits): () => void {
  const since = new WeakMap<Connection, number>()
  const timer = setInterval(
    () => {
      const now = performance.now()
      for (const connection of connectionsOf(server)) {
        const begun = since.get(connection) ?? now
        since.set(connection, begun)
        if (now - begun < sessionMs) continue
        connection.send(421, '4.4.2 Session too long')
      }
    },
    Math.min(sessionMs / 4, SESSION_SWEEP_MS),
  ).unref()
  return () => clearInterval(timer)
}

/**
 * Closes idle connections now, and others as soon as they have delivered their mail. The library
 * would wait for all of them until the grace period ends.
 */
function endIdleSessions(server: SMTPServer): () => void {
  const told = new Map<Connection, number>()
  function sweep(): void {
    const now = performance.now()
    for (const connection of connectionsOf(server)) {
      const since = told.get(connection)
      if (since === undefined && connection.session.envelope?.mailFrom) continue
      if (since === undefined) {
        told.set(connection, now)
        connection.send(421, '4.3.2 The service is stopping')
      } else if (now - since > GOODBYE_MS) {
        // The client has its response, but does not close its side.
        const { _socket: socket } = connection
        socket.destroy()
      }
    }
  }
  sweep()
  const timer = setInterval(sweep, CLOSING_SWEEP_MS)
  return () => clearInterval(timer)
}

/** An error whose text is sent to the client. */
export function smtpReply(responseCode: number, text: string): Error {
  return Object.assign(new Error(text), { responseCode })
}

/** Counts connections and mails of each peer. */
function createPeers({ maxConnectionsPerClient, maxMailsPerMinutePerClient }: SmtpServerLimits) {
  const open = new Map<string, number>()
  const counted = new Set<SMTPServerSession>()
  let mails = new Map<string, number>()
  let minute = 0

  return {
    async arrive(session: SMTPServerSession): Promise<void> {
      const peer = networkOf(session.remoteAddress)
      const others = open.get(peer) ?? 0
      if (others >= maxConnectionsPerClient)
        throw smtpReply(421, '4.7.0 Too many connections from your network')
      open.set(peer, others + 1)
      counted.add(session)
    },
    leave(session: SMTPServerSession): void {
      // A rejected connection was never counted.
      if (!counted.delete(session)) return
      const peer = networkOf(session.remoteAddress)
      const others = (open.get(peer) ?? 1) - 1
      if (others === 0) open.delete(peer)
      else open.set(peer, others)
    },
    async mail({ remoteAddress }: SMTPServerSession): Promise<void> {
      const now = Math.floor(Date.now() / MINUTE_MS)
      if (now !== minute) mails = new Map()
      minute = now
      const peer = networkOf(remoteAddress)
      const count = (mails.get(peer) ?? 0) + 1
      mails.set(peer, count)
      if (count > maxMailsPerMinutePerClient) {
        await sleep(REFUSAL_DELAY_MS)
        throw smtpReply(450, '4.7.1 Too many messages from your network in this minute')
      }
    },
  }
}

/** The address, or the /64 of an IPv6 address, because its owner has all of them. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed.kind() === 'ipv4' ? parsed.toString() : parsed.toByteArray().slice(0, 8).join('.')
}

/** Reads messages into memory, within the limits of each and of all together. */
function createTransfers({ maxMailBytes, maxTotalBytes, transferMs }: SmtpServerLimits) {
  let together = 0

  async function read(stream: SMTPServerDataStream): Promise<Buffer> {
    const timer = setTimeout(
      () => stream.destroy(smtpReply(421, '4.4.2 Transfer too slow')),
      transferMs,
    )
    const chunks: Buffer[] = []
    let held = 0
    let [seen, isFull] = [0, false]
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        seen += chunk.length
        // Data that is not stored is still read, because the client reads the response only after
        // its last byte. It is read up to a limit.
        if (seen > 2 * maxMailBytes) throw smtpReply(421, '4.3.1 The message does not end')
        isFull ||= together + chunk.length > maxTotalBytes
        if (isFull || stream.sizeExceeded) continue
        chunks.push(chunk)
        held += chunk.length
        together += chunk.length
      }
      if (stream.sizeExceeded) throw smtpReply(552, '5.3.4 The message is too large')
      if (isFull) throw smtpReply(452, '4.3.1 Too many messages in transfer; try again later')
      return Buffer.concat(chunks, held)
    } finally {
      clearTimeout(timer)
      together -= held
    }
  }
  return { read }
}

/** Reads a certificate chain and its key (PEM). @throws Fault `invalid_request` */
export function readCertificate({ cert, key }: { cert: string; key: string }) {
  try {
    const pem = { cert: readFileSync(cert), key: readFileSync(key) }
    // A server chooses from what the client offers, so it can accept the hybrid groups.
    return { ...pem, minVersion: 'TLSv1.2' as const, ecdhCurve: 'auto' }
  } catch (cause) {
    throw new Fault(
      'invalid_request',
      `The SMTP certificate could not be read: ${messageOf(cause)}.`,
      { cause },
    )
  }
}

/** Loads a renewed certificate without a restart. An unusable one keeps the old one in use. */
function watchCertificate(
  server: SMTPServer,
  { certificate, log }: Pick<SmtpServerOptions<never>, 'certificate' | 'log'>,
) {
  if (!certificate) return () => {}
  let changed = statSync(certificate.cert).mtimeMs
  const timer = setInterval(() => {
    try {
      const now = statSync(certificate.cert).mtimeMs
      if (now === changed) return
      server.updateSecureContext(readCertificate(certificate))
      changed = now
    } catch (error) {
      log.warn({ err: error }, 'the new SMTP certificate is not usable')
    }
  }, CERTIFICATE_CHECK_MS).unref()
  return () => clearInterval(timer)
}
