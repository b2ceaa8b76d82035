import type { FreshToken } from '../../mail-credentials/token-source.ts'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import { MAX_POSTMASTER_PAGES } from '../limits.ts'
import { AccessProblem, type AccessProblemKind } from '../provider-access/access-problem.ts'
import { askProvider, type Answer } from '../provider-access/ask-provider.ts'
import {
  complianceOf,
  readStats,
  type Compliance,
  type Metric,
  type PostmasterDay,
} from './postmaster-answers.ts'

const POSTMASTER_ORIGIN = 'https://gmailpostmastertools.googleapis.com'

export type PostmasterApi = {
  /** The statistics of a domain for days, both inclusive. Days without data are missing. */
  queryDays(domain: string, days: { from: string; to: string }): Promise<PostmasterDay[]>
  /** The requirements for senders; null where Google says nothing. */
  queryCompliance(domain: string): Promise<Compliance | null>
}

const metric = (name: string, standardMetric: string, filter?: string): Metric => ({
  name,
  baseMetric: { standardMetric },
  ...(filter !== undefined && { filter }),
})

const METRICS = [
  metric('spamRate', 'SPAM_RATE'),
  ...['spf', 'dkim', 'dmarc'].map((type) =>
    metric(`${type}Rate`, 'AUTH_SUCCESS_RATE', `auth_type = "${type}"`),
  ),
  metric('tlsInboundRate', 'TLS_ENCRYPTION_RATE', 'traffic_direction = "inbound"'),
  metric('tlsOutboundRate', 'TLS_ENCRYPTION_RATE', 'traffic_direction = "outbound"'),
  metric('errorRate', 'DELIVERY_ERROR_RATE'),
  metric('errorCount', 'DELIVERY_ERROR_COUNT'),
]

/** Types of delivery errors and their reasons (discovery document of v2, `BaseMetric`). */
const ERROR_REASONS = {
  reject: [
    'bad_attachment',
    'bad_or_missing_ptr_record',
    'ip_in_rbls',
    'low_domain_reputation',
    'low_ip_reputation',
    'spammy_content',
    'stamp_policy_error',
    'other',
  ],
  temp_fail: ['anomalous_traffic_pattern', 'other'],
} as const

const ERROR_METRICS = Object.entries(ERROR_REASONS).flatMap(([type, reasons]) =>
  reasons.map((reason) =>
    metric(
      `errors ${type} ${reason}`,
      'DELIVERY_ERROR_COUNT',
      `error_type = "${type}" AND error_reason = "${reason}"`,
    ),
  ),
)

/** Feedback loops of a domain whose spam rates are fetched. */
const MAX_LOOPS = 20

/**
 * Reads statistics of Google Postmaster Tools (API v2).
 * @throws (all functions) AccessProblem
 */
export function createPostmasterApi(
  request: GuardedFetch,
  freshToken: FreshToken,
  signal: AbortSignal,
): PostmasterApi {
  const ask = (path: string, body?: object) => askOnce({ request, freshToken, signal }, path, body)

  async function queryMetrics(
    domain: string,
    { from, to }: { from: string; to: string },
    metricDefinitions: readonly Metric[],
  ): Promise<PostmasterDay[]> {
    const path = `/v2/domains/${encodeURIComponent(domain)}/domainStats:query`
    const query = {
      metricDefinitions,
      timeQuery: { dateRanges: { dateRanges: [{ start: dateOf(from), end: dateOf(to) }] } },
      aggregationGranularity: 'DAILY',
      pageSize: 200,
    }
    const days = new Map<string, PostmasterDay>()
    let pageToken = ''
    for (let page = 0; page < MAX_POSTMASTER_PAGES; page++) {
      const answer = await ask(path, pageToken === '' ? query : { ...query, pageToken })
      readStats(answer, days)
      const { nextPageToken } = answer as { nextPageToken?: unknown }
      if (typeof nextPageToken !== 'string' || nextPageToken === '') return [...days.values()]
      if (nextPageToken === pageToken) break
      pageToken = nextPageToken
    }
    throw new AccessProblem('later', 'Google Postmaster Tools returned pages without an end.')
  }

  /** Details are left out where Google knows no such metric for the domain. */
  async function queryDetails(...given: Parameters<typeof queryMetrics>): Promise<PostmasterDay[]> {
    try {
      return await queryMetrics(...given)
    } catch (error) {
      if (error instanceof AccessProblem && error.kind === 'failed') return []
      throw error
    }
  }

  return {
    async queryDays(domain, range) {
      const days = await queryMetrics(domain, range, METRICS)
      const details = await queryDetails(domain, range, [
        ...ERROR_METRICS,
        metric('loopIds', 'FEEDBACK_LOOP_ID'),
      ])
      const ids = [...new Set(details.flatMap(({ loopIds }) => loopIds))].filter(isLoopId)
      const loops = ids.length === 0 ? [] : await queryDetails(domain, range, ids.map(loopMetric))
      return mergeDays([...days, ...details, ...loops])
    },
    async queryCompliance(domain) {
      return complianceOf(await ask(`/v2/domains/${encodeURIComponent(domain)}/complianceStatus`))
    },
  }

  function loopMetric(id: string): Metric {
    return metric(`loop ${id}`, 'FEEDBACK_LOOP_SPAM_RATE', `feedback_loop_id = "${id}"`)
  }
}

/** What can be quoted in a filter; the first ones are enough. */
function isLoopId(id: string, index: number): boolean {
  return index < MAX_LOOPS && /^[^"\\\p{Cc}]{1,200}$/u.test(id)
}

function mergeDays(all: readonly PostmasterDay[]): PostmasterDay[] {
  return Map.groupBy(all, ({ day }) => day)
    .values()
    .map((parts) =>
      parts.reduce((one, other) => ({
        ...one,
        values: { ...one.values, ...other.values },
        errors: [...one.errors, ...other.errors],
        loops: [...one.loops, ...other.loops],
      })),
    )
    .toArray()
}

function dateOf(day: string): { year: number; month: number; day: number } {
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number)
  return { year, month, day: date }
}

type Asking = { request: GuardedFetch; freshToken: FreshToken; signal: AbortSignal }

/** Asks with a token, and again with a new one where Google rejects it. */
async function askOnce(asking: Asking, path: string, body?: object): Promise<object> {
  const token = await asking.freshToken()
  const first = await send(asking, path, token, body)
  if (first.status !== 401) return answerOf(first)
  return answerOf(await send(asking, path, await asking.freshToken(token), body))
}

async function send(
  { request, signal }: Asking,
  path: string,
  token: string,
  body?: object,
): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, accept: 'application/json' }
  return askProvider(request, `${POSTMASTER_ORIGIN}${path}`, {
    method: body ? 'POST' : 'GET',
    headers: body ? { ...headers, 'content-type': 'application/json' } : headers,
    ...(body && { body: JSON.stringify(body) }),
    signal,
  })
}

function answerOf({ status, text, retryAfter }: Answer): object {
  const json = parseJson(text)
  if (status === 200) {
    if (json) return json
    throw new AccessProblem('later', 'Google Postmaster Tools sent a response that is no JSON.')
  }
  throw rejectionOf(status, json, retryAfter)
}

function parseJson(text: string): object | null {
  try {
    const json: unknown = JSON.parse(text)
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? json : null
  } catch {
    return null
  }
}

type GoogleError = { error?: { message?: unknown; status?: unknown; details?: unknown } }

/** Reasons of `google.rpc.ErrorInfo` that are no matter of one domain. */
const REASONS: Record<string, { kind: AccessProblemKind; message: string }> = {
  ACCESS_TOKEN_SCOPE_INSUFFICIENT: {
    kind: 'ended',
    message: 'The permission to read Postmaster Tools is missing. Sign in again, and select it.',
  },
  SERVICE_DISABLED: {
    kind: 'later',
    message:
      'The Gmail Postmaster Tools API isn’t enabled in the Google Cloud project of this service. An administrator of the service must enable it.',
  },
}

/** @param seconds of `Retry-After` */
function rejectionOf(status: number, json: object | null, seconds: number | null): AccessProblem {
  const { error } = (json ?? {}) as GoogleError
  const said = typeof error?.message === 'string' ? quoted(error.message) : ''
  const known = reasonsOf(error?.details).flatMap((reason) => REASONS[reason] ?? [])[0]
  if (known) return new AccessProblem(known.kind, known.message)
  const isBusy =
    status === 429 || error?.status === 'RESOURCE_EXHAUSTED' || /quota|rate limit/i.test(said)
  if (isBusy)
    return new AccessProblem('later', `Google allows no more requests now.${said}`, seconds)
  if (status === 401)
    return new AccessProblem('later', `Google rejects a token that it has just given.${said}`)
  if (status === 403 || status === 404)
    return new AccessProblem(
      'no-access',
      `Google shows this account no statistics of the domain. Add and verify it in Postmaster Tools, or have the account added there.${said}`,
    )
  if (status === 400) return new AccessProblem('failed', `Google rejected the request.${said}`)
  return new AccessProblem(
    'later',
    `Google Postmaster Tools answered with ${status}.${said}`,
    seconds,
  )
}

function quoted(text: string): string {
  return ` It said: “${text.replaceAll(/\p{Cc}/gu, ' ').slice(0, 200)}”`
}

function reasonsOf(details: unknown): string[] {
  if (!Array.isArray(details)) return []
  return details.flatMap((detail: { reason?: unknown } | null) =>
    typeof detail?.reason === 'string' ? [detail.reason] : [],
  )
}
