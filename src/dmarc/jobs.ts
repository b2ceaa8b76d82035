import { Type } from 'typebox'
import type { NewAlert } from '../alerts/raise.ts'
import { defineJob, type Job } from '../jobs/job.ts'
import { createDnsQueries } from '../protocols/dns-queries.ts'
import type { Db } from '../store/database.ts'
import { emailOf } from './domains/routes.ts'
import { listUnchecked, type DomainRow } from './domains/store.ts'
import { verifyDomain } from './domains/verify.ts'
import { deleteUsageBefore } from './usage/store.ts'
import { BATCH_REPORTS, DNS_DEADLINE, MAX_POLLS, POLL_LIMIT_MS, USAGE_KEPT_DAYS } from './limits.ts'
import { fetchMailbox } from './mailboxes/fetch.ts'
import { findMailbox, listMailboxIds, type MailboxRow } from './mailboxes/store.ts'
import { nameAddresses } from './names/names.ts'
import { deleteUnused } from './names/store.ts'
import type { DmarcDeps } from './route.ts'
import { withdrawReports } from './statistics/withdraw.ts'
import { deleteExpired, listRises, markRiseTold, type Rise } from './watch/store.ts'

export type Kept = { reportMonths: number; fileDays: number }
export type RaiseAlert = (db: Db, alert: NewAlert) => Promise<boolean>
type JobDeps = DmarcDeps & {
  kept: Kept
  raiseAlert?: RaiseAlert | undefined
  /** Milliseconds for one look into a mailbox. */
  pollLimitMs?: number | undefined
}

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Reverse names of the addresses in new reports, every minute. */
export function nameJob({ db, resolver }: DmarcDeps): Job {
  return defineJob({
    name: 'dmarc.names',
    schedule: '* * * * *',
    concurrency: 1,
    async run(_data, { signal, log }) {
      const asked = await nameAddresses(db, resolver, signal)
      if (asked > 0) log.debug({ asked }, 'reverse names looked up')
    },
  })
}

/** Looks every day for the proofs of all domains. */
export function verifyJob(deps: DmarcDeps): Job {
  const { db, resolver, reportDomain } = deps
  async function verifyOne(row: DomainRow, signal: AbortSignal): Promise<void> {
    const questions = createDnsQueries(resolver, AbortSignal.any([signal, AbortSignal.timeout(DNS_DEADLINE)]))
    await verifyDomain(db, row, emailOf(row, reportDomain), questions)
  }
  return defineJob({
    name: 'dmarc.verify',
    schedule: '23 * * * *',
    concurrency: 1,
    async run(_data, { signal }) {
      for (;;) {
        const rows = await listUnchecked(db, new Date(Date.now() - DAY), 20)
        if (rows.length === 0 || signal.aborted) return
        // Side by side: a thousand domains of one account whose name servers are silent take seconds each.
        await Promise.all(rows.map((row) => verifyOne(row, signal)))
      }
    },
  })
}

/** Mailboxes that fail for longer are told of once. */
const MAILBOX_PATIENCE = 6 * HOUR

/** Has every mailbox read, every ten minutes. */
export function fetchJob({ db }: JobDeps, mailbox: Job<MailboxData>): Job {
  return defineJob({
    name: 'dmarc.fetch',
    schedule: '*/10 * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    retry: { limit: 0 },
    async run(_data, { enqueue }) {
      for (const { id: mailboxId, accountId } of await listMailboxIds(db)) {
        await enqueue(db, mailbox, { mailboxId, accountId })
      }
    },
  })
}

export type MailboxData = { mailboxId: string; accountId: string }

/** Reads one mailbox; accounts share the connections, so that a slow server holds up its own account alone. */
export function mailboxJob(deps: JobDeps): Job<MailboxData> {
  const { db, pollLimitMs = POLL_LIMIT_MS } = deps
  return defineJob({
    name: 'dmarc.fetch-mailbox',
    schema: Type.Object({ mailboxId: Type.String(), accountId: Type.String() }),
    concurrency: MAX_POLLS,
    accountOf: ({ accountId }) => accountId,
    uniqueBy: ({ mailboxId }) => mailboxId,
    deadline: 2 * (POLL_LIMIT_MS / 1000),
    // The next look is as good as another try.
    retry: { limit: 0 },
    async run({ mailboxId }, { signal, log }) {
      const row = await findMailbox(db, mailboxId)
      if (!row) return
      const limit = AbortSignal.timeout(pollLimitMs)
      const failure = await fetchMailbox(row, deps, { signal, limit }, log)
      if (!failure || Date.now() - failure.since.getTime() < MAILBOX_PATIENCE) return
      await deps.raiseAlert?.(db, alertOfMailbox(row, failure))
    },
  })
}

function alertOfMailbox(row: MailboxRow, { since, error }: { since: Date; error: string }): NewAlert {
  return {
    accountId: row.accountId,
    kind: 'dmarc.mailbox',
    key: `dmarc.mailbox ${row.id} ${since.toISOString()}`,
    title: `The report mailbox ${row.username} cannot be read`,
    text: `${error} It has failed since ${since.toISOString()}; reports in it are not counted.`,
    nextStep: 'Correct the mailbox, or delete it and add it again with its new password.',
    path: '/dmarc/mailboxes',
    at: new Date(),
  }
}

/** What counts as a rise: so many failed messages, so much more of all, and so many times the share before. */
const RISE = { failing: 50, more: 0.05, times: 2 }

/** Tells once of a day on which much more failed than before. */
export function watchJob({ db, raiseAlert }: JobDeps): Job {
  return defineJob({
    name: 'dmarc.watch',
    schedule: '41 * * * *',
    concurrency: 1,
    async run() {
      for (const rise of await listRises(db, RISE)) {
        await db.transaction().execute(async (trx) => {
          if (await markRiseTold(trx, rise)) await raiseAlert?.(trx, alertOf(rise))
        })
      }
    },
  })
}

function alertOf({ accountId, domainId, domain, day, messages, failing, before }: Rise): NewAlert {
  const share = (part: number) => `${(part * 100).toFixed(1)} %`
  return {
    accountId,
    kind: 'dmarc.failures',
    key: `dmarc.failures ${domain} ${day}`,
    title: `More mail of ${domain} fails DMARC`,
    text: `On ${day}, ${failing} of ${messages} messages failed (${share(failing / messages)}); in the two weeks before it was ${share(before)}.`,
    nextStep: 'Look at the sources with the most failures in the summary: a new sender of yours, or somebody forging.',
    path: `/dmarc/${domainId}`,
    at: new Date(),
  }
}

const EXPIRED_ROWS = 5_000

/** Deletes every night what is not kept any longer. */
export function cleanUpJob({ db, kept }: JobDeps): Job {
  return defineJob({
    name: 'dmarc.clean-up',
    schedule: '7 2 * * *',
    concurrency: 1,
    deadline: 3_600,
    async run(_data, { signal, log }) {
      const reports = new Date()
      reports.setUTCMonth(reports.getUTCMonth() - kept.reportMonths)
      const limits = { reports, contents: new Date(Date.now() - kept.fileDays * DAY) }
      let gone = 0
      for (let some = 1; some > 0 && !signal.aborted; gone += some) {
        some = await withdrawReports(db, reports, BATCH_REPORTS)
      }
      for (let some = 1; some > 0 && !signal.aborted; gone += some) some = await deleteExpired(db, limits, EXPIRED_ROWS)
      for (let some = 1; some > 0 && !signal.aborted;) some = await deleteUnused(db, EXPIRED_ROWS)
      await deleteUsageBefore(db, USAGE_KEPT_DAYS)
      if (gone > 0) log.info({ gone }, 'reports that are not kept any longer deleted')
    },
  })
}
