import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFailover, type Failover } from './failover.ts'

let portreeve: Failover
beforeAll(async () => {
  portreeve = await startFailover()
}, 90_000)
afterAll(() => portreeve.stop(), 60_000)

describe('an instance that is killed in the middle of a burst', () => {
  it('leaves its alerts to the other one: each arrives once on every channel, or is uncertain', async () => {
    // Before the request, before the service’s answer, and before the answer is stored.
    for (const step of ['connected', 'received', 'answered'] as const) {
      await portreeve.killAt(step, 2)
      await portreeve.settled()
    }
    const { uncertain } = await portreeve.checkOnce()
    // At most what a killed process had in transit: a message of each of the two channels.
    expect(uncertain).toBeLessThanOrEqual(6)
  }, 180_000)
})
