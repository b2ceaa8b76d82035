import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { InWorkspace } from '../../jobs/job.ts'
import { failureOf } from '../../jobs/outbox.ts'
import { WorkspaceDeleted } from '../../jobs/workspace-guard.ts'
import type { Logger } from '../../log.ts'
import { sendMail, type Relay } from '../../net/smtp.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS, isoDay, startOfDay } from '../../time.ts'
import { composeAbuseMail } from './compose-mail.ts'
import { createReturnPath } from './bounces/return-path.ts'
import { findBounce } from './bounces/bounces.sql.ts'
import { createContacts, type ContactDeps, type Contacts } from './contacts.ts'
import {
  BOUNCE_DAYS,
  MAILS_A_DAY,
  MAX_FAILED_LOOKUPS,
  REPORT_LIFETIME_MS,
  RETRY_DELAYS_MS,
  SEND_TIMEOUT_MS,
} from './limits.ts'
import { skipped } from './messages.ts'
import { createOptOutToken, hashEmail } from './opt-out.ts'
import { OPT_OUT_PATH } from './opt-out-routes.ts'
import {
  assignReport,
  claimMail,
  countMails,
  endMail,
  handOverMail,
  hasOptedOut,
  insertOptOut,
  listReportsOf,
  listUnassigned,
  markWithoutContact,
  putBackMail,
  recoverMails,
  type AbuseMail,
} from './abuse-mails.sql.ts'

export type AbuseMailDeps = Omit<ContactDeps, 'db'> & {
  db: Kysely<DB>
  log: Logger
  /** Null where this installation sends no email. */
  mailRelay: Relay | null
  baseUrl: string
  /** Where bounces return; null: to the sender. */
  returnPath: string | null
  /** Signs links and return paths; it stays the same when SECRET_KEY changes. */
  optOutKey: string
}

const REPORTS_PER_PAGE = 200

/** Prepares the emails about days that are over, and sends those that are due. */
export async function mailReports(
  deps: AbuseMailDeps,
  { signal, inWorkspace }: { signal: AbortSignal; inWorkspace: InWorkspace },
): Promise<void> {
  if (!deps.mailRelay) return
  await recoverMails(deps.db, { now: new Date(deps.clock()) })
  await prepareMails(deps, createContacts(deps), { signal, inWorkspace })
  while (!signal.aborted) {
    const now = deps.clock()
    const times = { now: new Date(now), dayStart: new Date(startOfDay(now)) }
    const mail = await claimMail(deps.db, times)
    if (!mail) return
    await deliver(deps, mail, deps.mailRelay, signal)
    await notifyChange(deps.db, mail.workspaceId, 'attacks')
  }
}

/** Finds the networks of reported addresses, and groups the reports by them. */
async function prepareMails(
  { db, clock }: AbuseMailDeps,
  contacts: Contacts,
  { signal, inWorkspace }: { signal: AbortSignal; inWorkspace: InWorkspace },
): Promise<void> {
  const now = clock()
  const days = { before: isoDay(now), after: isoDay(now - REPORT_LIFETIME_MS) }
  const except: string[] = []
  while (!signal.aborted && except.length < MAX_FAILED_LOOKUPS) {
    const page = await listUnassigned(db, { ...days, except, limit: REPORTS_PER_PAGE })
    if (page.length === 0) return
    for (const report of page) {
      if (except.includes(report.address)) continue
      const contact = await inWorkspace(report.workspaceId, (own) =>
        contacts.find(report.address, own),
      ).catch(skipDeleted)
      if (signal.aborted) return
      // The next page lacks the reports of a workspace that was deleted meanwhile.
      if (contact === 'deleted') break
      if (contact === null) {
        except.push(report.address)
        if (except.length >= MAX_FAILED_LOOKUPS) return
        continue
      }
      const { network, email: recipient } = contact
      const at = new Date(now)
      if (recipient === null) await markWithoutContact(db, report)
      else
        await db
          .transaction()
          .execute((trx) => assignReport(trx, report, { recipient, network, at }))
    }
  }
}

function skipDeleted(error: unknown): 'deleted' {
  if (error instanceof WorkspaceDeleted) return 'deleted'
  throw error
}

/** The link of an email; null in test mode, in which another person gets it. */
function optOutUrlOf(
  { baseUrl, optOutKey }: AbuseMailDeps,
  { recipient, isTest }: AbuseMail,
): string | null {
  if (isTest) return null
  return `${baseUrl}${OPT_OUT_PATH}/${createOptOutToken(optOutKey, recipient)}`
}

async function deliver(
  deps: AbuseMailDeps,
  mail: AbuseMail,
  relay: Relay,
  signal: AbortSignal,
): Promise<void> {
  const { db, clock } = deps
  const end = async (state: 'sent' | 'skipped', reason = '') =>
    void (await endMail(db, [mail], state, { reason, endedAt: new Date(clock()) }))
  const reports = await listReportsOf(db, mail.id)
  if (reports.length === 0) return end('skipped', skipped.noReports)
  if (await hasOptedOut(db, hashEmail(mail.recipient))) return end('skipped', skipped.optedOut)
  const bouncedAt = await findBounce(
    db,
    hashEmail(mail.recipient),
    new Date(clock() - BOUNCE_DAYS * DAY_MS),
  )
  if (bouncedAt) return end('skipped', skipped.bounced(bouncedAt, BOUNCE_DAYS))
  const dayStart = startOfDay(clock())
  const counts = await countMails(db, { ...mail, dayStart: new Date(dayStart) })
  if (!mail.isTest && counts.recipient >= MAILS_A_DAY.recipient)
    return end('skipped', skipped.recipientLimit(MAILS_A_DAY.recipient))
  if (counts.account >= MAILS_A_DAY.account)
    return void (await putBackMail(db, [mail], new Date(dayStart + DAY_MS), { reason: '' }))
  const { returnPath, optOutKey } = deps
  const message = {
    ...composeAbuseMail(mail, reports, optOutUrlOf(deps, mail)),
    ...(returnPath !== null && { returnPath: createReturnPath(optOutKey, returnPath, mail.id) }),
  }
  const beforeMessage = () => handOverMail(db, [mail], new Date(clock()))
  const timeout = AbortSignal.any([signal, AbortSignal.timeout(SEND_TIMEOUT_MS)])
  try {
    await sendMail({ ...relay, beforeMessage }, message, timeout)
    await end('sent')
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    await recordFailure(deps, mail, error)
  }
}

async function recordFailure(
  { db, clock, log }: AbuseMailDeps,
  mail: AbuseMail,
  fault: Fault,
): Promise<void> {
  const now = clock()
  const { attempts } = mail
  log.info({ reason: fault.message }, 'an abuse email was not sent')
  const failure = failureOf(fault, { attempts, retryDelaysMs: RETRY_DELAYS_MS, now })
  if (failure === null) return
  // A mailbox that does not exist or does not want it gets nothing again (RFC 5321, 4.2.1).
  if (failure.state === 'failed' && fault.code === 'upstream_rejected' && !mail.isTest)
    await insertOptOut(db, hashEmail(mail.recipient), 'bounce')
  const { state, reason } = failure
  if (state === 'waiting') await putBackMail(db, [mail], failure.dueAt, { reason })
  else await endMail(db, [mail], state, { reason, endedAt: new Date(now) })
}
