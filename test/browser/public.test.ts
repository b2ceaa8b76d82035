import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { startTestService, type TestService } from '../service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { addAdministrator } from '../accounts/sessions.ts'
import { addSensors, report, SENSORS } from './attackers.ts'
import { faultsAtAllWidths, tabTo, visit, type Visit } from './browsing.ts'

const LISTED = '8.8.4.4'
const ALSO_LISTED = '8.8.4.5'

let browser: Browser
let portreeve: TestService
let stranger: Visit
beforeAll(async () => {
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' })
  browser = await sharedChromium()
  const { token } = await addAdministrator(portreeve, 'Alice')
  await addSensors(portreeve, token)
  for (const ip of [LISTED, ALSO_LISTED])
    for (const from of SENSORS) await report(portreeve, from, { ip, service: 'ssh', count: 50 })
  stranger = await visit(browser, portreeve.url)
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

const h1 = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

describe('a visitor without an account', () => {
  it('looks up an address from the sign-in screen', async () => {
    const { page } = stranger
    await page.goto('/sign-in')
    await page.getByRole('link', { name: 'look up an IP address' }).click()
    await h1(page, 'Address lookup')
    await page.getByText('No single source can list an address.').waitFor()
    await page.getByLabel('IPv4 or IPv6 address').fill('9.9.9.9')
    await page.keyboard.press('Enter')
    await page.getByText('9.9.9.9 is not listed: no reports.').waitFor()
    expect(await page.getByLabel('Cause and fix').count()).toBe(0)
  })

  it('appeals against a listing, for an administrator to decide', async () => {
    const { page } = stranger
    await page.goto(`/address?ip=${LISTED}`)
    await page.getByText(`${LISTED} is listed: 2 networks reported it`).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('button', { name: 'Send appeal' }).click()
    await page.getByText('Describe the cause and the fix in a sentence.').waitFor()
    await page.getByLabel('Cause and fix').fill('The address was assigned to us yesterday.')
    await page.getByRole('button', { name: 'Send appeal' }).click()
    await page.getByText('An administrator decides').waitFor()
    await page.getByText(`${LISTED} is listed`).waitFor()
  })

  it('sees that an appeal exists already, also on a phone', async () => {
    const { page } = stranger
    await page.setViewportSize({ width: 375, height: 500 })
    await page.goto(`/address?ip=${LISTED}`)
    await page.getByLabel('Cause and fix').fill('Once more.')
    await page.getByLabel('Cause and fix').blur()
    await page.evaluate('window.scrollTo(0, 0)')
    await page.getByRole('button', { name: 'Send appeal' }).dispatchEvent('click')
    await page.getByText('You appealed for ').waitFor()
    await expect.poll(() => isInView(page, 'You appealed for ')).toBe(true)
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  it('sees network statistics, and the join command', async () => {
    const { page } = stranger
    await page.goto('/sign-in')
    await page.getByRole('link', { name: 'network statistics' }).click()
    await h1(page, 'Network statistics')
    await page.getByRole('img', { name: 'Reports per day' }).waitFor()
    await page.getByText('Show as table').first().click()
    await page.getByRole('table', { name: 'Reports per day' }).waitFor()
    await page.getByText(`${portreeve.url}${TEST_PATH}/api/v1/abuse/fail2ban-install`).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    expect(stranger.complaints.filter((complaint) => !complaint.includes('status of 409'))).toEqual(
      [],
    )
  })
})

describe('with the keyboard alone, from the listed address itself', () => {
  it('an address is delisted at once', async () => {
    const { page, close } = await visit(browser, portreeve.url)
    await page.setExtraHTTPHeaders({ 'x-forwarded-for': ALSO_LISTED })
    await page.goto('/address')
    await h1(page, 'Address lookup')
    await page.keyboard.type(ALSO_LISTED)
    await page.keyboard.press('Enter')
    await page.getByText(`${ALSO_LISTED} is listed`).waitFor()
    await tabTo(page, 'Cause and fix')
    await page.keyboard.type('A machine was taken over; it is cleaned.')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText(`${ALSO_LISTED} is delisted`).waitFor()
    await page.getByText(`${ALSO_LISTED} is no longer listed.`).waitFor()
    await close()
  })
})

/** Whether all of these words lie within the window. */
async function isInView(page: Page, words: string): Promise<boolean> {
  const box = await page.getByText(words).boundingBox()
  const height = page.viewportSize()?.height ?? 0
  return box !== null && box.y >= 0 && box.y + box.height <= height
}
