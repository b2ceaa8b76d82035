import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkScenario, scenario } from '../migration/accounting-model.ts'
import { figure } from './figures.ts'

const RUNS = 2_000

describe('migrations between servers that lie, change and break off', () => {
  it(
    'leave no message out without an error, copy none twice, and change none',
    { timeout: 3_600_000 },
    async () => {
      let played = 0
      const property = fc.asyncProperty(scenario, async (one) => {
        await checkScenario(one)
        played += 1
      })
      const result = await fc.check(property, {
        numRuns: RUNS,
        interruptAfterTimeLimit: 3_500_000,
        markInterruptAsFailure: false,
      })
      figure(
        `${played.toLocaleString('en')} migrations between servers that lie, change and break off`,
        'no message is missing without an error, there twice, or changed',
      )
      expect(result.failed, fc.defaultReportMessage(result)).toBe(false)
    },
  )
})
