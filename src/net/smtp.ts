import { Readable } from 'node:stream'
import { Fault, messageOf } from '../errors.ts'
import { Unanswered } from './handover.ts'
import { requireNetwork } from './offline.ts'
// oxlint-disable-next-line import/no-unassigned-import -- it sets what TLS connections offer and accept
import './tls/defaults.ts'

/** The operator's relay, `smtp://user:password@host:587` or `smtps://…`, and the sender. */
export type Relay = {
  smtpUrl: string
  from: string
  /**
   * Awaited after sign-in at the relay, before it gets the message: from then on it may have it.
   */
  beforeMessage?: () => Promise<void>
}

/**
 * A mail to one address in plain text, or with `html` as its alternative. `messageId` with its angle
 * brackets; one is made where there is none.
 */
export type OutgoingMail = {
  to: string
  subject: string
  text: string
  html?: string
  messageId?: string
  replyTo?: string
  /** Where bounces go, in place of the sender. */
  returnPath?: string
  /** Text files. */
  attachments?: { filename: string; content: string }[]
  headers?: Record<string, string>
}

/** The relay accepted the mail: its Message-ID, and the relay’s response. */
export type AcceptedMail = { messageId: string; reply: string }

const CONNECT_TIMEOUT_MS = 15_000
/** Milliseconds; servers scan a message before they accept it (RFC 5321, 4.5.3.2.6). */
const SILENCE_TIMEOUT_MS = 180_000

/**
 * Sends a mail to the relay.
 * @throws Fault `upstream_rejected` (permanent), `upstream_unreachable` (temporary, or not
 *   connected), `upstream_timeout`; after some of them the relay has the mail all the same: see
 *   `mayHaveBeenTaken`
 */
export async function sendMail(
  relay: Relay,
  mail: OutgoingMail,
  signal: AbortSignal,
): Promise<AcceptedMail> {
  requireNetwork()
  const { createTransport } = await import('nodemailer')
  const handover = watchHandover(relay.beforeMessage ?? (async () => {}))
  const transport = createTransport({
    url: relay.smtpUrl,
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    dnsTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    // Much of the text is a stranger's: nothing in it may name a file to read or an address to
    // fetch.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  transport.use('stream', ({ message }, done) => {
    message.processFunc(handover.pass)
    done()
  })
  try {
    const { returnPath, ...message } = mail
    const envelope = returnPath === undefined ? {} : { envelope: { from: returnPath, to: mail.to } }
    const sent = { ...message, ...envelope, ...withEncodedSubject(mail), from: relay.from, signal }
    const { messageId, response } = await transport.sendMail(sent)
    return { messageId, reply: response }
  } catch (error) {
    throw faultOf(error as SmtpError, relay, signal, handover.isDone())
  }
}

/** Bytes of a text whose encoded word has up to 75 characters (RFC 2047, section 2). */
const MAX_WORD_BYTES = 45

/**
 * Encodes a subject that itself contains an encoded word: mail clients would show what a stranger
 * put into it, which the sender leaves as it is when all of it is ASCII.
 */
function withEncodedSubject({ subject, headers }: OutgoingMail) {
  if (!subject.includes('=?')) return {}
  const words: string[] = ['']
  for (const character of subject) {
    const longer = (words.at(-1) ?? '') + character
    if (Buffer.byteLength(longer) > MAX_WORD_BYTES) words.push(character)
    else words[words.length - 1] = longer
  }
  const encoded = words.map((word) => `=?UTF-8?B?${Buffer.from(word).toString('base64')}?=`)
  const value = { prepared: true, value: encoded.join('\r\n ') }
  return { subject: undefined, headers: { ...headers, Subject: value } }
}

function watchHandover(before: () => Promise<void>) {
  let isDone = false
  async function* gate(message: Readable): AsyncGenerator<Buffer> {
    await before()
    yield* message
  }
  return {
    pass: (message: Readable) =>
      Readable.from(gate(message), { objectMode: false }).once('end', () => (isDone = true)),
    isDone: () => isDone,
  }
}

export type SmtpError = Error & {
  code?: string
  command?: string
  responseCode?: number
  response?: string
}

const MAIL_COMMANDS = /^(?:MAIL FROM|RCPT TO|DATA)$/

/** Authentication or encryption required, or failed (RFC 4954, 6; RFC 3207, 4). */
const SIGN_IN_CODES = new Set([530, 534, 535, 538])

/** Whether a rejection is about the mail, and not about the server or the sign-in. */
export function isAboutMail({ code, command = '', responseCode = 0 }: SmtpError): boolean {
  if (code === 'EAUTH' || SIGN_IN_CODES.has(responseCode)) return false
  return MAIL_COMMANDS.test(command) || code === 'EENVELOPE' || code === 'EMESSAGE'
}

function faultOf(
  error: SmtpError,
  { smtpUrl }: Relay,
  signal: AbortSignal,
  handedOver: boolean,
): Fault {
  if (error instanceof Fault) return error
  const relay = `The mail relay ${new URL(smtpUrl).host}`
  if (error.responseCode !== undefined) {
    const isFinal = error.responseCode >= 500 && isAboutMail(error)
    const what = isAboutMail(error) ? 'the message' : 'the connection or the sign-in'
    return new Fault(
      isFinal ? 'upstream_rejected' : 'upstream_unreachable',
      `${relay} rejected ${what}: ${error.response ?? error.responseCode}.`,
      { cause: error },
    )
  }
  const cause = handedOver ? new Unanswered(messageOf(error), { cause: error }) : error
  if (error.code === 'ETIMEDOUT' || signal.aborted) {
    return new Fault('upstream_timeout', `${relay} did not respond in time.`, { cause })
  }
  return new Fault('upstream_unreachable', `${relay} failed: ${messageOf(error)}.`, { cause })
}
