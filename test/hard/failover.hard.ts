import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startFailover, type Failover } from '../alerts/failover.ts'
import type { Step } from '../servers/receiver.ts'
import { figure } from './figures.ts'

const STEPS: Step[] = ['connected', 'received', 'answered']
const ROUNDS = 18
/** A busy machine takes 20 seconds to start an instance again. */
const TIMEOUT_MS = 600_000

let portreeve: Failover
beforeAll(async () => {
  portreeve = await startFailover()
})
afterAll(() => portreeve.stop())

describe('a sender of alerts that is killed at every point of a request', () => {
  it(
    'loses none and repeats none, and the other one takes over when its claims expire',
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        await portreeve.killAt(STEPS[round % 3] as Step, 1 + Math.floor(Math.random() * 8))
        await portreeve.settled()
      }
      // The last time with the real lease of a channel.
      const begun = performance.now()
      await portreeve.killAt('received', 3)
      await portreeve.settled(false, 120)
      const seconds = (performance.now() - begun) / 1_000
      const { deliveries, uncertain } = await portreeve.checkOnce()
      expect(seconds).toBeLessThan(110)
      figure(
        `senders of alerts killed ${ROUNDS + 1} times`,
        `${deliveries} deliveries: each once, or one of ${uncertain} marked as uncertain; ` +
          `taken over after ${seconds.toFixed(0)} s`,
      )
    },
    TIMEOUT_MS,
  )
})
