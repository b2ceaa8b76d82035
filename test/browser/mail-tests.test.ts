import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { complaintMail } from '../deliverability/complaint-mail.ts'
import { freePort } from '../free-port.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startDovecot } from '../servers/dovecot.ts'
import { startSubmission } from '../servers/postfix.ts'
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
    await page.getByText(/^Start with “/).waitFor()
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
    const requirements = page.getByRole('table', { name: 'Requirements of receivers' })
    await page.keyboard.press('Control+k')
    const palette = page.getByRole('dialog', { name: 'Search' })
    await palette.getByRole('combobox').fill('saved')
    await palette.getByRole('option', { name: 'A saved mail' }).click()
    const gmail = requirements.getByRole('row', { name: 'Gmail' }).first()
    await gmail.waitFor()
    // The file does not say which server sent it.
    expect(await gmail.getByRole('cell').nth(1).textContent()).toContain('Valid Message-ID')
    expect(await gmail.getByRole('cell').nth(2).textContent()).toContain('SPF or DKIM')
  })

  it('stand beside complaints, which appear as they arrive', async () => {
    const { page } = ada
    await page.goto('/domains/sender.test/deliverability')
    await page.getByRole('button', { name: 'Create address for complaints' }).click()
    const address =
      (await page
        .getByText(/^f[a-z2-7]{17}@tests\.test$/)
        .first()
        .textContent()) ?? ''
    await page.getByText('No data', { exact: true }).waitFor()
    const header = ['From: Shop <shop@sender.test>', 'List-Id: <offers.sender.test>']
    const mail = complaintMail({ header, report: ['Source-IP: 192.0.2.7'] })
    const sent = await swaks(port, address, mail)
    expect(sent.code, sent.transcript).toBe(0)
    await page.getByText('1 more not authenticated').waitFor()
    await page.getByText('offers.sender.test').waitFor()
    await page.getByRole('link', { name: '192.0.2.7' }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('stand beside canaries, which the keyboard creates', async () => {
    const { page } = ada
    const [lmtpPort, authPort] = [await freePort(), await freePort()]
    const delivery = { lmtpPort, authPort, password: 'of-the-submission', sieve: 'keep;\n' }
    const dovecot = await startDovecot({ delivery })
    const postfix = await startSubmission({ authPort, lmtpPort })
    try {
      await dovecot.addUser('seed', 'secret')
      await page.goto('/domains/sender.test/deliverability')
      await tabTo(page, 'Create canary')
      await page.keyboard.press('Enter')
      await page.getByRole('textbox', { name: 'Sender' }).fill('news@sender.test')
      await page.getByLabel('Submission server').fill('127.0.0.1')
      await page.getByLabel('User name').fill('news')
      await page.getByLabel('Password', { exact: true }).fill('wrong')
      await page.getByLabel('Port').fill(String(postfix.port))
      await page.getByLabel('Verify the certificate').uncheck()
      await page.getByRole('button', { name: 'Create canary' }).click()
      await page.getByText(/rejected the sign-in/).waitFor()
      // The browser reports the rejection, which is meant.
      ada.complaints.length = 0
      await page.getByLabel('Password', { exact: true }).fill('of-the-submission')
      await page.getByRole('button', { name: 'Create canary' }).click()
      await page.getByRole('heading', { name: 'news@sender.test' }).waitFor()
      expect(await faultsAtAllWidths(page)).toEqual([])
    } finally {
      await Promise.all([postfix.stop(), dovecot.stop()])
    }
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
