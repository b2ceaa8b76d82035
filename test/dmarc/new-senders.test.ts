import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { raiseAlert } from '../../src/alerts/raise.ts'
import { startDmarc, type DmarcTest, type Person } from './module.ts'
import { aggregate, daysAgo, type Row } from './reports.ts'

let portreeve: DmarcTest
let alice: Person
let id: string

beforeAll(async () => {
  portreeve = await startDmarc({ raiseAlert })
})
afterAll(() => portreeve.stop())
beforeEach(async () => {
  await portreeve.pool.query(
    'delete from workspace; delete from account; delete from dmarc_address',
  )
  alice = await portreeve.addPerson('Alice')
  ;({ id } = await portreeve.addDomain(alice.token))
})

const FAILS = { dkim: 'fail', spf: 'fail' } as const

async function report(days: number, ...rows: Row[]): Promise<void> {
  await portreeve.upload(alice.token, aggregate({ begin: daysAgo(days), rows }))
}

/** Names the addresses, and compares the senders. */
async function pass(names: Record<string, string> = {}): Promise<void> {
  await portreeve.run('dmarc.names')
  for (const [address, name] of Object.entries(names))
    await portreeve.pool.query(
      'update dmarc_address set reverse_name = $2, confirmed = true where address = $1',
      [address, name],
    )
  await portreeve.run('dmarc.new-senders')
}

async function alerts() {
  const { rows } = await portreeve.pool.query<{
    kind: string
    phase: string
    severity: string
    title: string
    text: string
  }>('select kind, phase, severity, title, text from alert order by id')
  return rows
}

describe('a sender that a domain never had before', () => {
  beforeEach(async () => {
    await report(20, { ip: '192.0.2.1', count: 5 }, { ip: '192.0.2.2', count: 1, ...FAILS })
    await pass()
  })

  it('raises one alert: info when it passes, a warning when it fails', async () => {
    await report(1, { ip: '192.0.2.1', count: 50 }, { ip: '192.0.2.2', count: 90, ...FAILS })
    await pass()
    expect(await alerts()).toEqual([])
    await report(1, { ip: '198.51.100.1', count: 1 })
    await pass({ '198.51.100.1': 'o1.mail.example.net' })
    await pass()
    expect(await alerts()).toMatchObject([
      {
        kind: 'dmarc.new-sender',
        phase: 'once',
        severity: 'info',
        title: 'New sender for example.test: example.net',
        text: expect.stringContaining('- example.net: 1 message, 100.0% passed DMARC'),
      },
    ])
    await report(1, { ip: '198.51.100.2', count: 6, ...FAILS })
    await pass()
    expect(await alerts()).toHaveLength(1)
    await report(2, { ip: '198.51.100.2', count: 6, ...FAILS })
    await report(2, { ip: '198.51.100.1', count: 500 })
    await pass()
    expect((await alerts()).slice(1)).toMatchObject([
      { severity: 'warning', title: 'New sender for example.test: 198.51.100.2' },
    ])
  })

  it('is in one alert with the others that came with it', async () => {
    await report(
      1,
      { ip: '198.51.100.1', count: 30, ...FAILS },
      { ip: '198.51.100.2', count: 20 },
      { ip: '198.51.100.3', count: 9, ...FAILS },
    )
    await pass()
    const [alert, ...others] = await alerts()
    expect(others).toEqual([])
    expect(alert).toMatchObject({ severity: 'warning', title: '2 new senders for example.test' })
    expect(alert?.text).toMatch(/- 198\.51\.100\.1: 30 .*\n- 198\.51\.100\.2: 20 /)
  })

  it.each(['mine', 'not-mine', 'forwarder'])('raises none when it is marked %s', async (mark) => {
    const { status } = await portreeve.ask(`domains/${id}/senders/ip:198.51.100.1`, {
      token: alice.token,
      method: 'PUT',
      body: { mark },
    })
    expect(status).toBe(200)
    await report(1, { ip: '198.51.100.1', count: 30 })
    await pass()
    expect(await alerts()).toEqual([])
  })

  it('raises none when it only forwarded mail', async () => {
    const reason = { type: 'forwarded' }
    await report(1, { ip: '198.51.100.1', count: 30, ...FAILS, reason })
    await pass()
    expect(await alerts()).toEqual([])
  })

  it('raises none before its name was looked up', async () => {
    await report(1, { ip: '198.51.100.1', count: 30 })
    await portreeve.run('dmarc.new-senders')
    expect(await alerts()).toEqual([])
    await pass({ '198.51.100.1': 'o1.mail.example.net' })
    expect((await alerts()).map(({ title }) => title)).toEqual([
      'New sender for example.test: example.net',
    ])
  })
})

it('raises no alert about the senders of the first seven days', async () => {
  await report(3, { ip: '192.0.2.1', count: 50 })
  await pass()
  await report(1, { ip: '198.51.100.1', count: 50 })
  await pass()
  expect(await alerts()).toEqual([])
  await portreeve.pool.query('update dmarc_reporter_day set day = day - 5')
  await report(1, { ip: '198.51.100.1', count: 50 }, { ip: '198.51.100.2', count: 50 })
  await pass()
  expect((await alerts()).map(({ title }) => title)).toEqual([
    'New sender for example.test: 198.51.100.2',
  ])
})
