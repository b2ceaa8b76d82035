import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedService, type Person, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { accessibilityFaults, heading, overflow, signedIn, type Visit } from './browsing.ts'

/** A window of 1440 × 900 pixels at 200% zoom has half as many CSS pixels. */
const WINDOWS = [
  { name: 'at 390 pixels', width: 390, height: 700 },
  { name: 'at 200% zoom', width: 720, height: 450 },
  { name: 'at 320 pixels', width: 320, height: 480 },
]

/** The screens of the sheet, and their headings. */
const SCREENS = {
  Migrations: 'Migrations',
  Attacks: 'Attack reporting',
  Webhooks: 'Webhooks',
  Settings: 'Account',
}

let browser: Browser
let portreeve: TestService
beforeAll(async () => {
  browser = await sharedChromium()
  portreeve = await sharedService()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

describe.each(WINDOWS)('the “More” sheet $name', ({ name, width, height }) => {
  let alice: Visit & { person: Person }
  let page: Page
  const sheet = () => page.getByRole('dialog', { name: 'More screens' })
  const open = () => page.getByRole('button', { name: 'More', exact: true }).click()
  beforeAll(async () => {
    alice = await signedIn(browser, portreeve, `Alice.${width}`, width, { admin: true })
    page = alice.page
    await page.setViewportSize({ width, height })
    await page.goto('/home')
    await heading(page, `Good to see you, Alice.${width}`).waitFor()
  })
  afterAll(() => alice.close())

  it.each(Object.entries(SCREENS))('leads to %s', async (entry, title) => {
    await open()
    await sheet().getByRole('link', { name: entry, exact: true }).click()
    await heading(page, title).waitFor()
    expect(await sheet().isVisible()).toBe(false)
  })

  it('stays open when the account becomes known', async () => {
    const answer = Promise.withResolvers<void>()
    await page.route('**/api/v1/account', async (route) => {
      await answer.promise
      await route.continue()
    })
    await page.goto('/home')
    await open()
    const link = await sheet().getByRole('link', { name: 'Attacks', exact: true }).elementHandle()
    answer.resolve()
    await heading(page, `Good to see you, Alice.${width}`).waitFor()
    expect(await sheet().isVisible()).toBe(true)
    expect(await link?.evaluate((element) => element.isConnected)).toBe(true)
    await page.unroute('**/api/v1/account')
    await page.keyboard.press('Escape')
  })

  it('shows whose account it is, and every entry by scrolling the sheet alone', async () => {
    await open()
    await sheet().getByText(alice.person.email).waitFor()
    const documentation = sheet().getByRole('link', { name: 'API documentation' })
    await documentation.scrollIntoViewIfNeeded()
    const box = await documentation.boundingBox()
    expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThanOrEqual(height)
    expect(await accessibilityFaults(page), name).toEqual([])
    expect(await overflow(page)).toBe(0)
    await sheet().getByRole('button', { name: 'Close' }).click()
    await sheet().waitFor({ state: 'hidden' })
  })

  it('keeps the logo and the search beside each other', async () => {
    const [logo, search] = await Promise.all([
      page.getByRole('link', { name: 'Portreeve', exact: true }).boundingBox(),
      page.getByRole('button', { name: 'Search or check' }).boundingBox(),
    ])
    expect((logo?.x ?? 0) + (logo?.width ?? Infinity)).toBeLessThanOrEqual(search?.x ?? 0)
  })

  it('leaves the bottom bar with the four primary screens', async () => {
    const bar = page.getByRole('navigation', { name: 'Main' })
    const texts = await bar.getByRole('link').allTextContents()
    // Without a mail relay, the alert channel of the account is a problem, which the menu counts.
    expect(texts.map((text) => text.replace(/, \d+ open$/, ''))).toEqual([
      'Overview',
      'Problems',
      'Domains',
      'Servers & IPs',
    ])
  })
})
