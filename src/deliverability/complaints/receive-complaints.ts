import { createHash, createHmac } from 'node:crypto'
import type { Kysely } from 'kysely'
import { clipText } from '../../clip-text.ts'
import { deriveKey } from '../../derive-key.ts'
import { classify } from '../../net/address.ts'
import type { MailReceiver } from '../../net/mail-receiver.ts'
import type { Logger } from '../../log.ts'
import type { Resolver } from '../../net/dns.ts'
import { smtpReply } from '../../net/smtp-server.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import {
  authenticateMail,
  isCheapToAuthenticate,
  type Authentication,
  type Envelope,
} from '../../protocols/mail/mail-authentication.ts'
import { authorDomain, parseMessage } from '../../protocols/mail/message.ts'
import {
  parseFeedbackReport,
  type FeedbackReport,
} from '../../protocols/reports/feedback-report.ts'
import { notifyChange } from '../../store/changes.ts'
import { countRequest } from '../../store/limits/request-rate.ts'
import { findResponsible } from '../../store/responsible.ts'
import type { DB } from '../../store/tables.ts'
import { COMPLAINT_DNS_MS, COMPLAINT_RATE } from '../limits.ts'
import { MAX_HEADER_BYTES, readReportedFacts, readTitles } from '../mail-tests/reported-facts.ts'
import { campaignOf } from './campaign.ts'
import {
  findAddress,
  findAddressByMailbox,
  insertComplaint,
  recordOtherMail,
  type NewComplaint,
} from './complaints.sql.ts'
import { providerOf } from './feedback-loops.ts'

export type ComplaintReceiverDeps = {
  db: Kysely<DB>
  log: Logger
  resolver: Resolver
  secretKey: string
  reportDomain: string
}

/** The address that receives complaints: `f` and 17 letters and digits. */
export function complaintAddress(mailbox: string, reportDomain: string): string {
  return `${mailbox}@${reportDomain}`
}

/** Receives complaint mails, of which it stores what their header says. */
export function createComplaintReceiver(deps: ComplaintReceiverDeps): MailReceiver {
  const { db, log, reportDomain } = deps
  const key = deriveKey(deps.secretKey, 'complaints')

  async function store(
    workspaceId: string,
    report: FeedbackReport,
    bytes: Buffer,
    envelope: Envelope | null,
  ): Promise<void> {
    const author = authorDomain(parseMessage(bytes.subarray(0, MAX_HEADER_BYTES)))
    const complaint = {
      ...describeReport(report, key),
      workspaceId,
      fingerprint: createHash('sha256').update(bytes).digest(),
      provider: author === null ? null : providerOf(author),
      isVerified: await isVerified(deps, bytes, envelope),
    }
    if (await insertComplaint(db, complaint))
      await notifyChange(db, workspaceId, 'checks', workspaceId)
    log.info({ provider: complaint.provider, verified: complaint.isVerified }, 'complaint received')
  }

  async function mayStore(workspaceId: string): Promise<boolean> {
    const account = await findResponsible(db, workspaceId)
    return (await countRequest(db, account, 'complaints', COMPLAINT_RATE)) === 0
  }

  return {
    async findRecipient(address) {
      const at = address.lastIndexOf('@')
      const mailbox = address.slice(0, Math.max(0, at))
      if (address.slice(at + 1) !== reportDomain || !/^f[a-z2-7]{17}$/.test(mailbox)) return null
      const row = await findAddressByMailbox(db, mailbox)
      if (!row) return null
      const { workspaceId } = row
      return {
        async receive({ bytes, peer, helo, sender }) {
          if (!(await mayStore(workspaceId)))
            throw smtpReply(452, '4.2.2 Too many complaints today; try again later')
          const report = parseFeedbackReport(bytes)
          if (report) await store(workspaceId, report, bytes, { ip: peer, helo, sender })
          else await recordOther(deps, workspaceId, bytes)
        },
      }
    },
    /** Reports about one mail in a report mailbox are complaints, unless DMARC failed. */
    async pickUp(workspaceId, bytes) {
      const report = mayBeReport(bytes) ? parseFeedbackReport(bytes) : null
      if (!report || report.type === 'auth-failure') return false
      if (!(await findAddress(db, workspaceId)) || !(await mayStore(workspaceId))) return false
      await store(workspaceId, report, bytes, null)
      return true
    },
  }
}

/** Most mail of a mailbox is none, and is not parsed. */
function mayBeReport(bytes: Buffer): boolean {
  const beginning = bytes.subarray(0, MAX_HEADER_BYTES).toString('latin1')
  return /feedback-report|^x-hmxmroriginalrecipient/im.test(beginning)
}

function describeReport(
  report: FeedbackReport,
  key: string,
): Pick<NewComplaint, 'type' | 'incidents' | 'domain' | 'source' | 'campaign' | 'recipient'> {
  const { type, incidents, domain, header, recipients } = report
  return {
    type,
    incidents,
    domain,
    source: sourceOf(report),
    campaign: header && campaignOf(header, key),
    recipient:
      recipients.length === 0
        ? null
        : createHmac('sha256', key).update(recipients.join('\n')).digest().subarray(0, 16),
  }
}

/** As the report says, unless that is an address inside a network and the header knows a public one. */
function sourceOf({ source, header }: FeedbackReport): string | null {
  const { ip = null } = header ? readReportedFacts(header) : {}
  if (source === null || ip === null || classify(source).public) return source ?? ip
  return classify(ip).public ? ip : source
}

/** A mail to the address that is no complaint: a provider may ask for a confirmation. */
async function recordOther(
  { db, log }: ComplaintReceiverDeps,
  workspaceId: string,
  bytes: Buffer,
): Promise<void> {
  const { subject, fromHeader } = readTitles(bytes)
  const shown = (text: string | null) => text && clipText(text.replaceAll('\0', ''), 200)
  await recordOtherMail(db, workspaceId, { from: shown(fromHeader), subject: shown(subject) })
  await notifyChange(db, workspaceId, 'checks', workspaceId)
  log.info('a mail to the address of complaints is no complaint')
}

/**
 * Whether a report comes from the domain of its author. Anyone who learns the address can send
 * reports to it; those of others raise no alert.
 */
async function isVerified(
  { resolver, log }: ComplaintReceiverDeps,
  bytes: Buffer,
  envelope: Envelope | null,
): Promise<boolean> {
  if (!isCheapToAuthenticate(bytes)) return false
  try {
    const signal = AbortSignal.timeout(COMPLAINT_DNS_MS)
    return isAuthentic(await authenticateMail(bytes, envelope, resolver, signal))
  } catch (error) {
    log.warn({ err: error }, 'a complaint could not be authenticated')
    return false
  }
}

/** By DMARC; without a record, by an aligned identifier that passes. */
function isAuthentic({ from, spf, dkim, dmarc }: Authentication): boolean {
  if (dmarc.result !== 'none') return dmarc.result === 'pass'
  const own = from && registeredDomain(from)
  return (
    own !== null &&
    [spf, dkim].some(
      ({ result, domain }) => result === 'pass' && domain && registeredDomain(domain) === own,
    )
  )
}
