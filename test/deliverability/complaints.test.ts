import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ComplaintSummary } from '../../src/deliverability/complaints/shapes.ts'
import { complaintRatesJob } from '../../src/deliverability/complaints/complaint-jobs.ts'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { freePort } from '../free-port.ts'
import { jobContext } from '../jobs/context.ts'
import { accountOn, fill } from '../migration/mailbox.ts'
import { publicKeyOf, signedMail } from '../protocols/mail/signed-mail.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { swaks } from '../servers/swaks.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { complaintBody, complaintFields } from './complaint-mail.ts'

type Answer<T> = { status: number; data: T }

const WAIT = { timeout: 60_000, interval: 50 }

const RECORDS = {
  'arf.mail.yahoo.com A': ['127.0.0.1'],
  '_dmarc.yahoo.com TXT': ['v=DMARC1; p=reject'],
  '_dmarc.arf.mail.yahoo.com TXT': [],
  's1._domainkey.yahoo.com TXT': [`v=DKIM1; p=${publicKeyOf('rsa')}`],
}

type Given = {
  header?: string[]
  report?: string[]
  type?: string
  isSigned?: boolean
}

/** A complaint of Yahoo’s feedback loop. */
function yahooMail({
  header = ['From: Shop <news@example.com>', 'Subject: Offers 12'],
  report = ['Source-IP: 192.0.2.7', 'Original-Rcpt-To: anna@yahoo.com'],
  type = 'abuse',
  isSigned = true,
}: Given = {}): string {
  const mail = [...header, '', 'A private text.', ''].join('\r\n')
  return signedMail({
    fields: complaintFields('Yahoo! Mail AntiSpam Feedback <feedback@arf.mail.yahoo.com>'),
    body: complaintBody({ type, report, mail }),
    signatures: isSigned ? [{ tags: { d: 'yahoo.com', s: 's1', h: 'from:to:subject:date' } }] : [],
  })
}

describe('complaints', () => {
  let service: TestService
  let dns: DnsServer
  let port: number
  let alice: Person
  let opened: Database
  let database: Database['pool']

  beforeAll(async () => {
    dns = await startDns({ records: RECORDS })
    port = await freePort()
    service = await startTestService({
      SMTP_LISTEN: `127.0.0.1:${port}`,
      REPORT_DOMAIN: 'reports.test',
      DNS_SERVERS: `127.0.0.1:${dns.port}`,
      DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
    })
    opened = openDatabase(service.databaseUrl)
    database = opened.pool
  })
  afterAll(async () => {
    await opened.close()
    await service.stop()
    await dns.close()
  })
  beforeEach(async () => {
    alice = await service.addPerson('Alice')
  })

  async function ask<T>(path: string, method = 'GET', token = alice.token): Promise<Answer<T>> {
    const response = await service.request(`/api/v1/complaints${path}`, { method, token })
    return { status: response.status, data: ((await response.json()) as { data: T }).data }
  }
  const summary = async (search = '') => (await ask<ComplaintSummary>(search)).data
  const createAddress = async () =>
    (await ask<{ address: string }>('/address', 'POST')).data.address
  const send = (address: string, mail: string) =>
    swaks(port, address, mail, '--from', 'feedback@arf.mail.yahoo.com')
  async function complain(address: string, given: Given = {}): Promise<void> {
    const sent = await send(address, yahooMail(given))
    expect(sent.code, sent.transcript).toBe(0)
  }

  it('are grouped by provider, source, domain and campaign', async () => {
    const address = await createAddress()
    expect(address).toMatch(/^f[a-z2-7]{17}@reports\.test$/)
    await complain(address)
    await complain(address, { report: ['Source-IP: 192.0.2.7', 'Original-Rcpt-To: b@yahoo.com'] })
    await complain(address, {
      header: ['From: x@mail.example.com', 'Subject: X', 'List-Id: Offers <Offers.example.com>'],
      report: ['Source-IP: 2001:db8::1'],
    })
    await complain(address, { header: ['From: c@other.test', 'Subject: Other'], report: [] })
    await complain(address, { type: 'not-spam', report: ['Source-IP: 192.0.2.7'] })
    const all = await summary()
    expect(all.providers).toMatchObject([
      { provider: 'yahoo', name: 'Yahoo (CFL)', complaints: 4, notSpam: 1, unverified: 0 },
    ])
    expect(all.domains.map(({ domain, complaints }) => [domain, complaints])).toEqual([
      ['example.com', 2],
      ['mail.example.com', 1],
      ['other.test', 1],
    ])
    const own = await summary('?domain=example.com')
    expect(own.sources).toMatchObject([
      { source: '192.0.2.7', complaints: 2, recipients: 2 },
      { source: '2001:db8::1', complaints: 1, recipients: null },
    ])
    expect(own.campaigns).toMatchObject([
      { kind: 'subject', campaign: expect.stringMatching(/^[\da-f]{10}$/), complaints: 2 },
      { kind: 'list', campaign: 'offers.example.com', complaints: 1 },
    ])
    expect(own.providers[0]).toMatchObject({ complaints: 3, messages: null, rate: null })
  })

  it('store neither the mail nor who complained', async () => {
    const address = await createAddress()
    await complain(address, { header: ['From: n@example.com', 'Subject: Dear Anna Private'] })
    const { rows } = await database.query<{ row: string }>(
      `select (to_jsonb(c) || to_jsonb(a))::text as row from complaint c
       join complaint_address a using (workspace_id) where workspace_id = $1`,
      [alice.id],
    )
    expect(rows).toHaveLength(1)
    expect(rows[0]?.row).not.toMatch(/private|anna@|YW5uYQ|Dear/i)
  })

  it('count once, however often their mail is delivered', async () => {
    const address = await createAddress()
    const mail = yahooMail()
    for (let count = 0; count < 2; count++) expect((await send(address, mail)).code).toBe(0)
    expect((await summary()).providers).toMatchObject([{ complaints: 1 }])
  })

  it('count apart when the provider did not sign them', async () => {
    const address = await createAddress()
    await complain(address, { isSigned: false })
    expect((await summary()).providers).toMatchObject([
      { provider: 'yahoo', complaints: 0, unverified: 1, firstDay: null, days: [] },
    ])
  })

  it('know nothing before the first one, and no zero', async () => {
    const empty = await summary()
    expect(empty).toMatchObject({ address: null, providers: [], sources: [] })
    const address = await createAddress()
    await complain(address)
    const today = new Date().toISOString().slice(0, 10)
    expect((await summary()).providers[0]).toMatchObject({
      firstDay: today,
      days: [{ day: today, complaints: 1, messages: null }],
    })
    // Of another domain, the provider would have reported.
    expect((await summary('?domain=unknown.test')).providers).toMatchObject([
      { provider: 'yahoo', complaints: 0, days: [{ complaints: 0 }] },
    ])
  })

  it('show another mail to the address, as a provider may ask to confirm it', async () => {
    const address = await createAddress()
    const mail = 'From: Yahoo <help@yahoo.test>\r\nSubject: Confirm 1234\r\n\r\nHello\r\n'
    expect((await send(address, mail)).code).toBe(0)
    expect((await summary()).address).toMatchObject({
      otherMails: 1,
      otherFrom: 'Yahoo <help@yahoo.test>',
      otherSubject: 'Confirm 1234',
    })
  })

  it('have one address for a workspace, until it is deleted', async () => {
    const address = await createAddress()
    expect(await createAddress()).toBe(address)
    await complain(address)
    expect((await ask('/address', 'DELETE')).status).toBe(200)
    expect((await ask('/address', 'DELETE')).status).toBe(404)
    expect((await send(address, yahooMail())).transcript).toContain('550 5.1.1')
    expect((await summary()).providers).toMatchObject([{ complaints: 1 }])
    expect(await createAddress()).not.toBe(address)
  })

  it('are seen by their workspace alone', async () => {
    const address = await createAddress()
    await complain(address)
    const charlie = await service.addPerson('Charlie')
    const seen = await ask<ComplaintSummary>('', 'GET', charlie.token)
    expect(seen.data).toMatchObject({ address: null, providers: [], sources: [], campaigns: [] })
    expect((await ask('/address', 'DELETE', charlie.token)).status).toBe(404)
    expect((await ask('?domain=192.0.2.1')).status).toBe(400)
  })

  it('are taken from a report mailbox, where there is no port 25', async () => {
    const server = await startDovecot()
    const post = (path: string, body?: object) =>
      service.request(path, {
        method: 'POST',
        token: alice.token,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    try {
      await server.addUser('reports', 'secret')
      const login = { host: '127.0.0.1', port: server.port, user: 'reports', password: 'secret' }
      await post('/api/v1/dmarc/mailboxes', { ...login, secure: false })
      await createAddress()
      await fill(accountOn(server.port, 'reports'), { INBOX: [{ body: yahooMail() }] })
      const mailboxes = await service.request('/api/v1/dmarc/mailboxes', { token: alice.token })
      const { data } = (await mailboxes.json()) as { data: { id: string }[] }
      await post(`/api/v1/dmarc/mailboxes/${data[0]?.id}/fetch`)
      await vi.waitFor(async () => {
        expect((await summary()).providers).toMatchObject([{ provider: 'yahoo', complaints: 1 }])
      }, WAIT)
    } finally {
      await server.stop()
    }
  })

  describe('of a domain with DMARC reports', () => {
    async function rateOf(counts: { ago: number; complaints: number; messages: number | null }[]) {
      for (const { ago, complaints, messages } of counts) {
        await database.query(
          `insert into complaint (workspace_id, fingerprint, provider, is_verified, type, incidents, domain, received_at)
           select $1, sha256(random()::text::bytea), 'yahoo', true, 'abuse', 1, 'example.com',
             ((now() at time zone 'utc')::date - $2::int)::timestamp at time zone 'utc'
           from generate_series(1, $3::int)`,
          [alice.id, ago, complaints],
        )
        if (messages === null) continue
        await database.query(
          `insert into dmarc_reporter_day (domain_id, day, reporter, reports, messages, aligned, dkim, spf, forwarded, quarantined, rejected)
           select id, (now() at time zone 'utc')::date - $2::int, 'Yahoo', 1, $3, 0, 0, 0, 0, 0, 0
           from dmarc_domain where workspace_id = $1`,
          [alice.id, ago, messages],
        )
      }
      await complaintRatesJob({ db: opened.db }).run({}, jobContext())
    }
    async function alerts() {
      const { rows } = await database.query<Record<string, string>>(
        'select kind, phase, severity, title, path from alert where workspace_id = $1 order by id',
        [alice.id],
      )
      return rows
    }
    beforeEach(async () => {
      const response = await service.request('/api/v1/dmarc/domains', {
        method: 'POST',
        token: alice.token,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ domain: 'example.com' }),
      })
      expect(response.status).toBe(201)
    })

    it('raise an alert at 0.1%, another at 0.3%, and end it below', async () => {
      await rateOf([{ ago: 3, complaints: 3, messages: 3_001 }])
      expect(await alerts()).toEqual([])
      await rateOf([{ ago: 2, complaints: 5, messages: 3_000 }])
      await rateOf([])
      expect(await alerts()).toMatchObject([
        {
          kind: 'deliverability.spam-rate',
          phase: 'open',
          severity: 'warning',
          title: 'The spam rate of example.com is 0.13% at Yahoo (CFL)',
          path: '/domains/example.com/deliverability',
        },
      ])
      expect((await summary('?domain=example.com')).providers).toMatchObject([
        { complaints: 8, messages: 6_001, alert: 'raised' },
      ])
      await rateOf([{ ago: 1, complaints: 12, messages: 100 }])
      expect((await alerts()).slice(1)).toMatchObject([{ phase: 'update', severity: 'error' }])
      await database.query(`update dmarc_reporter_day set messages = messages * 1000`)
      await rateOf([])
      expect((await alerts()).slice(2)).toMatchObject([
        { kind: 'deliverability.spam-rate-normal', phase: 'resolved', severity: 'info' },
      ])
    })

    it('have no rate on days that no report of the provider covers', async () => {
      await rateOf([{ ago: 2, complaints: 50, messages: null }])
      expect(await alerts()).toEqual([])
      expect((await summary('?domain=example.com')).providers).toMatchObject([
        { complaints: 50, messages: null, rate: null, alert: null },
      ])
    })

    it('keep an alert while nothing is known, and close it after 30 days without data', async () => {
      await rateOf([{ ago: 2, complaints: 10, messages: 1_000 }])
      await database.query('delete from dmarc_reporter_day')
      await rateOf([])
      expect(await alerts()).toMatchObject([{ phase: 'open', severity: 'error' }])
      await database.query(`update spam_rate_alert set known_at = now() - interval '31 days'`)
      await rateOf([])
      expect((await alerts()).slice(1)).toMatchObject([
        { phase: 'resolved', title: 'Closed: the spam rate of example.com is unknown' },
      ])
    })
  })
})
