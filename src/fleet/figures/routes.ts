import { LRUCache } from 'lru-cache'
import { Gauge, Registry } from 'prom-client'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { failures } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { countBans } from '../bans/fleet-bans.sql.ts'
import { bouncerKeyOf, requireBouncerKey } from '../bouncer-key.ts'
import { BouncerHeaders } from '../crowdsec/shapes.ts'
import type { Fleets } from '../fleet.ts'
import { badgeSvg } from './badge.ts'
import {
  findBadge,
  listServerFigures,
  type BadgeFigures,
  type ServerFigures,
} from './fleet-figures.sql.ts'
import { isoDay } from '../../time.ts'

const MAX_BADGES = 1_000
const BADGE_SECONDS = 60

/** The figures of a fleet, for Prometheus and as a badge. */
export function figureRoutes(app: App, fleets: Fleets): void {
  metricsRoute(app, fleets)
  badgeRoute(app, fleets)
}

function metricsRoute(app: App, { db, followers }: Fleets): void {
  app.get(
    '/api/v1/abuse/fleet/metrics',
    {
      config: { limit: 'list exports', key: 'bouncer key' },
      preValidation: requireBouncerKey(followers),
      schema: {
        operationId: 'getFleetMetrics',
        summary: 'Get the figures of the fleet and its servers for Prometheus, with a bouncer key',
        description: 'A series for each report token and bouncer key, up to 200.',
        headers: BouncerHeaders,
        response: { 200: { content: { 'text/plain': { schema: Type.String() } } }, ...failures },
      },
    },
    async (request, reply) => {
      const { workspaceId } = bouncerKeyOf(request)
      const servers = await listServerFigures(db, workspaceId)
      const { active } = await countBans(db, workspaceId)
      const registry = createFleetMetrics(servers, active)
      return reply.type(registry.contentType).send(await registry.metrics())
    },
  )
}

/** The metrics of a fleet: its bans, and a series for each of its servers. */
export function createFleetMetrics(servers: ServerFigures[], bans: number): Registry {
  const registry = new Registry()
  const gauge = (name: string, help: string, labelNames: string[] = []) =>
    new Gauge({ name: `portreeve_fleet_${name}`, help, labelNames, registers: [registry] })
  gauge('bans', 'Banned addresses.').set(bans)
  const reports = gauge('reports', 'Accepted reports of a server, in all.', ['id', 'server'])
  const reported = gauge('last_report_timestamp_seconds', 'When a server reported last.', ['id', 'server']) // prettier-ignore
  const followed = gauge('last_contact_timestamp_seconds', 'When a server read the list last.', ['id', 'server']) // prettier-ignore
  for (const server of servers) {
    const labels = { id: server.id, server: server.label }
    reports.set(labels, server.reports)
    if (server.reportedAt) reported.set(labels, server.reportedAt.getTime() / 1000)
    if (server.followedAt) followed.set(labels, server.followedAt.getTime() / 1000)
  }
  return registry
}

function badgeRoute(app: App, { db, clock }: Fleets): void {
  // A badge in a popular page is asked for often, and counts once a minute.
  const known = new LRUCache<string, Promise<BadgeFigures | undefined>>({
    max: MAX_BADGES,
    ttl: BADGE_SECONDS * 1000,
  })

  function figuresOf(id: string): Promise<BadgeFigures | undefined> {
    const cached = known.get(id)
    if (cached) return cached
    const reading = findBadge(db, id, isoDay(clock()))
    known.set(id, reading)
    reading.catch(() => known.delete(id))
    return reading
  }

  app.get(
    '/api/v1/abuse/badges/:file',
    {
      config: { limit: 'public pages' },
      schema: {
        operationId: 'getFleetBadge',
        summary: 'Get the badge of a workspace: banned addresses and reports of today, as SVG',
        description: 'For workspaces that chose to have one. Up to a minute old.',
        params: Type.Object({
          file: Type.String({ maxLength: 60, description: 'The id of the badge, with `.svg`.' }),
        }),
        querystring: Type.Object({ show: Type.Enum(['bans', 'reports'], { default: 'bans' }) }),
        response: { 200: { content: { 'image/svg+xml': { schema: Type.String() } } }, ...failures },
      },
    },
    async (request, reply) => {
      const [, id] = /^([0-9a-f-]{36})\.svg$/.exec(request.params.file) ?? []
      const figures = id !== undefined && UUID.test(id) ? await figuresOf(id) : undefined
      if (!figures) throw new Fault('not_found', 'The badge was not found.')
      const { bans, reportsToday } = figures
      const svg =
        request.query.show === 'bans'
          ? badgeSvg('attackers blocked', bans.toLocaleString('en'))
          : badgeSvg('attacks reported today', reportsToday.toLocaleString('en'))
      reply.header('cache-control', `public, max-age=${BADGE_SECONDS}`)
      return reply.type('image/svg+xml').send(svg)
    },
  )
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
