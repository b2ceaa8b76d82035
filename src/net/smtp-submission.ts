import { messageOf } from '../errors.ts'
import type { Target } from './guard.ts'
import { requireNetwork } from './offline.ts'
import { isAboutMail, type SmtpError } from './smtp.ts'
// oxlint-disable-next-line import/no-unassigned-import -- it sets what TLS connections offer and accept
import './tls/defaults.ts'

/** A message submission server (RFC 6409) and the sign-in at it. */
export type SubmissionServer = {
  /** The host as the guard checked it (`checkTarget`). */
  target: Target
  port: number
  /** TLS from the first byte (RFC 8314); else STARTTLS is required. */
  secure: boolean
  /** Whether the certificate must verify. */
  tlsVerify: boolean
  user: string
  password: string
}

/** A mail in plain text to one address. `messageId` with its angle brackets. */
export type SubmittedMail = {
  from: string
  to: string
  subject: string
  text: string
  messageId: string
  headers: Record<string, string>
}

/**
 * How a submission ended. `refused`: the server rejected this mail for good. `failed`: it did not get
 * so far, as the server was not reached, rejected the sign-in or asked to try again later.
 */
export type Submission =
  | { state: 'accepted'; reply: string }
  | { state: 'refused' | 'failed'; reason: string }

const CONNECT_TIMEOUT_MS = 15_000
const SILENCE_TIMEOUT_MS = 60_000
const MAX_REASON_CHARACTERS = 500

/** Submits a mail, over TLS only. Never throws. */
export async function submitMail(
  server: SubmissionServer,
  mail: SubmittedMail,
  signal: AbortSignal,
): Promise<Submission> {
  try {
    const transport = await transportTo(server)
    const sent = { ...mail, signal }
    const { response } = await transport.sendMail(sent)
    return { state: 'accepted', reply: response }
  } catch (error) {
    return explainFailure(error as SmtpError, server)
  }
}

/** Signs in without a mail. @returns why that failed; null when it did not */
export async function checkSubmission(server: SubmissionServer): Promise<string | null> {
  try {
    await (await transportTo(server)).verify()
    return null
  } catch (error) {
    const failure = explainFailure(error as SmtpError, server)
    return failure.state === 'accepted' ? null : failure.reason
  }
}

async function transportTo({ target, port, secure, tlsVerify, user, password }: SubmissionServer) {
  requireNetwork()
  const { createTransport } = await import('nodemailer')
  return createTransport({
    // The address that was checked: the name is never looked up again.
    host: target.addresses[0],
    port,
    secure,
    requireTLS: !secure,
    auth: { user, pass: password },
    tls: { servername: target.servername ?? '', rejectUnauthorized: tlsVerify },
    connectionTimeout: CONNECT_TIMEOUT_MS,
    greetingTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

function explainFailure(error: SmtpError, { target }: SubmissionServer): Submission {
  const { code, responseCode = 0, response } = error
  const answer = (response ?? messageOf(error)).slice(0, MAX_REASON_CHARACTERS)
  if (code === 'EAUTH') return failed(`${target.host} rejected the sign-in: ${answer}`)
  if (responseCode >= 500 && isAboutMail(error)) return { state: 'refused', reason: answer }
  return failed(`${target.host} did not accept the mail: ${answer}`)
}

function failed(reason: string): Submission {
  return { state: 'failed', reason }
}
