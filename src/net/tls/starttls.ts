import { isIPv6, type Socket } from 'node:net'
import { berLength, elements } from './ber.ts'
import { startConversation, upstreamRejected, type Conversation } from './conversation.ts'

/** Protocols in which TLS begins after a plain greeting. */
export const STARTTLS = ['smtp', 'imap', 'pop3', 'ldap', 'postgres'] as const
export type StartTls = (typeof STARTTLS)[number]

/** The protocol that usually lives on a port, where TLS does not begin at once. */
export const STARTTLS_PORTS: Readonly<Record<number, StartTls>> = {
  25: 'smtp',
  587: 'smtp',
  2525: 'smtp',
  143: 'imap',
  110: 'pop3',
  389: 'ldap',
  5432: 'postgres',
}

export const STARTTLS_DEFAULT_PORT: Readonly<Record<StartTls, number>> = {
  smtp: 25,
  imap: 143,
  pop3: 110,
  ldap: 389,
  postgres: 5432,
}

/**
 * Asks the server to begin TLS; afterwards the next byte on the socket is the handshake's.
 * @throws Fault `upstream_rejected` with the server's words, `upstream_unreachable`,
 *   `upstream_timeout`
 */
export async function startTls(
  protocol: StartTls,
  socket: Socket,
  signal: AbortSignal,
): Promise<void> {
  const talk = startConversation(socket, signal)
  try {
    await DIALOGUES[protocol](talk, socket)
    // Plain text behind the go-ahead would be believed as if it had come through TLS
    // (CVE-2011-0411).
    if (talk.hasMore())
      throw upstreamRejected('The server sent plain text after it agreed to start TLS.')
  } finally {
    talk.end()
  }
}

type Dialogue = (talk: Conversation, socket: Socket) => Promise<void>

const DIALOGUES: Record<StartTls, Dialogue> = { smtp, imap, pop3, ldap, postgres }

/** The code of a fault’s cause: the server does not serve us, which tells nothing about its TLS. */
export const NOT_SERVED = 'NOT_SERVED'

/** RFC 3207 */
async function smtp(talk: Conversation, socket: Socket): Promise<void> {
  await smtpReply(talk, '220', 'The mail server refused the connection in its greeting.')
  talk.send(`EHLO ${addressLiteral(socket)}\r\n`)
  // RFC 5321, 4.1.1.1: the first line has the name of the server, and senders read no more in it.
  const [, ...extensions] = await smtpReply(talk, '250', 'The mail server rejected EHLO.', /^50/)
  if (!extensions.some((line) => /^250[ -]STARTTLS(?:\s|$)/i.test(line))) {
    // Cisco firewalls overwrite the keyword, here or at the server.
    if (extensions.some((line) => /^250[ -]X{7}A\s*$/.test(line)))
      throw upstreamRejected('A firewall on the way removes STARTTLS (“XXXXXXXA”).', undefined, {
        code: NOT_SERVED,
      })
    throw upstreamRejected('The mail server does not offer STARTTLS.')
  }
  talk.send('STARTTLS\r\n')
  await smtpReply(talk, '220', 'The mail server rejected STARTTLS.', /^5/)
}

/** @param aboutTls replies that say that there is no TLS; others refuse this client, or for now */
async function smtpReply(
  talk: Conversation,
  code: string,
  otherwise: string,
  aboutTls?: RegExp,
): Promise<string[]> {
  const lines = await talk.lines((line) => line[3] !== '-')
  const last = lines.at(-1) ?? ''
  if (last.startsWith(code)) return lines
  const cause = aboutTls?.test(last) ? undefined : { code: NOT_SERVED }
  throw upstreamRejected(otherwise, lines.join(' '), cause)
}

/** RFC 5321, 4.1.3: how a host without a name of its own introduces itself. */
function addressLiteral({ localAddress = '127.0.0.1' }: Socket): string {
  return isIPv6(localAddress) ? `[IPv6:${localAddress}]` : `[${localAddress}]`
}

/** RFC 9051, 6.2.1 */
async function imap(talk: Conversation): Promise<void> {
  const greeting = await talk.line()
  if (!/^\* OK\b/i.test(greeting))
    throw upstreamRejected('The IMAP server refused the connection in its greeting.', greeting)
  talk.send('a1 STARTTLS\r\n')
  const reply = (await talk.lines((line) => line.startsWith('a1 '))).at(-1) ?? ''
  if (!/^a1 OK\b/i.test(reply))
    throw upstreamRejected('The IMAP server rejected STARTTLS.', reply.slice('a1 '.length))
}

/** RFC 2595, 4 */
async function pop3(talk: Conversation): Promise<void> {
  const greeting = await talk.line()
  if (!greeting.startsWith('+OK'))
    throw upstreamRejected('The POP3 server refused the connection in its greeting.', greeting)
  talk.send('STLS\r\n')
  const reply = await talk.line()
  if (!reply.startsWith('+OK')) throw upstreamRejected('The POP3 server rejected STLS.', reply)
}

/** PostgreSQL's SSLRequest: one byte answers, `S` or `N`. */
async function postgres(talk: Conversation): Promise<void> {
  talk.send(Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47))
  const reply = (await talk.readUnit(() => 1)).toString()
  if (reply !== 'S') throw upstreamRejected('The PostgreSQL server does not offer TLS.')
}

/** RFC 4511, 4.14: an extended request, and a response with result code 0. */
async function ldap(talk: Conversation): Promise<void> {
  const oid = Buffer.from('1.3.6.1.4.1.1466.20037')
  talk.send(ber(0x30, ber(0x02, Uint8Array.of(1)), ber(0x77, ber(0x80, oid))))
  const message = elements(await talk.readUnit(ldapLength))[0]
  const response = elements(message?.value).find((element) => element.tag === 0x78)
  const [code, , words] = elements(response?.value)
  if (code?.value.length === 1 && code.value[0] === 0) return
  throw upstreamRejected('The LDAP server rejected StartTLS.', words?.value.toString())
}

function ber(tag: number, ...parts: Uint8Array[]): Buffer {
  const value = Buffer.concat(parts)
  return Buffer.concat([Uint8Array.of(tag, value.length), value])
}

function ldapLength(bytes: Uint8Array): number | null {
  const length = berLength(bytes)
  if (Number.isNaN(length)) throw upstreamRejected('The server does not speak LDAP.')
  return length
}
