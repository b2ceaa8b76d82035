import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startTestService, type TestService } from '../service.ts'
import { makeEmpty, type Ids } from './screen-data.ts'
import { AT_FIRST, EMPTY, missingRoutes } from './screens.ts'
import { faultsOf, faultsOfNext, openWindow, startWalk, type Walker } from './walk.ts'

let browser: Browser
let dns: DnsServer
let portreeve: TestService
beforeAll(async () => {
  dns = await startDns({
    records: { 'example.test A': ['192.0.2.10'], 'example.test NS': ['ns1.example.test'] },
  })
  const server = `127.0.0.1:${dns.port}`
  portreeve = await startTestService({
    DNS_SERVERS: server,
    DNSBL_SERVERS: server,
    // Else no report address is proposed: no mail reaches localhost.
    REPORT_DOMAIN: 'reports.example.net',
  })
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
  await dns.close()
})

it('every route of the dashboard is in the list of screens', () => {
  expect(missingRoutes()).toEqual([])
})

describe('before the first account exists, at every width, in both themes', () => {
  let visitor: Walker
  beforeAll(async () => void (visitor = await startWalk(browser, portreeve)))
  afterAll(() => visitor.close())

  it.each(AT_FIRST)('$at has no faults', async (screen) =>
    expect(await faultsOf(visitor, screen)).toEqual([]),
  )
})

describe('without data, at every width, in both themes', () => {
  let window: Awaited<ReturnType<typeof openWindow>>
  let ids: Ids
  beforeAll(async () => {
    const alice = await portreeve.addPerson('Alice', { plan: 'pro', admin: true })
    ids = await makeEmpty(portreeve, alice)
    window = await openWindow(browser, portreeve, 1440, alice)
    await window.page.goto('/home')
    await window.page.locator('h1').first().waitFor()
  })
  afterAll(() => window.close())

  it.each(EMPTY)('$at has no faults', async (screen) =>
    expect(await faultsOfNext(window, screen, ids)).toEqual([]),
  )
})
