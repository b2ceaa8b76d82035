import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  absorb,
  assess,
  assessRest,
  MAX_EVIDENCE,
  type Evidence,
  type Sighting,
} from '../../src/abuse/scoring/score.ts'
import {
  DAY,
  HOUR,
  MINUTE,
  openCase,
  SERVICES,
  sighting,
  START,
  traitsOf,
  USUAL,
} from './evidence.ts'

const established = { standing: 'established' as const }

/** The score of simultaneous reports. */
function scoreOf(...sightings: Sighting[]): [number, string, string] {
  const { score, state, confidence } = openCase().report(START, ...sightings)
  return [score, state, confidence]
}

describe('a score', () => {
  it.each([
    ['one report', [sighting(1, 1, { count: 1 })], [18.3, 'observed', 'low']],
    ['one report of five events', [sighting(1, 1, { count: 5 })], [21.2, 'watchlist', 'low']],
    ['one established network', [sighting(1, 1, established)], [47.8, 'watchlist', 'low']],
    [
      'one trusted network that claims the worst',
      ['exploit', 'botnet'].map((service) =>
        sighting(1, 1, { standing: 'trusted', service, count: 100_000 }),
      ),
      [59, 'watchlist', 'low'],
    ],
    [
      'one established network and a newcomer elsewhere',
      [sighting(1, 1, established), sighting(2, 1, { count: 5 })],
      [58.8, 'watchlist', 'medium'],
    ],
    [
      'two established networks in two systems',
      [sighting(1, 1, established), sighting(2, 1, established)],
      [72.7, 'listed', 'medium'],
    ],
    ['two newcomers', [sighting(1, 1), sighting(2, 1)], [42.7, 'watchlist', 'medium']],
    [
      'three newcomers',
      [1, 2, 3].map((system) => sighting(system, 1)),
      [56.6, 'watchlist', 'medium'],
    ],
    [
      'four newcomers',
      [1, 2, 3, 4].map((system) => sighting(system, 1)),
      [59, 'watchlist', 'medium'],
    ],
    [
      'three port scans, which can be forged',
      [1, 2, 3].map((system) => sighting(system, 1, { service: 'scan', count: 1 })),
      [26.1, 'watchlist', 'medium'],
    ],
  ])('of %s is known', (_what, sightings, expected) => {
    const [score, state, confidence] = scoreOf(...sightings)
    expect([Math.abs(score - Number(expected[0])) < 0.15, state, confidence]).toEqual([
      true,
      ...expected.slice(1),
    ])
  })

  it('is never that of a listed address while the address is not listed', () => {
    const flood = Array.from({ length: 40 }, (_, i) =>
      sighting(i, 1, { service: 'flood', standing: i < 4 ? 'established' : 'new' }),
    )
    expect(scoreOf(...flood)).toEqual([59, 'watchlist', 'high'])
  })
})

describe('a listing', () => {
  it('does not come from established networks that saw only forgeable traffic, plus claims of newcomers', () => {
    const forged = [1, 2].map((system) =>
      sighting(system, 1, { service: 'flood', standing: 'established' }),
    )
    const claimed = [3, 4, 5].map((system) => sighting(system, 1))
    const grown = openCase({ ...USUAL, bootstrap: false })
    expect(grown.report(START, ...forged, ...claimed).state).toBe('watchlist')
    expect(grown.report(START, sighting(1, 1, { standing: 'established' })).state).toBe('listed')
  })

  it('cannot be had by one network that a newer table finds in another system', () => {
    const story = openCase({ ...USUAL, bootstrap: false })
    const trusted = (service: string) =>
      sighting(1, 1, { standing: 'trusted', service, count: 255 })
    story.report(START, trusted('exploit'))
    const moved = { ...trusted('botnet'), origin: sighting(2, 1).origin }
    const { state, confidence, awaiting } = story.report(START + HOUR, moved)
    expect([state, confidence, awaiting]).toEqual(['watchlist', 'low', false])
  })

  it('cannot be had by one network that floods for a day', () => {
    const story = openCase()
    for (let now = START; now < START + DAY; now += 10 * MINUTE)
      story.report(now, sighting(1, 1, { count: 255 }))
    const { score, state, confidence } = story.look(START + DAY)
    expect([score <= 26, state, confidence]).toEqual([true, 'watchlist', 'low'])
  })

  it('cannot come from fifty networks of one autonomous system', () => {
    for (const standing of ['new', 'established', 'trusted', 'sensor'] as const) {
      const story = openCase()
      for (let day = 0; day < 7; day++)
        for (let n = 0; n < 50; n++)
          story.report(START + day * DAY, sighting(1, n, { standing, count: 255 }))
      const { score, state } = story.look(START + 7 * DAY)
      expect([standing, score <= 59, state]).toEqual([standing, true, 'watchlist'])
    }
  })

  it('needs six systems over an hour while no network is established, and does not come from them later', () => {
    const six = (circumstances = USUAL) => {
      const story = openCase(circumstances)
      for (let system = 0; system < 6; system++)
        story.report(START + system * 13 * MINUTE, sighting(system, 1))
      return story.look(START + 66 * MINUTE).state
    }
    expect(six()).toBe('listed')
    expect(six({ ...USUAL, bootstrap: false })).toBe('watchlist')
    expect(scoreOf(...[1, 2, 3, 4, 5, 6].map((system) => sighting(system, 1)))[1]).toBe('watchlist')
  })

  it('needs three more systems beside a single established network, whatever the score', () => {
    const besides = (systems: number) => {
      const others = Array.from({ length: systems }, (_, i) =>
        sighting(i + 2, 1, { count: 100_000 }),
      )
      return scoreOf(sighting(1, 1, { standing: 'trusted', count: 100_000 }), ...others)
    }
    expect(besides(2)).toEqual([59, 'watchlist', expect.any(String)])
    expect(besides(3)[1]).toBe('listed')
  })

  it('comes at once for a bot that forty networks see in five minutes, four of them established', () => {
    const story = openCase()
    for (let i = 0; i < 40; i++)
      story.report(
        START + i * 7_000,
        sighting(i, 1, { standing: i % 10 === 0 ? 'established' : 'new', count: 5 }),
      )
    expect(story.look(START + 5 * MINUTE)).toMatchObject({
      score: 100,
      state: 'listed',
      confidence: 'high',
    })
  })

  it('ends seven days after the last report, and returns only with a new one', () => {
    const story = openCase()
    const many = Array.from({ length: 40 }, (_, i) =>
      sighting(i, 1, { standing: i < 4 ? 'established' : 'new' }),
    )
    expect(story.report(START, ...many).state).toBe('listed')
    expect(story.look(START + 7 * DAY - 1).state).toBe('listed')
    expect(story.look(START + 7 * DAY)).toMatchObject({ state: 'delisted', score: 59 })
    expect(story.look(START + 8 * DAY).state).toBe('delisted')
    expect(story.report(START + 8 * DAY, sighting(99, 1)).state).toBe('listed')
  })

  it('is not prolonged by one system alone', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('ssh', 'exploit', 'botnet'),
        fc.boolean(),
        (service, isStrong) => {
          const story = openCase()
          const more = { service, ...(isStrong && established) }
          const many = Array.from({ length: 40 }, (_, i) =>
            sighting(i, 1, { ...established, service }),
          )
          story.report(START, ...many)
          for (let day = 1; day < 14; day++) story.report(START + day * DAY, sighting(1, 1, more))
          expect(story.report(START + 14 * DAY, sighting(1, 1, more)).state).toBe('delisted')
          expect(story.report(START + 15 * DAY, sighting(2, 1, more)).state).not.toBe('delisted')
        },
      ),
    )
  })

  it('ends when many come to depend on the address, unless it is confirmed', () => {
    const two = evidenceOf([sighting(1, 1, established), sighting(2, 1, established)])
    const stateIn = (circumstances: Partial<typeof USUAL>) =>
      assess('listed', two, { ...USUAL, ...circumstances }, START, traitsOf).state
    expect(stateIn({})).toBe('listed')
    expect(stateIn({ wellKnown: true })).toBe('delisted')
    expect(stateIn({ wellKnown: true, confirmed: true })).toBe('listed')
  })

  it('ends with the evidence that it needed, when that is taken back', () => {
    const two = evidenceOf([
      sighting(1, 1, established),
      sighting(2, 1, established),
      sighting(3, 1),
    ])
    const rest = (evidence: Evidence[]) => assessRest('listed', evidence, USUAL, START, traitsOf)
    expect(rest(two.slice(0, 2)).state).toBe('listed')
    expect(rest(two.slice(1)).state).toBe('delisted')
    expect(rest([])).toMatchObject({ state: 'delisted', score: 0 })
  })

  it('lasts down to a score of 35, although it begins at 60', () => {
    const story = openCase()
    const two = [sighting(1, 1, established), sighting(2, 1, established)]
    expect(story.report(START, ...two).state).toBe('listed')
    const later = story.look(START + 5 * DAY)
    expect([later.state, later.score > 35 && later.score < 60]).toEqual(['listed', true])
    expect(openCase().report(START, ...two.slice(1)).state).toBe('watchlist')
  })

  it('of a shared address needs more and ends sooner', () => {
    const shared = openCase({ ...USUAL, shared: true })
    const strong = [1, 2, 3].map((system) => sighting(system, 1, established))
    expect(shared.report(START, ...strong.slice(1)).state).toBe('watchlist')
    expect(shared.report(START, ...strong).state).toBe('listed')
    expect(shared.look(START + 3 * DAY).state).toBe('delisted')
  })

  it('needs more after a granted appeal', () => {
    const two = [sighting(1, 1, established), sighting(2, 1, established)]
    expect(openCase({ ...USUAL, probation: true }).report(START, ...two).state).toBe('watchlist')
  })

  it('is not had by networks that are mute', () => {
    const story = openCase()
    for (let system = 0; system < 20; system++)
      story.report(START, sighting(system, 1, { standing: 'mute' }))
    expect(story.look(START)).toMatchObject({ score: 0, state: 'observed', confidence: 'low' })
  })
})

const anySighting = fc
  .record({
    system: fc.nat(8),
    n: fc.nat(3),
    service: fc.constantFrom(...SERVICES),
    standing: fc.constantFrom(
      'mute' as const,
      'new' as const,
      'established' as const,
      'trusted' as const,
    ),
    count: fc.integer({ min: 1, max: 100_000 }),
  })
  .map(({ system, n, ...more }) => sighting(system, n, more))
const anySightings = fc.array(anySighting, { minLength: 1, maxLength: 30 })

/** One network has one standing at a time. */
const consistent = (sightings: Sighting[]) =>
  sightings.map((one) => ({
    ...one,
    standing: sightings.find((s) => s.network === one.network)?.standing ?? 'new',
  }))

/** The sum of the evidence, in any state. */
function strengthOf(evidence: Evidence[], now = START): number {
  return assess('listed', evidence, USUAL, now, traitsOf).score
}

function evidenceOf(sightings: Sighting[], now = START, before: Evidence[] = []): Evidence[] {
  const absorbOne = (evidence: Evidence[], one: Sighting) =>
    absorb(evidence, one, { now, counted: true, shared: false, traitsOf })
  return sightings.reduce(absorbOne, before)
}

describe('the score, for any reports,', () => {
  it('does not depend on the order of reports', () => {
    const shuffled = anySightings.chain((all) =>
      fc.tuple(
        fc.constant(consistent(all)),
        fc.shuffledSubarray(consistent(all), { minLength: all.length }),
      ),
    )
    fc.assert(
      fc.property(shuffled, ([given, other]) => {
        expect(strengthOf(evidenceOf(other))).toBe(strengthOf(evidenceOf(given)))
      }),
      { numRuns: 500 },
    )
  })

  it('does not change when a report is repeated within ten minutes', () => {
    fc.assert(
      fc.property(anySightings, fc.nat(10 * MINUTE - 1), (given, later) => {
        const once = evidenceOf(given)
        expect(strengthOf(evidenceOf(given, START + later, once))).toBe(strengthOf(once))
      }),
      { numRuns: 500 },
    )
  })

  it('never falls by a further report, at any time', () => {
    fc.assert(
      fc.property(anySightings, anySighting, fc.nat(20 * DAY), (given, one, later) => {
        const before = evidenceOf(given)
        const now = START + later
        const after = evidenceOf([one], now, before)
        expect(strengthOf(after, now)).toBeGreaterThanOrEqual(strengthOf(before, now))
      }),
      { numRuns: 1_000 },
    )
  })

  it('is between 0 and 100, and the address is listed from 60 on', () => {
    fc.assert(
      fc.property(anySightings, fc.nat(40 * DAY), (given, later) => {
        const story = openCase()
        story.report(START, ...given)
        const { score, state } = story.look(START + later)
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(100)
        if (state !== 'listed') expect(score).toBeLessThan(60)
      }),
      { numRuns: 500 },
    )
  })

  it('lists nothing on the word of one system', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(anySightings, fc.nat(3 * DAY)), { maxLength: 5 }), (times) => {
        const story = openCase()
        let now = START
        for (const [sightings, later] of times) {
          now += later
          const { state } = story.report(
            now,
            ...sightings.map((one) => ({ ...one, origin: 'as-1' })),
          )
          expect(state).not.toBe('listed')
        }
      }),
      { numRuns: 300 },
    )
  })

  it('of newcomers of one system stays below the threshold of a listing, by arithmetic', () => {
    fc.assert(
      fc.property(anySightings, (given) => {
        const weak = given.map((one) => ({ ...one, origin: 'as-1', standing: 'new' as const }))
        expect(strengthOf(evidenceOf(weak))).toBeLessThanOrEqual(50.4)
      }),
    )
  })

  it('is assessed again before time can end a listing', () => {
    fc.assert(
      fc.property(anySightings, (given) => {
        const story = openCase({ ...USUAL, shared: false })
        const { state, dueAt } = story.report(START, ...given)
        if (state !== 'listed') return
        expect(dueAt).toBeGreaterThanOrEqual(START)
        expect(dueAt).toBeLessThanOrEqual(START + HOUR)
        expect(story.look((dueAt ?? 0) - 1).state).toBe('listed')
      }),
      { numRuns: 500 },
    )
  })
})

describe('the evidence', () => {
  it('reserves places for other systems when one system fills its share', () => {
    let evidence = evidenceOf(Array.from({ length: MAX_EVIDENCE + 50 }, (_, n) => sighting(1, n)))
    expect(evidence).toHaveLength(MAX_EVIDENCE)
    evidence = evidenceOf(
      [sighting(2, 1, established), sighting(3, 1, established)],
      START,
      evidence,
    )
    expect(evidence).toHaveLength(MAX_EVIDENCE)
    expect(evidence.filter((e) => e.origin !== 'as:1')).toHaveLength(2)
  })

  it('is not weakened by a newcomer of the same network', () => {
    const strong = evidenceOf([sighting(1, 1, { standing: 'trusted', count: 255 })])
    const after = evidenceOf([sighting(1, 1, { count: 1 })], START + HOUR, strong)
    expect(after[0]).toMatchObject({ standing: 'trusted' })
    expect(strengthOf(after, START + HOUR)).toBeGreaterThanOrEqual(strengthOf(strong, START + HOUR))
  })
})
