import type { NewAlert } from '../../alerts/raise.ts'
import type { Db } from '../../store/database.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import { MAX_KNOWN_SENDERS, MAX_SUMMARY_DAYS } from '../limits.ts'
import { describeNewSenders } from '../messages.ts'
import type { WatchDeps } from '../route-deps.ts'
import { groupSenders, type Sender } from '../senders/senders.ts'
import { listMarks } from '../senders/sender-marks.sql.ts'
import type { DayRange } from '../summary/dmarc-summary.sql.ts'
import {
  countKnownSenders,
  insertKnownSenders,
  listNamedSources,
  listUncheckedSenders,
  markSendersChecked,
  type CheckedDomain,
} from './new-senders.sql.ts'

/** A sender without passes is known, and raises an alert, from so many messages. */
const LEAST_MESSAGES = 10
/** Days of reports over which messages are counted: reports arrive late. */
const COUNTED_DAYS = 7
/** Days after the first report during which all senders are new. */
const FIRST_DAYS = 7
/** Sources that are compared in one pass. */
const MAX_SOURCES = 1_000
const BATCH = 20

/** Raises an alert about senders that a domain never had before, one for all of a domain. */
export async function watchSenders(deps: WatchDeps, signal: AbortSignal): Promise<void> {
  const start = new Date()
  for (;;) {
    const domains = await listUncheckedSenders(deps.db, start, BATCH)
    for (const domain of domains) {
      if (signal.aborted) return
      await checkSenders(deps, domain)
    }
    if (domains.length < BATCH) return
  }
}

async function checkSenders({ db, raiseAlert }: WatchDeps, domain: CheckedDomain): Promise<void> {
  const senders = await listSenders(db, domain)
  await db.transaction().execute(async (trx) => {
    const room = MAX_KNOWN_SENDERS - (await countKnownSenders(trx, domain.id))
    const ids = senders.map(({ id }) => id).slice(0, MAX_KNOWN_SENDERS)
    const added = room > 0 ? await insertKnownSenders(trx, domain.id, ids) : new Set<string>()
    await markSendersChecked(trx, domain.id, new Date())
    const fresh = senders.filter(({ id, mark }) => added.has(id) && mark === null)
    if (fresh.length > 0 && !isFirstTime(domain)) await raiseAlert?.(trx, alertOf(domain, fresh))
  })
}

/** The senders of recent reports; of all reports when the domain is compared for the first time. */
async function listSenders(db: Db, domain: CheckedDomain): Promise<Sender[]> {
  const days = domain.sendersCheckedAt === null ? MAX_SUMMARY_DAYS : COUNTED_DAYS
  const [sources, marks] = await Promise.all([
    listNamedSources(db, domain.id, lastDays(days), {
      leastMessages: domain.sendersCheckedAt === null ? 1 : LEAST_MESSAGES,
      limit: MAX_SOURCES,
    }),
    listMarks(db, domain.id),
  ])
  return groupSenders(domain.domain, sources, marks)
}

function lastDays(days: number): DayRange {
  const day = (ago: number) => isoDay(Date.now() - ago * DAY_MS)
  return { from: day(days), to: day(0) }
}

function isFirstTime({ sendersCheckedAt, firstDay }: CheckedDomain): boolean {
  return sendersCheckedAt === null || Date.now() - Date.parse(firstDay) < FIRST_DAYS * DAY_MS
}

function alertOf({ id, workspaceId, domain }: CheckedDomain, senders: Sender[]): NewAlert {
  const at = new Date()
  return {
    workspaceId,
    kind: 'dmarc.new-sender',
    key: `dmarc.new-sender ${id} ${at.toISOString()}`,
    incident: null,
    phase: 'once',
    severity: senders.some(({ pass, messages }) => pass * 2 < messages) ? 'warning' : 'info',
    ...describeNewSenders(domain, senders),
    path: `/dmarc/${id}`,
    objects: [domain],
    at,
  }
}
