import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findDomain, type DomainRow } from '../../src/dmarc/domains/dmarc-domains.sql.ts'
import { evaluateReadiness, type ReadinessFacts } from '../../src/dmarc/summary/readiness.ts'
import type { Sender, SenderMark } from '../../src/dmarc/senders/senders.ts'
import { wholeMonths } from '../../src/dmarc/summary/dmarc-summary.sql.ts'
import { parseRange } from '../../src/dmarc/summary/range.ts'
import { summarize } from '../../src/dmarc/summary/summary.ts'
import { mapResolver } from '../resolver.ts'
import { aggregate, daysAgo, type Row } from './reports.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

const dayText = (days: number) => new Date(daysAgo(days) * 1000).toISOString().slice(0, 10)

describe('the summary of a domain', () => {
  let portreeve: DmarcTest
  let alice: Person
  let id: string

  beforeAll(async () => {
    const resolver = mapResolver({
      '1.2.0.192.in-addr.arpa PTR': ['mail-1.sender.co.uk'],
      'mail-1.sender.co.uk A': ['192.0.2.1'],
      '2.2.0.192.in-addr.arpa PTR': ['mail.google.com'],
    })
    portreeve = await startDmarc({ resolver })
  })
  afterAll(() => portreeve.stop())
  beforeEach(async () => {
    alice = await portreeve.addPerson('Alice')
    ;({ id } = await portreeve.addDomain(alice.token))
  })

  const summary = async (query = '') =>
    (await portreeve.ask(`domains/${id}/summary${query}`, alice)).body.data
  const report = (rows: Row[], spec = {}) =>
    portreeve.upload(alice.token, aggregate({ rows, ...spec }))

  it('counts the receivers’ evaluation, never the bare results', async () => {
    await report([{ dkim: 'fail', spf: 'fail', envelope: ['bulk.test', 'pass'], count: 5 }])
    expect((await summary()).totals).toMatchObject({ messages: 5, pass: 0, fail: 5, passRate: 0 })
  })

  it('sums by day, source and reporter', async () => {
    await report(
      [{ count: 10 }, { ip: '192.0.2.2', count: 4, dkim: 'fail', disposition: 'quarantine' }],
      {
        begin: daysAgo(2),
        org: 'A',
      },
    )
    await report([{ count: 1, spf: 'fail', envelope: ['bulk.test', 'pass'] }], { org: 'B' })
    const { days, sources, reporters, totals, sourceCount } = await summary()
    expect(totals).toMatchObject({
      reports: 2,
      messages: 15,
      pass: 15,
      dkimAligned: 11,
      spfAligned: 14,
    })
    expect(days).toHaveLength(30)
    expect(days.find((one: { day: string }) => one.day === dayText(2))).toMatchObject({
      messages: 14,
      disposition: { none: 10, quarantine: 4, reject: 0 },
    })
    expect(days.find((one: { day: string }) => one.day === dayText(1))).toMatchObject({
      messages: 1,
      spfAligned: 0,
    })
    expect(days.find((one: { day: string }) => one.day === dayText(9))).toMatchObject({
      messages: 0,
      fail: 0,
    })
    expect(sourceCount).toBe(2)
    expect(sources).toMatchObject([
      { sourceIp: '192.0.2.1', messages: 11, firstDay: dayText(2), lastDay: dayText(1) },
      { sourceIp: '192.0.2.2', messages: 4 },
    ])
    expect(reporters).toMatchObject([
      { orgName: 'A', reports: 1, messages: 14 },
      { orgName: 'B', reports: 1, messages: 1, lastDay: dayText(1) },
    ])
  })

  it('groups sources as aligned, partly aligned, failing and forwarder-like', async () => {
    await report([
      { ip: '192.0.2.1', count: 5 },
      { ip: '192.0.2.2', count: 3 },
      { ip: '192.0.2.2', count: 1, dkim: 'fail', spf: 'fail' },
      { ip: '192.0.2.3', count: 2, dkim: 'fail', spf: 'fail' },
      { ip: '192.0.2.4', count: 4, spf: 'fail', envelope: ['example.test', 'fail'] },
      {
        ip: '192.0.2.5',
        count: 6,
        dkim: 'fail',
        spf: 'fail',
        reason: { type: 'local_policy', comment: 'arc=pass' },
      },
      { ip: '192.0.2.6', count: 7, spf: 'fail', envelope: ['newsletter.test', 'pass'] },
    ])
    const { sources, groups } = await summary()
    const groupOf = Object.fromEntries(
      sources.map((one: { sourceIp: string; group: string }) => [one.sourceIp, one.group]),
    )
    expect(groupOf).toEqual({
      '192.0.2.1': 'aligned',
      '192.0.2.2': 'partly-aligned',
      '192.0.2.3': 'failing',
      '192.0.2.4': 'forwarder-like',
      '192.0.2.5': 'forwarder-like',
      '192.0.2.6': 'aligned',
    })
    expect(groups).toEqual({
      aligned: { sources: 2, messages: 12 },
      'partly-aligned': { sources: 1, messages: 4 },
      failing: { sources: 1, messages: 2 },
      'forwarder-like': { sources: 2, messages: 10 },
    })
    expect(sources[0]).toMatchObject({ sourceIp: '192.0.2.5', fail: 6 })
  })

  it('shows the reverse names of sources, and which of them are confirmed', async () => {
    await report([
      { ip: '192.0.2.1', count: 3 },
      { ip: '192.0.2.2', count: 2 },
      { ip: '192.0.2.3' },
    ])
    expect((await summary()).sources[0]).toMatchObject({ reverseName: null })
    await portreeve.run('dmarc.names')
    expect((await summary()).sources).toMatchObject([
      {
        reverseName: 'mail-1.sender.co.uk',
        reverseConfirmed: true,
        organizationalDomain: 'sender.co.uk',
      },
      {
        reverseName: 'mail.google.com',
        reverseConfirmed: false,
        organizationalDomain: 'google.com',
      },
      { reverseName: null, organizationalDomain: null },
    ])
  })

  it('names the network of a source if a table is configured', async () => {
    await report([{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }])
    const domain = (await findDomain(portreeve.db, alice.id, id)) as DomainRow
    const findAsn = (ip: string) =>
      ip === '192.0.2.1' ? { number: 64_500, name: 'Example Networks' } : null
    const { sources } = await summarize(portreeve.db, domain, parseRange({}, new Date()), findAsn)
    expect(sources).toMatchObject([
      { sourceIp: '192.0.2.1', asn: 64_500, asName: 'Example Networks' },
      { sourceIp: '192.0.2.2', asn: null, asName: null },
    ])
  })

  it('spreads a report on several days over them without losing a message', async () => {
    await report([{ count: 7 }], { begin: daysAgo(4), end: daysAgo(1) })
    const { days, totals } = await summary()
    expect(totals).toMatchObject({ messages: 7, reports: 1 })
    expect(days.filter((one: { messages: number }) => one.messages > 0)).toMatchObject([
      { day: dayText(4), messages: 3 },
      { day: dayText(3), messages: 2 },
      { day: dayText(2), messages: 2 },
    ])
  })

  it('covers the requested days, both ends included', async () => {
    for (const days of [5, 6, 7]) await report([{ count: days }], { begin: daysAgo(days) })
    const asked = await summary(`?from=${dayText(6)}&to=${dayText(5)}`)
    expect(asked).toMatchObject({
      from: dayText(6),
      to: dayText(5),
      totals: { messages: 11, reports: 2 },
    })
    expect(asked.days).toHaveLength(2)
    const before = { from: dayText(8), to: dayText(7), messages: 7, pass: 7, reports: 1 }
    expect(asked.before).toEqual(before)
    expect((await summary('?period=all')).before).toEqual(expect.anything())
    const backwards = await portreeve.ask(
      `domains/${id}/summary?from=${dayText(1)}&to=${dayText(5)}`,
      alice,
    )
    expect(backwards).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
    expect((await portreeve.ask(`domains/${id}/summary?from=yesterday`, alice)).status).toBe(400)
  })

  it('has the same sums by months as by days', async () => {
    for (const days of [1, 29, 31, 45, 60, 61, 62, 75, 90]) {
      await report([{ count: days }, { ip: '192.0.2.2', count: 1 }], { begin: daysAgo(days) })
    }
    for (let days = 1; days <= 95; days += 1) {
      const { totals, sources } = await summary(`?from=${dayText(days)}`)
      const counted = sources.reduce(
        (sum: number, one: { messages: number }) => sum + one.messages,
        0,
      )
      expect(counted).toBe(totals.messages)
      expect(sources.every((one: { firstDay: string }) => one.firstDay >= dayText(days))).toBe(true)
    }
  })

  it('lists the selectors of the range only, also those that an earlier version has stored', async () => {
    await report([{ selector: 'old', count: 9 }], { begin: daysAgo(20) })
    await report([{ selector: 'new', count: 2 }])
    const namesOf = async (period: string) =>
      (await summary(`?period=${period}`)).selectors.map(
        (one: { selector: string }) => one.selector,
      )
    expect([await namesOf('7d'), await namesOf('30d')]).toEqual([['new'], ['old', 'new']])
    await portreeve.db.deleteFrom('dmarcSelectorDay').where('domainId', '=', id).execute()
    await portreeve.db
      .updateTable('dmarcReport')
      .set({ selectorsByDay: false })
      .where('domainId', '=', id)
      .execute()
    expect(await namesOf('30d')).toEqual([])
    await portreeve.run('dmarc.selector-days')
    await portreeve.run('dmarc.selector-days')
    expect((await summary()).selectors).toMatchObject([
      { selector: 'old', messages: 9, pass: 9, lastDay: dayText(20) },
      { selector: 'new', messages: 2 },
    ])
  })

  it('lists the selectors that the domain signs with, the most frequent first', async () => {
    await report([
      { selector: 'rare' },
      { selector: 'common', count: 9 },
      { selector: 'bad', count: 3, dkim: 'fail' },
    ])
    expect((await summary()).selectors).toMatchObject([
      { selector: 'common', domain: 'example.test', messages: 9, pass: 9 },
      { selector: 'bad', messages: 3, pass: 0 },
      { selector: 'rare' },
    ])
    expect(await portreeve.dmarc.selectorsSeen(alice.id, 'example.test')).toEqual([
      'common',
      'bad',
      'rare',
    ])
    const charlie = await portreeve.addPerson('Charlie')
    expect(await portreeve.dmarc.selectorsSeen(charlie.id, 'example.test')).toEqual([])
  })

  it('has reports of any age in a period, and says what there is beside it', async () => {
    const long = '2001-03-04'
    await report([{ count: 3 }], { begin: Date.parse(`${long}T00:00:00Z`) / 1000 })
    await report([{ count: 40 }], { begin: daysAgo(20) })
    const week = await summary('?period=7d')
    expect(week).toMatchObject({
      from: dayText(6),
      totals: { messages: 0 },
      reported: { from: long, to: dayText(20) },
      // The verdict does not depend on the period.
      readiness: { from: dayText(29), to: dayText(0), verdict: 'too-early' },
    })
    const all = await summary('?period=all')
    expect(all).toMatchObject({ from: long, to: dayText(0), totals: { messages: 43 } })
    expect(all.days.map(({ day }: { day: string }) => day)).toEqual([long, dayText(20)])
    expect(all.readiness).toEqual(week.readiness)
    await report([{ count: 2, dkim: 'fail', spf: 'fail' }], { begin: daysAgo(29) })
    await report([{ count: 500 }], { begin: daysAgo(30) })
    expect((await portreeve.ask('domains', alice)).body.data).toMatchObject([
      {
        id,
        reported: { from: long, to: dayText(20) },
        policy: 'none',
        last30Days: { messages: 42, aligned: 40 },
      },
    ])
    const both = await portreeve.ask(`domains/${id}/summary?period=all&to=2026-01-01`, alice)
    expect(both.status).toBe(400)
  })

  it('states whether a stricter policy is safe, and which sources it would affect', async () => {
    for (const days of [1, 2, 3, 4, 5, 6, 7]) {
      await report([{ count: 100 }, { ip: '192.0.2.2', count: 1, dkim: 'fail', spf: 'fail' }], {
        begin: daysAgo(days),
      })
    }
    expect((await summary()).readiness).toMatchObject({
      verdict: 'ready',
      policy: 'quarantine',
      published: 'none',
      sentence:
        'Safe to move to p=quarantine: your sender passes. 1 unknown source (7 messages) would be affected. 99.0% of 707 messages in the last 30 days passed.',
      affected: [{ sourceIp: '192.0.2.2', fail: 7 }],
    })
  })
})

describe('the senders of a domain', () => {
  let portreeve: DmarcTest

  beforeAll(async () => {
    const resolver = mapResolver({
      '1.2.0.192.in-addr.arpa PTR': ['o1.ptr.sendgrid.net'],
      'o1.ptr.sendgrid.net A': ['192.0.2.1'],
      '2.2.0.192.in-addr.arpa PTR': ['mx.example.test'],
      'mx.example.test A': ['192.0.2.2'],
      // A spoofer can claim any name, but not confirm it.
      '3.2.0.192.in-addr.arpa PTR': ['o3.ptr.sendgrid.net'],
    })
    portreeve = await startDmarc({ resolver })
  })
  afterAll(() => portreeve.stop())

  async function reported() {
    const alice = await portreeve.addPerson('Alice')
    const { id } = await portreeve.addDomain(alice.token)
    const rows = [
      { ip: '192.0.2.1', count: 5 },
      { ip: '192.0.2.2', count: 3, dkim: 'fail' as const, spf: 'fail' as const },
      { ip: '192.0.2.3', count: 2, dkim: 'fail' as const, spf: 'fail' as const },
    ]
    await portreeve.upload(alice.token, aggregate({ rows }))
    await portreeve.run('dmarc.names')
    const sendersNow = async () =>
      (await portreeve.ask(`domains/${id}/summary`, alice)).body.data.senders as Sender[]
    const mark = (sender: string, value: string | null, token = alice.token) =>
      fetch(`${portreeve.url}/api/v1/dmarc/domains/${id}/senders/${sender}`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ mark: value }),
      })
    return { sendersNow, mark }
  }

  it('are named by confirmed reverse names only', async () => {
    const { sendersNow } = await reported()
    expect(await sendersNow()).toMatchObject([
      { id: 'host:example.test', kind: 'own', isMine: true, messages: 3, fail: 3 },
      { id: 'ip:192.0.2.3', kind: 'address', isMine: false, fail: 2 },
      { id: 'service:sendgrid', kind: 'service', isMine: true, mark: null, fail: 0 },
    ])
  })

  it('keep their mark until it is removed, and only for their domain', async () => {
    const { sendersNow, mark } = await reported()
    const markOf = async (id: string) => (await sendersNow()).find((one) => one.id === id)
    expect((await mark('service:sendgrid', 'not-mine')).status).toBe(200)
    expect((await mark('service:sendgrid', 'forwarder')).status).toBe(200)
    expect(await markOf('service:sendgrid')).toMatchObject({ mark: 'forwarder', isMine: false })
    expect((await mark('service:sendgrid', null)).status).toBe(200)
    expect(await markOf('service:sendgrid')).toMatchObject({ mark: null, isMine: true })
    expect((await mark('service:sendgrid', 'ours')).status).toBe(400)
    expect((await mark('%00', 'mine')).status).toBe(400)
    const bob = await portreeve.addPerson('Bob')
    expect((await mark('service:sendgrid', 'mine', bob.token)).status).toBe(404)
  })
})

describe('readiness', () => {
  const WINDOW = { from: '2026-10-23', to: '2026-11-21', endsToday: true }
  const facts = (over: Partial<ReadinessFacts> = {}): ReadinessFacts => ({
    messages: 41_310,
    aligned: 41_310,
    window: { ...WINDOW, daysWithMail: 30 },
    newestDay: WINDOW.to,
    published: 'none',
    senders: [sender('SendGrid', 41_310, 41_310)],
    affected: [],
    ...over,
  })
  const sender = (
    name: string,
    messages: number,
    pass: number,
    mark: SenderMark | null = null,
  ): Sender => ({
    id: `host:${name}`,
    name,
    kind: 'organization',
    docs: null,
    mark,
    isMine: mark === 'mine' || (mark === null && pass > 0),
    sources: 1,
    messages,
    pass,
    fail: messages - pass,
  })

  it('has no verdict on a domain without mail', () => {
    expect(evaluateReadiness(facts({ messages: 0, aligned: 0 }))).toMatchObject({
      verdict: 'no-data',
      passRate: null,
      sentence: 'No messages in the last 30 days. The newest report covers 2026-11-21.',
    })
  })
  it('says when its window ends before today', () => {
    const window = { ...WINDOW, daysWithMail: 30, endsToday: false }
    expect(evaluateReadiness(facts({ window })).sentence).toContain(
      'in the 30 days until 2026-11-21',
    )
  })
  it('requires a week and a hundred messages', () => {
    const sentenceOf = (daysWithMail: number, messages: number) =>
      evaluateReadiness(facts({ window: { ...WINDOW, daysWithMail }, messages, aligned: messages }))
        .sentence
    expect(sentenceOf(6, 400)).toMatch(
      /^One more day of mail, then we can tell whether p=quarantine is safe\. 100\.0% of 400/,
    )
    expect(sentenceOf(4, 60)).toMatch(/^3 more days of mail and 40 more messages, then we can tell/)
    expect(sentenceOf(7, 100)).toMatch(/^Safe to move/)
  })
  it('never rounds up to 100%', () => {
    const senders = [sender('SendGrid', 41_310, 41_309)]
    expect(evaluateReadiness(facts({ aligned: 41_309, senders })).sentence).toBe(
      'Safe to move to p=quarantine: your sender passes. 1 message of yours would still be affected. 99.9% of 41,310 messages in the last 30 days passed.',
    )
  })
  it('evaluates the next policy, except after the last', () => {
    expect(evaluateReadiness(facts({ published: 'quarantine' })).sentence).toContain(
      'Safe to move to p=reject: your sender passes.',
    )
    expect(evaluateReadiness(facts({ published: 'reject' }))).toMatchObject({
      verdict: 'enforced',
      policy: null,
    })
  })
  it('is not given while a sender of the owner fails, and names it', () => {
    const senders = [sender('SendGrid', 400, 369), sender('Mine', 40_910, 40_910)]
    expect(evaluateReadiness(facts({ aligned: 41_279, senders }))).toMatchObject({
      verdict: 'not-ready',
      sentence: expect.stringMatching(
        /^1 of your 2 senders fails: SendGrid \(31 of 400 messages\)\./,
      ),
    })
  })
  it('waits for marks where much mail comes from unknown sources, and follows them', () => {
    const mine = sender('Mine', 31_310, 31_310)
    const spoofed = (mark: SenderMark | null) => [mine, sender('192.0.2.1', 10_000, 0, mark)]
    const verdictOf = (mark: SenderMark | null) =>
      evaluateReadiness(facts({ aligned: 31_310, senders: spoofed(mark) }))
    expect(verdictOf(null)).toMatchObject({
      verdict: 'not-ready',
      sentence: expect.stringMatching(
        /^192\.0\.2\.1 sent 10,000 messages that all fail\. Is it yours\? Everything else passes\./,
      ),
      undecided: [{ id: 'host:192.0.2.1', name: '192.0.2.1', messages: 10_000, fail: 10_000 }],
    })
    expect(verdictOf('not-mine').verdict).toBe('ready')
    expect(verdictOf('forwarder').verdict).toBe('ready')
    expect(verdictOf('mine')).toMatchObject({
      verdict: 'not-ready',
      sentence: expect.stringContaining('1 of your 2 senders fails: 192.0.2.1'),
    })
  })
  it('is not given where no sender of the owner passes', () => {
    const senders = [sender('192.0.2.1', 41_310, 0, 'not-mine')]
    expect(evaluateReadiness(facts({ aligned: 0, senders })).sentence).toContain(
      'No sender of yours passes',
    )
  })
})

describe('the months of a summary', () => {
  it.each([
    ['2025-11-22', '2026-11-21', '2025-12-01', '2026-11-01'],
    ['2026-01-01', '2026-01-31', '2026-01-01', '2026-02-01'],
    ['2026-02-01', '2026-02-27', '2026-02-01', '2026-02-01'],
    ['2026-01-02', '2026-02-27', '2026-01-02', '2026-01-02'],
    ['2024-12-31', '2025-12-31', '2025-01-01', '2026-01-01'],
  ])('from %s to %s are the months completely in it', (from, to, first, before) => {
    expect(wholeMonths({ from, to })).toEqual({ from: first, before })
  })
})

describe('the days of a summary', () => {
  const now = new Date('2026-11-21T10:00:00Z')
  it('are the last thirty by default, including today', () => {
    expect(parseRange({}, now)).toEqual({ from: '2026-10-23', to: '2026-11-21' })
  })
  it('end before a midnight given as a time', () => {
    const range = parseRange({ from: '2026-11-01T00:00:00Z', to: '2026-11-11T00:00:00.000Z' }, now)
    expect(range).toEqual({ from: '2026-11-01', to: '2026-11-10' })
  })
  it('are limited to the retention of reports', () => {
    expect(() => parseRange({ from: '2001-01-01' }, now)).toThrow(/days before to/)
  })
})
