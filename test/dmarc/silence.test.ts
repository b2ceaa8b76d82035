import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { raiseAlert, raiseResolved } from '../../src/alerts/raise.ts'
import { mapResolver } from '../resolver.ts'
import { startDmarc, type DmarcTest, type Person } from './module.ts'
import { aggregate, daysAgo } from './reports.ts'

const records: Record<string, string[]> = {}
let portreeve: DmarcTest
let alice: Person
let domain: Awaited<ReturnType<DmarcTest['addDomain']>>

beforeAll(async () => {
  portreeve = await startDmarc({ raiseAlert, raiseResolved, resolver: mapResolver(records) })
})
afterAll(() => portreeve.stop())
beforeEach(async () => {
  await portreeve.pool.query('delete from workspace; delete from account; delete from dmarc_watch')
  for (const key of Object.keys(records)) Reflect.deleteProperty(records, key)
  alice = await portreeve.addPerson('Alice')
  domain = await portreeve.addDomain(alice.token)
  await portreeve.run('dmarc.silence')
  await watchedFor(4)
})

const pass = () => portreeve.run('dmarc.silence')
const watchedFor = (days: number) =>
  portreeve.pool.query(`update dmarc_watch set watched_since = now() - interval '${days} days'`)

/** Reports on so many days, the last of them received so many days ago. */
async function reported(days: number, ago: number): Promise<void> {
  for (let n = 0; n < days; n++)
    await portreeve.upload(alice.token, aggregate({ begin: daysAgo(ago + n) }))
  await portreeve.pool.query(
    `update dmarc_report set received_at = now() - interval '${ago} days 1 hour'`,
  )
}

async function alerts() {
  const { rows } = await portreeve.pool.query<{
    kind: string
    phase: string
    severity: string
    title: string
    text: string
    nextStep: string
    isOpen: boolean | null
  }>(
    `select a.kind, a.phase, a.severity, a.title, a.text, a.next_step as "nextStep",
      i.resolved_at is null as "isOpen"
    from alert a left join alert_incident i on i.id = a.incident_id order by a.id`,
  )
  return rows
}

describe('a domain with regular reports', () => {
  it('raises one alert after three days without, and one with the duration when they return', async () => {
    await reported(11, 2)
    await pass()
    expect(await alerts()).toEqual([])
    await portreeve.pool.query(`update dmarc_report set received_at = now() - interval '73 hours'`)
    await pass()
    await pass()
    const [alert, ...others] = await alerts()
    expect(others).toEqual([])
    expect(alert).toMatchObject({
      kind: 'dmarc.silent',
      phase: 'open',
      severity: 'warning',
      title: 'No DMARC reports about example.test for three days',
      isOpen: true,
    })
    expect(alert?.text).toContain('example.test has no DMARC record with an address for reports')
    expect(alert?.nextStep).not.toBe('')

    await portreeve.upload(alice.token, aggregate())
    await pass()
    await pass()
    expect((await alerts()).slice(1)).toMatchObject([
      {
        kind: 'dmarc.resumed',
        phase: 'resolved',
        severity: 'info',
        text: expect.stringMatching(/after 3 days without reports\.$/),
        isOpen: false,
      },
    ])
  })

  it('says whether record, address and mailboxes are in order', async () => {
    records['_dmarc.example.test TXT'] = [`v=DMARC1; p=none; rua=mailto:${domain.reportEmail}`]
    await reported(10, 4)
    await portreeve.pool.query(`update dmarc_delivery set via = 'smtp'`)
    await portreeve.pool.query(
      `insert into dmarc_mailbox (workspace_id, host, port, secure, tls_verify, username, sealed, folder, failing_since)
      values ($1, 'imap.example.test', 993, true, true, 'reports@example.test', '', 'INBOX', now())`,
      [alice.id],
    )
    await pass()
    const [alert] = await alerts()
    expect(alert?.text).toContain(`The DMARC record sends reports to ${domain.reportEmail}.`)
    expect(alert?.text).toMatch(/the record example\.test\._report\._dmarc\.\S+ is missing/)
    expect(alert?.text).toContain('The report mailbox reports@example.test can’t be read since')
  })

  it('raises no alert when it had few reports, or when the silence is an old one', async () => {
    await reported(9, 4)
    await pass()
    expect(await alerts()).toEqual([])
    await reported(12, 40)
    await pass()
    expect(await alerts()).toEqual([])
  })

  it('raises no alert for the time in which the service itself was down', async () => {
    await reported(10, 4)
    await portreeve.pool.query(`update dmarc_watch set last_pass_at = now() - interval '4 hours'`)
    await pass()
    expect(await alerts()).toEqual([])
    await watchedFor(4)
    await pass()
    expect(await alerts()).toHaveLength(1)
  })
})
