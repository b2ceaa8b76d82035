import { Type } from 'typebox'
import type { NewAlert, ResolvingAlert } from '../alerts/raise.ts'
import { defineJob, defineSweep, type Job } from '../jobs/job.ts'
import { createDnsQueries } from '../protocols/dns-queries.ts'
import { findResponsible } from '../store/responsible.ts'
import { reportEmailOf } from './domains/report-email.ts'
import { listUnchecked, type DomainRow } from './domains/dmarc-domains.sql.ts'
import { verifyDomain } from './domains/verify-domain.ts'
import {
  BATCH_REPORTS,
  DNS_TIMEOUT_MS,
  MAX_CONCURRENT_MAILBOXES,
  MAILBOX_TIMEOUT_MS,
} from './limits.ts'
import { fetchMailbox, type MailboxFailure } from './mailboxes/fetch.ts'
import { findMailbox, listMailboxIds, type MailboxRow } from './mailboxes/report-mailboxes.sql.ts'
import {
  describeFailureRise,
  describeEndedSignIn,
  describeMailboxFailure,
  describeMailboxRecovery,
} from './messages.ts'
import { lookUpNames } from './names/look-up-names.ts'
import { deleteUnusedAddresses } from './names/source-names.sql.ts'
import { watchSenders } from './new-senders/watch-senders.ts'
import type { DmarcDeps, WatchDeps } from './route-deps.ts'
import { indexRecords } from './sources/dmarc-sources.sql.ts'
import { watchSilence } from './silence/watch-silence.ts'
import { countSelectorDays } from './statistics/count-selector-days.ts'
import { withdrawReports } from './statistics/withdraw-statistics.ts'
import {
  deleteExpiredReports,
  listFailureRises,
  markRiseAlerted,
  type FailureRise,
} from './expired-reports.sql.ts'
import { DAY_MS, HOUR_MS, HOUR_SECONDS, monthsBefore } from '../time.ts'

type Retention = { reportMonths: number; fileDays: number }
type JobDeps = WatchDeps & {
  kept: Retention
  /** Milliseconds for one read of a mailbox. */
  pollLimitMs?: number | undefined
}

/** Looks up the reverse names of addresses in new reports, every minute. */
export function nameJob({ db, resolver }: DmarcDeps): Job {
  return defineJob({
    name: 'dmarc.names',
    schedule: '* * * * *',
    concurrency: 1,
    async run(_data, { signal, log }) {
      const lookedUp = await lookUpNames(db, resolver, signal)
      if (lookedUp > 0) log.debug({ lookedUp }, 'reverse names looked up')
    },
  })
}

/** Checks the ownership proof of each domain once a day. */
export function verifyJob(deps: DmarcDeps): Job {
  const { db, resolver, reportDomain } = deps
  async function verifyOne(row: DomainRow, signal: AbortSignal): Promise<void> {
    const questions = createDnsQueries(
      resolver,
      AbortSignal.any([signal, AbortSignal.timeout(DNS_TIMEOUT_MS)]),
    )
    await verifyDomain(db, row, reportEmailOf(row, reportDomain), questions)
  }
  return defineJob({
    name: 'dmarc.verify',
    schedule: '23 * * * *',
    concurrency: 1,
    async run(_data, { signal }) {
      for (;;) {
        const rows = await listUnchecked(db, new Date(Date.now() - DAY_MS), 20)
        if (rows.length === 0 || signal.aborted) return
        // In parallel: a workspace may have a thousand domains, and silent name servers cost seconds
        // each.
        await Promise.all(rows.map((row) => verifyOne(row, signal)))
      }
    },
  })
}

/** Milliseconds of a run that completes stored rows; the next one continues. */
const COMPLETION_MS = 45_000
const INDEXED_PARTS = 50
const COUNTED_REPORTS = 20

/** Indexes the addresses in records that an earlier version has stored, until none is left. */
export function indexJob({ db }: DmarcDeps): Job {
  const work = () => indexRecords(db, INDEXED_PARTS)
  return completionJob('dmarc.index-records', work, 'addresses in stored reports indexed')
}

/** Counts the DKIM keys of reports by day that an earlier version has stored, until none is left. */
export function selectorJob({ db }: DmarcDeps): Job {
  const work = () => countSelectorDays(db, COUNTED_REPORTS)
  return completionJob('dmarc.selector-days', work, 'DKIM keys of stored reports counted by day')
}

/** A job for rows of an earlier version. `work` completes some of them and returns how many. */
function completionJob(name: string, work: () => Promise<number>, message: string): Job {
  return defineSweep({
    name,
    schedule: '* * * * *',
    async run(_data, { signal, log }) {
      const end = performance.now() + COMPLETION_MS
      let completed = 0
      for (let some = 1; some > 0 && performance.now() < end && !signal.aborted; completed += some)
        some = await work()
      if (completed > 0) log.info({ completed }, message)
    },
  })
}

/** A mailbox that has failed for longer raises one alert. */
const MAILBOX_ALERT_DELAY_MS = 6 * HOUR_MS

/** Queues a read of every mailbox, every ten minutes. */
export function fetchJob({ db }: JobDeps, mailbox: Job<MailboxData>): Job {
  return defineSweep({
    name: 'dmarc.fetch',
    schedule: '*/10 * * * *',
    async run(_data, { enqueue }) {
      for (const { id: mailboxId, workspaceId } of await listMailboxIds(db)) {
        await enqueue(db, mailbox, { mailboxId, workspaceId })
      }
    },
  })
}

export type MailboxData = { mailboxId: string; workspaceId: string }

/**
 * Reads one mailbox. Accounts share the connections, so that a slow server delays only workspaces of
 * its own account.
 */
export function mailboxJob(deps: JobDeps): Job<MailboxData> {
  const { db, pollLimitMs = MAILBOX_TIMEOUT_MS } = deps
  return defineJob({
    name: 'dmarc.fetch-mailbox',
    schema: Type.Object({ mailboxId: Type.String(), workspaceId: Type.String() }),
    concurrency: MAX_CONCURRENT_MAILBOXES,
    accountOf: ({ workspaceId }, trx) => findResponsible(trx, workspaceId),
    workspaceOf: ({ workspaceId }) => workspaceId,
    uniqueBy: ({ mailboxId }) => mailboxId,
    deadline: 2 * (MAILBOX_TIMEOUT_MS / 1000),
    // The next scheduled read serves as the retry.
    retry: { limit: 0 },
    async run({ mailboxId }, { signal, log }) {
      const row = await findMailbox(db, mailboxId)
      if (!row) return
      const limit = AbortSignal.timeout(pollLimitMs)
      const failure = await fetchMailbox(row, deps, { signal, limit }, log)
      if (!failure) await deps.raiseResolved?.(db, recoveryOfMailbox(row))
      else if (failure.needsSignIn) await deps.raiseAlert?.(db, signInAlertOf(row, failure))
      else if (Date.now() - failure.since.getTime() >= MAILBOX_ALERT_DELAY_MS)
        await deps.raiseAlert?.(db, alertOfMailbox(row, failure))
    },
  })
}

function incidentOf({ id }: MailboxRow): string {
  return `dmarc/mailbox/${id}`
}

function recoveryOfMailbox(row: MailboxRow): ResolvingAlert {
  const at = new Date()
  return {
    workspaceId: row.workspaceId,
    kind: 'dmarc.mailbox',
    key: `dmarc.mailbox ${row.id} read ${at.toISOString()}`,
    incident: incidentOf(row),
    ...describeMailboxRecovery(row.username),
    path: '/dmarc/mailboxes',
    objects: [row.username],
    at,
  }
}

function alertOfMailbox(
  row: MailboxRow,
  { since, error }: { since: Date; error: string },
): NewAlert {
  return {
    workspaceId: row.workspaceId,
    kind: 'dmarc.mailbox',
    key: `dmarc.mailbox ${row.id} ${since.toISOString()}`,
    incident: incidentOf(row),
    phase: 'open',
    severity: 'error',
    ...describeMailboxFailure(row.username, { since, error }),
    path: '/dmarc/mailboxes',
    objects: [row.username],
    at: new Date(),
  }
}

/** Nothing but a new sign-in ends this failure, so that it is reported at once. */
function signInAlertOf(row: MailboxRow, failure: MailboxFailure): NewAlert {
  return {
    ...alertOfMailbox(row, failure),
    key: `dmarc.mailbox ${row.id} sign-in ${failure.since.toISOString()}`,
    ...describeEndedSignIn(row.username, failure),
  }
}

/**
 * A rise has at least this many failed messages, a failure share higher by `more` (0 to 1), and
 * `times` the earlier share.
 */
const MIN_RISE = { failing: 50, more: 0.05, times: 2 }

/** Raises one alert for a day with far more failures than before. */
export function watchJob({ db, raiseAlert }: JobDeps): Job {
  return defineJob({
    name: 'dmarc.watch',
    schedule: '41 * * * *',
    concurrency: 1,
    async run() {
      for (const rise of await listFailureRises(db, MIN_RISE)) {
        await db.transaction().execute(async (trx) => {
          if (await markRiseAlerted(trx, rise)) await raiseAlert?.(trx, alertOf(rise))
        })
      }
    },
  })
}

/** Raises alerts about domains whose reports stopped or came back, every hour. */
export function silenceJob(deps: WatchDeps): Job {
  return defineSweep({
    name: 'dmarc.silence',
    schedule: '47 * * * *',
    run: (_data, { signal }) => watchSilence(deps, signal),
  })
}

/** Raises alerts about senders that a domain never had before, every hour. */
export function senderJob(deps: WatchDeps): Job {
  return defineSweep({
    name: 'dmarc.new-senders',
    schedule: '53 * * * *',
    run: (_data, { signal }) => watchSenders(deps, signal),
  })
}

function alertOf({
  workspaceId,
  domainId,
  domain,
  day,
  messages,
  failing,
  before,
}: FailureRise): NewAlert {
  return {
    workspaceId,
    kind: 'dmarc.failures',
    key: `dmarc.failures ${domain} ${day}`,
    incident: null,
    phase: 'once',
    severity: 'warning',
    ...describeFailureRise({ domain, day, messages, failing, before }),
    path: `/dmarc/${domainId}`,
    objects: [domain],
    at: new Date(),
  }
}

const EXPIRED_ROWS = 5_000

/** Deletes expired reports, files and counts every night. */
export function cleanUpReportsJob({ db, kept }: JobDeps): Job {
  return defineJob({
    name: 'dmarc.clean-up',
    schedule: '7 2 * * *',
    concurrency: 1,
    deadline: HOUR_SECONDS,
    async run(_data, { signal, log }) {
      const reports = monthsBefore(new Date(), kept.reportMonths)
      const limits = { reports, contents: new Date(Date.now() - kept.fileDays * DAY_MS) }
      let deleted = 0
      for (let some = 1; some > 0 && !signal.aborted; deleted += some) {
        some = await withdrawReports(db, reports, BATCH_REPORTS)
      }
      for (let some = 1; some > 0 && !signal.aborted; deleted += some)
        some = await deleteExpiredReports(db, limits, EXPIRED_ROWS)
      for (let some = 1; some > 0 && !signal.aborted;)
        some = await deleteUnusedAddresses(db, EXPIRED_ROWS)
      if (deleted > 0) log.info({ deleted }, 'expired reports deleted')
    },
  })
}
