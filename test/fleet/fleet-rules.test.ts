import { describe, expect, it } from 'vitest'
import {
  applySighting,
  banSecondsOf,
  ruleFor,
  type BanState,
  type FleetRule,
} from '../../src/fleet/fleet-rules.ts'

const HOUR = 3_600
const rule: FleetRule = {
  services: [],
  minCount: 10,
  windowSeconds: 600,
  banSeconds: HOUR,
  growth: 4,
  maxBanSeconds: 24 * HOUR,
}
/** Applies reports of ten events at these seconds; returns what each changed. */
function reportAt(...seconds: number[]) {
  let state: BanState | undefined
  const changes = seconds.map((at) => {
    const applied = applySighting(
      state,
      { tokenId: 't', service: 'ssh', count: 10, at: at * 1000 },
      rule,
    )
    state = applied.state
    return applied.change
  })
  return { changes, state: state as unknown as BanState }
}

describe('a rule of a fleet list', () => {
  it('applies to the services it names, and the first of several wins', () => {
    const all = { ...rule, minCount: 1 }
    const ssh = { ...rule, services: ['ssh'] }
    expect(ruleFor([ssh, all], 'ssh')).toBe(ssh)
    expect(ruleFor([ssh, all], 'imap')).toBe(all)
    expect(ruleFor([ssh], 'imap')).toBeUndefined()
  })

  it('counts the events of its services within its window', () => {
    const ssh = { ...rule, services: ['ssh'] }
    const sighting = { tokenId: 't', service: 'ssh', count: 5, at: 0 }
    const first = applySighting(undefined, sighting, ssh)
    expect(first).toMatchObject({ change: null, state: { expiresAt: null, bans: 0 } })
    const other = applySighting(first.state, { ...sighting, service: 'imap', count: 50 }, ssh)
    expect(other.change).toBeNull()
    expect(applySighting(other.state, { ...sighting, at: 600_000 }, ssh).change).toBeNull()
    expect(applySighting(other.state, { ...sighting, at: 599_999 }, ssh).change).toBe('banned')
  })

  it('bans longer with each repetition, up to its maximum', () => {
    expect([1, 2, 3, 4, 500].map((bans) => banSecondsOf(rule, bans) / HOUR)).toEqual([
      1, 4, 16, 24, 24,
    ])
    const { changes, state } = reportAt(0, HOUR, HOUR + 4 * HOUR)
    expect(changes).toEqual(['banned', 'banned', 'banned'])
    expect(state).toMatchObject({ bans: 3, expiresAt: (5 + 16) * HOUR * 1000 })
  })

  it('does not count reports during a ban as repetition, and extends it near its end', () => {
    const { changes, state } = reportAt(0, 1, 1_800, 1_801)
    expect(changes).toEqual(['banned', null, null, 'extended'])
    expect(state).toMatchObject({ bans: 1, expiresAt: (1_801 + HOUR) * 1000 })
  })
})
