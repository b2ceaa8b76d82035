import { Fault } from '../../../errors.ts'
import { createGuardedFetch } from '../../../net/http/guarded-fetch.ts'
import { post } from '../../../net/http/post.ts'
import { retryAfterSeconds } from '../../../net/http/retry-after.ts'
import { serviceOf } from '../../../abuse/services.ts'
import { SEND_TIMEOUT_MS } from '../limits.ts'
import {
  isJson,
  serviceUrl,
  type OutgoingReport,
  type RelayOutcome,
  type RelayService,
} from './relay-service.ts'

const REPORT_URL = 'https://www.blocklist.de/en/httpreports.html'
const CHECK_URL = 'https://api.blocklist.de/api.php'

/** Names of services at blocklist.de, by ours. */
const NAMES: Record<string, string> = {
  ssh: 'ssh',
  ftp: 'ftp',
  imap: 'imap',
  pop3: 'pop3',
  'smtp-auth': 'sasl',
  sip: 'sip',
  http: 'apache',
}

/** Their names for groups of our services. */
const GROUP_NAMES: Record<string, string> = {
  mail: 'mail',
  'web-attacks': 'apache',
  cms: 'apache',
  'control-panels': 'apache',
  voip: 'sip',
}

/** Reports to blocklist.de over its HTTP interface. */
export const blocklistDe: RelayService = {
  id: 'blocklist-de',
  name: 'blocklist.de',
  homepage: 'https://www.blocklist.de/en/register.html',
  accountLabel: 'Email address or ID of the server',
  keyLabel: 'API key of the server',
  accountPattern: /^[^\s\p{Cc}]{1,200}$/u,
  keyPattern: /^[0-9a-zA-Z]{6,128}$/,
  perDay: 5_000,
  addressSeconds: 60 * 60,
  intervalSeconds: 0,
  batchSize: 1,
  needsMail: false,
  async send([report], { account, key }, deps, signal) {
    if (!report) return { state: 'sent' }
    const body = new URLSearchParams({
      server: account,
      apikey: key,
      ip: report.address,
      service: serviceNameOf(report.services[0] ?? 'other'),
      logs: describeReport(report),
      format: 'json',
    })
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const request = { headers, body: body.toString(), beforeRequest: deps.beforeHandover }
    const { status, body: answer, retryAfter } = await post(serviceUrl(REPORT_URL, deps), request, deps, signal) // prettier-ignore
    return outcomeOf(status, answer, retryAfterSeconds(retryAfter))
  },
  async test({ account, key }, deps, signal) {
    const request = createGuardedFetch(deps, SEND_TIMEOUT_MS)
    const query = new URLSearchParams({
      ...(account.includes('@') ? { email: account } : { server: account }),
      apikey: key,
      format: 'json',
    })
    const response = await request(serviceUrl(`${CHECK_URL}?${query.toString()}`, deps).href, {
      signal,
    })
    const text = await response.text()
    const { errors } = readAnswer(text)
    if (response.ok && errors.length === 0) return 'blocklist.de accepts the key.'
    const reason = errors.join(' ') || `HTTP status ${response.status}`
    throw new Fault('upstream_rejected', `blocklist.de rejected the key: ${reason}`)
  },
}

export function serviceNameOf(id: string): string {
  return NAMES[id] ?? GROUP_NAMES[serviceOf(id).group] ?? id
}

/**
 * blocklist.de wants log lines, each with its end, and answers 400 to others; it gets the facts of
 * the report, because none are stored.
 */
function describeReport({ address, services, port, count, reportedAt }: OutgoingReport): string {
  const at = reportedAt.toISOString()
  return `${at} ${address}: ${count} events on ${services.join(', ')}${port === null ? '' : `, port ${port}`}\n`
}

function outcomeOf(status: number, body: string, seconds: number | null): RelayOutcome {
  const { isSuccess, errors } = readAnswer(body)
  const reason = errors.join(' ') || `HTTP status ${status}`
  // A page of a proxy says nothing about a report.
  if (status === 429 || status >= 500 || !isJson(body)) return { state: 'paused', reason, seconds }
  if (status === 200 && isSuccess) return { state: 'sent' }
  const isKey = status === 401 || status === 403 || /api.?key|server/i.test(reason)
  return isKey ? { state: 'stopped', reason } : { state: 'rejected', reason }
}

/** `{"status": "success", "error": 0}`, or `{"status": "error", "error": {"apikey": "…"}}`. */
function readAnswer(body: string): { isSuccess: boolean; errors: string[] } {
  try {
    const { status, error } = JSON.parse(body) as { status?: unknown; error?: unknown }
    const errors = typeof error === 'object' && error !== null ? Object.values(error) : [error]
    const texts = errors.filter((one): one is string => typeof one === 'string' && one !== '0')
    const shown = texts.map((text) => text.replace(/\p{Cc}/gu, ' ').slice(0, 200))
    return { isSuccess: status === 'success' || error === 0, errors: shown }
  } catch {
    return { isSuccess: false, errors: [] }
  }
}
