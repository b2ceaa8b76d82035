import { DAY_MS, HOUR_MS } from '../../src/time.ts'
import {
  findWrongSettings,
  newDestinationSecret,
} from '../../src/webhooks/forwarding/destination-settings.ts'
import { evaluateAttempt, evaluateFailing } from '../../src/webhooks/forwarding/evaluate-attempt.ts'
import { buildRequest } from '../../src/webhooks/forwarding/outgoing-request.ts'
import { RecentResults } from '../../src/webhooks/forwarding/recent-results.ts'
import type { AttemptResult } from '../../src/webhooks/forwarding/send-attempt.ts'
import type { Header } from '../../src/webhooks/headers.ts'
import type { RequestRow } from '../../src/webhooks/requests/captured-request.ts'
import { repeatKeyOf } from '../../src/webhooks/requests/repeat-key.ts'
import { runCases } from './run-cases.ts'

// What other services that send webhooks met: https://github.com/<source>, with `#` for `/issues/`.
type Input = {
  url?: string
  answer?: Pick<AttemptResult, 'status'> & { kind?: AttemptResult['kind']; retryAfter?: string }
  failingHours?: number
  /** Failures and successes of the last seconds. */
  results?: string
  body?: string
  headers?: Header[]
  ids?: Record<string, string>[]
}

const NOW = Date.parse('2026-11-28T12:00:00Z')

runCases('webhook-delivery.json', async (input: Input) => {
  if (input.url !== undefined) return { isRefused: isRefused(input.url) }
  if (input.answer !== undefined) return evaluated(input.answer)
  if (input.failingHours !== undefined) return failing(input.failingHours)
  if (input.results !== undefined) return { isOpen: isOpen(input.results) }
  if (input.body !== undefined) return { body: (await sent(input.body)).body.toString() }
  if (input.headers !== undefined) return { kept: await kept(input.headers) }
  const [first, second] = (input.ids ?? []).map((headers) => keyOf(headers))
  return { isRepeated: first !== null && first === second }
})

function isRefused(url: string): boolean {
  return (
    findWrongSettings({ url }, { allowPrivate: false, ownHosts: new Set(['portreeve.test']) })
      .length > 0
  )
}

function evaluated({ status, kind = 'status', retryAfter }: NonNullable<Input['answer']>) {
  const none = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, address: null }
  const result = { ...none, durationMs: 1, status, kind, error: 'x', answer: null }
  const { state, attempts, dueAt, off } = evaluateAttempt({
    delivery: { attempts: 0, createdAt: new Date(NOW), uncertain: false },
    destination: { schedule: null, finalStatuses: [] },
    result: { ...result, retryAfter: retryAfter ?? null },
    now: NOW,
    random: 0,
  })
  const isOff = off !== null
  // What waits for a destination that is off is held.
  const stored = isOff && state === 'waiting' ? 'held' : state
  return { state: stored, attempts, delaySeconds: (dueAt - NOW) / 1000, isOff }
}

function failing(hours: number) {
  const already = hours * HOUR_MS > DAY_MS ? 1 : 0
  const step = evaluateFailing(new Date(NOW - hours * HOUR_MS), already, NOW)
  const isOff = step?.isOff ?? false
  return { alertHours: isOff ? 0 : (step?.alertedHours ?? 0), isOff }
}

function isOpen(results: string): boolean {
  const recent = new RecentResults()
  for (const [index, one] of results.split('').entries())
    recent.add(one === 'f', NOW - results.length + index)
  return recent.shouldOpen(NOW)
}

/** The headers of the sender that are sent on, in lower case. */
async function kept(headers: Header[]): Promise<string[]> {
  const { headers: all } = await sent('x', headers)
  const names = all.map(([name]) => name.toLowerCase())
  if (names.filter((name) => name === 'content-length').length !== 1)
    throw new Error('a request has one Content-Length')
  return names.filter(
    (name) => !name.startsWith('x-portreeve-') && name !== 'host' && name !== 'content-length',
  )
}

function sent(body: string, headers: Header[] = []) {
  const request = { id: '1', method: 'POST', path: '', query: '', headers, body: Buffer.from(body) }
  const secret = newDestinationSecret()
  return buildRequest(request as unknown as RequestRow, {
    settings: { url: 'https://shop.example.com/', headers: [], secret, previous: null },
    sign: 'none',
    messageId: 'req_1',
    isEdited: false,
    attempt: 1,
    repeat: 'no',
    mark: 'x'.repeat(12),
    baseUrl: 'https://portreeve.test',
    now: NOW,
  })
}

function keyOf(headers: Record<string, string>): string | null {
  const none = { method: 'POST', path: '', query: '', body: Buffer.alloc(0), ip: '192.0.2.1' }
  return repeatKeyOf({ ...none, headers: Object.entries(headers) }, null)
}
