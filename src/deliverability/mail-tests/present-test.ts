import type { MailTest, SharedMailTest, TestMailResult, ListedMailTest } from '../shapes.ts'
import { MAX_MAILS_PER_TEST } from '../limits.ts'
import { compareFindings, evaluateReceivers } from './analysis/receivers.ts'
import { SEVERITIES, type Finding } from './analysis/finding.ts'
import { firstStepOf, verdictOfMail } from './mail-verdict.ts'
import type { ListedTest, MailRow, TestRow } from './mail-tests.sql.ts'
import { testAddress } from './receive-mails.ts'

/** Dates become text when a response is serialized. */
type Dated<T> = { [K in keyof T]: K extends `${string}At` ? T[K] | Date : T[K] }

export type PresentDeps = {
  baseUrl: string
  reportDomain: string
  /** Whether this service receives mail by SMTP. */
  isListening: boolean
}

export type PresentedMail = Dated<TestMailResult>
export type PresentedTest = Omit<Dated<MailTest>, 'mails'> & { mails: PresentedMail[] }

const isOpen = ({ expiresAt, mailCount }: Pick<TestRow, 'expiresAt' | 'mailCount'>) =>
  expiresAt.getTime() > Date.now() && mailCount < MAX_MAILS_PER_TEST

export function presentTest(
  test: TestRow,
  mails: MailRow[],
  mailboxes: string[],
  { baseUrl, reportDomain, isListening }: PresentDeps,
): PresentedTest {
  const { id, token, domain, mailCount, shareToken, createdAt, expiresAt } = test
  return {
    id,
    address: isListening ? testAddress(token, reportDomain) : null,
    code: token,
    mailboxes,
    domain,
    isOpen: isOpen(test),
    mailCount,
    maxMails: MAX_MAILS_PER_TEST,
    url: shareToken === null ? null : `${baseUrl}/shared-mail-tests/${shareToken}`,
    createdAt,
    expiresAt,
    mails: presentMails(mails),
  }
}

/** A test for everyone with its link: neither its address nor the recipient of its mails is shown. */
export function presentShared(
  { domain, createdAt }: TestRow,
  mails: MailRow[],
): Omit<Dated<SharedMailTest>, 'mails'> & { mails: PresentedMail[] } {
  const shown = presentMails(mails).map((mail) => ({ ...mail, transcript: null }))
  return { domain, createdAt, mails: shown }
}

export function presentListed(test: ListedTest): Dated<ListedMailTest> {
  const { id, domain, subject, state, mailCount, blocks, hurts, createdAt, expiresAt } = test
  return {
    id,
    domain,
    subject,
    state,
    mailCount,
    isOpen: isOpen(test),
    blocks,
    hurts,
    createdAt,
    expiresAt,
  }
}

function presentMails(mails: MailRow[]): PresentedMail[] {
  return mails.map((mail, index) => presentMail(mail, mails[index - 1]))
}

/** The gravest failures first, then what was not checked, then what passed; else in their order. */
function sortFindings(findings: Finding[]): Finding[] {
  const rank = ({ state, severity }: Finding) =>
    state === 'failed' ? RANKS.indexOf(severity) : state === 'not-checked' ? 3 : 4
  return findings.toSorted((a, b) => rank(a) - rank(b))
}
const RANKS: readonly string[] = SEVERITIES

function presentMail(mail: MailRow, before: MailRow | undefined): PresentedMail {
  const sorted = sortFindings(mail.findings)
  const { number, origin, state, subject, fromHeader, bytes, ip, helo, mailFrom } = mail
  const { connection, transcript, receivedAt, createdAt, findings, engines, background } = mail
  return {
    number,
    origin,
    state,
    subject,
    from: fromHeader,
    bytes,
    ip,
    helo,
    mailFrom,
    tls: connection?.tls ? `${connection.tls.version}, ${connection.tls.cipher}` : null,
    transcript,
    receivedAt,
    createdAt,
    verdict: verdictOfMail(state, findings),
    firstStep: firstStepOf(state, sorted, background),
    findings: sorted,
    receivers: evaluateReceivers(findings),
    engines,
    background,
    changes: before ? compareFindings(before.findings, findings) : null,
  }
}
