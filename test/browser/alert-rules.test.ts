import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsAtAllWidths, heading, signedIn, tabTo, type Visit } from './browsing.ts'
import { startMailPlace, type MailPlace } from './mail-place.ts'

let place: MailPlace
beforeAll(async () => {
  place = await startMailPlace()
})
afterAll(() => place.stop())

const rule = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const form = (page: Page) => page.getByRole('region', { name: 'Add a rule' })

/** A sequence: each step continues the one before. */
describe('a user with alert rules', () => {
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    alice = await signedIn(place.browser, place.portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('labels a host', async () => {
    const answer = await page.request.post('/api/v1/monitoring/hosts', {
      data: { host: 'mail.example.com' },
      headers: { origin: place.portreeve.url },
    })
    const { data } = (await answer.json()) as { data: { id: string } }
    await page.goto(`/monitoring/${data.id}/settings`)
    await page.getByLabel('Labels').fill('Production, mail')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.goto('/monitoring')
    await page.getByText('production · mail').waitFor()
  })

  it('adds a rule, which is a sentence then', async () => {
    await page.goto('/alerts')
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('link', { name: 'Alert rules', exact: true }).click()
    await heading(page, 'Alert rules').waitFor()
    await page.getByText('No rules yet').waitFor()
    await form(page).getByRole('button', { name: 'Add rule' }).click()
    await page.getByText('Choose at least one channel.').waitFor()
    await form(page).getByLabel('Name').fill('Production')
    await form(page).getByLabel('Blocklists').check()
    await form(page).getByLabel('Severity').selectOption('critical')
    await form(page).getByLabel('Labels').fill('production')
    await form(page).getByLabel('my address').check()
    await form(page).getByLabel('Quiet hours').check()
    await form(page).getByLabel('Sat').uncheck()
    await form(page).getByRole('button', { name: 'Add rule' }).click()
    await rule(page, 'Production')
      .getByText(/^Critical blocklist alerts about objects with the label production go to/)
      .waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('sees which channels an alert would reach', async () => {
    const tryIt = page.getByRole('region', { name: 'Try it' })
    await tryIt.getByLabel('Severity').selectOption('critical')
    await tryIt.getByLabel('Object').fill('mail.example.com')
    await tryIt.getByRole('button', { name: 'Show channels' }).click()
    await tryIt.getByText(/The rule “Production” applies/).waitFor()
    await tryIt.getByText('Gets it at once', { exact: true }).waitFor()
    await tryIt.getByLabel('Severity').selectOption('warning')
    await tryIt.getByRole('button', { name: 'Show channels' }).click()
    await tryIt.getByText(/No rule applies/).waitFor()
  })

  it('edits, orders, turns off and deletes rules', async () => {
    await form(page).getByLabel('Name').fill('Rest')
    await form(page).getByLabel('my address').check()
    await form(page).getByRole('button', { name: 'Add rule' }).click()
    await rule(page, 'Rest')
      .getByText(/^All alerts go to/)
      .waitFor()
    await rule(page, 'Rest').getByRole('button', { name: 'Edit' }).click()
    await rule(page, 'Rest').getByLabel('Objects').fill('*.example.com')
    await rule(page, 'Rest').getByRole('button', { name: 'Save rule' }).click()
    await rule(page, 'Rest')
      .getByText(/^All alerts about \*\.example\.com go to/)
      .waitFor()
    await rule(page, 'Rest').getByRole('button', { name: 'Move up' }).click()
    await page.reload()
    await rule(page, 'Rest').waitFor()
    const titles = await page
      .getByRole('region', { name: 'Your rules' })
      .locator('h3')
      .allTextContents()
    expect(titles).toEqual(['Rest', 'Production'])
    await rule(page, 'Rest').getByLabel('On Rest').click()
    await rule(page, 'Rest').getByText('Off', { exact: true }).waitFor()
    await rule(page, 'Rest').getByRole('button', { name: 'Delete' }).click()
    await rule(page, 'Rest').waitFor({ state: 'detached' })
  })

  it('causes no browser error', () => {
    expect(alice.complaints).toEqual([])
  })
})

describe('with the keyboard alone', () => {
  it('a rule is added', async () => {
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Klara')
    await page.goto('/alerts/rules')
    await page.getByText('No rules yet').waitFor()
    await tabTo(page, 'Name')
    await page.keyboard.type('Everything')
    await tabTo(page, 'my address')
    await page.keyboard.press('Space')
    await page.keyboard.press('Enter')
    await rule(page, 'Everything').waitFor()
    await close()
  })
})
