import * as fc from 'fast-check'
import { describe, it } from 'vitest'
import { checkScenario, scenario } from './accounting-model.ts'

/** test/hard/accounting.hard.ts runs more, with other seeds. */
const RUNS = 70
const SEED = 20_261_128

describe('a migration between servers that lie, change and break off', () => {
  it('leaves no message out without an error, copies none twice, and changes none', async () => {
    await fc.assert(fc.asyncProperty(scenario, checkScenario), { numRuns: RUNS, seed: SEED })
  }, 120_000)
})
