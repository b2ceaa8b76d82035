import type { Kysely } from 'kysely'
import { findDomainByName } from '../../dmarc/domains/dmarc-domains.sql.ts'
import { fillDays } from '../../dmarc/summary/summary.ts'
import { sumByDay } from '../../dmarc/summary/dmarc-summary.sql.ts'
import { listEventsOfHosts } from '../../monitoring/history/host-history.sql.ts'
import { listHostStates, type HostState } from '../../monitoring/hosts.sql.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import { HISTORY_DAYS, MAX_DOMAIN_EVENTS } from '../limits.ts'
import type { DomainHistory } from '../shapes.ts'
import { findWatched, listDomainEvents, type DomainEventRow } from './watched-domains.sql.ts'

/** Parts of the workspace’s data that the caller may read. */
export type ReadableParts = { dmarc: boolean; monitoring: boolean }

/** The last 90 days of a domain: pass rate per day, listings, certificates, changes of records and states. */
export async function readHistory(
  db: Kysely<DB>,
  workspaceId: string,
  domain: string,
  readable: ReadableParts,
): Promise<DomainHistory> {
  const now = new Date()
  const since = new Date(now.getTime() - (HISTORY_DAYS - 1) * DAY_MS)
  const range = { from: isoDay(since), to: isoDay(now) }
  const watched = await findWatched(db, workspaceId, domain)
  const [passRate, hostEvents, recordEvents] = await Promise.all([
    readable.dmarc ? readPassRate(db, workspaceId, domain, range) : [],
    readable.monitoring
      ? readHostEvents(db, workspaceId, { domain, hosts: watched?.hosts ?? [] }, since)
      : [],
    watched ? listDomainEvents(db, watched.id, since, MAX_DOMAIN_EVENTS) : [],
  ])
  const own = recordEvents.map(presentEvent)
  const events = [...own, ...hostEvents]
    .toSorted((one, other) => Number(one.at < other.at) - Number(one.at > other.at))
    .slice(0, MAX_DOMAIN_EVENTS)
  return { ...range, passRate, events }
}

function presentEvent(event: DomainEventRow): DomainHistory['events'][number] {
  const { at, name, type, before, after, detail = null } = event
  const isState = type === 'verdict' || type === 'line'
  return {
    at: at.toISOString(),
    kind: isState ? type : 'record',
    name: isState ? name : `${name} ${type}`,
    before: before.join('\n'),
    after: after.join('\n'),
    detail,
  }
}

async function readPassRate(
  db: Kysely<DB>,
  workspaceId: string,
  domain: string,
  range: { from: string; to: string },
): Promise<DomainHistory['passRate']> {
  const row = await findDomainByName(db, workspaceId, domain)
  if (!row) return []
  const days = fillDays(range, await sumByDay(db, row.id, range))
  return days.map(({ day, messages, pass }) => ({ day, messages, pass }))
}

async function readHostEvents(
  db: Kysely<DB>,
  workspaceId: string,
  { domain, hosts }: { domain: string; hosts: string[] },
  since: Date,
): Promise<DomainHistory['events']> {
  const own = (await listHostStates(db, workspaceId)).filter((row) =>
    isOfDomain(row, domain, hosts),
  )
  const names = new Map(own.map(({ id, host }) => [id, host]))
  const events = await listEventsOfHosts(db, [...names.keys()], since, MAX_DOMAIN_EVENTS)
  return events
    .filter(({ kind }) => kind !== 'dns')
    .map(({ hostId, at, kind, name, ip, fromState, toState, reason }) => ({
      at: at.toISOString(),
      kind: kind === 'blacklist' ? ('listing' as const) : ('certificate' as const),
      name:
        kind === 'blacklist'
          ? `${ip ?? names.get(hostId)}: ${name}`
          : `${names.get(hostId)}: ${name}`,
      before: fromState,
      after: toState,
      detail: reason,
    }))
}

/** Hosts below the domain, and those that were its mail servers when it was watched. */
function isOfDomain({ host }: Pick<HostState, 'host'>, domain: string, hosts: string[]): boolean {
  return host === domain || host.endsWith(`.${domain}`) || hosts.includes(host)
}
