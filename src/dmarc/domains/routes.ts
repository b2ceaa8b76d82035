import { reportEmailOf } from './report-email.ts'
import { Type } from 'typebox'
import { addAuditDetails } from '../../accounts/audit/record-change.ts'
import { callerOf } from '../../http/auth.ts'
import { auditOfImport } from '../../http/import-entries.ts'
import { LabelChanges } from '../../http/labels.ts'
import { responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { listReportedDays, sumRecent } from '../summary/dmarc-summary.sql.ts'
import { lastDays } from '../summary/range.ts'
import { byId, type RouteDeps } from '../route-deps.ts'
import {
  DmarcDomain,
  DomainsQuery,
  ImportedDomains,
  NewDomain,
  NewDomains,
  PublishedDomain,
} from '../shapes.ts'
import { changeLabels, registerDomain, requireDomain } from './domains.ts'
import { listRejectedToday } from '../usage/report-usage.sql.ts'
import { readRejected } from '../intake/read-rejected.ts'
import { importDomains } from './import-dmarc-domains.ts'
import { createPublications, type KnownPublication } from './publications.ts'
import { MAX_DNS_WAIT_MS } from '../limits.ts'
import { DELETION_TIMEOUT_MS, withStatementTimeout } from '../../store/database.ts'
import { deleteDomain, listDomains, type DomainRow } from './dmarc-domains.sql.ts'
import { challengeOf, verifyDomain } from './verify-domain.ts'
import { isoDay } from '../../time.ts'

/**
 * `/api/v1/dmarc/domains`: registered domains, the records to publish for them, and their
 * verification.
 */
export function domainRoutes(app: App, deps: RouteDeps): void {
  const { db, reportDomain } = deps
  const publications = createPublications(deps)
  app.get(
    '/api/v1/dmarc/domains',
    {
      schema: {
        summary: 'List DMARC domains, oldest first',
        querystring: DomainsQuery,
        response: responses(Success(Type.Array(DmarcDomain))),
      },
    },
    async (request) => {
      const rows = await listDomains(db, callerOf(request).workspaceId, request.query.limit)
      return { success: true, data: await shownDomains(db, rows, reportDomain) }
    },
  )
  app.post(
    '/api/v1/dmarc/domains',
    {
      schema: {
        summary: 'Add a DMARC domain',
        description:
          'Reports are accepted from now on, verified or not, and rejected reports on the domain are read again where their files are stored. Publish `record` at `dns.name`.',
        body: NewDomain,
        response: responses(Success(PublishedDomain), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const { id, domain } = await registerDomain(db, workspaceId, request.body.domain)
      await readRejected(db, workspaceId, [domain])
      const row = await requireDomain(db, workspaceId, id)
      return reply.code(201).send({
        success: true,
        data: await shownPublication(row, await publications.lookUp(row), deps),
      })
    },
  )
  app.post(
    '/api/v1/dmarc/domains/import',
    {
      config: { limit: 'imports' },
      schema: {
        summary: 'Add several DMARC domains',
        operationId: 'importDmarcDomains',
        description:
          'Adds up to 500 domains at once. `results` has one result for each entry; valid entries are added whatever the others are. Rejected reports on the domains, added now or before, are read again where their files are stored.',
        body: NewDomains,
        response: responses(Success(ImportedDomains)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const report = await importDomains(db, workspaceId, request.body.entries)
      addAuditDetails(request, auditOfImport(report))
      const present = report.results.flatMap(({ name, status }) =>
        name !== null && (status === 'added' || status === 'exists') ? [name] : [],
      )
      const { stored, domains } = await readRejected(db, workspaceId, present)
      const reports = { stored, domains: Array.from(domains, ([id, rest]) => ({ id, ...rest })) }
      return { success: true, data: { ...report, reports } }
    },
  )
  app.get(
    '/api/v1/dmarc/domains/:id',
    {
      schema: {
        summary: 'Get a DMARC domain with its current DNS records',
        description: `Waits up to ${MAX_DNS_WAIT_MS} ms for DNS. Afterwards \`record\` and \`dns\` are from the last answer, and a change event follows when the new one differs.`,
        params: byId,
        response: responses(Success(PublishedDomain)),
      },
    },
    async (request) => {
      const { workspaceId, responsibleId } = callerOf(request)
      const row = await requireDomain(db, workspaceId, request.params.id)
      return {
        success: true,
        data: await shownPublication(row, await publications.find(row, responsibleId), deps),
      }
    },
  )
  app.patch(
    '/api/v1/dmarc/domains/:id',
    {
      schema: {
        summary: 'Change the labels of a DMARC domain',
        params: byId,
        body: LabelChanges,
        response: responses(Success(DmarcDomain)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const row = await changeLabels(db, workspaceId, request.params.id, request.body.labels)
      const [data] = await shownDomains(db, [row], reportDomain)
      return { success: true, data }
    },
  )
  app.post(
    '/api/v1/dmarc/domains/:id/verify',
    {
      config: { limit: 'verifications', unaudited: true },
      schema: {
        summary: 'Verify a DMARC domain',
        description:
          'Checks for the TXT record of `verification`, or for `reportEmail` in the `rua` of the DMARC record. The service repeats this check daily. A domain stays verified until the proof has been missing for 7 days.',
        params: byId,
        response: responses(Success(PublishedDomain)),
      },
    },
    async (request) => {
      const found = await requireDomain(db, callerOf(request).workspaceId, request.params.id)
      const { row, problem } = await verifyDomain(
        db,
        found,
        reportEmailOf(found, reportDomain),
        publications.questions(),
      )
      const known = await publications.lookUp(row)
      return { success: true, data: { ...(await shownPublication(row, known, deps)), problem } }
    },
  )
  app.delete(
    '/api/v1/dmarc/domains/:id',
    {
      schema: {
        summary: 'Delete a DMARC domain with its reports and its report address',
        params: byId,
        response: responses(Type.Object({ success: Type.Literal(true) })),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      await requireDomain(db, workspaceId, request.params.id)
      await withStatementTimeout(db, DELETION_TIMEOUT_MS, (connection) =>
        deleteDomain(connection, workspaceId, request.params.id),
      )
      await notifyChange(db, workspaceId, 'dmarc', request.params.id)
      return { success: true }
    },
  )
}

async function shownDomains(db: Db, rows: DomainRow[], reportDomain: string) {
  const ids = rows.map(({ id }) => id)
  const { from } = lastDays(RECENT_DAYS, isoDay(Date.now()))
  const [rejected, reported, recent] = await Promise.all([
    listRejectedToday(db, ids),
    listReportedDays(db, ids),
    sumRecent(db, ids, from),
  ])
  return rows.map((row) => {
    const { unreadable, otherDomain, overLimit } = rejected.get(row.id) ?? NONE_REJECTED
    const total = unreadable + otherDomain + overLimit
    const { policy = null, messages = 0, aligned = 0 } = recent.get(row.id) ?? {}
    return {
      ...row,
      verified: row.verifiedAt !== null,
      reportEmail: reportEmailOf(row, reportDomain),
      rejectedToday: { total, unreadable, otherDomain, overLimit },
      reported: reported.get(row.id) ?? null,
      policy,
      last30Days: { messages, aligned },
    }
  })
}

const RECENT_DAYS = 30
const NONE_REJECTED = { unreadable: 0, otherDomain: 0, overLimit: 0 }

async function shownPublication(
  row: DomainRow,
  { publication, checkedAt }: KnownPublication,
  { db, reportDomain }: RouteDeps,
) {
  const { name, record, tlsRecord, published, isConfigured, destination } = publication
  const [shown] = await shownDomains(db, [row], reportDomain)
  return {
    ...shown,
    verification: challengeOf(row),
    record,
    tlsRecord,
    dns: { name, published, configured: isConfigured, destination, checkedAt },
    problem: null,
  }
}
