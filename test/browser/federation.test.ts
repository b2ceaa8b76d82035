import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startInstallation, type Installation } from '../exchange/federation/installation.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { faultsAtAllWidths, signedIn, tabTo, type Visit } from './browsing.ts'

let browser: Browser
let portreeve: TestService
let there: Installation
let alice: Visit & { person: Person }
beforeAll(async () => {
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' })
  there = await startInstallation()
  browser = await sharedChromium()
  alice = await signedIn(browser, portreeve, 'Ada', 1440, { admin: true })
})
afterAll(async () => {
  await closeContexts(browser)
  await there?.stop()
  await portreeve?.stop()
})

const groups = (fingerprint: string) => (fingerprint.match(/.{4}/g) ?? []).join(' ')

describe('the page of peers', () => {
  it('adds a peer, shows its fingerprint, and approves it', async () => {
    const { page } = alice
    await page.goto('/attacks/federation')
    await page.getByText('No peers yet').waitFor()
    await page.getByLabel('URL of the installation').fill('http://example.net')
    await page.getByRole('button', { name: 'Add peer' }).click()
    await page.getByText('must begin with https://').waitFor()
    await page.getByLabel('URL of the installation').fill(there.url)
    await page.getByRole('button', { name: 'Add peer' }).click()
    await page.getByText('Needs your approval').waitFor()
    const { fingerprint } = await there.own()
    await page.getByText(groups(fingerprint)).first().waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('button', { name: 'Approve' }).click()
    const dialog = page.getByRole('dialog', { name: /^Approve localhost/ })
    await dialog.getByText(groups(fingerprint)).waitFor()
    await dialog.getByRole('button', { name: 'Approve' }).click()
    await page.getByText('Waiting for the peer').waitFor()
  })

  it('shows the peer as active once its administrator approves', async () => {
    await expect
      .poll(() => there.peer(), { timeout: 60_000 })
      .toMatchObject({ status: 'requested' })
    const request = await there.peer()
    await alice.page.getByText(groups(request.fingerprint)).first().waitFor()
    await there.approve(request.id, request.fingerprint)
    await alice.page.getByText('Evidence is exchanged in both directions.').waitFor()
    expect(await faultsAtAllWidths(alice.page)).toEqual([])
    await there.report('8.8.3.9', ['81.2.69.160', '90.1.1.1'])
    const { page } = alice
    await expect
      .poll(
        async () =>
          (
            await portreeve.request('/api/v1/abuse/check?ip=8.8.3.9', { token: alice.person.token })
          ).text(),
        { timeout: 60_000 },
      )
      .toContain(new URL(there.url).host)
    await page.goto('/address?ip=8.8.3.9')
    await page
      .getByRole('status')
      .first()
      .getByText(`reported by the peer ${new URL(there.url).host}`)
      .waitFor()
  })

  it('ends the federation with the keyboard alone', async () => {
    const { page } = alice
    await page.goto('/attacks/federation')
    await page.getByText('Evidence is exchanged in both directions.').waitFor()
    await tabTo(page, 'End federation')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: /^End the federation with/ }).waitFor()
    await tabTo(page, 'End federation')
    await page.keyboard.press('Enter')
    await page.getByText('No peers yet').waitFor()
    await expect.poll(() => there.peer(), { timeout: 60_000 }).toMatchObject({ status: 'ended' })
  })
})
