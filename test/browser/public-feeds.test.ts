import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startFeedProvider, type FeedProvider } from '../servers/feed-provider.ts'
import { startTestService, type TestService } from '../service.ts'
import { faultsAtAllWidths, signedIn, tabTo, type Visit } from './browsing.ts'

let browser: Browser
let provider: FeedProvider
let portreeve: TestService
let ada: Visit

beforeAll(async () => {
  provider = await startFeedProvider()
  provider.files.set('/torbulkexitlist', '45.9.0.1\n45.9.0.2\n')
  portreeve = await startTestService({}, undefined, { providerOrigins: provider.origins })
  browser = await sharedChromium()
  ada = await signedIn(browser, portreeve, 'Ada', 1440, { admin: true })
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve?.stop()
  await provider?.stop()
})

describe('public feeds', () => {
  it('are enabled by an administrator, with their terms, and used by a workspace', async () => {
    const { page } = ada
    await page.goto('/attacks')
    await page.getByRole('link', { name: 'Shared list & feeds' }).click()
    await page.getByRole('link', { name: 'Public feeds', exact: true }).click()
    const tor = page.getByRole('region', { name: 'Tor exit nodes' })
    await tor.getByRole('button', { name: 'Enable' }).click()
    const dialog = page.getByRole('dialog').filter({ visible: true })
    await dialog.getByText('Its terms: Free for any use.').waitFor()
    await dialog.getByRole('button', { name: 'Enable' }).click()
    await tor.getByText('In use', { exact: true }).waitFor()
    await tor.getByText('2 addresses').waitFor()
    await tor.getByRole('switch', { name: 'Block on your servers and in exports' }).check()
    await page.getByRole('heading', { name: 'Export for firewalls' }).waitFor()
    await page.reload()
    expect(await tor.getByRole('switch').isChecked()).toBe(true)
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('are turned on and off with the keyboard alone', async () => {
    const { page } = ada
    const toggle = page.getByRole('region', { name: 'Tor exit nodes' }).getByRole('switch')
    await tabTo(page, 'Block on your servers and in exports')
    await page.keyboard.press('Space')
    await expect.poll(() => toggle.isChecked()).toBe(false)
  })

  it('are named on the page of an address', async () => {
    const { page } = ada
    await page.goto('/attacks?ip=45.9.0.1')
    await page.getByRole('heading', { name: 'Public feeds with this address' }).waitFor()
    await page.getByText('Tor exit nodes').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    expect(ada.complaints).toEqual([])
  })
})
