import { Fault } from '../../../errors.ts'
import { createGuardedFetch } from '../../../net/http/guarded-fetch.ts'
import { post, type PostResponse } from '../../../net/http/post.ts'
import { retryAfterSeconds } from '../../../net/http/retry-after.ts'
import { serviceOf } from '../../../abuse/services.ts'
import { SEND_TIMEOUT_MS } from '../limits.ts'
import { isJson, serviceUrl, type RelayOutcome, type RelayService } from './relay-service.ts'

const REPORT_URL = 'https://api.abuseipdb.com/api/v2/report'
const CHECK_URL = 'https://api.abuseipdb.com/api/v2/check?ipAddress=127.0.0.1&maxAgeInDays=1'

/** “Bad IP” fits everything that has no category of its own. */
const HACKING = 15

/** Reports to AbuseIPDB (API v2), by category and without a comment. */
export const abuseIpdb: RelayService = {
  id: 'abuseipdb',
  name: 'AbuseIPDB',
  homepage: 'https://www.abuseipdb.com/account/api',
  accountLabel: null,
  keyLabel: 'API key (v2)',
  accountPattern: null,
  keyPattern: /^[0-9a-zA-Z]{16,128}$/,
  perDay: 1_000,
  addressSeconds: 15 * 60,
  intervalSeconds: 0,
  batchSize: 1,
  needsMail: false,
  async send([report], { key }, deps, signal) {
    if (!report) return { state: 'sent' }
    const { address, services, reportedAt } = report
    const body = new URLSearchParams({
      ip: address,
      categories: categoriesOf(services).join(','),
      timestamp: reportedAt.toISOString(),
    })
    const headers = {
      key,
      accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded',
    }
    const request = { headers, body: body.toString(), beforeRequest: deps.beforeHandover }
    return outcomeOf(await post(serviceUrl(REPORT_URL, deps), request, deps, signal))
  },
  async test({ key }, deps, signal) {
    const request = createGuardedFetch(deps, SEND_TIMEOUT_MS)
    const headers = { key, accept: 'application/json' }
    const response = await request(serviceUrl(CHECK_URL, deps).href, { headers, signal })
    if (response.ok) return 'AbuseIPDB accepts the key.'
    const reason = detailOf(await response.text()) || `HTTP status ${response.status}`
    throw new Fault('upstream_rejected', `AbuseIPDB rejected the key: ${reason}`)
  },
}

/** The categories of attacked services, each once. */
export function categoriesOf(services: readonly string[]): number[] {
  const numbers = services.flatMap((id) => serviceOf(id).abuseipdb)
  return [...new Set(numbers.length > 0 ? numbers : [HACKING])].toSorted((a, b) => a - b)
}

function outcomeOf({ status, body, retryAfter }: PostResponse): RelayOutcome {
  const detail = detailOf(body) || `HTTP status ${status}`
  // A page of a proxy, such as that of Cloudflare in front of it, says nothing about a report.
  if (!isJson(body))
    return { state: 'paused', reason: detail, seconds: retryAfterSeconds(retryAfter) }
  if (status >= 200 && status < 300) return { state: 'sent' }
  if (status === 401 || status === 402 || status === 403)
    return { state: 'stopped', reason: detail }
  const seconds = retryAfterSeconds(retryAfter)
  // The same answer for an address within 15 minutes, and for the limit of a day.
  if (status === 429 && seconds === null && /same ip/i.test(detail)) return { state: 'too-soon' }
  if (status === 429 || status >= 500) return { state: 'paused', reason: detail, seconds }
  return { state: 'rejected', reason: detail }
}

/** The first error of an answer: `{"errors": [{"detail": …}]}`. */
function detailOf(body: string): string {
  try {
    const { errors } = JSON.parse(body) as { errors?: { detail?: unknown }[] }
    const detail = errors?.[0]?.detail
    return typeof detail === 'string' ? detail.replace(/\p{Cc}/gu, ' ').slice(0, 200) : ''
  } catch {
    return ''
  }
}
