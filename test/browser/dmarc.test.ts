import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aggregate, daysAgo, tlsReport } from '../dmarc/reports.ts'
import { startTestService, type TestService } from '../service.ts'
import { startChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { faultsAtAllWidths, heading, signedIn, tabTo, type Visit } from './browsing.ts'

const DOMAIN = 'example.com'
/** Milliseconds: axe over a long page, six times. */
const PATIENCE = 60_000

let portreeve: TestService
let dns: DnsServer
let browser: Browser
beforeAll(async () => {
  dns = await startDns()
  dns.records[`_dmarc.${DOMAIN} TXT`] = ['v=DMARC1; p=none; rua=mailto:old@example.com']
  portreeve = await startTestService({ DNS_SERVERS: `127.0.0.1:${dns.port}`, REPORT_DOMAIN: 'reports.portreeve.test' })
  browser = await startChromium()
})
afterAll(async () => {
  await browser.close()
  await portreeve.stop()
  await dns.close()
})

const sample = (name: string) => file(name, readFileSync(`test/fixtures/dmarc/${name}`))
const file = (name: string, content: string | Buffer) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(content),
})

/** Ten days of mail: a server that always passes, one that never does, and one that sometimes does. */
const DAYS = Array.from({ length: 10 }, (_, day) =>
  file(
    `day-${day}.xml`,
    aggregate({
      domain: DOMAIN,
      org: 'google.com',
      begin: daysAgo(day + 1),
      rows: [
        { ip: '192.0.2.1', count: 100 },
        { ip: '198.51.100.7', count: 7, dkim: 'fail', spf: 'fail', envelope: ['mail.example.com', 'softfail'] },
        { ip: '203.0.113.9', count: 3, dkim: day % 2 ? 'pass' : 'fail', spf: 'fail' },
      ],
    }),
  ),
)

/** A story: each step stands on the one before. */
describe('somebody who has a domain’s reports read', () => {
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    alice = await signedIn(browser, portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('registers it, and gets the record to publish: the one that is there, with the address added', async () => {
    await page.goto('/dmarc')
    await page.getByText('No domain is registered yet').waitFor()
    await page.getByRole('button', { name: 'Register it' }).click()
    await page.getByText('Type the domain that your mail is from.').waitFor()
    await page.getByLabel('Domain', { exact: true }).fill('Example.COM.')
    await page.getByRole('button', { name: 'Register it' }).click()
    await heading(page, `DNS record of ${DOMAIN}`).waitFor()
    await page.getByText('No reports are asked for at').waitFor()
    await page.getByText('example.com._report._dmarc.reports.portreeve.test').waitFor()
  })

  it('is told what is missing, publishes the record, and proves the domain with it', async () => {
    await page.getByRole('button', { name: 'Verify now' }).click()
    await page.getByText('Neither is there a TXT record').waitFor()
    await page.getByRole('button', { name: 'Copy the record' }).click()
    const record = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(record).toMatch(/^v=DMARC1; p=none; rua=mailto:old@example.com,mailto:\w+@reports.portreeve.test$/)
    dns.records[`_dmarc.${DOMAIN} TXT`] = [record]
    dns.records[`${DOMAIN}._report._dmarc.reports.portreeve.test TXT`] = ['v=DMARC1;']
    await page.getByRole('button', { name: 'Verify now' }).click()
    await page.getByText('Receivers are asked to send their reports').waitFor()
    await page.getByText('Verified', { exact: true }).waitFor()
    await page.getByText('send nothing').waitFor({ state: 'detached' })
  })

  it('uploads files of every kind, and reads what became of each', async () => {
    await page.getByRole('link', { name: 'DMARC', exact: true }).first().click()
    const names = ['google-20-records.xml.gz', 'usssa.com!example.com!1538784000!1538870399.xml', 'viewer-gmxnet.xml']
    const files = [
      ...names.map(sample),
      ...DAYS,
      file('tls.json', tlsReport({ domain: DOMAIN })),
      file('a.txt', 'hello'),
    ]
    await page.getByLabel('Choose report files').setInputFiles(files)
    await page.getByText('13 reports stored, 2 set aside.').waitFor()
    await page.getByText('It is about myserver.com, which is no domain of this account.').waitFor()
    await page.getByLabel('Choose report files').setInputFiles(names.slice(0, 2).map(sample))
    await page.getByText('0 reports stored, 2 stored already.').waitFor()
    await page.getByRole('row', { name: `${DOMAIN} Verified 12 reports 1 TLS report` }).waitFor()
  })

  it('reads first whether the policy may be tightened, and whom that would hit', async () => {
    await page.getByRole('link', { name: DOMAIN }).click()
    await heading(page, DOMAIN).waitFor()
    await page.getByText('92.2 % of 1,100 messages aligned over 30 days: p=quarantine is not safe yet').waitFor()
    const failing = page.getByRole('region', { name: 'Never passed' })
    await failing.getByRole('row', { name: '198.51.100.7 70 messages 0 % passed 70 failed DKIM 0 % SPF 0 %' }).waitFor()
    const partly = page.getByRole('region', { name: /Passed sometimes|Passed on/ })
    await partly.getByRole('row', { name: '203.0.113.9 30 messages 50.0 % passed' }).waitFor()
    await page.getByRole('row', { name: 'google.com 10 reports 1,100 messages' }).waitFor()
  })

  it('sees the days as a picture, in a sentence and in a table', async () => {
    const chart = page.getByRole('img', { name: 'Messages per day, passed and failed' })
    expect(await chart.locator('title').count()).toBe(30)
    await page.getByText('1,100 messages in 30 days, of which 85 failed, the most on').waitFor()
    await page.getByText('As a table').click()
    const day = page.getByRole('table', { name: 'Messages per day' }).getByRole('row', { name: '110 messages' })
    expect(await day.count()).toBe(10)
    await page.getByLabel('How long back').selectOption('Last 7 days')
    await page.getByText('messages in 7 days').first().waitFor()
    expect(page.url()).toMatch(/\?days=7$/)
  })

  it('meets no fault of the page at any width, in either theme', { timeout: PATIENCE }, async () => {
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('follows a source to what it is, what is wrong with it, and what to do about that', async () => {
    await page.getByRole('region', { name: 'Never passed' }).getByRole('link', { name: '198.51.100.7' }).click()
    await heading(page, '198.51.100.7').waitFor()
    expect(page.url()).toMatch(/sources\/198\.51\.100\.7\?days=7$/)
    await page.getByText(`None of its mail passed: neither DKIM nor SPF spoke for ${DOMAIN}.`).waitFor()
    await page.getByText('42 messages in 7 days, of which 42 failed').waitFor({ state: 'attached' })
    await page.getByText('Look whether s1._domainkey.example.com has the key').waitFor()
    await page.getByRole('button', { name: 'Copy what belongs into the record of mail.example.com' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('ip4:198.51.100.7')
    const signed = page.getByRole('table', { name: 'Who signed' })
    await signed.getByRole('row', { name: `${DOMAIN} selector s1 42 messages DKIM fail Not aligned` }).waitFor()
    const bounces = page.getByRole('table', { name: 'Where bounces go' })
    await bounces.getByRole('row', { name: 'mail.example.com 42 messages SPF softfail Not aligned' }).waitFor()
  })

  it('narrows what was seen of a source down, and goes on to the report', async () => {
    const seen = page.getByRole('region', { name: 'What was seen' })
    await seen.getByText('6 records').waitFor()
    await page.getByLabel('How long back').selectOption('Last 30 days')
    await seen.getByText('10 records').waitFor()
    await seen.getByLabel('Result').selectOption('Passed')
    await seen.getByText('There is none like that.').waitFor()
    expect(page.url()).toContain('result=pass')
    await seen.getByLabel('Result').selectOption('Failed')
    await seen.getByText('10 records').waitFor()
  })

  it('meets no fault on the page of a source, either', { timeout: PATIENCE }, async () => {
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('table', { name: 'What was seen' }).getByRole('link', { name: 'google.com' }).first().click()
    await heading(page, 'Report of google.com').waitFor()
    await page.getByRole('link', { name: '203.0.113.9' }).click()
    await heading(page, '203.0.113.9').waitFor()
    await page.getByRole('link', { name: `Sources of ${DOMAIN}` }).click()
    await heading(page, DOMAIN).waitFor()
  })

  it('finds a report in which something failed, and what each source did', async () => {
    await page.getByRole('link', { name: 'Reports', exact: true }).click()
    await page.getByText('12 reports', { exact: true }).waitFor()
    await page.getByLabel('Result').selectOption('With failures')
    await page.getByLabel('Whole name of a reporter').fill('usssa.com')
    await page.getByText('1 report', { exact: true }).waitFor()
    expect(page.url()).toContain('orgName=usssa.com')
    await page.getByRole('link', { name: 'usssa.com' }).click()
    await heading(page, 'Report of usssa.com').waitFor()
    await page.getByText('usssa.com has seen 2 messages, of which 2 failed.').waitFor()
    await page
      .getByRole('row', { name: /1 message .* Failed DKIM not aligned/ })
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Reports', exact: true }).click()
    await page.getByLabel('Whole name of a reporter').fill('google.com')
    await page.getByLabel('Result').selectOption('Every result')
    await page.getByText('11 reports', { exact: true }).waitFor()
    await page
      .getByRole('row', { name: /3,047 messages/ })
      .getByRole('link')
      .click()
    await page.getByText('google.com has seen 3,047 messages, and every one passed.').waitFor()
    expect(await page.getByRole('table', { name: 'What was seen' }).locator('tbody tr').count()).toBe(20)
  })

  it('reads the TLS reports with what failed', async () => {
    await page.getByRole('link', { name: 'Reports', exact: true }).click()
    await page.getByRole('link', { name: 'TLS reports' }).click()
    await page.getByRole('row', { name: /Receiver .* 1 failed 10 succeeded certificate-expired/ }).waitFor()
  })

  it('reads why something was set aside, and takes it along as it came', async () => {
    await page.goto('/dmarc')
    await page.getByRole('link', { name: 'What was set aside' }).click()
    await page.getByRole('row', { name: 'viewer-gmxnet.xml uploaded It is about myserver.com' }).waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download a.txt' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toBe('hello')
  })

  it('adds a mailbox, and is told why it cannot be read', async () => {
    await page.goto('/dmarc/mailboxes')
    await page.getByRole('button', { name: 'Read this mailbox' }).click()
    await page.getByText('Type the name of the server').waitFor()
    await page.getByLabel('IMAP server').fill('127.0.0.1')
    await page.getByLabel('User').fill('dmarc')
    await page.getByLabel('Password', { exact: true }).fill('secret')
    await page.getByText('Port and security').click()
    await page.getByLabel('Port', { exact: true }).fill('1')
    await page.getByRole('button', { name: 'Read this mailbox' }).click()
    await page.getByRole('row', { name: /^dmarc INBOX on 127\.0\.0\.1 Failing .*127\.0\.0\.1/ }).waitFor()
  })

  it('deletes the domain, after being asked', async () => {
    await page.goto('/dmarc')
    await page.getByRole('link', { name: DOMAIN }).click()
    await page.getByRole('link', { name: 'DNS record' }).click()
    await page.getByRole('button', { name: `Delete ${DOMAIN}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No domain is registered yet').waitFor()
  })

  it('meets no complaint of the browser', () => {
    expect(alice.complaints).toEqual([])
  })
})

describe('with the keyboard alone', () => {
  it('a domain is registered, its record copied, and its screens gone through', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Klara')
    await page.goto('/dmarc')
    await page.getByText('No domain is registered yet').waitFor()
    await tabTo(page, 'Domain')
    await page.keyboard.type('klara.test')
    await page.keyboard.press('Enter')
    await heading(page, 'DNS record of klara.test').waitFor()
    await page.getByRole('button', { name: 'Copy the record' }).waitFor()
    await tabTo(page, 'Copy the record')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('v=DMARC1; p=none; rua=mailto:')
    await page.getByRole('link', { name: 'Summary' }).focus()
    await page.keyboard.press('Enter')
    await page.getByText('nothing can be said yet').waitFor()
    await page.goto('/dmarc')
    await page.getByRole('link', { name: 'klara.test' }).waitFor()
    await tabTo(page, 'Choose report files')
    const [chooser] = await Promise.all([page.waitForEvent('filechooser'), page.keyboard.press('Space')])
    await chooser.setFiles([file('report.xml', aggregate({ domain: 'klara.test' }))])
    await page.getByText('1 report stored.').waitFor()
    await page.getByRole('link', { name: 'klara.test' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: '192.0.2.1' }).waitFor()
    await page.keyboard.press('j')
    await tabTo(page, '192.0.2.1')
    await page.keyboard.press('Enter')
    await heading(page, '192.0.2.1').waitFor()
    await page.getByText('There is nothing to do.').waitFor()
    await close()
  })
})

describe('a domain of somebody else', () => {
  it('is not there', async () => {
    const { token } = await portreeve.addPerson('Dora')
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', token, headers, body: JSON.stringify({ domain: 'dora.test' }) }
    const made = (await (await portreeve.request('/api/v1/dmarc/domains', init)).json()) as { data: { id: string } }
    const { page, close } = await signedIn(browser, portreeve, 'Charlie')
    for (const part of ['', '/reports', '/tls', '/record', '/sources/192.0.2.1']) {
      await page.goto(`/dmarc/${made.data.id}${part}`)
      await page.getByText('There is no such domain.').first().waitFor()
      expect(await page.getByText('dora.test').count()).toBe(0)
    }
    await close()
  })
})
