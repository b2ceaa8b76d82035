import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startRelayServices, type RelayServices } from '../servers/relay-services.ts'
import { startTestService, type TestService } from '../service.ts'
import { faultsAtAllWidths, signedIn, tabTo, type Visit } from './browsing.ts'

let browser: Browser
let services: RelayServices
let portreeve: TestService
let alice: Visit

beforeAll(async () => {
  services = await startRelayServices()
  const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'portreeve@example.com' }
  portreeve = await startTestService(mail, undefined, { providerOrigins: services.origins })
  browser = await sharedChromium()
  alice = await signedIn(browser, portreeve, 'Alice')
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve?.stop()
  await services?.stop()
})

describe('relays', () => {
  it('are set up with a key, and tested', async () => {
    const { page } = alice
    await page.goto('/attacks/relays')
    const card = page.getByRole('region', { name: 'AbuseIPDB' })
    await card.getByText('Relay reports', { exact: true }).first().click()
    await card.getByLabel('API key (v2)').fill('a1b2c3d4e5f6a7b8')
    await card.getByRole('button', { name: 'Relay reports' }).click()
    await card.getByText('ends in a7b8').waitFor()
    await card.getByRole('button', { name: 'Test key' }).click()
    await card.getByText('AbuseIPDB accepts the key.').waitFor()
    expect(services.requests[0]?.headers['key']).toBe('a1b2c3d4e5f6a7b8')
    expect(await faultsAtAllWidths(page)).toEqual([])
  })
})

describe('abuse emails', () => {
  it('are turned on as a test, and shown as they are sent', async () => {
    const { page } = alice
    await page.goto('/attacks/mails')
    await page.getByLabel('Emails').selectOption('test')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Recipients answer to alice@people.test.').waitFor()
    await page.getByText('No emails yet.').waitFor()
    const { pool, close } = openDatabase(portreeve.databaseUrl)
    await pool.query(
      `with mail as (
        insert into abuse_mail (workspace_id, day, recipient, network, is_test, state, ended_at)
        select workspace_id, current_date, 'abuse@example.net', '9.1.0.0 - 9.1.0.255 (EXAMPLE-NET)', true, 'sent', now()
        from abuse_mail_settings returning id, workspace_id
      )
      insert into abuse_mail_report (workspace_id, day, address, services, port, count, first_at, last_at, mail_id)
      select workspace_id, current_date, '9.1.0.2', '{ssh}', 22, 5, now(), now(), id from mail`,
    )
    await close()
    await page.reload()
    await page.getByRole('button', { name: 'Show the email to abuse@example.net' }).click()
    await page.getByText('this email would go to abuse@example.net').waitFor()
    await page.getByText('Report-Type: login-attack').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })
})

describe('watched networks', () => {
  it('are added with the keyboard alone', async () => {
    const { page } = alice
    await page.goto('/attacks/networks')
    await page.getByText('No networks yet').waitFor()
    await tabTo(page, 'Address or network')
    await page.keyboard.type('45.9.0.0/24')
    await page.keyboard.press('Enter')
    await page.getByRole('link', { name: '45.9.0.0/24' }).waitFor()
    await page.getByText('Not listed').waitFor()
  })

  it('show what is listed, with an appeal', async () => {
    const { page } = alice
    const { pool, close } = openDatabase(portreeve.databaseUrl)
    await pool.query(
      `insert into abuse_address (address, state, score, confidence, services, networks, evidence, total_reports, revision, first_reported_at, last_reported_at)
       values ('45.9.0.7', 'listed', 80, 'medium', '{ssh}', 2, '[]', 2, 1, now(), now())`,
    )
    await pool.query(
      `insert into watched_finding (network_id, list, entry) select id, 'shared', '45.9.0.7/32' from watched_network`,
    )
    await close()
    await page.getByRole('link', { name: '45.9.0.0/24' }).click()
    await page.getByText('Appeal the listing of 45.9.0.7').click()
    await page.getByRole('textbox').last().fill('The server was cleaned up.')
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page
      .getByRole('button', { name: /appeal/i })
      .last()
      .click()
    await page
      .getByText(/appeal/i)
      .last()
      .waitFor()
    expect(alice.complaints).toEqual([])
  })
})
