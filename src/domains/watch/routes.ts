import type { FastifyRequest } from 'fastify'
import { addAuditDetails } from '../../accounts/audit/record-change.ts'
import { Fault } from '../../errors.ts'
import { hasScope, type Module } from '../../http/access.ts'
import { callerOf } from '../../http/auth.ts'
import { auditOfImport } from '../../http/import-entries.ts'
import { LabelChanges } from '../../http/labels.ts'
import {
  Done,
  Nullable,
  paginationOf,
  responses,
  sliceOf,
  Success,
} from '../../http/http-schema.ts'
import { ImportReport } from '../../http/shapes.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import { findDomainByName } from '../../dmarc/domains/dmarc-domains.sql.ts'
import { parseDomain } from '../check-domain.ts'
import {
  DomainHistory,
  DomainImport,
  DomainPage,
  DomainParams,
  DomainQuery,
  DomainReport,
  WatchedDomain,
  WatchState,
} from '../shapes.ts'
import { arrangeDomains } from './arrange-domains.ts'
import { readHistory, type ReadableParts } from './history.ts'
import { importWatchedDomains, type ImportDeps } from './import-watched-domains.ts'
import { listWorkspaceDomains, withStages } from './list-domains.ts'
import {
  deleteWatched,
  findStoredReport,
  findWatched,
  updateLabels,
} from './watched-domains.sql.ts'
import { watchDomain, type WatchDeps } from './watch-domain.ts'

/** `/api/v1/domains` and `…/{domain}/watch`, `…/history`: the domains of a workspace. */
export function watchRoutes(app: App, deps: WatchDeps & ImportDeps): void {
  listRoute(app, deps)
  storedRoute(app, deps)
  historyRoute(app, deps)
  watchStateRoute(app, deps)
  watchRoute(app, deps)
  importRoute(app, deps)
  labelsRoute(app, deps)
  unwatchRoute(app, deps)
}

function listRoute(app: App, { db }: WatchDeps): void {
  app.get(
    '/api/v1/domains',
    {
      config: { isHeavy: true },
      schema: {
        summary: 'List the domains of the workspace with their states',
        description:
          'Watched domains, domains with DMARC reports, and the registered domains of monitored hosts. API tokens see the parts that their scopes allow.',
        querystring: DomainQuery,
        response: responses(Success(DomainPage)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const every = await listWorkspaceDomains(db, workspaceId, readableParts(request))
      const all = arrangeDomains(every, request.query)
      const { limit, offset } = sliceOf(request.query)
      const page = all.slice(offset, offset + limit)
      const pagination = paginationOf(request.query, all.length)
      const domains = await withStages(db, workspaceId, page)
      return { success: true, data: { domains, pagination } }
    },
  )
}

function storedRoute(app: App, { db }: WatchDeps): void {
  app.get(
    '/api/v1/domains/:domain/stored',
    {
      schema: {
        summary: 'Get the last whole check of a watched domain',
        operationId: 'getStoredDomainCheck',
        description:
          'Watched domains are checked once a day, and by each request for a check. Null for a domain without a stored check.',
        params: DomainParams,
        response: responses(Success(Nullable(DomainReport))),
      },
    },
    async (request) => {
      const { name } = parseDomain(request.params.domain)
      const data = await findStoredReport(db, callerOf(request).workspaceId, name)
      return { success: true, data }
    },
  )
}

function historyRoute(app: App, { db }: WatchDeps): void {
  app.get(
    '/api/v1/domains/:domain/history',
    {
      config: { isHeavy: true },
      schema: {
        summary: 'Get the last 90 days of a domain',
        description:
          'Pass rate per day from DMARC reports; listings and certificates of monitored hosts; changes of records, lines and the verdict of a watched domain.',
        params: DomainParams,
        response: responses(Success(DomainHistory)),
      },
    },
    async (request) => {
      const { name } = parseDomain(request.params.domain)
      const { workspaceId } = callerOf(request)
      return {
        success: true,
        data: await readHistory(db, workspaceId, name, readableParts(request)),
      }
    },
  )
}

function watchStateRoute(app: App, { db }: WatchDeps): void {
  app.get(
    '/api/v1/domains/:domain/watch',
    {
      schema: {
        summary: 'Find out whether a domain is watched',
        operationId: 'getWatchedDomain',
        params: DomainParams,
        response: responses(Success(WatchState)),
      },
    },
    async (request) => {
      const { name } = parseDomain(request.params.domain)
      const { workspaceId } = callerOf(request)
      const [watched, reported] = await Promise.all([
        findWatched(db, workspaceId, name),
        readableParts(request).dmarc ? findDomainByName(db, workspaceId, name) : undefined,
      ])
      return {
        success: true,
        data: {
          domain: name,
          isWatched: watched !== undefined,
          labels: watched?.labels ?? [],
          dmarcDomainId: reported?.id ?? null,
        },
      }
    },
  )
}

function watchRoute(app: App, deps: WatchDeps): void {
  app.post(
    '/api/v1/domains/:domain/watch',
    {
      config: { limit: 'domain checks' },
      schema: {
        summary: 'Watch a domain',
        operationId: 'watchDomain',
        description:
          'Monitors the domain and its mail servers with the certificates they present, registers its DMARC reports, records changes of its records, and makes sure that alerts have a channel. What is on already stays as it is. An API token needs the scopes `monitoring:write`, `dmarc:write` and `alerts:write` too.',
        params: DomainParams,
        response: responses(Success(WatchedDomain)),
      },
    },
    async (request, reply) => {
      requireWriteScopes(request)
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const name = parseDomain(request.params.domain)
      const { workspaceId } = callerOf(request)
      const { row, problems } = await watchDomain(deps, workspaceId, name, gone.signal)
      const { domain, hosts, createdAt } = row
      return { success: true, data: { domain, hosts, createdAt, problems } }
    },
  )
}

function importRoute(app: App, deps: ImportDeps): void {
  app.post(
    '/api/v1/domains/import',
    {
      config: { limit: 'imports' },
      schema: {
        summary: 'Watch several domains',
        operationId: 'importDomains',
        description:
          'Watches up to 500 domains at once. `results` has one result for each entry; valid entries are added whatever the others are. Their mail servers, reports and alerts follow in the background, as for one watched domain. An API token needs the scopes `monitoring:write`, `dmarc:write` and `alerts:write` too.',
        body: DomainImport,
        response: responses(Success(ImportReport)),
      },
    },
    async (request) => {
      requireWriteScopes(request)
      const { workspaceId } = callerOf(request)
      const data = await importWatchedDomains(deps, workspaceId, request.body.entries)
      addAuditDetails(request, auditOfImport(data))
      return { success: true, data }
    },
  )
}

function labelsRoute(app: App, { db }: WatchDeps): void {
  app.put(
    '/api/v1/domains/:domain/labels',
    {
      schema: {
        summary: 'Change the labels of a watched domain',
        operationId: 'changeDomainLabels',
        params: DomainParams,
        body: LabelChanges,
        response: responses(Success(LabelChanges)),
      },
    },
    async (request) => {
      const { name: domain, unicode } = parseDomain(request.params.domain)
      const { workspaceId } = callerOf(request)
      const { labels } = request.body
      if (!(await updateLabels(db, { workspaceId, domain, labels })))
        throw new Fault('not_found', `${unicode} is not watched.`)
      await notifyChange(db, workspaceId, 'checks')
      return { success: true, data: { labels } }
    },
  )
}

function unwatchRoute(app: App, { db }: WatchDeps): void {
  app.delete(
    '/api/v1/domains/:domain/watch',
    {
      schema: {
        summary: 'Stop watching a domain',
        operationId: 'unwatchDomain',
        description:
          'Deletes the history of its records. Monitored hosts, DMARC reports and alert channels stay.',
        params: DomainParams,
        response: responses(Done),
      },
    },
    async (request) => {
      const { name } = parseDomain(request.params.domain)
      const { workspaceId } = callerOf(request)
      if (!(await deleteWatched(db, workspaceId, name)))
        throw new Fault('not_found', `${name} is not watched.`)
      await notifyChange(db, workspaceId, 'checks')
      return { success: true }
    },
  )
}

function readableParts(request: FastifyRequest): ReadableParts {
  const { scopes } = callerOf(request)
  return {
    dmarc: hasScope(scopes, 'dmarc', 'read'),
    monitoring: hasScope(scopes, 'monitoring', 'read'),
  }
}

/** Other modules’ data must not change through a token that could not change it there. */
const CHANGED_MODULES: Module[] = ['monitoring', 'dmarc', 'alerts']

function requireWriteScopes(request: FastifyRequest): void {
  const { scopes } = callerOf(request)
  const missing = CHANGED_MODULES.find((module) => !hasScope(scopes, module, 'write'))
  if (missing !== undefined)
    throw new Fault('forbidden', `This API token lacks the scope “${missing}:write”.`)
}
