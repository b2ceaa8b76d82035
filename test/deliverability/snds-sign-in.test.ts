import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { MAX_SNDS_BYTES } from '../../src/deliverability/limits.ts'
import type { SndsAccess } from '../../src/deliverability/snds/shapes.ts'
import { endingAccessesJob } from '../../src/deliverability/provider-access/statistics-jobs.ts'
import { jobContext } from '../jobs/context.ts'
import { BASE_URL, signedInBrowser } from '../mail-credentials/browser.ts'
import { newMicrosoft, SNDS_LINKS } from '../servers/provider-statistics.ts'
import { startStatisticsService, type StatisticsService } from './statistics-service.ts'

type Answer<T> = { status: number; data: T; error: string; text: string }

const dayBefore = (days: number) =>
  new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10)
/** As SNDS writes a time. */
const usTime = (days: number) => {
  const [year, month, day] = dayBefore(days).split('-').map(Number)
  return `${month}/${day}/${year} 8:00 AM`
}
/** A line as the REST API sends it (VexaMail/vexa-insight, docs on SNDS). */
const line = (address: string, days: number, filter = 'GREEN', rate = '< 0.1%') =>
  `${address},${usTime(days)},${usTime(days - 1)},422,409,422,${filter},${rate},,,,,@example.com,\n`
const csv = (body: string) => ({
  status: 200,
  body,
  headers: { 'content-type': 'application/octet-stream' },
})
const json = (body: unknown) => ({
  status: 200,
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json; charset=utf-8' },
})
const page = {
  status: 200,
  body: '<!DOCTYPE html><title>Sign in to your account</title>',
  headers: { 'content-type': 'text/html; charset=utf-8' },
}

const TABLES = [
  'snds_sign_in',
  'snds_access',
  'mail_consent',
  'mail_credential',
  'snds_alert',
  'snds_block',
  'snds_day',
  'alert',
  'alert_incident',
]

describe('a sign-in at Microsoft SNDS', () => {
  let running: StatisticsService
  let { fake, service, database, alice, browser, alerts } = {} as StatisticsService
  let microsoft: ReturnType<typeof newMicrosoft>

  beforeAll(async () => {
    running = await startStatisticsService()
    ;({ fake, service, database, alice, browser, alerts } = running)
  })
  afterAll(() => running?.stop())
  beforeEach(async () => {
    for (const table of TABLES) await database.query(`delete from ${table}`)
    microsoft = newMicrosoft()
    Object.assign(fake.state, { microsoft, faults: [], tokenError: null })
    fake.state.snds = { data: { status: 200, body: '' }, status: { status: 200, body: '' } }
  })

  async function ask<T>(
    method: string,
    path: string,
    body?: object,
    from = browser,
  ): Promise<Answer<T>> {
    const response = await service.request(`/api/v1/${path}`, {
      method,
      headers: {
        cookie: from.cookie(),
        origin: BASE_URL,
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const { data, error } = JSON.parse(text) as { data: T; error: string }
    return { status: response.status, data, error, text }
  }
  const snds = async () => (await ask<SndsAccess>('GET', 'snds')).data

  /** Begins a sign-in, and signs in at Microsoft. @returns where the browser ends */
  async function begin(from = browser): Promise<string> {
    const { status, data, error } = await ask<{ url: string }>(
      'POST',
      'snds/sign-in',
      undefined,
      from,
    )
    expect(status, error).toBe(201)
    const { pathname, search } = new URL(data.url)
    const redirect = await fetch(`${fake.url}${pathname}${search}`, { redirect: 'manual' })
    return redirect.headers.get('location') ?? ''
  }
  const answer = (address: string, from = browser) =>
    ask<SndsAccess>('POST', 'snds/sign-in/answer', { address }, from)
  async function signIn(): Promise<void> {
    const { status, error } = await answer(await begin())
    expect(status, error).toBe(200)
  }

  async function fetchDue(): Promise<void> {
    microsoft.requests = []
    await running.fetchDue()
    expect(fake.state.faults).toEqual([])
  }
  const expireToken = () => database.query('update mail_credential set access_expires_at = now()')

  it('is completed with the pasted address, and its reports are fetched', async () => {
    const address = await begin()
    expect(address).toMatch(/^http:\/\/localhost\/\?code=M\.C5_code-0&state=/)
    const { status, data } = await answer(address)
    expect(status).toBe(200)
    expect(data.access).toMatchObject({
      kind: 'sign-in',
      account: 'mary@outlook.test',
      state: 'active',
      enteredAt: null,
      linksEndAt: null,
      fetchedAt: null,
    })
    microsoft.days[dayBefore(2)] = csv(line('192.0.2.1', 2) + line('192.0.2.2', 2, 'GREEN', '0.2%'))
    microsoft.status = csv('198.51.100.0,198.51.100.255,Yes,Blocked due to user complaints\n')
    await fetchDue()
    const { access, addresses, blocks } = await snds()
    expect(access).toMatchObject({ state: 'active', problem: null, unreadable: null })
    expect(addresses).toMatchObject([
      { address: '192.0.2.2', complaintLow: 0.002 },
      {
        address: '192.0.2.1',
        day: dayBefore(2),
        rcptCommands: 422,
        dataCommands: 409,
        recipients: 422,
        complaintRate: '< 0.1%',
        complaintHigh: 0.001,
        trapHits: null,
        mailFrom: '@example.com',
      },
    ])
    expect(blocks).toMatchObject([{ first: '198.51.100.0', isBlocked: true }])
  })

  it.each([
    ['its query', (address: string) => address.split('?')[1] ?? ''],
    ['its query with a mark', (address: string) => `?${address.split('?')[1]}`],
    [
      'line breaks of a terminal',
      (address: string) => `  ${address.slice(0, 40)}\n${address.slice(40)} \n`,
    ],
    ['a fragment', (address: string) => address.replace('?', '#')],
    ['an empty fragment', (address: string) => `${address}#`],
  ])('accepts %s', async (_name, change) => {
    const { status, error } = await answer(change(await begin()))
    expect(status, error).toBe(200)
  })

  it('rejects another address with a sentence, and completes nothing', async () => {
    const address = await begin()
    const state = new URL(address).searchParams.get('state') ?? ''
    for (const [wrong, message] of [
      ['http://localhost/', /no answer of Microsoft. Copy the whole address/],
      ['https://login.live.com/oauth20_authorize.srf?client_id=1', /no answer of Microsoft/],
      ['http://localhost/?code=M.C5_code-0&state=another', /has expired, was completed already/],
      [`http://localhost/?error=access_denied&state=${state}`, /SNDS was not allowed at Microsoft/],
      // An answer is accepted once.
      [address, /has expired, was completed already/],
    ] as const) {
      const rejected = await answer(wrong)
      expect(rejected.status, wrong).toBe(400)
      expect(rejected.error).toMatch(message)
    }
    const late = await begin()
    microsoft.started.code = ''
    expect((await answer(late)).error).toMatch(/valid for about a minute, and once/)
    const expired = await begin()
    await database.query('update mail_consent set expires_at = now()')
    expect((await answer(expired)).error).toMatch(/has expired/)
    expect((await snds()).access).toBeNull()
  })

  it('belongs to the session that began it, and answers no sign-in to a mailbox', async () => {
    const address = await begin()
    const charlie = await service.addPerson('Charlie')
    const other = await signedInBrowser(service, charlie)
    expect((await answer(address, other)).status).toBe(400)
    const { url } = await browser.start({ provider: 'google', purpose: 'postmaster' })
    const state = new URL(url).searchParams.get('state') ?? ''
    expect((await answer(`?code=1&state=${state}`)).status).toBe(400)
    expect((await answer(address)).status).toBe(200)
    expect((await ask<SndsAccess>('GET', 'snds', undefined, other)).data.access).toBeNull()
    expect((await ask('DELETE', 'snds', undefined, other)).status).toBe(404)
    const token = { method: 'POST', token: alice.token }
    expect((await service.request('/api/v1/snds/sign-in', token)).status).toBe(403)
  })

  it('asks for missing days again until they exist, and knows nothing of them meanwhile', async () => {
    await signIn()
    microsoft.days[dayBefore(3)] = csv(line('192.0.2.1', 3))
    await fetchDue()
    expect((await snds()).addresses).toMatchObject([{ day: dayBefore(3) }])
    const { rows } = await database.query('select day from snds_day')
    expect(rows).toHaveLength(1)
    expect(await alerts()).toEqual([])
    // Two weeks at first; without a slash alone once that has worked.
    expect(microsoft.requests).toContain(`data/${dayBefore(14)}`)
    expect(microsoft.requests.filter((path) => path.endsWith('/'))).toEqual([
      `data/${dayBefore(1)}/`,
      `data/${dayBefore(2)}/`,
    ])
    microsoft.days[dayBefore(1)] = csv(line('192.0.2.1', 1))
    await fetchDue()
    expect((await snds()).addresses).toMatchObject([{ day: dayBefore(1) }])
    expect(microsoft.requests).not.toContain(`data/${dayBefore(3)}`)
    expect(microsoft.requests).not.toContain(`data/${dayBefore(9)}`)
    // The day before may grow; a report that is gone erases nothing.
    microsoft.days[dayBefore(1)] = csv(line('192.0.2.1', 1, 'YELLOW'))
    await fetchDue()
    expect((await snds()).addresses).toMatchObject([{ filter: 'yellow' }])
    microsoft.days = {}
    await fetchDue()
    expect((await snds()).addresses).toMatchObject([{ filter: 'yellow' }])
  })

  it('stores all of a day or none, so that what was interrupted is fetched again', async () => {
    await signIn()
    microsoft.days[dayBefore(2)] = csv(
      Array.from({ length: 1_500 }, (_, index) =>
        line(`10.0.${index >> 8}.${index & 255}`, 2),
      ).join(''),
    )
    await database.query(`create function refuse() returns trigger language plpgsql as
      'begin if (select count(*) from snds_day) >= 1000 then raise ''stopped''; end if; return new; end'`)
    await database.query(
      'create trigger refuse before insert on snds_day for each statement execute function refuse()',
    )
    await expect(fetchDue()).rejects.toThrow('stopped')
    await database.query('drop function refuse cascade')
    expect((await database.query('select from snds_day')).rowCount).toBe(0)
    await fetchDue()
    expect((await database.query('select from snds_day')).rowCount).toBe(1_500)
  })

  it('renews its token, keeps the newest refresh token, and shows neither', async () => {
    await signIn()
    for (const refreshes of [1, 2, 3]) {
      await expireToken()
      await fetchDue()
      expect(microsoft.refreshes).toBe(refreshes)
    }
    expect((await snds()).access).toMatchObject({ state: 'active' })
    const { text } = await ask('GET', 'snds')
    const { rows } = await database.query<{ row: string }>(
      'select to_jsonb(c)::text as row from mail_credential c union all select to_jsonb(s)::text from snds_sign_in s',
    )
    expect(`${text} ${rows.map(({ row }) => row).join(' ')}`).not.toMatch(/ms-(token|refresh)-/)
    expect(rows[0]?.row).toContain('"is_held": true')
    expect((await ask<unknown[]>('GET', 'imap/credentials')).data).toEqual([])
  })

  it('renews its token once where Microsoft rejects it before its time', async () => {
    await signIn()
    microsoft.rejectedTokens = 1
    microsoft.days[dayBefore(1)] = csv(line('192.0.2.1', 1))
    await fetchDue()
    expect(microsoft.refreshes).toBe(1)
    expect((await snds()).addresses).toHaveLength(1)
    microsoft.rejectedTokens = 99
    await fetchDue()
    expect(microsoft.refreshes).toBe(2)
    expect(microsoft.requests).toHaveLength(2)
    expect((await snds()).access).toMatchObject({
      state: 'failing',
      problem: expect.stringContaining('rejects a token that Microsoft has just given'),
    })
  })

  it('ends with the permission, with an alert, until someone signs in again', async () => {
    await signIn()
    microsoft.days[dayBefore(2)] = csv(line('192.0.2.1', 2))
    await fetchDue()
    microsoft.tokenError = 'invalid_grant'
    await expireToken()
    await fetchDue()
    expect(await snds()).toMatchObject({
      access: {
        state: 'ended',
        nextFetchAt: null,
        problem: expect.stringMatching(/Sign in again/),
      },
      addresses: [{ address: '192.0.2.1' }],
    })
    expect((await alerts()).at(-1)).toMatchObject({
      kind: 'deliverability.access-ended',
      severity: 'error',
      title: 'The access to Microsoft SNDS has ended',
    })
    expect((await ask('POST', 'snds/fetch')).status).toBe(409)
    microsoft.tokenError = null
    await signIn()
    await fetchDue()
    expect((await snds()).access).toMatchObject({ state: 'active', problem: null })
    expect((await alerts()).at(-1)).toMatchObject({ kind: 'deliverability.access-working' })
  })

  it('is repeated later where Microsoft rejects the client, which pauses no mailbox', async () => {
    await signIn()
    microsoft.tokenError = 'unauthorized_client'
    microsoft.tokenErrorText = 'AADSTS700016: Application was not found in the directory.'
    await expireToken()
    await fetchDue()
    expect((await snds()).access).toMatchObject({
      state: 'failing',
      problem: 'Microsoft rejects sign-ins for SNDS from this service (AADSTS700016).',
    })
    expect((await database.query('select from mail_client_problem')).rowCount).toBe(0)
  })

  it('raises alerts at 0.1%, at 0.3% and about a block', async () => {
    await signIn()
    for (const [days, rate] of [
      [5, '<0.1%'],
      [4, '0.1%'],
      [3, '0.3%'],
    ] as const) {
      microsoft.days[dayBefore(days)] = json([
        { ipAddress: '192.0.2.1', filterResult: 'GREEN', complaintRate: rate },
      ])
      await fetchDue()
    }
    microsoft.status = json([
      {
        beginningIpAddress: '192.0.2.8',
        endingIpAddress: '192.0.2.9',
        blocked: 'true',
        reason: 'x',
      },
    ])
    await fetchDue()
    expect((await alerts()).map(({ severity, title }) => [severity, title])).toEqual([
      ['warning', 'Microsoft rates mail from 192.0.2.1 badly'],
      ['error', 'Microsoft rates mail from 192.0.2.1 badly'],
      ['error', 'Microsoft rates mail from 2 addresses badly'],
    ])
  })

  it('reads 50,000 addresses, and says what it leaves out', async () => {
    await signIn()
    const addresses = Array.from(
      { length: 50_001 },
      (_, index) => `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}`,
    )
    microsoft.days[dayBefore(1)] = csv(addresses.map((address) => line(address, 1)).join(''))
    await fetchDue()
    expect((await snds()).access).toMatchObject({
      state: 'active',
      unreadable: expect.stringContaining('1 line of Microsoft’s reports'),
    })
    expect((await database.query('select from snds_day')).rowCount).toBe(50_000)
    microsoft.days[dayBefore(1)] = csv(' '.repeat(MAX_SNDS_BYTES + 1))
    await fetchDue()
    expect((await snds()).access).toMatchObject({ state: 'failing' })
  })

  it('replaces links, is replaced by them, and keeps the day of the approval', async () => {
    const links = { dataLink: SNDS_LINKS.data, approvedOn: dayBefore(9) }
    await ask('PUT', 'snds/links', links)
    await signIn()
    expect((await snds()).access).toMatchObject({ kind: 'sign-in', approvedOn: dayBefore(9) })
    await ask('PATCH', 'snds', { approvedOn: dayBefore(2) })
    await ask('PUT', 'snds/links', { dataLink: SNDS_LINKS.data })
    expect((await snds()).access).toMatchObject({ kind: 'links', approvedOn: dayBefore(2) })
    expect((await database.query('select from mail_credential')).rowCount).toBe(0)
    await signIn()
    const { rows: before } = await database.query('select id from mail_credential')
    microsoft.person = 'max'
    await signIn()
    const { rows: after } = await database.query('select id, account from mail_credential')
    expect(after).toMatchObject([{ account: 'max@outlook.test' }])
    expect(after[0]).not.toMatchObject(before[0] as object)
    expect((await ask('DELETE', 'snds')).status).toBe(200)
    expect((await database.query('select from mail_credential')).rowCount).toBe(0)
    expect((await snds()).access).toBeNull()
    expect((await ask('DELETE', 'snds')).status).toBe(404)
  })

  it('warns before it ends unused, once, and before the approval ends', async () => {
    const warn = () => endingAccessesJob({ db: running.db }).run({}, jobContext())
    await signIn()
    await warn()
    expect(await alerts()).toEqual([])
    await database.query(
      `update mail_credential set access_expires_at = now() - interval '81 days'`,
    )
    await database.query('update snds_sign_in set approved_on = current_date - 280')
    await warn()
    await warn()
    expect((await alerts()).map(({ title }) => title)).toEqual([
      'The access to Microsoft SNDS ends within 30 days',
      'The sign-in at Microsoft SNDS ends within 10 days',
    ])
    await fetchDue()
    await warn()
    expect((await alerts()).at(-1)).toMatchObject({
      title: 'Resolved: the sign-in at Microsoft SNDS was used again',
    })
  })

  type Sent = { status: number; body: string; headers?: Record<string, string> }
  type Answers = { day?: Sent; status?: Sent; everything?: Sent; ending?: '/' }
  type Case = {
    name: string
    /** Repository or page, and where in it. */
    source: string
    answers: Answers
    access: object
    addresses?: object[]
    blocks?: object[]
  }

  /** What others found, of accesses to SNDS and its reports. */
  const CASES: Case[] = [
    {
      name: 'sends CSV without a header for a request without a type',
      source: 'VexaMail/vexa-insight, docs on SNDS, “Data mapping”',
      answers: { day: csv(line('192.0.2.1', 1)) },
      access: { state: 'active', unreadable: null },
      addresses: [{ address: '192.0.2.1', day: dayBefore(1), dataCommands: 409 }],
    },
    {
      name: 'has 404 for a day without a report',
      source: 'VexaMail/vexa-insight, docs on SNDS, “Sync”',
      answers: { day: { status: 404, body: '' } },
      access: { state: 'active', problem: null },
    },
    {
      name: 'has an empty answer for a quiet address',
      source: 'VexaMail/vexa-insight, docs on SNDS, “Before you start”',
      answers: { day: csv(''), status: csv('') },
      access: { state: 'active', problem: null, unreadable: null },
    },
    {
      name: 'has no content',
      source: 'optipub/outlook-snds-mcp, server/index.js, “(empty body)”',
      answers: { day: { status: 204, body: '' } },
      access: { state: 'active' },
    },
    {
      name: 'wants a slash at the end of paths',
      source: 'snds-exporter, exporter.py, retry with a trailing slash',
      answers: { day: csv(line('192.0.2.1', 1)), ending: '/' },
      access: { state: 'active' },
      addresses: [{ address: '192.0.2.1' }],
    },
    {
      name: 'sends JSON with names in camel case, and no time',
      source: 'snds-exporter, tests of exporter.py',
      answers: { day: json([{ ipAddress: '192.0.2.10', dataCommands: 1, filterResult: 'GREEN' }]) },
      access: { state: 'active', unreadable: null },
      addresses: [{ address: '192.0.2.10', day: dayBefore(1), dataCommands: 1, recipients: null }],
    },
    {
      name: 'wraps records in an object, with ranges and unknown fields',
      source: 'snds-exporter, exporter.py, keys “value”, “items”, “data”, “results”',
      answers: {
        day: json({
          '@context': 'x',
          value: [
            {
              beginningIpAddress: '2001:DB8::1',
              filterResult: 'RED',
              complaintRate: '0.3%',
              new: 1,
            },
            {
              beginningIpAddress: '192.0.2.0',
              endingIpAddress: '192.0.2.255',
              filterResult: 'RED',
            },
            { filterResult: 'GREEN' },
            null,
          ],
        }),
      },
      access: {
        state: 'active',
        unreadable:
          '3 lines of Microsoft’s reports couldn’t be read, such as the one where line 2 has a range in place of an IP address: 192.0.2.255.',
      },
      addresses: [{ address: '2001:db8::1', filter: 'red', complaintLow: 0.003 }],
    },
    {
      name: 'says “True” of a range that is blocked, and nothing of one that is not',
      source: 'snds-exporter, tests of exporter.py, headless status',
      answers: {
        status: csv(
          '192.0.2.0,192.0.2.255,True,Blocked due to user complaints\n198.51.100.1,198.51.100.1,False,\n',
        ),
      },
      access: { state: 'active' },
      blocks: [{ first: '192.0.2.0', last: '192.0.2.255', isBlocked: true }],
    },
    {
      name: 'sends a page to sign in with status 200',
      source: 'snds-exporter, exporter.py, “HTML instead of CSV”',
      answers: { everything: page },
      access: { state: 'failing', problem: expect.stringContaining('a page to sign in') },
    },
    {
      name: 'redirects to the sign-in, which is not followed with the token',
      source: 'optipub/outlook-snds-mcp, server/snds.js, “redirect-to-login”',
      answers: {
        everything: { status: 302, body: '', headers: { location: 'https://login.live.com/' } },
      },
      access: { state: 'failing', problem: expect.stringContaining('a page to sign in') },
    },
    {
      name: 'refuses an account that SNDS does not know',
      source: 'optipub/outlook-snds-mcp, server/snds.js, 403',
      answers: { everything: { status: 403, body: '' } },
      access: { state: 'ended', problem: expect.stringContaining('access approved') },
    },
    {
      name: 'rejects a request',
      source: 'optipub/outlook-snds-mcp, server/index.js, 400',
      answers: { everything: { status: 400, body: '' } },
      access: { state: 'failing', problem: 'Microsoft SNDS answered with 400.' },
    },
    {
      name: 'breaks off in the middle of JSON',
      source: 'snds-exporter, README, REQUEST_RETRY_ATTEMPTS (connection resets)',
      answers: { day: { status: 200, body: '[{"ipAddress":"192.0.2.1","dataCom' } },
      access: { state: 'failing', problem: expect.stringContaining('damaged or ends early') },
    },
    {
      name: 'sends JSON without records',
      source: 'snds-exporter, exporter.py, “does not contain a list of records”',
      answers: { day: json({ message: 'ok' }) },
      access: { state: 'failing', problem: expect.stringContaining('JSON without a list') },
    },
    {
      name: 'has times whose day is that of the Pacific zone',
      source: 'sendgrid.com/en-us/blog/what-is-microsoft-smart-network-data-services',
      answers: {
        day: csv(`192.0.2.1,${usTime(0)},${usTime(-1)},1,1,1,GREEN,< 0.1%,,,,,,\n`),
      },
      access: { state: 'active', unreadable: null },
      addresses: [{ day: dayBefore(1) }],
    },
    {
      name: 'has the latest report in place of that of the day',
      source: 'optipub/outlook-snds-mcp, README, “most recent available report”',
      answers: { day: csv(line('192.0.2.1', 4)) },
      access: { state: 'failing', problem: expect.stringContaining('a time of another day') },
    },
    {
      name: 'lists complaints with commas in the comments',
      source: 'topdeliverability.com/tag/snds, “Comments” with counts of complaints',
      answers: {
        day: csv(
          `192.0.2.1,${usTime(1)},${usTime(0)},9,8,7,GREEN,0.2%,,,3,mx.example.com,a@b.test,10 complaints at 4:30 PM, 18 at 4:37 PM\n`,
        ),
      },
      access: { state: 'active', unreadable: null },
      addresses: [
        {
          trapHits: 3,
          helo: 'mx.example.com',
          mailFrom: 'a@b.test',
          comments: '10 complaints at 4:30 PM, 18 at 4:37 PM',
        },
      ],
    },
    {
      name: 'has samples in quotation marks with commas',
      source: 'an SNDS puller in TypeScript, parseSndsCsv (“Fields may contain commas”)',
      answers: {
        day: csv(
          `192.0.2.1,${usTime(1)},${usTime(0)},9,8,7,GREEN,< 0.1%,,,,"mx, example",a@b.test,\n`,
        ),
      },
      access: { state: 'active' },
      addresses: [{ helo: 'mx, example', mailFrom: 'a@b.test' }],
    },
    {
      name: 'has nothing of the traps since 2026, and rates as ranges',
      source: 'undersfx/sndslib, README (“< 0.1%”, empty traps)',
      answers: { day: csv(line('192.0.2.1', 1, 'YELLOW', '< 0.1%')) },
      access: { state: 'active' },
      addresses: [{ trapHits: null, complaintLow: 0, complaintHigh: 0.001, filter: 'yellow' }],
    },
  ]

  it.each(CASES)('reads what others reported: Microsoft $name', async (reported) => {
    const { answers, access, addresses = [], blocks = [] } = reported
    await signIn()
    microsoft.ending = answers.ending ?? ''
    microsoft.answer = answers.everything ?? null
    microsoft.status = answers.status ?? { status: 404, body: '' }
    microsoft.days[dayBefore(1)] = answers.day
    await fetchDue()
    const found = await snds()
    expect(found.access, reported.source).toMatchObject(access)
    expect(found.addresses, reported.source).toMatchObject(addresses)
    expect(found.addresses).toHaveLength(addresses.length)
    expect(found.blocks, reported.source).toMatchObject(blocks)
    expect(found.blocks).toHaveLength(blocks.length)
  })
})
