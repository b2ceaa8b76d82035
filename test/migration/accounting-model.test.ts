import * as fc from 'fast-check'
import { describe, it } from 'vitest'
import { HONEST } from '../servers/imap-model.ts'
import { checkScenario, scenario, type Scenario } from './accounting-model.ts'

/** test/hard/accounting.hard.ts runs more, with other seeds. */
const RUNS = 70
const SEED = 20_261_128

const QUIET: Scenario = {
  source: { INBOX: [], Archive: [] },
  destination: { INBOX: [], Archive: [] },
  deduplicate: false,
  hasUidPlus: false,
  here: HONEST,
  there: HONEST,
}

const plain = (kind: number) => ({ kind, flags: '', day: 1 })

/** What longer runs found, beside a destination that does not report UIDs. */
const FOUND: Record<string, Partial<Scenario>> = {
  'breaks off at STATUS, and whose SEARCH omits as many messages as its EXISTS': {
    source: { INBOX: [plain(0), plain(0)], Archive: [] },
    here: {
      ...HONEST,
      exists: -1,
      search: { omits: 2, adds: 0, times: 1 },
      bodies: { omits: 1, times: 1, after: 0 },
      splits: true,
      events: [{ at: 6, does: 'hang-up' }],
    },
    there: { ...HONEST, fetch: { omits: 1, addsOther: false, times: 1 }, drops: 1, splits: true },
  },
  'has a message that the destination had before, while another copy is deleted there': {
    source: { INBOX: [], Archive: [plain(2), plain(0)] },
    destination: { INBOX: [], Archive: [plain(2)] },
    there: {
      ...HONEST,
      fetch: { omits: 1, addsOther: false, times: 1 },
      events: [
        { at: 15, does: 'expunge-last' },
        { at: 22, does: 'renumber' },
      ],
    },
  },
}

describe('a migration between servers that lie, change and break off', () => {
  it('leaves no message out without an error, copies none twice, and changes none', async () => {
    await fc.assert(fc.asyncProperty(scenario, checkScenario), { numRuns: RUNS, seed: SEED })
  }, 120_000)

  it.each(Object.entries(FOUND))('does so for a source that %s', (_, played) =>
    checkScenario({ ...QUIET, ...played }),
  )
})
