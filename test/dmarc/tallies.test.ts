import { describe, expect, it } from 'vitest'
import { createSelectors } from '../../src/dmarc/statistics/selectors.ts'
import { createTallies } from '../../src/dmarc/statistics/tally.ts'
import type { AggregateRecord } from '../../src/protocols/reports/aggregate-report.ts'

type Results = { dkim?: string; spf?: string | null; scope?: string }

/** A record that passed by its own signature, with an own envelope sender. */
function recordOf({ dkim = 'pass', spf = 'fail', scope }: Results): AggregateRecord {
  const domain = 'rep.test'
  return {
    sourceIp: '192.0.2.1',
    count: 3,
    policyEvaluated: { disposition: 'none', dkim: 'pass', spf: 'fail', reasons: [] },
    identifiers: { headerFrom: domain, envelopeFrom: null, envelopeTo: null },
    authResults: {
      dkim: [{ domain, selector: 'k', result: dkim, humanResult: null }],
      spf: [{ domain, scope: scope ?? null, result: spf, humanResult: null }],
    },
  }
}

describe('what a record counts for', () => {
  it.each(['fail', 'hardfail', 'softfail', 'neutral'])('forwarded, by SPF %s', (spf) => {
    const tallies = createTallies()
    tallies.add(recordOf({ spf }))
    expect(tallies.all()).toMatchObject([{ forwarded: true, messages: 3 }])
  })

  it.each([
    { spf: 'temperror' },
    { spf: 'permerror' },
    { spf: 'none' },
    { spf: 'pass' },
    { spf: null },
    { spf: 'fail', scope: 'helo' },
  ])('not forwarded, by SPF $spf $scope', (results) => {
    const tallies = createTallies()
    tallies.add(recordOf(results))
    expect(tallies.all()).toMatchObject([{ forwarded: false }])
  })

  it('a selector that signed, not one that is named without a signature', () => {
    const selectors = createSelectors()
    for (const dkim of ['none', 'pass', 'fail', 'temperror']) selectors.add(recordOf({ dkim }))
    expect(selectors.all()).toEqual([{ signer: 'rep.test', selector: 'k', messages: 9, passed: 3 }])
  })
})
