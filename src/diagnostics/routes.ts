import { Type, type TObject } from 'typebox'
import { Clean } from 'typebox/value'
import { callerOf } from '../http/auth.ts'
import type { EventStreams } from '../http/events/event-streams.ts'
import { Failure, Success } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import { Fault } from '../errors.ts'
import { blacklistCheck } from './blacklist.ts'
import { CHECK_DEADLINE_MS, type Check } from './check.ts'
import type { CheckDeps } from './check-services.ts'
import { dnsCheck } from './dns/dns-check.ts'
import { mailAuthCheck } from './mail-auth/mail-auth.ts'
import { writeReceipt } from './sharing/check-receipt.ts'
import { Receipt } from './shapes.ts'
import { sweepEventsRoute } from './sweep-route.ts'
import { tlsCheck } from './tls/tls.ts'

/** Every check there is. To add one, copy `dns.ts` and add its line here. */
const CHECKS = [dnsCheck, tlsCheck, blacklistCheck, mailAuthCheck] as const

const RECEIPT = `1795262400000.${'x'.repeat(43)}`

export type DiagnosticsOptions = Omit<CheckDeps, 'selectorsSeen'> & {
  events: EventStreams
  secretKey: string
  /** DKIM selectors in the reports of a workspace on a domain. */
  selectorsSeen: (workspaceId: string, domain: string) => Promise<string[]>
}

export function diagnosticsRoutes(app: App, options: DiagnosticsOptions): void {
  for (const check of CHECKS) registerCheck(app, check, options)
  sweepEventsRoute(app, options)
}

function registerCheck(
  app: App,
  check: Check,
  { events: _events, secretKey, selectorsSeen, ...common }: DiagnosticsOptions,
): void {
  const answer = Type.Object({ ...Success(check.data).properties, receipt: Receipt })
  app.get(
    check.path,
    {
      config: { limit: 'checks' },
      schema: {
        summary: check.summary,
        description: check.description,
        querystring: withExamples(check),
        response: {
          200: {
            ...answer,
            example: { success: true, data: check.example.data, receipt: RECEIPT },
          },
          '4xx': Failure,
          '5xx': Failure,
        },
      },
    },
    async (request, reply) => {
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const { workspaceId } = callerOf(request)
      const deps = {
        ...common,
        selectorsSeen: (domain: string) => selectorsSeen(workspaceId, domain),
      }
      // Removes fields that the response schema drops, because the receipt must not cover them.
      const data = Clean(check.data, await runCheck(check, request.query, deps, gone.signal))
      const receipt = writeReceipt({ workspaceId, check: check.name, data }, secretKey, Date.now())
      return { success: true as const, data, receipt }
    },
  )
}

/**
 * Runs a check within its deadline, for the API and the command line.
 * @param stop aborts the check early, when its client has disconnected
 * @throws Fault `upstream_timeout` when the deadline passes before the check has any result
 */
export async function runCheck<Q, D>(
  check: { run(query: Q, deps: CheckDeps, signal: AbortSignal): Promise<D> },
  query: Q,
  deps: CheckDeps,
  stop?: AbortSignal,
): Promise<D> {
  const deadline = AbortSignal.timeout(CHECK_DEADLINE_MS)
  const signal = stop ? AbortSignal.any([deadline, stop]) : deadline
  try {
    return await check.run(query, deps, signal)
  } catch (error) {
    if (error instanceof Fault || !signal.aborted) throw error
    throw new Fault(
      'upstream_timeout',
      `The check did not finish within ${CHECK_DEADLINE_MS / 1000} seconds. Try again.`,
      {
        cause: error,
      },
    )
  }
}

/**
 * The example query becomes an example of each parameter, so that the documentation page can be
 * tried at once.
 */
function withExamples(check: Check): TObject {
  const properties = Object.entries(check.query.properties).map(([name, schema]) => {
    const example = (check.example.query as Record<string, unknown>)[name]
    return [name, example === undefined ? schema : { ...schema, example }]
  })
  return { ...check.query, properties: Object.fromEntries(properties) }
}
