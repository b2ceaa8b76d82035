import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { DnsServer } from '../servers/dns.ts'
import type { Sink } from '../servers/mail-sink.ts'
import { startPlace } from './place.ts'
import type { MonitoringTest } from './module.ts'

let dns: DnsServer
let sink: Sink
let portreeve: MonitoringTest
let stop: () => Promise<void>

let test = 0
/** A domain of the test's own. */
let shop = ''

beforeAll(async () => {
  ;({ portreeve, dns, sink, stop } = await startPlace())
})
afterAll(() => stop())
beforeEach(async () => {
  test += 1
  shop = `shop${test}.test`
  dns.records[`${shop} A`] = ['8.8.4.4']
  dns.records[`${shop} MX`] = ['10 mail.shop.test']
  dns.records[`${shop} TXT`] = ['v=spf1 mx -all']
  dns.records[`_dmarc.${shop} TXT`] = ['v=DMARC1; p=reject']
  sink.mails.length = 0
  await portreeve.become(`Alice${test}`)
})

async function watched() {
  const host = await portreeve.add(shop, { tlsPorts: [] })
  await portreeve.seen(host, ({ records }) => records.length >= 7)
  await portreeve.checked(host)
  return host
}

describe('the DNS records of a monitored domain', () => {
  it('raise no alert at the first check, and one alert for all simultaneous changes, with old and new values', async () => {
    const host = await watched()
    expect(await portreeve.alertTitles()).toEqual([])
    dns.records[`${shop} MX`] = ['10 mx.thief.test']
    dns.records[`_dmarc.${shop} TXT`] = ['v=DMARC1; p=none']
    await portreeve.seen(host, ({ records }) =>
      records.some(({ values }) => values.includes('10 mx.thief.test')),
    )
    await portreeve.checked(host, 4)
    const titles = await portreeve.alertTitles()
    expect(titles.every((title) => title.startsWith(`DNS records of ${shop} changed`))).toBe(true)
    const text = sink.mails.map((mail) => mail.text ?? '').join('\n')
    expect(text).toContain(`${shop} MX\n  before: 10 mail.shop.test\n  now:    10 mx.thief.test`)
    expect(text).toContain(
      `_dmarc.${shop} TXT\n  before: v=DMARC1; p=reject\n  now:    v=DMARC1; p=none`,
    )
    expect(text.split('now:    10 mx.thief.test')).toHaveLength(2)
    expect(
      (await portreeve.history(host, 'kind=dns'))
        .map(({ name, from, to }) => `${name}: ${from} → ${to}`)
        .toSorted(),
    ).toEqual([
      `_dmarc.${shop} TXT: v=DMARC1; p=reject → v=DMARC1; p=none`,
      `${shop} MX: 10 mail.shop.test → 10 mx.thief.test`,
    ])
  })

  it('do not change when a server fails to answer or changes their order', async () => {
    dns.records[`${shop} A`] = ['8.8.4.4', '8.8.8.8']
    const host = await watched()
    dns.behaviours[`${shop} MX`] = 'SERVFAIL'
    dns.behaviours[`_dmarc.${shop} TXT`] = 'REFUSED'
    dns.records[`${shop} A`] = ['8.8.8.8', '8.8.4.4']
    await portreeve.checked(host, 4)
    expect(await portreeve.alertTitles()).toEqual([])
    expect(await portreeve.history(host)).toEqual([])
  })

  it('are only the CNAME where the name has one', async () => {
    dns.records[`www.${shop} CNAME`] = ['edge.cdn.test']
    dns.records['edge.cdn.test A'] = ['8.8.4.4']
    const host = await portreeve.add(`www.${shop}`, { tlsPorts: [] })
    const { records } = await portreeve.seen(host, (seen) => seen.records.length > 0)
    expect(records.find(({ type }) => type === 'CNAME')?.values).toEqual(['edge.cdn.test'])
    dns.records['edge.cdn.test A'] = ['8.8.8.8']
    await portreeve.checked(host, 4)
    expect(await portreeve.alertTitles()).toEqual([])
  })

  it('that keep changing raise three alerts, the last one saying so, and then only history entries', async () => {
    const host = await watched()
    for (const turn of [1, 2, 3, 4]) {
      dns.records[`${shop} TXT`] = [`turn ${turn}`]
      await portreeve.seen(host, ({ records }) =>
        records.some(({ values }) => values.includes(`turn ${turn}`)),
      )
    }
    await portreeve.checked(host)
    expect(await portreeve.alertTitles()).toHaveLength(3)
    expect(sink.mails.at(-1)?.text).toContain('changes often')
    expect(await portreeve.history(host, 'kind=dns')).toHaveLength(4)
  })
})
