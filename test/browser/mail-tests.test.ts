import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../free-port.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { swaks } from '../servers/swaks.ts'
import { startTestService, type TestService } from '../service.ts'
import { faultsAtAllWidths, signedIn, tabTo, type Visit } from './browsing.ts'

const folder = mkdtempSync(join(tmpdir(), 'portreeve-browser-mail-'))
const MAIL =
  'From: Shop <shop@sender.test>\r\nTo: b@other.test\r\nSubject: A saved mail\r\n\r\nHello.\r\n'

let browser: Browser
let dns: DnsServer
let portreeve: TestService
let port: number
let ada: Visit

beforeAll(async () => {
  writeFileSync(join(folder, 'mail.eml'), MAIL)
  dns = await startDns({ records: { 'sender.test TXT': ['v=spf1 -all'] } })
  port = await freePort()
  portreeve = await startTestService({
    SMTP_LISTEN: `127.0.0.1:${port}`,
    REPORT_DOMAIN: 'tests.test',
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
    DNSBL_SERVERS: `127.0.0.1:${dns.port}`,
  })
  browser = await sharedChromium()
  ada = await signedIn(browser, portreeve, 'Ada', 1440)
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve?.stop()
  await dns?.close()
  rmSync(folder, { recursive: true })
})

describe('mail tests', () => {
  it('show the problems of a mail as soon as it arrives, and its link', async () => {
    const { page } = ada
    await page.goto('/mail-tests')
    await page.getByRole('button', { name: 'Create test address' }).click()
    await page.getByText('Waiting for a mail. Findings appear here').waitFor()
    const address = (await page.getByText(/^t[a-z2-7]{16}@tests\.test$/).textContent()) ?? ''
    const sent = await swaks(port, address, MAIL.replace('A saved mail', 'A first mail'))
    expect(sent.code, sent.transcript).toBe(0)
    await page.getByRole('heading', { name: 'A first mail' }).waitFor()
    await page.getByText('SPF or DKIM', { exact: true }).first().waitFor()
    await page.getByRole('heading', { name: 'Requirements of receivers' }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('button', { name: 'Share by link' }).click()
    const link = (await page.getByText(/\/shared-mail-tests\//).textContent()) ?? ''
    await page.goto(new URL(link).pathname)
    await page.getByRole('heading', { name: 'A first mail' }).waitFor()
    expect(await page.getByText(address).count()).toBe(0)
  })

  it('check a saved mail', async () => {
    const { page } = ada
    await page.goto('/domains/sender.test/deliverability')
    await page.getByLabel('Choose a mail').setInputFiles(join(folder, 'mail.eml'))
    await page.getByRole('heading', { name: 'A saved mail' }).waitFor()
    await page.getByText('As reported').waitFor()
    await page.getByRole('link', { name: 'Mail tests' }).first().click()
    await page.getByRole('link', { name: 'A saved mail' }).waitFor()
  })

  it('are created with the keyboard alone', async () => {
    const { page } = ada
    await page.goto('/mail-tests')
    await page.getByRole('link', { name: 'A saved mail' }).waitFor()
    await tabTo(page, 'Create test address')
    await page.keyboard.press('Enter')
    await page.getByText('Waiting for a mail. Findings appear here').waitFor()
    expect(ada.complaints).toEqual([])
  })
})
