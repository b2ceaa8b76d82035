import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_SNDS_BYTES } from '../../src/deliverability/limits.ts'
import { endingAccessesJob } from '../../src/deliverability/provider-access/statistics-jobs.ts'
import type { PostmasterAccess } from '../../src/deliverability/postmaster/shapes.ts'
import type { SndsAccess } from '../../src/deliverability/snds/shapes.ts'
import type { SpamRates } from '../../src/deliverability/spam-rates/shapes.ts'
import { jobContext } from '../jobs/context.ts'
import { googleError, SNDS_LINKS } from '../servers/provider-statistics.ts'
import { startStatisticsService, type StatisticsService } from './statistics-service.ts'

type Answer<T> = { status: number; data: T; error: string; text: string }

const dayBefore = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
/** As SNDS writes a time. */
const usTime = (days: number) => {
  const [year, month, day] = dayBefore(days).split('-').map(Number)
  return `${month}/${day}/${year} 1:00 AM`
}
const sndsLine = (address: string, filter: string, rate: string, days = 1) =>
  `${address},${usTime(days)},${usTime(days)},1200,1100,1100,${filter},${rate},,,0,mx.example.com,news@example.com,\r\n`

const TABLES = [
  'postmaster_access',
  'postmaster_domain',
  'postmaster_day',
  'mail_consent',
  'mail_credential',
  'snds_access',
  'snds_alert',
  'snds_block',
  'snds_day',
  'spam_rate_alert',
  'alert',
  'alert_incident',
  'watched_domain',
]

describe('statistics of providers', () => {
  let running: StatisticsService
  let { fake, service, database, alice, browser, alerts } = {} as StatisticsService

  beforeAll(async () => {
    running = await startStatisticsService()
    ;({ fake, service, database, alice, browser, alerts } = running)
  })
  afterAll(() => running?.stop())
  beforeEach(async () => {
    for (const table of TABLES) await database.query(`delete from ${table}`)
    Object.assign(fake.state, {
      stats: {},
      compliance: {},
      answers: {},
      tokenError: null,
      scope: 'openid email https://www.googleapis.com/auth/postmaster.traffic.readonly',
      person: 'alice',
      rejectedTokens: 0,
      pageSize: 200,
      endlessPages: false,
      unknownMetrics: [],
      requests: [],
      faults: [],
      snds: { data: { status: 200, body: '' }, status: { status: 200, body: '' } },
    })
  })

  async function ask<T>(
    method: string,
    path: string,
    body?: object,
    token = alice.token,
  ): Promise<Answer<T>> {
    const response = await service.request(`/api/v1/${path}`, {
      method,
      token,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    const { data, error } = JSON.parse(text) as { data: T; error: string }
    return { status: response.status, data, error, text }
  }
  async function watch(...domains: string[]): Promise<void> {
    for (const domain of domains)
      await database.query(
        `insert into watched_domain (workspace_id, domain, check_due_at) values ($1, $2, now() + interval '1 day')`,
        [alice.id, domain],
      )
  }
  const rates = async (domain = 'example.com') =>
    (await ask<SpamRates>('GET', `spam-rates?domain=${domain}`)).data
  const google = async () => (await ask<PostmasterAccess>('GET', 'postmaster')).data
  const snds = async () => (await ask<SndsAccess>('GET', 'snds')).data

  async function fetchDue(): Promise<void> {
    await running.fetchDue()
    expect(fake.state.faults).toEqual([])
  }

  /** Signs in at Google as a person does, and connects. */
  async function connect(): Promise<string> {
    const { id, url } = await browser.start({ provider: 'google', purpose: 'postmaster' })
    const { search, pathname } = new URL(url)
    const redirect = await fetch(`${fake.url}${pathname}${search}`, { redirect: 'manual' })
    await browser.visit(redirect.headers.get('location') ?? '')
    const { json } = await browser.ask(`oauth/consents/${id}`)
    const consent = json.data as { state: string; problem: string; credential: { id: string } }
    expect(consent, consent.problem).toMatchObject({ state: 'granted' })
    const { status, error } = await ask('POST', 'postmaster', {
      credentialId: consent.credential.id,
    })
    expect(status, error).toBe(201)
    return consent.credential.id
  }

  describe('of Google Postmaster Tools', () => {
    it('come after a sign-in that may only read them, for the domains that Google shows', async () => {
      await watch('example.com', 'other.test')
      const { url } = await browser.start({ provider: 'google', purpose: 'postmaster' })
      expect(new URL(url).searchParams.get('scope')).toBe(
        'https://www.googleapis.com/auth/postmaster.traffic.readonly openid email',
      )
      fake.state.stats['example.com'] = {
        SPAM_RATE: { [dayBefore(3)]: { floatValue: 0.0005 }, [dayBefore(2)]: { floatValue: 0 } },
        'AUTH_SUCCESS_RATE auth_type = "spf"': { [dayBefore(3)]: { doubleValue: 0.98 } },
        'TLS_ENCRYPTION_RATE traffic_direction = "inbound"': {
          [dayBefore(3)]: { floatValue: 1 },
        },
        DELIVERY_ERROR_COUNT: { [dayBefore(3)]: { intValue: '12' } },
        'DELIVERY_ERROR_COUNT error_type = "reject" AND error_reason = "ip_in_rbls"': {
          [dayBefore(3)]: { intValue: '7' },
        },
        FEEDBACK_LOOP_ID: { [dayBefore(3)]: { stringList: { values: ['news'] } } },
        'FEEDBACK_LOOP_SPAM_RATE feedback_loop_id = "news"': {
          [dayBefore(3)]: { doubleValue: 0.0007 },
        },
      }
      await connect()
      await fetchDue()
      const { days } = (await rates()).google
      expect(days).toMatchObject([
        {
          day: dayBefore(3),
          spamRate: expect.closeTo(0.0005),
          spfRate: 0.98,
          dkimRate: null,
          tlsInboundRate: 1,
          tlsOutboundRate: null,
          errorRate: null,
          errorCount: 12,
          errors: [{ type: 'reject', reason: 'ip_in_rbls', count: 7 }],
          loops: [{ id: 'news', spamRate: 0.0007 }],
        },
        { day: dayBefore(2), spamRate: 0, errorCount: null, errors: [] },
      ])
      expect((await google()).domains).toMatchObject([
        { domain: 'example.com', state: 'available', problem: null },
        { domain: 'other.test', state: 'no-access' },
      ])
      expect(await google()).toMatchObject({
        isOffered: true,
        access: { account: 'alice@gmail.test', state: 'active', problem: null },
      })
    })

    it('are no data on empty days, without a metric, or of a value without a number', async () => {
      await watch('example.com', 'quiet.test')
      fake.state.stats['quiet.test'] = {}
      fake.state.stats['example.com'] = { SPAM_RATE: { [dayBefore(2)]: {} } }
      await connect()
      await fetchDue()
      const quiet = await rates('quiet.test')
      expect(quiet).toMatchObject({ providers: [], google: { state: 'available', days: [] } })
      expect(quiet.google.requirements).toEqual([])
      expect((await rates()).providers).toEqual([])
      expect(await alerts()).toEqual([])
    })

    it('are read over pages, which end', async () => {
      await watch('example.com')
      const days = Array.from({ length: 60 }, (_, index) => dayBefore(index + 1))
      fake.state.stats['example.com'] = {
        SPAM_RATE: Object.fromEntries(days.map((day) => [day, { floatValue: 0.0001 }])),
      }
      fake.state.pageSize = 7
      await connect()
      await fetchDue()
      const { rows } = await database.query('select from postmaster_day where workspace_id = $1', [
        alice.id,
      ])
      expect(rows).toHaveLength(60)
      fake.state.endlessPages = true
      fake.state.requests = []
      await fetchDue()
      expect(fake.state.requests.length).toBeLessThanOrEqual(21)
      expect((await google()).access).toMatchObject({
        state: 'failing',
        problem: expect.stringContaining('without an end'),
      })
    })

    it('ask for 90 days first, and then for the last two weeks, never for today', async () => {
      await watch('example.com')
      fake.state.stats['example.com'] = { SPAM_RATE: { [dayBefore(2)]: { floatValue: 0.0001 } } }
      await connect()
      await fetchDue()
      const rangeOf = () =>
        fake.state.requests.flatMap(({ body }) => {
          const { timeQuery } = (body ?? {}) as {
            timeQuery?: { dateRanges: { dateRanges: object[] } }
          }
          return timeQuery?.dateRanges.dateRanges ?? []
        })[0]
      const parts = (day: string) => {
        const [year, month, date] = day.split('-').map(Number)
        return { year, month, day: date }
      }
      expect(rangeOf()).toEqual({ start: parts(dayBefore(90)), end: parts(dayBefore(1)) })
      fake.state.requests = []
      await fetchDue()
      expect(rangeOf()).toEqual({ start: parts(dayBefore(14)), end: parts(dayBefore(1)) })
    })

    it('raise an alert at 0.1%, at 0.3%, and when the rate is normal again', async () => {
      await watch('example.com')
      await connect()
      for (const [ago, rate] of [
        [6, 0.0009],
        [5, 0.0012],
        [4, 0.0031],
        [3, 0.0002],
      ] as const) {
        fake.state.stats['example.com'] = { SPAM_RATE: { [dayBefore(ago)]: { floatValue: rate } } }
        await fetchDue()
      }
      expect((await alerts()).map(({ kind, severity, title }) => [kind, severity, title])).toEqual([
        ['deliverability.spam-rate', 'warning', 'The spam rate of example.com is 0.12% at Google'],
        ['deliverability.spam-rate', 'error', 'The spam rate of example.com is 0.31% at Google'],
        [
          'deliverability.spam-rate-normal',
          'info',
          'Resolved: the spam rate of example.com is 0.02% at Google',
        ],
      ])
    })

    it('raise none about a rate that is older than a week', async () => {
      await watch('example.com')
      fake.state.stats['example.com'] = { SPAM_RATE: { [dayBefore(20)]: { floatValue: 0.01 } } }
      await connect()
      await fetchDue()
      expect(await alerts()).toEqual([])
    })

    it('have the requirements with what to do, of the subdomain where Google evaluates it', async () => {
      await watch('example.com', 'mail.example.com')
      const row = (requirement: string, status: string) => ({ requirement, status: { status } })
      fake.state.stats['example.com'] = {}
      fake.state.stats['mail.example.com'] = {}
      const complianceData = {
        domainId: 'example.com',
        rowData: [row('SPF', 'COMPLIANT'), row('DNS_RECORDS', 'NEEDS_WORK')],
        oneClickUnsubscribeVerdict: {
          status: { status: 'NEEDS_WORK' },
          reason: 'NO_UNSUB_GENERAL',
        },
      }
      fake.state.compliance['example.com'] = { complianceData }
      fake.state.compliance['mail.example.com'] = {
        complianceData,
        subdomainComplianceData: {
          domainId: 'mail.example.com',
          rowData: [row('SPF', 'NEEDS_WORK'), { requirement: 'DKIM' }],
        },
      }
      await connect()
      await fetchDue()
      expect((await rates()).google).toMatchObject({
        evaluatedDomain: 'example.com',
        requirements: [
          { requirement: 'SPF', state: 'compliant', action: null },
          { requirement: 'DNS_RECORDS', state: 'needs-work', action: /reverse name/ },
          { requirement: 'ONE_CLICK_UNSUBSCRIBE', state: 'needs-work', reason: /one-click/ },
        ].map(({ requirement, state, action, reason }) => ({
          requirement,
          state,
          ...(action !== undefined && { action: action && expect.stringMatching(action) }),
          ...(reason && { reason: expect.stringMatching(reason) }),
        })),
      })
      expect((await rates('mail.example.com')).google).toMatchObject({
        evaluatedDomain: 'mail.example.com',
        requirements: [
          { requirement: 'SPF', state: 'needs-work' },
          { requirement: 'DKIM', state: 'unknown', action: null },
        ],
      })
    })

    it('go on for other domains where one is refused or rejected', async () => {
      await watch('a.test', 'b.test', 'c.test')
      fake.state.answers['a.test'] = googleError(403, 'PERMISSION_DENIED', 'No permission')
      fake.state.answers['b.test'] = googleError(400, 'INVALID_ARGUMENT', 'Bad filter')
      fake.state.stats['c.test'] = { SPAM_RATE: { [dayBefore(2)]: { floatValue: 0.0001 } } }
      await connect()
      await fetchDue()
      expect((await google()).domains).toMatchObject([
        { domain: 'a.test', state: 'no-access', problem: expect.stringContaining('verify it') },
        { domain: 'b.test', state: 'failed', problem: expect.stringContaining('Bad filter') },
        { domain: 'c.test', state: 'available' },
      ])
      expect((await google()).access).toMatchObject({ state: 'active' })
      expect(await alerts()).toEqual([])
    })

    it('are kept when a domain is no longer verified (404)', async () => {
      await watch('example.com')
      fake.state.stats['example.com'] = { SPAM_RATE: { [dayBefore(2)]: { floatValue: 0.0001 } } }
      await connect()
      await fetchDue()
      fake.state.answers['example.com'] = googleError(404, 'NOT_FOUND', 'Domain not found')
      await fetchDue()
      expect((await rates()).google).toMatchObject({
        state: 'no-access',
        days: [{ spamRate: expect.closeTo(0.0001) }],
      })
    })

    it('leave out details that Google does not know', async () => {
      await watch('example.com')
      fake.state.stats['example.com'] = {
        SPAM_RATE: { [dayBefore(2)]: { floatValue: 0.0001 } },
        // A text that cannot be quoted in a filter is not asked for.
        FEEDBACK_LOOP_ID: { [dayBefore(2)]: { stringList: { values: ['a" OR "b'] } } },
      }
      await connect()
      await fetchDue()
      expect((await rates()).google.days).toMatchObject([{ loops: [], errors: [] }])
      const filters = fake.state.requests.map(({ body }) => JSON.stringify(body))
      expect(filters.filter((filter) => filter.includes('a\\" OR'))).toEqual([])
      fake.state.unknownMetrics = ['FEEDBACK_LOOP_ID']
      await fetchDue()
      expect((await google()).domains).toMatchObject([{ state: 'available', problem: null }])
    })

    it.each([
      [
        'a rate limit',
        googleError(429, 'RESOURCE_EXHAUSTED', 'Quota exceeded'),
        'no more requests',
      ],
      [
        'a quota that comes as 403',
        googleError(403, 'PERMISSION_DENIED', 'Quota exceeded for quota metric'),
        'no more requests',
      ],
      ['an outage', { status: 503, body: '<html>backend error' }, '503'],
      ['an answer that is no JSON', { status: 200, body: '<html>' }, 'no JSON'],
      [
        'an API that is not enabled',
        googleError(403, 'PERMISSION_DENIED', 'API has not been used', 'SERVICE_DISABLED'),
        'isn’t enabled',
      ],
    ])('are repeated later after %s', async (_name, answer, text) => {
      await watch('example.com')
      await connect()
      fake.state.answers['*'] = answer
      await fetchDue()
      const { access, domains } = await google()
      expect(access).toMatchObject({ state: 'failing', problem: expect.stringContaining(text) })
      expect(domains).toEqual([])
      const wait = Date.parse(access?.nextFetchAt ?? '') - Date.now()
      expect(wait).toBeGreaterThan(14 * 60_000)
      expect(wait).toBeLessThan(16 * 60_000)
      expect(await alerts()).toEqual([])
    })

    it('are repeated when Google says, and later each time', async () => {
      await watch('example.com')
      await connect()
      const waitAfter = async (headers: Record<string, string>) => {
        fake.state.answers['*'] = googleError(429, 'RESOURCE_EXHAUSTED', 'Slow', undefined, headers)
        await fetchDue()
        const { access } = await google()
        return Math.round((Date.parse(access?.nextFetchAt ?? '') - Date.now()) / 60_000)
      }
      expect(await waitAfter({ 'retry-after': '7200' })).toBe(120)
      expect(await waitAfter({})).toBe(30)
      expect(await waitAfter({})).toBe(60)
      fake.state.answers = {}
      fake.state.stats['example.com'] = {}
      await fetchDue()
      expect((await google()).access).toMatchObject({ state: 'active', problem: null })
    })

    it('raise an alert after two days of failures, which ends with the next success', async () => {
      await watch('example.com')
      await connect()
      fake.state.answers['*'] = googleError(500, 'INTERNAL', 'Internal error')
      await fetchDue()
      await database.query(
        `update postmaster_access set failing_since = now() - interval '49 hours'`,
      )
      await fetchDue()
      await fetchDue()
      fake.state.answers = {}
      await fetchDue()
      expect((await alerts()).map(({ kind, severity }) => [kind, severity])).toEqual([
        ['deliverability.access-ended', 'warning'],
        ['deliverability.access-working', 'info'],
      ])
    })

    it('end with the permission, and continue after another sign-in of the same person', async () => {
      await watch('example.com')
      fake.state.stats['example.com'] = { SPAM_RATE: { [dayBefore(2)]: { floatValue: 0.0001 } } }
      const credentialId = await connect()
      await fetchDue()
      fake.state.tokenError = 'invalid_grant'
      await database.query('update mail_credential set access_expires_at = now()')
      await fetchDue()
      expect((await google()).access).toMatchObject({
        state: 'ended',
        nextFetchAt: null,
        problem: expect.stringContaining('Sign in again'),
      })
      // What was known stays, and nothing becomes zero.
      expect((await rates()).google.days).toHaveLength(1)
      expect(await alerts()).toMatchObject([
        {
          kind: 'deliverability.access-ended',
          severity: 'error',
          title: 'The access to Google Postmaster Tools has ended',
        },
      ])
      expect((await ask('POST', 'postmaster/fetch')).status).toBe(409)
      fake.state.tokenError = null
      expect(await connect()).toBe(credentialId)
      await fetchDue()
      expect((await google()).access).toMatchObject({ state: 'active', problem: null })
      expect((await alerts()).at(-1)).toMatchObject({ kind: 'deliverability.access-working' })
    })

    it('end where the permission lacks the scope', async () => {
      await watch('example.com')
      await connect()
      fake.state.answers['*'] = googleError(
        403,
        'PERMISSION_DENIED',
        'Request had insufficient authentication scopes.',
        'ACCESS_TOKEN_SCOPE_INSUFFICIENT',
      )
      await fetchDue()
      expect((await google()).access).toMatchObject({ state: 'ended' })
    })

    it('use another token where Google rejects one before its time', async () => {
      await watch('example.com')
      fake.state.stats['example.com'] = { SPAM_RATE: { [dayBefore(2)]: { floatValue: 0.0001 } } }
      await connect()
      await fetchDue()
      const before = fake.state.refreshes
      fake.state.rejectsCurrentTokens()
      await fetchDue()
      expect(fake.state.refreshes).toBeGreaterThan(before)
    })

    it('need a person who selects the permission', async () => {
      fake.state.scope = 'openid email'
      const { id, url } = await browser.start({ provider: 'google', purpose: 'postmaster' })
      const { search, pathname } = new URL(url)
      const redirect = await fetch(`${fake.url}${pathname}${search}`, { redirect: 'manual' })
      await browser.visit(redirect.headers.get('location') ?? '')
      const { json } = await browser.ask(`oauth/consents/${id}`)
      expect(json.data).toMatchObject({
        state: 'failed',
        problem: expect.stringContaining('select the permission for Postmaster Tools'),
      })
    })

    it('use a sign-in that opens no mailbox, and none that opens one', async () => {
      const credentialId = await connect()
      const listed = await ask<unknown[]>('GET', 'imap/credentials')
      expect(listed.data).toEqual([])
      expect((await ask('DELETE', `imap/credentials/${credentialId}`)).status).toBe(404)
      const mailbox = {
        host: 'imap.gmail.com',
        user: 'alice@gmail.test',
        credentialId,
        secure: true,
      }
      expect((await ask('POST', 'dmarc/mailboxes', mailbox)).status).toBe(404)
      await database.query(`update mail_credential set purpose = 'mailbox' where id = $1`, [
        credentialId,
      ])
      expect((await ask('POST', 'postmaster', { credentialId })).status).toBe(404)
    })

    it('are revoked at Google when they are disconnected, and seen by their workspace alone', async () => {
      const credentialId = await connect()
      const charlie = await service.addPerson('Charlie')
      const seen = await ask<PostmasterAccess>('GET', 'postmaster', undefined, charlie.token)
      expect(seen.data).toMatchObject({ access: null, domains: [] })
      const stolen = await ask('POST', 'postmaster', { credentialId }, charlie.token)
      expect(stolen.status).toBe(404)
      expect((await ask('DELETE', 'postmaster', undefined, charlie.token)).status).toBe(404)
      const before = fake.state.revocations
      expect((await ask('DELETE', 'postmaster')).status).toBe(200)
      expect(fake.state.revocations).toBe(before + 1)
      expect((await google()).access).toBeNull()
      const { rows } = await database.query('select from mail_credential where id = $1', [
        credentialId,
      ])
      expect(rows).toEqual([])
    })

    it('never show a token', async () => {
      await connect()
      const { text } = await ask('GET', 'postmaster')
      expect(text).not.toMatch(/token-|refresh-/)
      const { rows } = await database.query<{ row: string }>(
        'select to_jsonb(c)::text as row from mail_credential c where workspace_id = $1',
        [alice.id],
      )
      expect(rows[0]?.row).not.toMatch(/token-|refresh-/)
    })
  })

  describe('of Microsoft SNDS', () => {
    const enter = (more: object = {}) =>
      ask<SndsAccess>('PUT', 'snds/links', {
        dataLink: SNDS_LINKS.data,
        statusLink: SNDS_LINKS.status,
        ...more,
      })
    const age = (days: number) =>
      database.query(`update snds_access set entered_at = now() - make_interval(days => $1::int)`, [
        days,
      ])

    it('come by links, whose ranges stay ranges', async () => {
      expect((await enter()).status).toBe(200)
      fake.state.snds.data.body =
        sndsLine('192.0.2.1', 'GREEN', '< 0.1%') + sndsLine('192.0.2.2', 'GREEN', '0.2%')
      await fetchDue()
      const { access, addresses } = await snds()
      expect(access).toMatchObject({ state: 'active', hasStatusLink: true, problem: null })
      expect(addresses).toMatchObject([
        { address: '192.0.2.2', complaintRate: '0.2%', complaintLow: 0.002, complaintHigh: 0.002 },
        {
          address: '192.0.2.1',
          day: dayBefore(1),
          filter: 'green',
          complaintRate: '< 0.1%',
          complaintLow: 0,
          complaintHigh: 0.001,
          dataCommands: 1100,
        },
      ])
    })

    it('raise one alert about all addresses that are yellow, red or over a limit, until they are green', async () => {
      await enter()
      const answer = async (body: string, status = '') => {
        fake.state.snds.data.body = body
        fake.state.snds.status.body = status
        await fetchDue()
      }
      await answer(sndsLine('192.0.2.1', 'YELLOW', '< 0.1%', 3))
      await answer(sndsLine('192.0.2.1', 'YELLOW', '< 0.1%', 2))
      await answer(
        sndsLine('192.0.2.1', 'RED', '0.4%', 1) + sndsLine('192.0.2.2', 'GREEN', '0.1%', 1),
      )
      await answer(
        sndsLine('192.0.2.1', 'GREEN', '< 0.1%', 0) + sndsLine('192.0.2.2', 'GREEN', 'None', 0),
      )
      const all = await alerts()
      expect(all.map(({ kind, severity, title }) => [kind, severity, title])).toEqual([
        ['deliverability.snds', 'warning', 'Microsoft rates mail from 192.0.2.1 badly'],
        ['deliverability.snds', 'error', 'Microsoft rates mail from 2 addresses badly'],
        [
          'deliverability.snds-normal',
          'info',
          'Resolved: Microsoft rates all addresses green again',
        ],
      ])
      expect(all[1]?.['text']).toContain('complaint rate 0.4%')
    })

    it('raise an alert about a range that is blocked', async () => {
      await enter()
      fake.state.snds.status.body =
        '198.51.100.0,198.51.100.255,Yes,"Blocked due to user complaints, or spam"\r\n'
      await fetchDue()
      expect((await snds()).blocks).toEqual([
        {
          first: '198.51.100.0',
          last: '198.51.100.255',
          isBlocked: true,
          detail: 'Blocked due to user complaints, or spam',
        },
      ])
      expect((await alerts())[0]).toMatchObject({ kind: 'deliverability.snds', severity: 'error' })
      fake.state.snds.status.body = ''
      await fetchDue()
      expect((await alerts()).at(-1)).toMatchObject({ kind: 'deliverability.snds-normal' })
    })

    it('are no data when the file is empty, or 404 before the links end', async () => {
      await enter()
      await fetchDue()
      fake.state.snds.data = { status: 404, body: 'Not found' }
      fake.state.snds.status = { status: 404, body: '' }
      await fetchDue()
      expect(await snds()).toMatchObject({ access: { state: 'active' }, addresses: [], blocks: [] })
      expect(await alerts()).toEqual([])
    })

    it.each([
      ['404 after 30 days', { status: 404, body: '' }, 30],
      ['400', { status: 400, body: '' }, 0],
      ['a page to sign in', { status: 200, body: '\n<!DOCTYPE html><html>Sign in</html>' }, 0],
      [
        'a page that is called CSV',
        { status: 200, body: '<html></html>', headers: { 'content-type': 'text/csv' } },
        0,
      ],
      [
        'a redirect',
        { status: 302, body: '', headers: { location: 'https://login.live.com/' } },
        0,
      ],
      ['403', { status: 403, body: '' }, 0],
    ])('end with %s, until new links are entered', async (_name, answer, days) => {
      await enter()
      fake.state.snds.data.body = sndsLine('192.0.2.1', 'GREEN', '< 0.1%')
      await fetchDue()
      await age(days)
      fake.state.snds.data = answer
      await fetchDue()
      expect((await snds()).access).toMatchObject({
        state: 'ended',
        nextFetchAt: null,
        problem: expect.stringContaining('Enter a new one'),
      })
      expect((await snds()).addresses).toHaveLength(1)
      expect((await alerts()).at(-1)).toMatchObject({
        kind: 'deliverability.access-ended',
        title: 'The access to Microsoft SNDS has ended',
      })
      fake.state.snds.data = { status: 200, body: '' }
      await enter()
      await fetchDue()
      expect((await snds()).access).toMatchObject({ state: 'active', problem: null })
      expect((await alerts()).at(-1)).toMatchObject({ kind: 'deliverability.access-working' })
    })

    it('are repeated later after an outage, a rate limit or a file that cannot be read', async () => {
      await enter()
      for (const answer of [
        { status: 500, body: '' },
        { status: 429, body: '', headers: { 'retry-after': '60' } },
        { status: 200, body: 'gibberish\r\nmore\r\n' },
        { status: 200, body: 'x'.repeat(MAX_SNDS_BYTES + 1) },
      ]) {
        fake.state.snds.data = answer
        await fetchDue()
        expect((await snds()).access).toMatchObject({ state: 'failing' })
      }
    })

    it('read what they can of a file with odd rows', async () => {
      await enter()
      fake.state.snds.data.body = [
        sndsLine('192.0.2.1', 'GREEN', '< 0.1%'),
        'not an address,1,2\r\n',
        `192.0.2.3,"unclosed\r\n`,
        sndsLine('2001:db8::1', 'PURPLE', 'a lot'),
      ].join('')
      await fetchDue()
      expect((await snds()).addresses).toMatchObject([
        { address: '192.0.2.1' },
        { address: '2001:db8::1', filter: null, complaintRate: 'a lot', complaintLow: null },
      ])
    })

    it('warn before the links and the approval end, once, until they are renewed', async () => {
      const warn = () => endingAccessesJob({ db: running.db }).run({}, jobContext())
      await enter({ approvedOn: dayBefore(20) })
      await warn()
      expect(await alerts()).toEqual([])
      await age(25)
      await database.query(`update snds_access set approved_on = current_date - 280`)
      await warn()
      await warn()
      expect((await alerts()).map(({ title }) => title)).toEqual([
        'The links of Microsoft SNDS end within 5 days',
        'The access to Microsoft SNDS ends within 30 days',
      ])
      await enter()
      await ask('PATCH', 'snds', { approvedOn: dayBefore(0) })
      await warn()
      expect((await alerts()).slice(2).map(({ title }) => title)).toEqual([
        'Resolved: the access to Microsoft SNDS was renewed',
        'Resolved: the access to Microsoft SNDS was approved again',
      ])
      const { access } = await snds()
      expect(access?.approvalEndsOn?.slice(0, 7)).not.toBe(dayBefore(0).slice(0, 7))
    })

    it('accept only links of the portal with a key, and never show them', async () => {
      for (const dataLink of [
        'http://substrate.office.com/SNDS/DataKey?key=1',
        'https://example.com/data.aspx?key=1',
        'https://office.com.example.com/?key=1',
        'https://user@substrate.office.com/?key=1',
        'https://substrate.office.com/ip-domain-management-snds/SNDS',
        'key=1',
      ])
        expect((await enter({ dataLink })).status, dataLink).toBe(400)
      expect((await enter({ approvedOn: dayBefore(-5) })).status).toBe(400)
      await enter()
      fake.state.snds.data = { status: 500, body: '' }
      await fetchDue()
      expect((await ask('GET', 'snds')).text).not.toMatch(/11111111|22222222/)
      const { rows } = await database.query<{ row: string }>(
        'select to_jsonb(s)::text as row from snds_access s',
      )
      expect(rows[0]?.row).not.toMatch(/11111111|substrate/)
    })

    it('are seen by their workspace alone, and deleted with their alerts', async () => {
      const charlie = await service.addPerson('Charlie')
      await enter()
      const seen = await ask<SndsAccess>('GET', 'snds', undefined, charlie.token)
      expect(seen.data).toMatchObject({ access: null, addresses: [], blocks: [] })
      for (const [method, path] of [
        ['DELETE', 'snds'],
        ['POST', 'snds/fetch'],
      ] as const)
        expect((await ask(method, path, undefined, charlie.token)).status).toBe(404)
      fake.state.snds.data.body = sndsLine('192.0.2.1', 'RED', '1%')
      await fetchDue()
      expect((await ask('DELETE', 'snds')).status).toBe(200)
      expect((await ask('DELETE', 'snds')).status).toBe(404)
      expect((await alerts()).map(({ kind, phase, title }) => [kind, phase, title])).toEqual([
        ['deliverability.snds', 'open', 'Microsoft rates mail from 192.0.2.1 badly'],
        ['deliverability.access-working', 'resolved', 'Closed: Microsoft SNDS was disconnected'],
      ])
    })
  })

  it('stand beside DMARC failures and listings of a domain, with gaps where nothing is known', async () => {
    await watch('example.com')
    const [host] = (
      await database.query<{ id: string }>(
        `insert into monitored_host (workspace_id, host) values ($1, 'mx.example.com') returning id`,
        [alice.id],
      )
    ).rows
    await database.query(
      `insert into monitored_address (host_id, ip, seen, unknown, last_seen_at)
       values ($1, '192.0.2.1', '{}', '{}', now())`,
      [host?.id],
    )
    await database.query(
      `insert into monitored_period (host_id, began_at, state) values
       ($1, (current_date - 5)::timestamp at time zone 'utc', 'clean'),
       ($1, (current_date - 3)::timestamp at time zone 'utc', 'listed'),
       ($1, (current_date - 2)::timestamp at time zone 'utc', 'unknown')`,
      [host?.id],
    )
    await database.query(
      `with d as (insert into dmarc_domain (workspace_id, domain, mailbox, challenge)
         values ($1, 'example.com', 'm' || substr(md5(random()::text), 1, 17), 'c') returning id)
       insert into dmarc_reporter_day (domain_id, day, reporter, reports, messages, aligned, dkim, spf, forwarded, quarantined, rejected)
       select id, current_date - 4, 'Yahoo', 1, 1000, 900, 0, 0, 0, 0, 0 from d`,
      [alice.id],
    )
    await database.query(
      `insert into complaint (workspace_id, fingerprint, provider, is_verified, type, incidents, domain, received_at)
       select $1, sha256(random()::text::bytea), 'yahoo', true, 'abuse', 1, 'example.com',
         (current_date - ago)::timestamp at time zone 'utc' from unnest(array[6, 4]) ago`,
      [alice.id],
    )
    await ask('PUT', 'snds/links', { dataLink: SNDS_LINKS.data })
    fake.state.snds.data.body =
      sndsLine('192.0.2.1', 'GREEN', '< 0.1%', 2) + sndsLine('203.0.113.9', 'RED', '5%', 2)
    await fetchDue()
    const answer = await ask<SpamRates>('GET', 'spam-rates?domain=example.com')
    expect(answer.status, answer.error).toBe(200)
    const found = answer.data
    expect(found.days).toHaveLength(30)
    expect(found.dmarc).toEqual([{ day: dayBefore(4), messages: 1000, failures: 100 }])
    expect(found.listings).toEqual([
      { day: dayBefore(5), hosts: 1, listed: 0 },
      { day: dayBefore(4), hosts: 1, listed: 0 },
      { day: dayBefore(3), hosts: 1, listed: 1 },
    ])
    // Of days that DMARC reports cover; of the addresses of the domain, as the range that Microsoft says.
    expect(found.providers).toEqual([
      {
        provider: 'yahoo',
        source: 'complaints',
        name: 'Yahoo (CFL)',
        days: [{ day: dayBefore(4), low: 0.001, high: 0.001 }],
      },
      {
        provider: 'microsoft',
        source: 'snds',
        name: 'Microsoft (SNDS)',
        days: [{ day: dayBefore(2), low: 0, high: 0.001 }],
      },
    ])
    expect(found.addresses).toMatchObject([{ address: '192.0.2.1' }])
  })
})
