import { signIn, type Session } from '../../../src/net/imap/connection/imap-session.ts'
import type { SignIn } from '../../../src/net/imap/connection/imap-sign-in.ts'

/** Signs in to a server of the tests as `alice`, without TLS. */
export async function signInTo(port: number, over: Partial<SignIn> = {}): Promise<Session> {
  const target = { host: 'localhost', servername: 'localhost', addresses: ['127.0.0.1'] }
  return signIn({ target, port, secure: false, user: 'alice', password: 'secret', ...over })
}

/** A whole message. */
export function mail(subject: string, body = 'Hello.\r\n'): Buffer {
  return Buffer.from(
    `From: a@example.org\r\nMessage-ID: <${subject}@example.org>\r\nSubject: ${subject}\r\n\r\n${body}`,
  )
}

export function outgoing(body: Buffer, flags: string[] = [], internalDate: string | null = null) {
  return { size: body.length, body, flags, internalDate }
}
