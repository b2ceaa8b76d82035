import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { aggregate, daysAgo, tlsReport } from '../dmarc/reports.ts'
import { sharedService, type SharedService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { faultsAtAllWidths, heading, signedIn, tabTo, type Visit } from './browsing.ts'

const DOMAIN = 'example.com'

let portreeve: SharedService
let browser: Browser
beforeAll(async () => {
  portreeve = await sharedService()
  portreeve.dns.records[`_dmarc.${DOMAIN} TXT`] = ['v=DMARC1; p=none; rua=mailto:old@example.com']
  // Domains without mail get p=reject at once.
  for (const name of [DOMAIN, 'klara.test'])
    portreeve.dns.records[`${name} MX`] = [`10 mail.${name}`]
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

const sample = (name: string) => file(name, readFileSync(`test/fixtures/dmarc/${name}`))
const file = (name: string, content: string | Buffer) => ({
  name,
  mimeType: 'application/octet-stream',
  buffer: Buffer.from(content),
})

/**
 * Ten days of mail: a server that always passes, one that never does, and one that sometimes does.
 */
const DAYS = Array.from({ length: 10 }, (_, day) =>
  file(
    `day-${day}.xml`,
    aggregate({
      domain: DOMAIN,
      org: 'google.com',
      begin: daysAgo(day + 1),
      rows: [
        { ip: '192.0.2.1', count: 100 },
        {
          ip: '198.51.100.7',
          count: 7,
          dkim: 'fail',
          spf: 'fail',
          envelope: ['mail.example.com', 'softfail'],
        },
        { ip: '203.0.113.9', count: 3, dkim: day % 2 ? 'pass' : 'fail', spf: 'fail' },
      ],
    }),
  ),
)

/** A sequence: each step continues the one before. */
describe('the DMARC screens', () => {
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    alice = await signedIn(browser, portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('add a domain and show the record to publish: the current one with the address added', async () => {
    await page.goto('/dmarc')
    await page.getByText('No domains yet').waitFor()
    await page.getByRole('button', { name: 'Add domain' }).click()
    await page.getByText('Enter the domain that your email is from.').waitFor()
    await page.getByLabel('Domain', { exact: true }).fill('Example.COM.')
    await page.getByRole('button', { name: 'Add domain' }).click()
    await heading(page, `DNS record for ${DOMAIN}`).waitFor()
    await page.getByText('Your DMARC record doesn’t send reports to').waitFor()
    await page.getByText('*._report._dmarc.reports.portreeve.test').waitFor()
  })

  it('show the missing proof, and verify the domain after the record is published', async () => {
    await page.getByRole('button', { name: 'Verify now' }).click()
    await page.getByText('Not verified yet: ').waitFor()
    await page.getByRole('button', { name: 'Copy the record' }).click()
    const record = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(record).toMatch(
      /^v=DMARC1; p=none; rua=mailto:old@example.com,mailto:\w+@reports.portreeve.test$/,
    )
    portreeve.dns.records[`_dmarc.${DOMAIN} TXT`] = [record]
    portreeve.dns.records[`${DOMAIN}._report._dmarc.reports.portreeve.test TXT`] = ['v=DMARC1;']
    await page.getByRole('button', { name: 'Verify now' }).click()
    await page.getByText('Your DMARC record sends reports to').waitFor()
    await page.getByText('Verified', { exact: true }).waitFor()
    await page.getByText('send nothing').waitFor({ state: 'detached' })
  })

  it('upload files of every kind and show the result of each', async () => {
    await page.goto('/dmarc')
    const names = [
      'google-20-records.xml.gz',
      'usssa.com!example.com!1538784000!1538870399.xml',
      'viewer-gmxnet.xml',
    ]
    const files = [
      ...names.map(sample),
      ...DAYS,
      file('tls.json', tlsReport({ domain: DOMAIN })),
      file('a.txt', 'hello'),
    ]
    await page.getByLabel('Choose report files').setInputFiles(files)
    await page.getByText('13 reports stored, 2 rejected.').waitFor()
    await page.getByLabel('myserver.com (1)').waitFor()
    await page.getByLabel('Choose report files').setInputFiles(names.slice(0, 2).map(sample))
    await page.getByText('0 reports stored, 2 duplicates skipped.').waitFor()
    const row = new RegExp(`${DOMAIN} (?:none|quarantine|reject) .*12 reports 1 TLS report`)
    await page.getByRole('row', { name: row }).waitFor()
  })

  it('show first whether a stricter policy is safe, and which sources it would affect', async () => {
    await page.getByRole('link', { name: DOMAIN }).click()
    await heading(page, DOMAIN).waitFor()
    await page.getByText('One sender left to sort out').waitFor()
    await page
      .getByText(
        /sent 70 messages that all fail\. Is it yours\? .*92\.2% of 1,100 messages in the last 30 days passed\./,
      )
      .waitFor()
    const failing = page.getByRole('region', { name: 'Failing' })
    await failing
      .getByRole('row', {
        name: '198.51.100.7 Blocklists, attack reports, bans 70 messages 0% passed 70 failed DKIM 0% SPF 0%',
      })
      .waitFor()
    const partly = page.getByRole('region', { name: /Partially passing|Forwarded/ })
    await partly
      .getByRole('row', {
        name: '203.0.113.9 Blocklists, attack reports, bans 30 messages 50.0% passed',
      })
      .waitFor()
    await page.getByRole('row', { name: 'google.com 10 reports 1,100 messages' }).waitFor()
  })

  it('show the days as a chart, a sentence and a table', async () => {
    const daily = page.getByRole('region', { name: 'Messages per day' })
    await daily.getByRole('img', { name: 'Messages per day, passed and failed' }).waitFor()
    await page.getByText('85 of 1,100 messages failed, most on').waitFor()
    await daily.getByText('Show as table').click()
    const day = page
      .getByRole('table', { name: 'Messages per day' })
      .getByRole('row', { name: '110 messages' })
    await expect.poll(() => day.count()).toBe(10)
    await page.getByLabel('Period').selectOption('Last 7 days')
    await page.getByText('51 of 660 messages failed, most on').waitFor()
    expect(page.url()).toMatch(/\?days=7$/)
  })

  it('have no accessibility fault at any width, in either theme', async () => {
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('shows a source with its details and the recommended actions', async () => {
    await page
      .getByRole('region', { name: 'Failing' })
      .getByRole('link', { name: '198.51.100.7' })
      .click()
    await heading(page, '198.51.100.7').waitFor()
    expect(page.url()).toMatch(/sources\/198\.51\.100\.7\?days=7$/)
    await page
      .getByText(`None of its messages passed: neither DKIM nor SPF aligned with ${DOMAIN}.`)
      .waitFor()
    await page.getByText('42 of 42 messages failed, most on').waitFor({ state: 'attached' })
    await page.getByText('Check that s1._domainkey.example.com has the matching key').waitFor()
    await page
      .getByRole('button', { name: 'Copy the addition to the record of mail.example.com' })
      .click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('ip4:198.51.100.7')
    const signed = page.getByRole('table', { name: 'DKIM signatures' })
    await signed
      .getByRole('row', { name: `${DOMAIN} selector s1 42 messages DKIM fail Not aligned` })
      .waitFor()
    const bounces = page.getByRole('table', { name: 'SPF (envelope-from domain)' })
    await bounces
      .getByRole('row', { name: 'mail.example.com 42 messages SPF softfail Not aligned' })
      .waitFor()
  })

  it('filter the records of a source, and link to the report', async () => {
    const seen = page.getByRole('region', { name: 'Records' })
    await seen.getByText('6 records').waitFor()
    await page.getByLabel('Period').selectOption('Last 30 days')
    await seen.getByText('10 records').waitFor()
    await seen.getByLabel('Result').selectOption('Passed')
    await seen.getByText('No matches').waitFor()
    expect(page.url()).toContain('result=pass')
    await seen.getByLabel('Result').selectOption('Failed')
    await seen.getByText('10 records').waitFor()
  })

  it('have no accessibility fault on the page of a source', async () => {
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page
      .getByRole('table', { name: 'Records' })
      .getByRole('link', { name: 'google.com' })
      .first()
      .click()
    await heading(page, 'Report from google.com').waitFor()
    await page.getByRole('link', { name: '203.0.113.9' }).click()
    await heading(page, '203.0.113.9').waitFor()
    await page.getByRole('link', { name: `Sources for ${DOMAIN}` }).click()
    await heading(page, DOMAIN).waitFor()
  })

  it('find a report with failures and show each source', async () => {
    await page.getByRole('link', { name: 'Reports', exact: true }).click()
    await page.getByText('12 reports', { exact: true }).waitFor()
    await page.getByLabel('Result').selectOption('With failures')
    await page.getByLabel('Filter by reporter').fill('usssa')
    await page.getByText('1 report', { exact: true }).waitFor()
    expect(page.url()).toContain('orgName=usssa')
    await page.getByRole('link', { name: 'usssa.com' }).click()
    await heading(page, 'Report from usssa.com').waitFor()
    await page.getByText('usssa.com saw 2 messages, 2 failed.').waitFor()
    await page
      .getByRole('row', { name: /1 message .* Failed DKIM not aligned/ })
      .first()
      .waitFor()
    await page.getByRole('link', { name: 'Reports', exact: true }).click()
    await page.getByLabel('Filter by reporter').fill('google.com')
    await page.getByLabel('Result').selectOption('All results')
    await page.getByText('11 reports', { exact: true }).waitFor()
    await page
      .getByRole('row', { name: /3,047 messages/ })
      .getByRole('link')
      .click()
    await page.getByText('google.com saw 3,047 messages, all passed.').waitFor()
    expect(await page.getByRole('table', { name: 'Records' }).locator('tbody tr').count()).toBe(20)
  })

  it('show TLS reports with their failures', async () => {
    await page.getByRole('link', { name: 'Reports', exact: true }).click()
    await page.getByRole('link', { name: 'TLS reports' }).click()
    await page
      .getByRole('row', { name: /Receiver .* 1 failed 10 succeeded certificate-expired/ })
      .waitFor()
  })

  it('show why a report was rejected, and download the original', async () => {
    await page.goto('/dmarc')
    await page.getByRole('link', { name: 'Rejected reports' }).click()
    await page
      .getByRole('row', { name: 'viewer-gmxnet.xml uploaded The report is for myserver.com' })
      .waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download a.txt' }).click(),
    ])
    expect(readFileSync(await download.path(), 'utf8')).toBe('hello')
  })

  it('add a mailbox and show why it fails', async () => {
    await page.goto('/dmarc/mailboxes')
    await page.getByRole('button', { name: 'Add mailbox' }).click()
    await page.getByText('Enter the name of the server').waitFor()
    await page.getByLabel('IMAP server').fill('127.0.0.1')
    await page.getByLabel('User name').fill('dmarc')
    await page.getByLabel('Password', { exact: true }).fill('secret')
    await page.getByText('Port and security').click()
    await page.getByLabel('Port', { exact: true }).fill('1')
    await page.getByRole('button', { name: 'Add mailbox' }).click()
    await page
      .getByRole('row', { name: /^dmarc INBOX on 127\.0\.0\.1 Failing .*127\.0\.0\.1/ })
      .waitFor()
  })

  it('delete the domain', async () => {
    await page.goto('/dmarc')
    await page.getByRole('link', { name: DOMAIN }).click()
    await page.getByRole('link', { name: 'DNS record' }).click()
    await page.getByRole('button', { name: `Delete ${DOMAIN}` }).click()
    await page.getByText('No domains yet').waitFor()
  })

  it('cause no browser error', () => {
    expect(alice.complaints).toEqual([])
  })
})

describe('reports of long ago', () => {
  it('are offered where the period has none, and shown after their domain is added', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Otto')
    await page.request.post('/api/v1/dmarc/domains', {
      data: { domain: 'first.test' },
      headers: { origin: portreeve.url },
    })
    await page.goto('/dmarc')
    const begin = Date.parse('2024-06-13T00:00:00Z') / 1_000
    await page
      .getByLabel('Choose report files')
      .setInputFiles([file('old.xml', aggregate({ domain: 'otto.test', begin }))])
    await page.getByLabel('otto.test (1)').waitFor()
    await page.getByRole('button', { name: 'Add and read them' }).click()
    const row = page.getByRole('row', {
      name: 'otto.test Not verified yet none no messages 1 report 13 Jun 2024',
    })
    await row.getByRole('link', { name: 'otto.test' }).click()
    await page.getByText('The only message passed.').waitFor()
    await page.getByLabel('Period').selectOption('Last 7 days')
    await page.getByText('Your newest report covers 13 June 2024.').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('button', { name: 'Show that period' }).click()
    await page.getByText('The only message passed.').waitFor()
    await page.getByLabel('Period').selectOption('All reports')
    await page.getByRole('img', { name: 'Messages per month, passed and failed' }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await close()
  })
})

describe('the DMARC screens with the keyboard only', () => {
  it('add a domain, copy its record and open its screens', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Klara')
    await page.goto('/dmarc')
    await page.getByText('No domains yet').waitFor()
    await tabTo(page, 'Domain')
    await page.keyboard.type('klara.test')
    await page.keyboard.press('Enter')
    await heading(page, 'DNS record for klara.test').waitFor()
    await page.getByRole('button', { name: 'Copy the record' }).waitFor()
    await tabTo(page, 'Copy the record')
    await page.keyboard.press('Enter')
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(
      'v=DMARC1; p=none; rua=mailto:',
    )
    await page.getByRole('link', { name: 'DMARC', exact: true }).last().press('Enter')
    await page.getByText('No messages reported yet').waitFor()
    await page.goto('/dmarc')
    await page.getByRole('link', { name: 'klara.test' }).waitFor()
    await tabTo(page, 'Choose report files')
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      page.keyboard.press('Space'),
    ])
    await chooser.setFiles([file('report.xml', aggregate({ domain: 'klara.test' }))])
    await page.getByText('1 report stored.').waitFor()
    await page.getByRole('rowheader').getByRole('link', { name: 'klara.test' }).press('Enter')
    await page.getByRole('link', { name: '192.0.2.1', exact: true }).waitFor()
    await page.keyboard.press('j')
    await tabTo(page, '192.0.2.1')
    await page.keyboard.press('Enter')
    await heading(page, '192.0.2.1').waitFor()
    await page.getByText('No action needed.').waitFor()
    await close()
  })
})

describe('a domain of another account', () => {
  it('is not shown', async () => {
    const { token } = await portreeve.addPerson('Dora')
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', token, headers, body: JSON.stringify({ domain: 'dora.test' }) }
    const made = (await (await portreeve.request('/api/v1/dmarc/domains', init)).json()) as {
      data: { id: string }
    }
    const { page, close } = await signedIn(browser, portreeve, 'Charlie')
    for (const part of ['', '/reports', '/tls', '/record', '/sources/192.0.2.1']) {
      await page.goto(`/dmarc/${made.data.id}${part}`)
      await page
        .getByText(/(This domain isn’t|Domain not found) in your workspace\./)
        .first()
        .waitFor()
      expect(await page.getByText('dora.test').count()).toBe(0)
    }
    await close()
  })
})
