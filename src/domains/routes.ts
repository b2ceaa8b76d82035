import { Type } from 'typebox'
import { Clean } from 'typebox/value'
import { writeReceipt } from '../diagnostics/sharing/check-receipt.ts'
import { Receipt } from '../diagnostics/shapes.ts'
import { callerOf } from '../http/auth.ts'
import type { EventStreams } from '../http/events/event-streams.ts'
import type { ServerSentEvent } from '../http/events/event-writer.ts'
import { failures, responses, responsesAs, Success } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import { registeredDomain } from '../protocols/dmarc/public-suffix.ts'
import { checkDomain, parseDomain } from './check-domain.ts'
import type { DomainDeps } from './domain-context.ts'
import { EXAMPLE_REPORT } from './example.ts'
import { findRecordState } from './record-state.ts'
import {
  DomainEventData,
  DomainParams,
  DomainReport,
  RecordQuery,
  RecordState,
  type DomainFix,
  type DomainLine,
} from './shapes.ts'

/** The name of the check in receipts. */
const DOMAIN_CHECK = 'domain'

export type DomainRoutesDeps = Omit<
  DomainDeps,
  'selectorsSeen' | 'reportEmailOf' | 'safePolicyOf'
> & {
  secretKey: string
  /** DKIM selectors in the reports of a workspace on a domain. */
  selectorsSeen: (workspaceId: string, domain: string) => Promise<string[]>
  /** Called with the verdict of each whole check. */
  onVerdict: (workspaceId: string, report: DomainReport) => Promise<void>
  /** The address to which a workspace’s reports about a domain go. */
  reportEmailOf: (workspaceId: string, domain: string) => Promise<string | null>
  /** The next stricter policy, if the workspace’s reports about the domain show that it is safe. */
  safePolicyOf: (workspaceId: string, domain: string) => Promise<'quarantine' | 'reject' | null>
}

/** Milliseconds for a lookup at the name servers of a zone. */
const RECORD_TIMEOUT_MS = 9_000

/** `/api/v1/domains/{domain}`: the whole picture of a domain, and one record of it. */
export function domainRoutes(
  app: App,
  { events, ...deps }: DomainRoutesDeps & { events: EventStreams },
): void {
  checkRoute(app, deps)
  checkEventsRoute(app, { ...deps, events })
  recordRoute(app, deps)
}

function checkRoute(app: App, deps: DomainRoutesDeps): void {
  app.get(
    '/api/v1/domains/:domain',
    {
      config: { limit: 'domain checks' },
      schema: {
        summary: 'Check everything about the mail of a domain',
        description:
          'Takes up to ten seconds. A line that is not ready by then is `unknown`. `fixes` has one record to publish for each name and type. A domain that does not exist returns 404.',
        params: DomainParams,
        response: {
          200: {
            ...Type.Object({ ...Success(DomainReport).properties, receipt: Receipt }),
            example: {
              success: true,
              data: EXAMPLE_REPORT,
              receipt: `1795262400000.${'x'.repeat(43)}`,
            },
          },
          ...failures,
        },
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const report = await checkDomain(
        request.params.domain,
        forWorkspace(deps, workspaceId),
        goneOf(reply),
      )
      await deps.onVerdict(workspaceId, report)
      return { success: true as const, ...withReceipt(report, workspaceId, deps.secretKey) }
    },
  )
}

function checkEventsRoute(
  app: App,
  { events, ...deps }: DomainRoutesDeps & { events: EventStreams },
): void {
  app.get(
    '/api/v1/domains/:domain/events',
    {
      config: { limit: 'domain checks' },
      schema: {
        summary: 'Follow a domain check (server-sent events)',
        description:
          'Sends a `line` event for each line as soon as it is known, `fixes` once with the records to publish that the DNS alone tells, and in the end `report` with all of them, in `data`, and `receipt`.',
        params: DomainParams,
        produces: ['text/event-stream'],
        response: responsesAs('text/event-stream', DomainEventData, 'The data of each event'),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const own = forWorkspace(deps, workspaceId)
      await events.sequence(
        reply,
        followCheck(
          (progress) => checkDomain(request.params.domain, own, goneOf(reply), progress),
          async (report) => {
            await deps.onVerdict(workspaceId, report)
            return withReceipt(report, workspaceId, deps.secretKey)
          },
        ),
      )
    },
  )
}

type Progress = { onLine: (line: DomainLine) => void; onFixes: (fixes: DomainFix[]) => void }

/** Yields the lines of a check and its first fixes as they come, then its report. */
async function* followCheck(
  run: (progress: Progress) => Promise<DomainReport>,
  present: (report: DomainReport) => Promise<object>,
): AsyncGenerator<ServerSentEvent, void> {
  const check = { waiting: [] as ServerSentEvent[], isDone: false, wake: () => {} }
  const send = (event: ServerSentEvent) => {
    check.waiting.push(event)
    check.wake()
  }
  const report = run({
    onLine: (line) => send({ name: 'line', data: line }),
    onFixes: (fixes) => send({ name: 'fixes', data: { fixes } }),
  }).finally(() => {
    check.isDone = true
    check.wake()
  })
  // Awaited below; until then a rejection has its handler here.
  report.catch(() => {})
  while (!check.isDone || check.waiting.length > 0) {
    yield* check.waiting.splice(0)
    if (!check.isDone && check.waiting.length === 0)
      await new Promise<void>((resolve) => (check.wake = resolve))
  }
  yield { name: 'report', data: await present(await report) }
}

function recordRoute(app: App, deps: DomainRoutesDeps): void {
  app.get(
    '/api/v1/domains/:domain/record',
    {
      config: { limit: 'record lookups' },
      schema: {
        summary: 'Look up a record at the name servers of its zone',
        description:
          'Asks the name servers directly, so a change is visible at once. `cached` is the copy of the resolver, which others may still see until `visibleToEverybodyAt`.',
        params: DomainParams,
        querystring: RecordQuery,
        response: responses(Success(RecordState)),
      },
    },
    async (request, reply) => {
      const { name } = parseDomain(request.params.domain)
      const signal = AbortSignal.any([goneOf(reply), AbortSignal.timeout(RECORD_TIMEOUT_MS)])
      const domain = registeredDomain(name) ?? name
      return { success: true, data: await findRecordState(domain, request.query, deps, signal) }
    },
  )
}

/** What checks for a workspace need. */
export function forWorkspace(
  deps: Omit<DomainRoutesDeps, 'onVerdict' | 'secretKey'>,
  workspaceId: string,
): DomainDeps {
  return {
    ...deps,
    selectorsSeen: (domain) => deps.selectorsSeen(workspaceId, domain),
    reportEmailOf: (domain) => deps.reportEmailOf(workspaceId, domain),
    safePolicyOf: (domain) => deps.safePolicyOf(workspaceId, domain),
  }
}

/** Fields that the response schema drops must not be covered by the receipt. */
function withReceipt(report: DomainReport, workspaceId: string, secretKey: string) {
  const data = Clean(DomainReport, report) as DomainReport
  const received = { workspaceId, check: DOMAIN_CHECK, data }
  return { data, receipt: writeReceipt(received, secretKey, Date.now()) }
}

/** Aborts when the client closes the connection. */
function goneOf(reply: { raw: NodeJS.EventEmitter }): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}
