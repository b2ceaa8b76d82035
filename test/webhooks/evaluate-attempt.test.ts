import { describe, expect, it } from 'vitest'
import {
  evaluateAttempt,
  evaluateFailing,
  parseRetryAfter,
  probeDelay,
} from '../../src/webhooks/forwarding/evaluate-attempt.ts'
import { RecentResults } from '../../src/webhooks/forwarding/recent-results.ts'
import type { AttemptResult } from '../../src/webhooks/forwarding/send-attempt.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../src/time.ts'

const NOW = Date.parse('2026-11-29T12:00:00Z')

const failed = (given: Partial<AttemptResult> = {}): AttemptResult => ({
  durationMs: 1,
  dnsMs: null,
  connectMs: null,
  tlsMs: null,
  firstByteMs: null,
  status: 500,
  kind: 'status',
  error: 'The receiver responded 500.',
  address: '192.0.2.1',
  answer: null,
  retryAfter: null,
  ...given,
})

function evaluate(
  result: AttemptResult,
  {
    attempts = 0,
    ageMs = 0,
    schedule = null as number[] | null,
    finalStatuses = [] as number[],
    random = 0,
  } = {},
) {
  const delivery = { attempts, createdAt: new Date(NOW - ageMs), uncertain: false }
  const destination = { schedule, finalStatuses }
  return evaluateAttempt({ delivery, destination, result, now: NOW, random })
}

describe('what follows from an attempt', () => {
  it('is the schedule of Standard Webhooks, with jitter that only adds', () => {
    const delays = (random: number) =>
      Array.from({ length: 10 }, (_, attempts) => {
        const { state, dueAt } = evaluate(failed(), { attempts, random })
        return state === 'waiting' ? (dueAt - NOW) / 1000 : state
      })
    const seconds = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
    expect(delays(0)).toEqual([...seconds, 'dead'])
    expect(delays(1)).toEqual([...seconds.map((each) => Math.round(each * 1_100) / 1000), 'dead'])
  })

  it('waits as the receiver asks, and counts no attempt', () => {
    const asked = evaluate(failed({ status: 429, retryAfter: '120' }), { attempts: 3 })
    expect(asked).toMatchObject({ state: 'waiting', attempts: 3, pauseUntil: NOW + 120_000 })
    expect(asked.dueAt).toBe(NOW + 120_000)
    const unasked = evaluate(failed({ status: 429 }), { attempts: 3 })
    expect(unasked).toMatchObject({ attempts: 4, pauseUntil: null })
    // Only 429 and 503 ask for it.
    expect(evaluate(failed({ status: 500, retryAfter: '120' })).pauseUntil).toBeNull()
  })

  it('ends however often the receiver asks to wait', () => {
    const old = { attempts: 1, ageMs: 3.4 * DAY_MS }
    const asked = failed({ status: 503, retryAfter: '86400' })
    expect(evaluate(asked, old).state).toBe('dead')
  })

  it('ends at 410 for the destination, and at final statuses for the delivery', () => {
    expect(evaluate(failed({ status: 410 }))).toMatchObject({
      state: 'waiting',
      off: 'The receiver responded 410: it wants no further requests.',
    })
    expect(evaluate(failed({ status: 410 })).off).toContain('410')
    expect(evaluate(failed({ status: 400 }), { finalStatuses: [400] }).state).toBe('dead')
    expect(evaluate(failed({ status: 400 })).state).toBe('waiting')
  })

  it('is uncertain only where the request may have arrived', () => {
    const without = { status: null, error: 'x' }
    expect(evaluate(failed({ ...without, kind: 'unanswered' })).uncertain).toBe(true)
    for (const kind of ['unreachable', 'timeout', 'blocked'] as const)
      expect(evaluate(failed({ ...without, kind })).uncertain).toBe(false)
    const success = { status: 200, kind: null, error: null }
    expect(evaluate(failed(success))).toMatchObject({ state: 'delivered', uncertain: false })
  })
})

describe('Retry-After', () => {
  it.each([
    ['5', 5_000],
    [' 0 ', 0],
    ['99999999', DAY_MS],
    ['Sun, 29 Nov 2026 12:01:00 GMT', MINUTE_MS],
    ['Sun, 29 Nov 2026 11:00:00 GMT', null],
    ['1.5', null],
    ['-1', null],
    ['soon', null],
    ['2026-11-29T12:01:00Z', null],
    ['', null],
  ])('%s is %s', (text, expected) => {
    expect(parseRetryAfter(text, NOW)).toBe(expected)
  })
})

describe('a breaker', () => {
  function shouldOpen(failures: number, successes: number, at = NOW): boolean {
    const recent = new RecentResults()
    for (let count = 0; count < failures; count++) recent.add(true, at)
    for (let count = 0; count < successes; count++) recent.add(false, at)
    return recent.shouldOpen(NOW)
  }

  it('opens when most of enough attempts of a minute failed', () => {
    expect(shouldOpen(9, 0)).toBe(false)
    expect(shouldOpen(10, 0)).toBe(true)
    expect(shouldOpen(7, 3)).toBe(true)
    expect(shouldOpen(69, 31)).toBe(false)
    expect(shouldOpen(20, 0, NOW - 2 * MINUTE_MS)).toBe(false)
  })

  it('counts those of a minute that goes on, and none from before it was closed', () => {
    const recent = new RecentResults()
    for (let second = 0; second < 60; second++) recent.add(true, NOW + second * 1_000)
    expect(recent.shouldOpen(NOW + 60_000)).toBe(true)
    for (let second = 60; second < 90; second++) recent.add(false, NOW + second * 1_000)
    expect(recent.shouldOpen(NOW + 90_000)).toBe(false)
    for (let count = 0; count < 10; count++) recent.add(true, NOW + 300_000)
    expect(recent.shouldOpen(NOW + 300_000)).toBe(true)
    recent.clear()
    expect(recent.shouldOpen(NOW + 300_000)).toBe(false)
  })

  it('probes less and less often', () => {
    expect([1, 2, 3, 9].map(probeDelay)).toEqual([30_000, 60_000, 120_000, 15 * MINUTE_MS])
  })
})

describe('a destination that fails', () => {
  it('is alerted about after an hour, a day and three days, once each, and off after five days', () => {
    const after = (milliseconds: number, alertedHours: number) =>
      evaluateFailing(new Date(NOW - milliseconds), alertedHours, NOW)
    expect(after(HOUR_MS - 1, 0)).toBeNull()
    expect(after(HOUR_MS, 0)).toEqual({ alertedHours: 1, isOff: false })
    expect(after(23 * HOUR_MS, 1)).toBeNull()
    expect(after(30 * HOUR_MS, 1)).toEqual({ alertedHours: 24, isOff: false })
    expect(after(80 * HOUR_MS, 24)).toEqual({ alertedHours: 72, isOff: false })
    expect(after(5 * DAY_MS, 72)).toEqual({ alertedHours: 72, isOff: true })
  })
})
