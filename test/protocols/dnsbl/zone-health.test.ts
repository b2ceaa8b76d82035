import { describe, expect, it } from 'vitest'
import type { DnsAnswer } from '../../../src/net/dns.ts'
import type { Blocklist } from '../../../src/protocols/dnsbl/blocklist-catalogue.ts'
import { createZoneHealthTracker, probeZone } from '../../../src/protocols/dnsbl/zone-health.ts'
import { answered, failed, listOf, nxdomain } from './dnsbl-answers.ts'

const MINUTE = 60_000
const hit = answered('127.0.0.2')
const never = new AbortController().signal

/** A zone's answers by address; NXDOMAIN for all others. */
type Answers = Partial<Record<'127.0.0.2' | '127.0.0.1' | '192.0.2.1' | '203.0.113.1', DnsAnswer>>

function probe(answers: Answers, list = listOf()) {
  return probeZone(list, async (_list, ip) => answers[ip as keyof Answers] ?? nxdomain, never)
}

describe('a zone', () => {
  it('is healthy when it lists only 127.0.0.2, with any code', async () => {
    expect(await probe({ '127.0.0.2': hit })).toEqual({
      state: 'healthy',
      detail: null,
      provenBy: '127.0.0.1:53',
    })
    expect(await probe({ '127.0.0.2': answered('127.0.0.99') })).toMatchObject({ state: 'healthy' })
  })
  it('is healthy when its answer for 127.0.0.1 is no listing', async () => {
    const list = listOf({ notListedCodes: { '127.0.0.1': 'whitelist' } })
    expect(
      await probe({ '127.0.0.2': hit, '127.0.0.1': answered('127.0.0.1') }, list),
    ).toMatchObject({
      state: 'healthy',
    })
  })
  it('is healthy with a caveat when it lists 127.0.0.1, but answers correctly for other addresses', async () => {
    const junk = { '127.0.0.2': hit, '127.0.0.1': hit, '192.0.2.1': hit }
    expect(await probe(junk)).toMatchObject({
      state: 'healthy',
      detail: 'Lists 127.0.0.1, which must not be listed (RFC 5782).',
    })
  })
  it('is a wildcard when it lists everything', async () => {
    const all = { '127.0.0.2': hit, '127.0.0.1': hit, '192.0.2.1': hit, '203.0.113.1': hit }
    expect(await probe(all)).toMatchObject({ state: 'wildcard', detail: 'Lists every address.' })
  })
  it('is a wildcard when it answers outside 127.0.0.0/8', async () => {
    const parked = answered('203.0.113.80')
    expect(await probe({ '127.0.0.2': parked, '127.0.0.1': parked })).toMatchObject({
      state: 'wildcard',
    })
    expect(await probe({ '127.0.0.2': hit, '127.0.0.1': parked })).toMatchObject({
      state: 'wildcard',
    })
  })
  it('is rejecting queries when it signals it, by code or by RCODE', async () => {
    const refusal = answered('127.255.255.254')
    expect(await probe({ '127.0.0.2': refusal, '127.0.0.1': refusal })).toMatchObject({
      state: 'refusing',
    })
    expect(await probe({ '127.0.0.2': failed('REFUSED') })).toMatchObject({ state: 'refusing' })
  })
  it('has no test entry when it lists neither', async () => {
    expect(await probe({})).toMatchObject({ state: 'no-test-entry', provenBy: null })
  })
  it('is failing when it does not answer', async () => {
    expect(await probe({ '127.0.0.2': failed('TIMEOUT') })).toMatchObject({
      state: 'failing',
      detail: 'Did not answer in time.',
    })
  })
  it('is not believed when no control is clean and some are silent', async () => {
    const silent = failed('TIMEOUT')
    const answers = {
      '127.0.0.2': hit,
      '127.0.0.1': silent,
      '192.0.2.1': silent,
      '203.0.113.1': hit,
    }
    expect(await probe(answers)).toMatchObject({ state: 'failing' })
  })
})

/** Ten zones whose answers and clock the test turns. */
function book(answers: Record<string, Answers>) {
  const lists = Array.from({ length: 10 }, (_, index) =>
    listOf({ zone: `bl${index}.example`, name: `List ${index}` }),
  )
  const asked: string[] = []
  const clock = { now: 1 }
  const ask = async ({ zone }: Blocklist, ip: string) => {
    asked.push(`${ip} ${zone}`)
    return (answers[zone] ?? { '127.0.0.2': hit })[ip as keyof Answers] ?? nxdomain
  }
  const health = createZoneHealthTracker(lists.length, ask, () => clock.now)
  const stateOf = async (index: number) => (await health.healthOf(lists[index] as Blocklist)).state
  const round = () => health.refresh(lists.filter(health.isDue))
  const first = lists[0] as Blocklist
  return { lists, first, asked, clock, health, stateOf, round, answers }
}

const dead: Answers = { '127.0.0.2': failed('TIMEOUT') }

describe('the cached health of zones', () => {
  it('is checked once and cached for 45 minutes', async () => {
    const { first, clock, health, round, asked } = book({})
    expect(health.knownHealth(first)).toBeNull()
    await Promise.all([round(), round()])
    expect(asked).toHaveLength(20)
    clock.now += 44 * MINUTE
    expect(health.knownHealth(first)).toMatchObject({ state: 'healthy' })
    clock.now += 2 * MINUTE
    expect(health.isDue(first)).toBe(true)
  })
  it('becomes dead in the third bad round, and healthy again after two good ones an hour apart', async () => {
    const { first, answers, clock, health, round, stateOf } = book({ 'bl0.example': dead })
    const states: string[] = []
    for (const pause of [1, 5, 60]) {
      await round()
      states.push(await stateOf(0))
      clock.now += pause * MINUTE
    }
    expect(states).toEqual(['failing', 'failing', 'dead'])
    delete answers['bl0.example']
    await round()
    expect(await stateOf(0)).toBe('dead')
    expect(health.isDue(first)).toBe(false)
    clock.now += 60 * MINUTE
    await round()
    expect(await stateOf(0)).toBe('healthy')
  })
  it('stays cached while a quarantined zone is checked again, so that no caller waits', async () => {
    const { first, clock, health, round } = book({
      'bl0.example': { '127.0.0.2': answered('203.0.113.80') },
    })
    await round()
    clock.now += 61 * MINUTE
    expect(health.isDue(first)).toBe(true)
    expect(health.knownHealth(first)).toMatchObject({ state: 'wildcard' })
  })
  it('reports a healthy zone before a slow zone has ended the round', async () => {
    const { promise, resolve } = Promise.withResolvers<DnsAnswer>()
    const lists = [listOf({ zone: 'fast.example' }), listOf({ zone: 'slow.example' })]
    const health = createZoneHealthTracker(2, async ({ zone }, ip) => {
      if (zone === 'slow.example') return promise
      return ip === '127.0.0.2' ? hit : nxdomain
    })
    const round = health.refresh(lists)
    expect(await health.healthOf(lists[0] as Blocklist)).toMatchObject({ state: 'healthy' })
    resolve(nxdomain)
    await round
  })
  it('is checked again after a doubtful answer', async () => {
    const { first, health, round } = book({})
    await round()
    health.markDue(first)
    expect(health.isDue(first)).toBe(true)
  })
  it('calls no zone dead when most fail together: that is the resolver', async () => {
    const answers = Object.fromEntries(
      Array.from({ length: 6 }, (_, index) => [`bl${index}.example`, dead]),
    )
    const { clock, round, stateOf } = book(answers)
    for (let rounds = 0; rounds < 5; rounds++) {
      await round()
      clock.now += MINUTE
    }
    expect(await stateOf(0)).toBe('failing')
    expect(await stateOf(9)).toBe('healthy')
  })
  it('believes no silence when most zones lose their test entry together', async () => {
    const answers = Object.fromEntries(
      Array.from({ length: 6 }, (_, index) => [`bl${index}.example`, {}]),
    )
    const { round, stateOf } = book(answers)
    await round()
    expect(await stateOf(0)).toBe('failing')
  })
})
