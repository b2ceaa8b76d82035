import { Type } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { Blocklists } from '../../protocols/dnsbl/blocklists.ts'
import { DAY_MS } from '../../time.ts'
import { listFacts } from '../facts/host-facts.sql.ts'
import { requireHost, type HostDeps } from '../hosts.ts'
import {
  MAX_TIMELINE_EVENTS,
  MAX_TIMELINE_HOSTS,
  MAX_TIMELINE_PERIODS,
  TIMELINE_DAYS,
} from '../limits.ts'
import { HostTimeline, WorkspaceTimeline } from '../shapes.ts'
import { listHostsByStatus } from '../hosts.sql.ts'
import { listEventsSince, listPeriodsOfHosts } from './host-history.sql.ts'
import { buildTimeline, spansOf } from './timeline.ts'

/** The listings of one host, and of all hosts, over the last 90 days. */
export function timelineRoutes(
  app: App,
  { db, blocklists }: Pick<HostDeps, 'db' | 'blocklists'>,
): void {
  app.get(
    '/api/v1/monitoring/hosts/:id/timeline',
    {
      schema: {
        summary: `Get the listings and changes of a host over ${TIMELINE_DAYS} days`,
        params: Type.Object({ id: Uuid }),
        response: responses(Success(HostTimeline)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id } = await requireHost({ db }, workspaceId, request.params.id)
      const { since, now } = lastDays()
      const [events, periods, facts] = await Promise.all([
        listEventsSince(db, id, since, MAX_TIMELINE_EVENTS),
        listPeriodsOfHosts(db, [id], since, MAX_TIMELINE_PERIODS),
        listFacts(db, [id]),
      ])
      const timeline = buildTimeline({ events, periods, facts, since, now })
      const lists = timeline.lists.map((row) => ({ ...row, name: nameOf(row.dnsbl, blocklists) }))
      return { success: true, data: { from: since, to: now, ...timeline, lists } }
    },
  )
  app.get(
    '/api/v1/monitoring/timeline',
    {
      schema: {
        summary: `Get the listings of the workspace’s hosts over ${TIMELINE_DAYS} days`,
        description: `Up to ${MAX_TIMELINE_HOSTS} hosts: listed ones first, then those that could not be checked.`,
        response: responses(Success(WorkspaceTimeline)),
      },
    },
    async (request) => {
      const { since, now } = lastDays()
      const { workspaceId } = callerOf(request)
      const { hosts, total } = await listHostsByStatus(db, workspaceId, MAX_TIMELINE_HOSTS)
      const ids = hosts.map(({ id }) => id)
      const periods = await listPeriodsOfHosts(db, ids, since, MAX_TIMELINE_PERIODS)
      const byHost = Map.groupBy(periods, ({ hostId }) => hostId)
      const rows = hosts.map(({ id, host, label }) => ({
        id,
        host,
        label,
        periods: spansOf(byHost.get(id) ?? [], since),
      }))
      return { success: true, data: { from: since, to: now, hosts: rows, total } }
    },
  )
}

function lastDays(): { since: Date; now: Date } {
  const now = new Date()
  return { since: new Date(now.getTime() - TIMELINE_DAYS * DAY_MS), now }
}

function nameOf(dnsbl: string, { lists }: Blocklists): string {
  return lists.find(({ zone }) => zone === dnsbl)?.name ?? dnsbl
}
