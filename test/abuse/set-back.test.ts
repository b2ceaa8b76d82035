import { describe, expect, it } from 'vitest'
import { createLimitedSources, RATE, takeOne } from '../../src/abuse/intake/rate.ts'
import { absorb, lastCounted, WINDOW_MS, type Evidence } from '../../src/abuse/scoring/score.ts'
import { HOUR, MINUTE, START } from './evidence.ts'

const traitsOf = () => ({ severity: 5, category: 'login', spoofable: false })
const sighting = {
  network: 'n',
  origin: 'o',
  service: 'ssh',
  standing: 'established',
  port: null,
  count: 3,
} as const
const seenAt = (now: number, before: Evidence[] = []) =>
  absorb(before, sighting, { now, counted: true, shared: false, traitsOf })

describe('a clock that was set back by hours', () => {
  const [later, now] = [START + 6 * HOUR, START]

  it('does not shut out a source that had used up its rate', () => {
    const used = { source: 's', used: RATE.requests, startedAt: later }
    expect(takeOne(used, { source: 's', requests: RATE.requests }, now)).toMatchObject({
      allowance: { allowed: true },
      usage: { used: 1, startedAt: now },
    })
    expect(takeOne(used, { source: 's', requests: RATE.requests }, later + MINUTE)).toMatchObject({
      allowance: { allowed: false },
    })
    const turnedAway = createLimitedSources()
    turnedAway.note('s', later + RATE.window)
    expect(turnedAway.find('s', later)).toBe(later + RATE.window)
    expect(turnedAway.find('s', now)).toBeUndefined()
  })

  it('does not count new reports as repetitions', () => {
    const before = seenAt(later)
    expect(now - lastCounted(before, 'ssh', now)).toBeGreaterThanOrEqual(WINDOW_MS)
    const after = seenAt(now, before)
    expect(after).toMatchObject([{ reports: 2, events: 6, at: now, countedAt: now }])
    expect(now + MINUTE - lastCounted(after, 'ssh', now + MINUTE)).toBe(MINUTE)
  })
})
