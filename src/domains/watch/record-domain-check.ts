import type { Kysely } from 'kysely'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS } from '../../time.ts'
import {
  CONFIRM_IN_MS,
  EXPIRY_ALERT_DAYS,
  MAX_DOMAIN_EVENTS,
  MAX_STORED_REPORT_CHARACTERS,
} from '../limits.ts'
import type { DomainReport } from '../shapes.ts'
import { STATE_NAMES } from '../messages.ts'
import { expiryAlert, recoveredAlert, renewedAlert, worseAlert } from './messages.ts'
import { nextCheckAt } from './check-schedule.ts'
import { divideWorse, hasAlert, type DividedChanges } from './divide-worse.ts'
import { compareStates, type KnownStates, type StateChange } from './states.ts'
import {
  insertDomainEvents,
  lockWatched,
  saveCheck,
  type DomainEventRow,
  type WatchedDomainRow,
} from './watched-domains.sql.ts'

/** When the registration of a domain ends, and where it is renewed. */
export type Expiry = { expiresAt: Date; registrar: string | null }

/**
 * Stores a whole check of a watched domain: its picture, its changes as events, and alerts about
 * what became worse. Does nothing for a domain that is not watched, or that was checked since.
 */
export async function recordCheck(
  db: Kysely<DB>,
  workspaceId: string,
  report: DomainReport,
  expiry: Expiry | null = null,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const row = await lockWatched(trx, workspaceId, report.domain)
    const checkedAt = new Date(report.checkedAt)
    if (!row || (row.checkedAt !== null && row.checkedAt > checkedAt)) return
    const compared = compareStates(row.states, report)
    const { changes, isOpen } = compared
    const worse = await divideWorse(trx, workspaceId, { report, known: row.states, compared })
    const states = worse.states
    await saveCheck(trx, row.id, {
      state: report.verdict.state,
      sentence: report.verdict.sentence,
      stages: report.stages.map(({ name, state }) => ({ name, state })),
      checkedAt,
      states,
      report: storedReport(report),
      checkDueAt: isOpen
        ? new Date(checkedAt.getTime() + CONFIRM_IN_MS)
        : nextCheckAt(row.id, checkedAt),
    })
    const events = changes.map((change) => eventOf(change, checkedAt))
    await insertDomainEvents(trx, row.id, events, MAX_DOMAIN_EVENTS)
    await alertAbout(trx, row, { report, worse, hasChanged: changes.length > 0, expiry })
    await notifyChange(trx, workspaceId, 'checks')
  })
}

/** A picture that is too large is stored without its evidence; null if that is not enough. */
export function storedReport(report: DomainReport): DomainReport | null {
  if (JSON.stringify(report).length <= MAX_STORED_REPORT_CHARACTERS) return report
  const short = { ...report, lines: report.lines.map((line) => ({ ...line, evidence: [] })) }
  return JSON.stringify(short).length <= MAX_STORED_REPORT_CHARACTERS ? short : null
}

function eventOf(
  { subject, title, before, after, summary }: StateChange,
  at: Date,
): DomainEventRow {
  return {
    at,
    name: title,
    type: subject === 'verdict' ? 'verdict' : 'line',
    before: [STATE_NAMES[before]],
    after: [STATE_NAMES[after]],
    detail: summary,
  }
}

type Found = {
  report: DomainReport
  worse: DividedChanges
  hasChanged: boolean
  expiry: Expiry | null
}

async function alertAbout(
  trx: Db,
  { workspaceId }: WatchedDomainRow,
  { report, worse, hasChanged, expiry }: Found,
): Promise<void> {
  const at = new Date(report.checkedAt)
  if (worse.changes.length > 0) await raiseAlert(trx, worseAlert(workspaceId, report, worse, at))
  else if (hasChanged && !isAnyWorse(worse.states))
    await raiseResolved(trx, recoveredAlert(workspaceId, report))
  if (expiry) await alertAboutExpiry(trx, workspaceId, report.registeredDomain, expiry, at)
}

/** What a monitored host has an alert about, the host’s own alert resolves. */
function isAnyWorse(states: KnownStates): boolean {
  return Object.entries(states).some(
    ([subject, { baseline, isCovered }]) =>
      baseline !== undefined && !isCovered && hasAlert(subject as StateChange['subject']),
  )
}

async function alertAboutExpiry(
  trx: Db,
  workspaceId: string,
  domain: string,
  expiry: Expiry,
  at: Date,
): Promise<void> {
  const threshold = dueThreshold(expiry.expiresAt, at)
  if (threshold === undefined)
    await raiseResolved(trx, renewedAlert(workspaceId, domain, expiry.expiresAt, at))
  else await raiseAlert(trx, expiryAlert(workspaceId, domain, expiry, { threshold, at }))
}

/** The smallest number of days that is left at most; undefined while there is time. */
export function dueThreshold(expiresAt: Date, now: Date): number | undefined {
  const days = (expiresAt.getTime() - now.getTime()) / DAY_MS
  return EXPIRY_ALERT_DAYS.toSorted((one, other) => one - other).find(
    (threshold) => days <= threshold,
  )
}
