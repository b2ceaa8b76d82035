import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mapResolver } from '../resolver.ts'
import { aggregate, daysAgo, type Row } from './reports.ts'
import { startDmarc, type DmarcTest, type Person } from './module.ts'

const dayText = (days: number) => new Date(daysAgo(days) * 1000).toISOString().slice(0, 10)

describe('the daily counts by sender', () => {
  let portreeve: DmarcTest
  let alice: Person
  let id: string

  beforeAll(async () => {
    const resolver = mapResolver({
      '1.2.0.192.in-addr.arpa PTR': ['out-1.sendgrid.net'],
      'out-1.sendgrid.net A': ['192.0.2.1'],
      '2.2.0.192.in-addr.arpa PTR': ['out-2.sendgrid.net'],
      'out-2.sendgrid.net A': ['192.0.2.2'],
    })
    portreeve = await startDmarc({ resolver })
  })
  afterAll(() => portreeve.stop())
  beforeEach(async () => {
    alice = await portreeve.addPerson('Alice')
    ;({ id } = await portreeve.addDomain(alice.token))
  })

  const report = (rows: Row[], spec = {}) =>
    portreeve.upload(alice.token, aggregate({ rows, ...spec }))
  const ask = (query = '', by = alice) => portreeve.ask(`domains/${id}/senders/daily${query}`, by)

  it('join the addresses of one service, without days on which it sent nothing', async () => {
    const failing = { dkim: 'fail', spf: 'fail' } as const
    await report([{ count: 10 }, { ip: '192.0.2.2', count: 4, ...failing }], {
      begin: daysAgo(5),
    })
    await report([{ count: 6 }, { ip: '203.0.113.9', count: 1, ...failing }], {
      begin: daysAgo(2),
    })
    await portreeve.run('dmarc.names')
    const { data } = (await ask()).body
    expect(data.days).toEqual([
      { day: dayText(5), messages: 14, pass: 10 },
      { day: dayText(2), messages: 7, pass: 6 },
    ])
    expect(data.senders).toMatchObject([
      {
        id: 'service:sendgrid',
        messages: 20,
        pass: 16,
        days: [
          { day: dayText(5), messages: 14, pass: 10 },
          { day: dayText(2), messages: 6, pass: 6 },
        ],
      },
      { id: 'ip:203.0.113.9', days: [{ day: dayText(2), messages: 1, pass: 0 }] },
    ])
    expect(data.others).toEqual({ messages: 0, pass: 0, days: [] })
  })

  it('show eight senders, and all others as one', async () => {
    const rows = Array.from({ length: 11 }, (_, n) => ({ ip: `198.51.100.${n}`, count: 100 - n }))
    await report(rows, { begin: daysAgo(1) })
    const { data } = (await ask()).body
    expect(data.senders.map(({ messages }: { messages: number }) => messages)).toEqual([
      100, 99, 98, 97, 96, 95, 94, 93,
    ])
    expect(data.others).toEqual({
      messages: 92 + 91 + 90,
      pass: 92 + 91 + 90,
      days: [{ day: dayText(1), messages: 273, pass: 273 }],
    })
  })

  it('are empty without reports, and limited to the asked days', async () => {
    expect((await ask()).body.data).toMatchObject({ days: [], senders: [] })
    await report([{ count: 3 }], { begin: daysAgo(9) })
    const { data } = (await ask(`?from=${dayText(3)}&to=${dayText(1)}`)).body
    expect(data).toMatchObject({ from: dayText(3), to: dayText(1), days: [], senders: [] })
  })

  it('cover reports of any age', async () => {
    await report([{ count: 3 }], { begin: Date.parse('1979-08-07T00:00:00Z') / 1000 })
    const { data } = (await ask('?period=all')).body
    expect(data).toMatchObject({ from: '1979-08-07', days: [{ day: '1979-08-07', messages: 3 }] })
    expect(data.senders).toMatchObject([{ messages: 3, days: [{ day: '1979-08-07' }] }])
  })

  it('are hidden from other accounts', async () => {
    const charlie = await portreeve.addPerson('Charlie')
    expect((await ask('', charlie)).status).toBe(404)
  })
})
