import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { freePort } from '../free-port.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import {
  SNDS_LINKS,
  startProviderStatistics,
  type ProviderStatistics,
} from '../servers/provider-statistics.ts'
import { startTestService, type TestService } from '../service.ts'
import { faultsAtAllWidths, signedIn, tabTo, type Visit } from './browsing.ts'

const TAB = '/domains/sender.test/deliverability'

describe('statistics of providers', () => {
  let fake: ProviderStatistics
  let portreeve: TestService
  let opened: Database
  let browser: Browser
  let ada: Visit

  beforeAll(async () => {
    fake = await startProviderStatistics()
    const port = await freePort()
    const BASE_URL = `http://localhost:${port}`
    const env = { PORT: String(port), BASE_URL, ROLES: 'web', ...fake.settings }
    portreeve = await startTestService(env, undefined, { providerOrigins: fake.origins })
    opened = openDatabase(portreeve.databaseUrl)
    browser = await sharedChromium()
    ada = await signedIn(browser, portreeve, 'Ada', 1440)
  })
  afterAll(async () => {
    await closeContexts(browser)
    await opened?.close()
    await portreeve?.stop()
    await fake?.stop()
  })

  it('begin without data, and are connected at Google', async () => {
    const { page } = ada
    await page.goto(TAB)
    await page.getByText('No data yet', { exact: true }).waitFor()
    // What the browser would ask Google for.
    await page.context().route('https://accounts.google.com/**', async (route) => {
      const { pathname, search } = new URL(route.request().url())
      const answer = await fetch(`${fake.url}${pathname}${search}`, { redirect: 'manual' })
      await route.fulfill({
        status: answer.status,
        headers: { location: answer.headers.get('location') ?? '' },
      })
    })
    const window = page.context().waitForEvent('page')
    await page.getByRole('button', { name: 'Sign in with Google' }).last().click()
    const other = await window
    await other.getByRole('heading', { name: 'Signed in as alice@gmail.test' }).waitFor()
    await other.close()
    await page.getByText('Signed in as alice@gmail.test.').waitFor()
    await page.getByText('The first statistics come within five minutes.').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('take the address at which the sign-in at Microsoft ends', async () => {
    const { page } = ada
    await page.goto(TAB)
    await page.getByText('Signed in as alice@gmail.test.').waitFor()
    // What the browser would ask Microsoft for, and a page that nobody serves.
    await page.context().route('https://login.microsoftonline.com/**', async (route) => {
      const { pathname, search } = new URL(route.request().url())
      const answer = await fetch(`${fake.url}${pathname}${search}`, { redirect: 'manual' })
      await route.fulfill({ body: answer.headers.get('location') ?? '' })
    })
    const window = page.context().waitForEvent('page')
    await page.getByRole('button', { name: 'Sign in with Microsoft' }).click()
    const other = await window
    const address = await other.getByText('http://localhost/?code=').innerText()
    await other.close()
    await page.getByText('Copy the whole address of that page').waitFor()
    await page.getByRole('button', { name: 'Complete sign-in' }).click()
    await page.getByText('Paste the address.').waitFor()
    const field = page.getByLabel('Address of the page that didn’t load')
    await field.fill('http://localhost/')
    await field.press('Enter')
    await page.getByText(/This address has no answer of Microsoft/).waitFor()
    // The browser reports the rejection, which is meant.
    ada.complaints.length = 0
    expect(await faultsAtAllWidths(page)).toEqual([])
    const sent = page.waitForRequest('**/sign-in/answer')
    await field.fill(address)
    await field.press('Enter')
    // Firewalls reject requests that name localhost.
    expect((await sent).postData()).not.toContain('localhost')
    await page.getByText('Signed in as mary@outlook.test.').waitFor()
    expect(await field.count()).toBe(0)
    await opened.pool.query(
      `update snds_sign_in set unreadable = '1 line couldn’t be read.', is_ended = true,
         due_at = null, problem = 'The permission at Microsoft has ended.'`,
    )
    await page.reload()
    await page.getByText('The permission at Microsoft has ended.').waitFor()
    await page.getByText('1 line couldn’t be read.').waitFor()
    await page.getByRole('button', { name: 'Sign in with Microsoft again' }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('take the links of SNDS with the keyboard alone', async () => {
    const { page } = ada
    await page.goto(TAB)
    await page.getByText('Signed in as alice@gmail.test.').waitFor()
    await tabTo(page, 'Use links instead')
    await page.keyboard.press('Enter')
    await page.getByLabel('Link to IP data').fill('https://example.com/?key=1')
    await page.getByRole('button', { name: 'Save links' }).click()
    await page.getByText(/must be a link of the automated data access/).waitFor()
    // The browser reports the rejection, which is meant.
    ada.complaints.length = 0
    await page.getByLabel('Link to IP data').fill(SNDS_LINKS.data)
    await page.getByLabel('Access approved on (optional)').fill('2026-11-02')
    await page.getByRole('button', { name: 'Save links' }).click()
    await page.getByText('New links are needed by').waitFor()
    await page.getByText(/Approve the access in the portal again by/).waitFor()
    expect(await page.getByText('DataKey').count()).toBe(0)
    await page.getByText('Enter the day of the approval').click()
    const day = page.getByLabel('Access approved on', { exact: true })
    await day.fill('2026-11-31x')
    await page.getByRole('button', { name: 'Save day' }).click()
    await page.getByText('Enter a day such as 2026-11-28.').waitFor()
    await day.fill('2026-10-05')
    await page.getByRole('button', { name: 'Save day' }).click()
    await page.getByText(/5 August 2027/).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('are one chart and a table with gaps, and the requirements with what to do', async () => {
    const { page } = ada
    await fill(opened)
    await page.goto(TAB)
    const application = page.getByRole('application', { name: 'Spam rate by provider' })
    await application.scrollIntoViewIfNeeded()
    await page.getByRole('img', { name: 'Spam rate by provider' }).waitFor()
    await page.getByText('Google (Postmaster Tools)', { exact: true }).first().waitFor()
    await page.getByText('Microsoft (SNDS)', { exact: true }).first().waitFor()
    await page.getByText('Give each sending address a reverse name').waitFor()
    await page.getByText('Google evaluates sender.test.').waitFor()
    await page.getByRole('link', { name: '192.0.2.1' }).waitFor()
    await application.focus()
    await page.keyboard.press('End')
    await page.getByRole('status').filter({ hasText: 'No data' }).waitFor({ state: 'attached' })
    await page.getByText('Show as table').last().click()
    const table = page.getByRole('table', { name: 'Spam rate by provider' })
    await table.waitFor()
    const rows = await table.getByRole('row').allInnerTexts()
    expect(rows).toHaveLength(31)
    const known = rows.filter((row) => row.includes('0.12%'))
    expect(known).toHaveLength(1)
    expect(known[0]).toContain('below 0.1%')
    expect(known[0]).toContain('1 of 1')
    expect(rows.filter((row) => row.split('No data').length === 5)).toHaveLength(28)
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('say that the access has ended, and ask for another sign-in', async () => {
    const { page } = ada
    await opened.pool.query(
      `update postmaster_access set is_ended = true, due_at = null, problem = 'The permission has ended.'`,
    )
    await page.goto(TAB)
    await page.getByText('Access ended. Sign in again:').waitFor()
    await page.getByText('The permission has ended.').waitFor()
    await page.getByRole('button', { name: 'Sign in with Google' }).last().waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    expect(ada.complaints).toEqual([])
  })
})

/** A day of both providers, with a listed host and a day of DMARC reports. */
async function fill({ pool }: Database): Promise<void> {
  const compliance = JSON.stringify({
    domain: 'sender.test',
    requirements: [
      { requirement: 'SPF', state: 'compliant', reason: null },
      { requirement: 'DNS_RECORDS', state: 'needs-work', reason: null },
    ],
  })
  await pool.query(`
    insert into watched_domain (workspace_id, domain, check_due_at)
      select workspace_id, 'sender.test', now() + interval '1 day' from postmaster_access;
    insert into postmaster_domain (workspace_id, domain, state, compliance, compliance_at)
      select workspace_id, 'sender.test', 'available', '${compliance}', now() from postmaster_access;
    insert into postmaster_day (workspace_id, domain, day, spam_rate, error_count, errors)
      select workspace_id, 'sender.test', current_date - 3, 0.0012, 7,
        '[{"type": "reject", "reason": "ip_in_rbls", "count": 7}]' from postmaster_access;
    insert into snds_day (workspace_id, address, day, filter, complaint_rate, complaint_low, complaint_high)
      select workspace_id, '192.0.2.1', current_date - 3, 'yellow', '< 0.1%', 0, 0.001 from snds_access;
    insert into monitored_host (workspace_id, host)
      select workspace_id, 'mx.sender.test' from snds_access;
    insert into monitored_address (host_id, ip, seen, unknown, last_seen_at)
      select id, '192.0.2.1', '{}', '{}', now() from monitored_host;
    insert into monitored_period (host_id, began_at, state)
      select id, (current_date - 3)::timestamp at time zone 'utc', 'listed' from monitored_host
      union all select id, (current_date - 2)::timestamp at time zone 'utc', 'unknown' from monitored_host;
    with d as (insert into dmarc_domain (workspace_id, domain, mailbox, challenge)
      select workspace_id, 'sender.test', 'raaaaaaaaaaaaaaaab', 'c' from snds_access returning id)
    insert into dmarc_reporter_day (domain_id, day, reporter, reports, messages, aligned, dkim, spf, forwarded, quarantined, rejected)
      select id, current_date - 5, 'Yahoo', 1, 1000, 900, 0, 0, 0, 0, 0 from d;
  `)
}
