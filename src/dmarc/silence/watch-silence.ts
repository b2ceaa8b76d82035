import type { NewAlert, ResolvingAlert } from '../../alerts/raise.ts'
import { parseDmarc } from '../../protocols/dmarc/dmarc-record.ts'
import { createDnsQueries } from '../../protocols/dns-queries.ts'
import { DAY_MS, HOUR_SECONDS } from '../../time.ts'
import { findPublication } from '../domains/publication.ts'
import { reportEmailOf } from '../domains/report-email.ts'
import { DNS_TIMEOUT_MS } from '../limits.ts'
import { describeResumedReports, describeSilence, type DeliveryPath } from '../messages.ts'
import type { WatchDeps } from '../route-deps.ts'
import {
  listMailboxStates,
  listResumed,
  listSilent,
  markResumed,
  markSilent,
  recordPass,
  type SilenceEnd,
  type SilenceStart,
} from './silent-reporters.sql.ts'

const SILENT_DAYS = 3
/** A silence that begins after less regular reports raises no alert. */
const RULE = { silentDays: SILENT_DAYS, ofDays: 14, leastDays: 10, forgetDays: 30 }
/** Passes happen every hour. A longer time without one is a downtime of the service. */
const MAX_GAP_SECONDS = 3 * HOUR_SECONDS
/** Domains whose DNS is queried at a time. */
const BATCH = 20

/** Raises an alert when the reports of a domain stop, and one when they come back. */
export async function watchSilence(deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const { db } = deps
  const watchedSince = await recordPass(db, MAX_GAP_SECONDS)
  for (let some = BATCH; some === BATCH && !signal.aborted;) {
    const resumed = await listResumed(db, BATCH)
    for (const end of resumed) await raiseEnd(deps, end)
    some = resumed.length
  }
  if (Date.now() - watchedSince.getTime() < SILENT_DAYS * DAY_MS) return
  for (let some = BATCH; some === BATCH && !signal.aborted;) {
    const silent = await listSilent(db, RULE, BATCH)
    await Promise.all(silent.map((start) => raiseStart(deps, start, signal)))
    some = silent.length
  }
}

async function raiseStart(deps: WatchDeps, start: SilenceStart, signal: AbortSignal) {
  const alert = silentAlert(start, await checkDelivery(deps, start, signal))
  await deps.db.transaction().execute(async (trx) => {
    if (await markSilent(trx, start)) await deps.raiseAlert?.(trx, alert)
  })
}

async function raiseEnd({ db, raiseResolved }: WatchDeps, end: SilenceEnd): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (await markResumed(trx, end)) await raiseResolved?.(trx, resumedAlert(end))
  })
}

/** Checks the stations of a report on its way to the service, as far as they can be checked. */
async function checkDelivery(
  { db, resolver, reportDomain }: WatchDeps,
  start: SilenceStart,
  signal: AbortSignal,
): Promise<DeliveryPath> {
  const reportEmail = reportEmailOf(start, reportDomain)
  const limit = AbortSignal.any([signal, AbortSignal.timeout(DNS_TIMEOUT_MS)])
  const [publication, mailboxes] = await Promise.all([
    findPublication(start.domain, reportEmail, createDnsQueries(resolver, limit)),
    listMailboxStates(db, start.workspaceId),
  ])
  const { isConfigured, published, destination } = publication
  return {
    reportEmail,
    arrivedByEmail: start.via === 'smtp',
    isConfigured,
    hasRua: published === null ? false : (parseDmarc(published)?.rua.length ?? 0) > 0,
    missingConsent: destination.authorized === false ? destination.name : null,
    mailboxes,
  }
}

function incidentOf({ id }: Pick<SilenceStart, 'id'>): string {
  return `dmarc/silent/${id}`
}

function silentAlert(start: SilenceStart, path: DeliveryPath): NewAlert {
  const { id, workspaceId, domain, lastAt } = start
  return {
    workspaceId,
    kind: 'dmarc.silent',
    key: `dmarc.silent ${id} ${lastAt.toISOString()}`,
    incident: incidentOf(start),
    phase: 'open',
    severity: 'warning',
    ...describeSilence(domain, lastAt, path),
    path: `/dmarc/${id}`,
    objects: [domain],
    at: new Date(),
  }
}

function resumedAlert(end: SilenceEnd): ResolvingAlert {
  const { id, workspaceId, domain, silentSince, resumedAt } = end
  return {
    workspaceId,
    kind: 'dmarc.resumed',
    key: `dmarc.resumed ${id} ${silentSince.toISOString()}`,
    incident: incidentOf(end),
    ...describeResumedReports(domain, silentSince, resumedAt),
    path: `/dmarc/${id}`,
    objects: [domain],
    at: new Date(),
  }
}
