import { describe, expect, it } from 'vitest'
import {
  evaluatePlacement,
  neededOfThree,
  type Baseline,
  type PlacementResult,
} from '../../src/deliverability/canary/evaluate-placement.ts'
import { isBadOutcome, type Outcome } from '../../src/deliverability/canary/placement-outcome.ts'
import { outcomeOf } from '../../src/deliverability/canary/check-result.ts'
import { delayOf, findAllowListing } from '../../src/deliverability/canary/read-sighting.ts'
import { parseMessage } from '../../src/protocols/mail/message.ts'

const GOOD = { isBad: false, isBlind: false }
const CLEAN: Baseline = { bad: 0, total: 200 }
const SIX_HOURLY = 364
const resultsOf = (...outcomes: (Outcome | 'void')[]): PlacementResult[] =>
  outcomes.map((outcome) => ({
    outcome: outcome === 'void' ? 'junk' : outcome,
    isVoid: outcome === 'void',
  }))
const evaluate = (...outcomes: (Outcome | 'void')[]) =>
  evaluatePlacement(GOOD, resultsOf(...outcomes), CLEAN, SIX_HOURLY)

describe('the decision about a seed', () => {
  it('is bad after two of three mails that miss the inbox', () => {
    expect(evaluate('junk').isBad).toBe(false)
    expect(evaluate('inbox', 'junk', 'inbox').isBad).toBe(false)
    expect(evaluate('junk', 'inbox', 'missing').isBad).toBe(true)
    expect(evaluate('late', 'refused').isBad).toBe(true)
    expect(evaluate('category', 'category', 'category').isBad).toBe(false)
  })

  it('leaves out what is unknown or void', () => {
    expect(evaluate('unknown', 'unknown').isBad).toBe(false)
    expect(evaluate('junk', 'unknown', 'unknown', 'junk').isBad).toBe(true)
    expect(evaluate('void', 'void', 'void').isBad).toBe(false)
    expect(evaluate('junk', 'void', 'void').isBad).toBe(false)
  })

  it('ends after three good mails', () => {
    const bad = { isBad: true, isBlind: false }
    const after = (...outcomes: Outcome[]) =>
      evaluatePlacement(bad, resultsOf(...outcomes), CLEAN, SIX_HOURLY).isBad
    expect(after('inbox', 'inbox')).toBe(true)
    expect(after('junk', 'inbox', 'inbox')).toBe(true)
    expect(after('junk', 'inbox', 'category', 'inbox')).toBe(false)
  })

  it('is blind after three mails of which nothing is known, until the next that is', () => {
    expect(evaluate('inbox', 'unknown', 'unknown').isBlind).toBe(false)
    expect(evaluate('unknown', 'unknown', 'unknown').isBlind).toBe(true)
    const blind = { isBad: false, isBlind: true }
    const after = (...outcomes: Outcome[]) =>
      evaluatePlacement(blind, resultsOf(...outcomes), CLEAN, SIX_HOURLY).isBlind
    expect(after('unknown', 'unknown', 'inbox')).toBe(false)
    expect(after('inbox', 'unknown')).toBe(true)
  })

  it('needs all three where two would often be bad by chance', () => {
    expect(neededOfThree(CLEAN, SIX_HOURLY)).toBe(2)
    expect(neededOfThree({ bad: 12, total: 400 }, SIX_HOURLY)).toBe(3)
    expect(neededOfThree({ bad: 8, total: 400 }, 10 * 728)).toBe(3)
  })
})

/** A generator of numbers from 0 to 1 (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

type Simulation = { everyHours: number; seeds: number; badShare: number; random: () => number }

/** One run after another of a canary with the decision above; some results are unknown. */
function simulate({ everyHours, seeds, badShare, random }: Simulation) {
  const perQuarter = ((91 * 24) / everyHours) * seeds
  const remembered = (90 * 24) / everyHours
  const histories = Array.from({ length: seeds }, () => ({
    results: [] as PlacementResult[],
    /** How many of the first results without a problem were bad. */
    bad: [0],
    state: GOOD,
  }))
  function baseline(): Baseline {
    const sums = { bad: 0, total: 0 }
    for (const { bad } of histories) {
      const last = Math.max(0, bad.length - 1 - 3)
      const first = Math.max(0, last - remembered)
      sums.bad += (bad[last] ?? 0) - (bad[first] ?? 0)
      sums.total += last - first
    }
    return sums
  }
  function run(share = badShare, unknownShare = 0.02): number {
    let alarms = 0
    for (const history of histories) {
      const isUnknown = random() < unknownShare
      const outcome: Outcome = isUnknown ? 'unknown' : random() < share ? 'junk' : 'inbox'
      history.results = [...history.results.slice(-11), { outcome, isVoid: false }]
      if (!isUnknown && !history.state.isBad)
        history.bad.push((history.bad.at(-1) ?? 0) + Number(isBadOutcome(outcome)))
      const next = evaluatePlacement(history.state, history.results, baseline(), perQuarter)
      if (next.isBad && !history.state.isBad) alarms++
      history.state = next
    }
    return alarms
  }
  const states = () => histories.map(({ state }) => state.isBad)
  return { run, states, runsPerYear: (365 * 24) / everyHours }
}

describe('a simulated year', () => {
  const YEARS = 10
  for (const everyHours of [3, 6, 24])
    for (const seeds of [1, 4, 10])
      for (const badShare of [0.002, 0.01, 0.02, 0.04])
        it(`has up to one false alarm a quarter: every ${everyHours} h, ${seeds} seeds, ${badShare * 100}% by chance`, () => {
          let alarms = 0
          for (let year = 0; year < YEARS; year++) {
            const random = randomOf(year * 1_000 + seeds * 10 + everyHours)
            const { run, runsPerYear } = simulate({ everyHours, seeds, badShare, random })
            for (let count = 0; count < runsPerYear; count++) alarms += run()
          }
          expect(alarms / YEARS / 4).toBeLessThanOrEqual(1)
        })

  it('finds a real change within three runs', () => {
    for (let seed = 0; seed < 50; seed++) {
      const badShare = (seed % 5) / 100
      const options = { everyHours: 6, seeds: 4, badShare, random: randomOf(seed) }
      const { run, states } = simulate(options)
      for (let count = 0; count < 400; count++) run()
      for (let count = 0; count < 3; count++) run(1, 0)
      expect(states()).toEqual([true, true, true, true])
    }
  })
})

describe('a sighting', () => {
  const headerOf = (...fields: string[]) =>
    parseMessage(Buffer.from(`${fields.join('\r\n')}\r\n\r\n`))

  it('is void where the mailbox lets the sender through', () => {
    const report = (verdict: string) =>
      findAllowListing(
        headerOf(`X-Forefront-Antispam-Report: CIP:192.0.2.1; SFV:${verdict};SCL:-1`),
      )
    expect(['SFE', 'SKA', 'SKN', 'NSPM', 'SPM', 'SKI'].map(report)).toEqual([
      'SFV:SFE',
      'SFV:SKA',
      'SFV:SKN',
      null,
      null,
      null,
    ])
    expect(
      findAllowListing(
        headerOf('X-Spam-Status: No, score=-98.1 tests=DKIM_VALID,\r\n\tUSER_IN_WELCOMELIST'),
      ),
    ).toBe('USER_IN_WELCOMELIST')
    expect(findAllowListing(headerOf('Subject: SFV:SKA USER_IN_WELCOMELIST'))).toBeNull()
  })

  it('tells the delay by the last server, never below zero', () => {
    const sentAt = new Date('2026-11-30T08:00:00Z')
    const received = (time: string) =>
      delayOf(headerOf(`Received: from a by b; Mon, 30 Nov 2026 ${time} +0000`), sentAt)
    expect(received('08:15:00')).toBe(900)
    expect(received('07:59:58')).toBe(0)
    expect(delayOf(headerOf('Received: from a by b'), sentAt)).toBeNull()
    expect(delayOf(headerOf('Subject: x'), sentAt)).toBeNull()
  })

  it('is an outcome: late in the inbox, junk at any time, missing after an hour', () => {
    const sentAt = new Date('2026-11-30T08:00:00Z')
    const after = (minutes: number) => new Date(sentAt.getTime() + minutes * 60_000)
    const header = headerOf('Received: from a by b; Mon, 30 Nov 2026 08:20:00 +0000')
    const sighting = (place: 'inbox' | 'junk') => ({ sighting: { place, folder: 'X', header } })
    expect(outcomeOf(sighting('inbox'), { sentAt }, 21, after(21))?.outcome).toBe('late')
    expect(outcomeOf(sighting('junk'), { sentAt }, 21, after(21))?.outcome).toBe('junk')
    expect(outcomeOf({ sighting: null }, { sentAt }, 59, after(59))).toBeNull()
    expect(outcomeOf({ sighting: null }, { sentAt }, 60, after(60))).toEqual({ outcome: 'missing' })
    expect(outcomeOf({ problem: 'No.' }, { sentAt }, 59, after(59))).toBeNull()
    expect(outcomeOf({ problem: 'No.' }, { sentAt }, 60, after(60))?.outcome).toBe('unknown')
  })
})
