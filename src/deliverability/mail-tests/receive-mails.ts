import type { Kysely } from 'kysely'
import type { MailReceiver } from '../../net/mail-receiver.ts'
import { Fault } from '../../errors.ts'
import { smtpReply } from '../../net/smtp-server.ts'
import { parseMessage } from '../../protocols/mail/message.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_MAIL_BYTES, MAX_MAILS_PER_TEST, RAW_LIFETIME_MS } from '../limits.ts'
import {
  findTestByToken,
  insertMail,
  listOpenTests,
  type MailRow,
  type NewMail,
} from './mail-tests.sql.ts'
import { MAX_HEADER_BYTES, readReportedFacts, readTitles } from './reported-facts.ts'
import type { Analyzer } from './run-analysis.ts'

export type ReceiveDeps = { db: Kysely<DB>; analyzer: Analyzer; reportDomain: string }

/** The address of a test: `t` and 16 letters and digits, at the domain of report addresses. */
export function testAddress(token: string, reportDomain: string): string {
  return `t${token}@${reportDomain}`
}

/**
 * Receives the mails of tests where reports arrive. An address exists only once a test was created:
 * otherwise it would be an open trap.
 */
export function createMailReceiver(deps: ReceiveDeps): MailReceiver {
  const { db, reportDomain } = deps
  return {
    async findRecipient(address) {
      const at = address.lastIndexOf('@')
      const [, token] = /^t([a-z2-7]{16})$/.exec(address.slice(0, Math.max(0, at))) ?? []
      if (token === undefined || address.slice(at + 1) !== reportDomain) return null
      const test = await findTestByToken(db, token)
      if (!test) return null
      if (test.expiresAt.getTime() <= Date.now())
        throw smtpReply(550, '5.1.1 This test address has expired; create another test')
      if (test.mailCount >= MAX_MAILS_PER_TEST) throw smtpReply(550, FULL)
      return {
        wantsTranscript: true,
        async receive({ bytes, sender, helo, peer, connection, transcript }) {
          if (bytes.length > MAX_MAIL_BYTES)
            throw smtpReply(552, '5.3.4 A test mail may have up to 10 MB')
          const row = await storeMail(deps, test.id, {
            origin: 'smtp',
            content: bytes,
            ip: peer,
            helo: storable(helo, 255),
            mailFrom: storable(sender, 320),
            rcptTo: address,
            connection,
            transcript: transcript.map((line) => storable(line)),
            ...readTitles(bytes),
            receivedAt: new Date(),
          })
          if (!row) throw smtpReply(550, FULL)
        },
      }
    },
    /** A mail to a report mailbox is for a test when its header names the code of one. */
    async pickUp(workspaceId, bytes) {
      const tests = await listOpenTests(db, workspaceId)
      if (tests.length === 0) return false
      const header = headerOf(bytes)
      const test = tests.find(({ token }) => header.includes(token))
      if (!test || bytes.length > MAX_MAIL_BYTES) return false
      const facts = readReportedFacts(parseMessage(bytes))
      return (await storeMail(deps, test.id, reportedMail('imap', bytes, facts))) !== null
    },
  }
}

const FULL = `5.2.2 This test has its ${MAX_MAILS_PER_TEST} mails; create another test`

function headerOf(bytes: Buffer): string {
  const text = bytes.subarray(0, MAX_HEADER_BYTES).toString('latin1').toLowerCase()
  const [header = ''] = text.split(/\r?\n\r?\n/, 1)
  // A long code may be folded, or broken into encoded words.
  return header.replaceAll(/\s+/g, '')
}

/** A mail whose delivery is known from its own header, or from a person. */
export function reportedMail(
  origin: 'imap' | 'raw',
  content: Buffer,
  facts: Pick<NewMail, 'ip' | 'helo' | 'mailFrom' | 'rcptTo' | 'receivedAt'>,
): NewMail {
  const { ip, helo, mailFrom, rcptTo, receivedAt } = facts
  return {
    origin,
    content,
    ip,
    helo: helo === null ? null : storable(helo, 255),
    mailFrom: mailFrom === null ? null : storable(mailFrom, 320),
    rcptTo: rcptTo === null ? null : storable(rcptTo, 320),
    connection: null,
    transcript: null,
    ...readTitles(content),
    receivedAt,
  }
}

/** Stores a mail and starts its analysis. @returns null for a test that takes no further mail */
export async function storeMail(
  { db, analyzer }: Pick<ReceiveDeps, 'db' | 'analyzer'>,
  testId: string,
  mail: NewMail,
): Promise<MailRow | null> {
  const row = await db.transaction().execute(async (trx) => {
    const stored = await insertMail(trx, testId, mail, new Date(Date.now() + RAW_LIFETIME_MS))
    if (stored) await notifyChange(trx, stored.workspaceId, 'checks', testId)
    return stored
  })
  if (row) analyzer.start(row)
  return row
}

/** As `storeMail`. @throws Fault `conflict` */
export async function requireStored(row: MailRow | null): Promise<MailRow> {
  if (row) return row
  throw new Fault(
    'conflict',
    `This test takes no further mail: it has expired, or has its ${MAX_MAILS_PER_TEST} mails. Create another test.`,
  )
}

/** Text that PostgreSQL stores. */
function storable(text: string, characters = text.length): string {
  return text.replaceAll('\0', '').slice(0, characters).toWellFormed()
}
