import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestService, type TestService, type Person } from '../service.ts'
import { startChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'

let dns: DnsServer
let portreeve: TestService
let alice: Person
let browser: Browser
beforeAll(async () => {
  dns = await startDns({ records: { 'example.com A': ['192.0.2.7'] } })
  portreeve = await startTestService({ DNS_SERVERS: `127.0.0.1:${dns.port}` })
  alice = await portreeve.addPerson('Alice')
  browser = await startChromium()
})
afterAll(async () => {
  await browser.close()
  await portreeve.stop()
  await dns.close()
})

it('runs a check on the documentation page with a token', { timeout: 60_000 }, async () => {
  const page = await browser.newPage()
  const complaints: string[] = []
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
  await page.goto(`${portreeve.url}/docs/`)
  await page.getByRole('button', { name: 'Authorize' }).click()
  await page.getByLabel('auth-bearer-value').fill(alice.token)
  await page.getByRole('button', { name: 'Apply credentials' }).first().click()
  await page.locator('.btn-done').first().click()
  await page.getByText('/api/v1/dns-check', { exact: true }).click()
  await page.getByRole('button', { name: 'Execute' }).click()
  await page.getByText('192.0.2.7').first().waitFor()
  expect(complaints).toEqual([])
  await page.close()
})
