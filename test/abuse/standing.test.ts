import { describe, expect, it } from 'vitest'
import { standingOf, type NetworkHistory } from '../../src/abuse/reputation/standing.ts'
import { DAY, START } from './evidence.ts'

const GOOD: NetworkHistory = {
  firstSeenAt: START - 20 * DAY,
  establishedAt: null,
  reported: 200,
  confirmed: 150,
  refuted: 0,
}
const standing = (change: Partial<NetworkHistory> = {}) => standingOf({ ...GOOD, ...change }, START)

describe('a network that reports', () => {
  it('is established by reports that others confirm', () => {
    expect(standing()).toBe('established')
  })

  it('is new for fourteen days, however good it is', () => {
    expect(standing({ firstSeenAt: START - 14 * DAY + 1 })).toBe('new')
    expect(standing({ firstSeenAt: START - 14 * DAY })).toBe('established')
  })

  it('requires twenty reported addresses', () => {
    expect(standing({ reported: 19, confirmed: 19 })).toBe('new')
    expect(standing({ reported: 20, confirmed: 20 })).toBe('established')
  })

  it('requires confirmations beyond chance', () => {
    expect(standing({ confirmed: 100 })).toBe('new')
    expect(standing({ confirmed: 115 })).toBe('established')
    expect(standing({ reported: 20, confirmed: 11 })).toBe('new')
  })

  it('pays ten confirmations for each refutation, and is new again after three', () => {
    expect(standing({ confirmed: 115, refuted: 1 })).toBe('new')
    expect(standing({ reported: 2_000, confirmed: 1_900, refuted: 2 })).toBe('established')
    expect(standing({ reported: 2_000, confirmed: 1_900, refuted: 3 })).toBe('new')
    expect(standing({ refuted: 2 })).toBe('new')
  })

  it('is trusted after half a year with hardly a refutation', () => {
    const long = { establishedAt: START - 180 * DAY, reported: 2_000, confirmed: 1_900 }
    expect(standing(long)).toBe('trusted')
    expect(standing({ ...long, establishedAt: START - 179 * DAY })).toBe('established')
    expect(standing({ ...long, reported: 900, confirmed: 800, refuted: 2 })).toBe('established')
  })
})
