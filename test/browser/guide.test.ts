import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { sharedService, type TestService } from '../service.ts'
import { faultsAtAllWidths, heading, overflow, signedIn, visit } from './browsing.ts'

let portreeve: TestService
let browser: Browser
beforeAll(async () => {
  portreeve = await sharedService()
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

describe('the guide in a browser', () => {
  it('finds a page by its search, with the keyboard alone', async () => {
    const { page, complaints, close } = await visit(browser, portreeve.url)
    await page.goto('/docs/guide')
    await heading(page, 'Portreeve guide').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('forgot password')
    await page.getByRole('link', { name: /Lost access/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    expect(await page.evaluate('document.activeElement.closest("#found") !== null')).toBe(true)
    await page.keyboard.press('Escape')
    expect(await page.locator('#found').isVisible()).toBe(false)
    await page.keyboard.type('lost access')
    await page.getByRole('link', { name: /Lost access/ }).waitFor()
    await page.keyboard.press('Enter')
    await heading(page, 'Accounts, sign-in and passwords').waitFor()
    expect(new URL(page.url()).hash).toBe('#lost-access')
    await page.getByRole('searchbox').fill('xyzzyplugh')
    await page.getByText('No results for “xyzzyplugh”').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('opens a section that moved to another page', async () => {
    const { page, complaints, close } = await visit(browser, portreeve.url)
    await page.goto('/docs/guide/operations.html#a-lost-key')
    await heading(page, 'The secret key').waitFor()
    expect(new URL(page.url()).hash).toBe('#a-lost-key')
    expect(complaints).toEqual([])
    await close()
  })

  it('copies an example', async () => {
    const { page, close } = await visit(browser, portreeve.url)
    await page.goto('/docs/guide/api.html')
    await page.getByRole('button', { name: 'Copy' }).first().click()
    await page.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain('export PORTREEVE_URL=')
    await close()
  })

  it.each(['index.html', 'monitoring.html', 'webhook-responses.html', 'channels/slack.html'])(
    'is readable and accessible in light and dark, on a phone and on a desk: %s',
    async (name) => {
      const { page, complaints, close } = await visit(browser, portreeve.url, 390)
      await page.goto(`/docs/guide/${name}`)
      expect(await overflow(page)).toBeLessThanOrEqual(0)
      expect(await faultsAtAllWidths(page)).toEqual([])
      expect(complaints).toEqual([])
      await close()
    },
  )

  it('is linked from the menu with the page about the screen', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Alice')
    await page.goto('/monitoring')
    await page.getByRole('link', { name: 'Guide' }).click()
    await heading(page, 'Monitoring').waitFor()
    await page.getByRole('link', { name: 'Dashboard' }).click()
    // While it loads, the heading is another one.
    await heading(page, 'Good to see you, Alice').waitFor()
    await close()
  })
})
