import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IP } from '../servers/blacklists.ts'
import { faultsAtAllWidths, heading, signedIn, tabTo, type Visit } from './browsing.ts'
import { startMailPlace, type MailPlace } from './mail-place.ts'

/** A second address that is listed, without reverse DNS. */
const OTHER = '8.8.8.8'
/** A third, with reverse DNS, because a list gets no two requests about one address in a row. */
const THIRD = '8.8.4.5'
const CAUSE = 'A mailbox with a guessed password sent spam.'
const FIX = 'Its password was changed on 20 November.'

let place: MailPlace
beforeAll(async () => {
  place = await startMailPlace()
  const listed = { [IP]: '127.0.0.2', [OTHER]: '127.0.0.2', [THIRD]: '127.0.0.2' }
  place.dns.records['third.example.test A'] = [THIRD]
  place.dns.records['5.4.8.8.in-addr.arpa PTR'] = ['third.example.test']
  await place.lists.setZones({
    'bl.spamcop.net': { listed },
    'bl.nordspam.com': { listed },
    'b.barracudacentral.org': { listed },
    'dnsbl-2.uceprotect.net': { listed: { [IP]: '127.0.0.2' } },
  })
})
afterAll(() => place.stop())

const step = (page: Page, name: string) => page.getByRole('region', { name, exact: true })

/** Each test continues where the one before ended. */
describe('a user whose address is listed', () => {
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    alice = await signedIn(place.browser, place.portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('starts a delisting, and sees that no list has the address', async () => {
    await page.goto('/delisting')
    await page.getByText('No delistings yet').waitFor()
    await page.getByRole('link', { name: 'New delisting' }).click()
    await page.getByRole('button', { name: 'Start delisting' }).click()
    await page.getByText('Enter a public IP address.').waitFor()
    await page.getByLabel('IP address').fill('9.9.9.9')
    await page.getByRole('button', { name: 'Start delisting' }).click()
    await page.getByRole('status').getByText('There is nothing to delist').waitFor()
    expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).toBe(0)
    await page.getByLabel('IP address').fill(IP)
    await page.getByRole('button', { name: 'Start delisting' }).click()
    await heading(page, `Delisting of ${IP}`).waitFor()
  })

  it('sees the steps that need action, the others, and the answer of each list', async () => {
    await page.getByText('8.8.4.4 is off 0 of 4 blocklists. 2 steps need your action.').waitFor()
    await page
      .getByRole('region', { name: 'Action needed' })
      .getByText('NordSpam BL')
      .first()
      .waitFor()
    const waits = page.getByRole('region', { name: 'No action needed' })
    await waits.getByRole('region', { name: 'SpamCop SCBL' }).waitFor()
    await step(page, 'SpamCop SCBL').getByText('Details', { exact: true }).click()
    await step(page, 'SpamCop SCBL')
      .getByText('Many receivers reject mail from listed addresses.')
      .waitFor()
    const provider = page.getByRole('region', { name: 'For your provider' })
    await provider.getByText('Details', { exact: true }).click()
    await provider.getByText('Forward the text to your provider').waitFor()
    await step(page, 'SpamCop SCBL').getByText('Check results').click()
    await step(page, 'SpamCop SCBL').getByText('reported spam source').waitFor()
  })

  it('finds no accessibility fault at any width, in either theme', async () => {
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('enters cause and fix once, for every list', async () => {
    const nordspam = step(page, 'NordSpam BL')
    await nordspam.getByRole('button', { name: 'Confirm and send email' }).focus()
    await nordspam.getByText('Enter cause and fix first.').waitFor()
    const explanation = page.getByRole('region', { name: 'Cause and fix' })
    await explanation.getByRole('button', { name: 'Save cause and fix' }).click()
    await explanation.getByText('Enter the cause. Blocklists ask for it.').waitFor()
    await explanation.getByLabel('Cause of the listing').fill(CAUSE)
    await explanation.getByLabel('Fix and date').fill(FIX)
    await explanation.getByRole('button', { name: 'Save cause and fix' }).click()
    await explanation.getByText('Change cause and fix').waitFor()
  })

  it('reads the email before it is sent', async () => {
    const nordspam = step(page, 'NordSpam BL')
    await nordspam.getByText('Details', { exact: true }).click()
    await nordspam.getByText('please remove 8.8.4.4 from NordSpam BL').waitFor()
    await nordspam.getByText(CAUSE).waitFor()
    expect(place.sink.mails).toEqual([])
    await nordspam.getByRole('button', { name: 'Confirm and send email' }).click()
    await nordspam.getByText('Email sent').waitFor()
    expect(place.sink.mails).toMatchObject([
      { subject: `Delist IP: ${IP}`, text: expect.stringContaining(CAUSE) },
    ])
    if (!(await nordspam.getByText('Sent request').isVisible()))
      await nordspam.getByText('Details', { exact: true }).click()
    await nordspam.getByRole('button', { name: 'Check again' }).waitFor()
    await nordspam.getByText('Sent request').click()
    await nordspam.getByText('taken as 42').waitFor()
  })

  it('copies the text of a form, finds its page, and marks the form as submitted', async () => {
    const barracuda = step(page, 'Barracuda BRBL')
    await barracuda.getByRole('button', { name: 'Copy text' }).click()
    await expect.poll(() => page.evaluate<string>('navigator.clipboard.readText()')).toContain(FIX)
    const link = barracuda.getByRole('link', { name: 'Open form of Barracuda BRBL' })
    expect(await link.getAttribute('href')).toBe(
      'https://www.barracudacentral.org/rbl/removal-request',
    )
    await barracuda.getByRole('button', { name: 'Mark form as submitted' }).click()
    await barracuda.getByText('Waiting', { exact: true }).waitFor()
    await page
      .getByText('8.8.4.4 is off 0 of 4 blocklists. Forward the text to your provider.')
      .waitFor()
    await page.getByRole('row', { name: 'Barracuda BRBL Marked as submitted.' }).waitFor()
  })

  it('checks a list again, and sees the time of the check', async () => {
    const spamcop = step(page, 'SpamCop SCBL')
    const asked = spamcop.getByText('Listed · last checked').locator('time')
    const before = await asked.getAttribute('datetime')
    await spamcop.getByRole('button', { name: 'Check again' }).click()
    await expect.poll(() => asked.getAttribute('datetime')).not.toBe(before)
  })

  it('completes a step by a check after the list removed the address', async () => {
    await place.lists.setZones({ 'bl.spamcop.net': {} })
    await step(page, 'SpamCop SCBL').getByRole('button', { name: 'Check again' }).click()
    await page
      .getByRole('region', { name: 'Delisted' })
      .getByRole('region', { name: 'SpamCop SCBL' })
      .waitFor()
    await page.getByText('8.8.4.4 is off 1 of 4 blocklists.').waitFor()
  })

  it('cancels a step after a confirmation, and restarts it', async () => {
    await step(page, 'UCEPROTECT Level 2').getByRole('button', { name: 'Cancel step' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel step' }).click()
    const ended = page.getByRole('region', { name: 'Failed' })
    await ended.getByText('You cancelled this step.').waitFor()
    await ended.getByText('Details', { exact: true }).click()
    await ended.getByRole('button', { name: 'Restart step' }).click()
    await ended.waitFor({ state: 'detached' })
  })

  it('filters the list by address and status, and keeps the filters in the URL', async () => {
    await page.goto('/delisting')
    await page.getByRole('row', { name: IP }).getByText('delisted from 1 of 4').waitFor()
    await page.getByLabel('Status').selectOption('Delisted')
    await page.getByText('No matches').waitFor()
    await page.getByLabel('Status').selectOption('In progress')
    await page.getByLabel('Filter by IP address').fill('8.8.4')
    await page.getByText('Enter a complete IP address.').waitFor()
    await page.getByLabel('Filter by IP address').fill(IP)
    await page.waitForURL(/\?status=in-progress&ip=8\.8\.4\.4$|\?ip=8\.8\.4\.4&status=in-progress$/)
    await page.reload()
    await page.getByRole('link', { name: IP, exact: true }).click()
    await heading(page, `Delisting of ${IP}`).waitFor()
  })

  it('gets a link to the delisting in progress of the same address', async () => {
    await page.goto(`/delisting/new?ip=${IP}`)
    await page.getByRole('button', { name: 'Start delisting' }).click()
    await page.getByText(`A delisting of ${IP} is already in progress.`, { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Open this delisting' }).click()
    await heading(page, `Delisting of ${IP}`).waitFor()
  })

  it('causes no browser warnings except for rejected requests', () => {
    expect(alice.complaints.filter((complaint) => !complaint.includes('status of 409'))).toEqual([])
  })
})

describe('an address without reverse DNS', () => {
  it('shows “Fix needed”, and the problem', async () => {
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Bob')
    await page.goto(`/delisting/new?ip=${OTHER}`)
    await page.getByLabel('Cause of the listing').fill(CAUSE)
    await page.getByLabel('Fix and date').fill(FIX)
    await page.getByRole('button', { name: 'Start delisting' }).click()
    await step(page, 'NordSpam BL').getByText('Fix needed').waitFor()
    await step(page, 'NordSpam BL')
      .getByText(/reverse DNS/i)
      .first()
      .waitFor()
    await close()
  })
})

describe('with the keyboard alone', () => {
  it('a delisting is started, its email is sent and its form is marked as submitted', async () => {
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Klara')
    await page.goto('/delisting')
    await heading(page, 'Delisting').waitFor()
    await tabTo(page, 'New delisting')
    await page.keyboard.press('Enter')
    await heading(page, 'New delisting').waitFor()
    await tabTo(page, 'IP address')
    await page.keyboard.type(THIRD)
    await page.keyboard.press('Enter')
    await heading(page, `Delisting of ${THIRD}`).waitFor()
    await page.getByRole('button', { name: 'Confirm and send email' }).waitFor()
    await page.getByRole('button', { name: 'Mark form as submitted' }).waitFor()
    await tabTo(page, 'Cause of the listing')
    await page.keyboard.type(CAUSE)
    await tabTo(page, 'Fix and date')
    await page.keyboard.type(FIX)
    await tabTo(page, 'Save cause and fix')
    await page.keyboard.press('Enter')
    await page.getByText('Change cause and fix').waitFor()
    await tabTo(page, 'Mark form as submitted')
    await page.keyboard.press('Enter')
    await page.getByText('Marked as submitted.').waitFor()
    await tabTo(page, 'Confirm and send email')
    await page.keyboard.press('Enter')
    await page.getByText('Cause and fix provided.').waitFor()
    await close()
  })
})

describe('a delisting of another account', () => {
  it('is not found', async () => {
    const { token } = await place.portreeve.addPerson('Dora')
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', token, headers, body: JSON.stringify({ ip: IP }) }
    const { id } = (
      (await (await place.portreeve.request('/api/v1/delisting', init)).json()) as Made
    ).data
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Charlie')
    await page.goto(`/delisting/${id}`)
    await page.getByText('Delisting not found.').waitFor()
    await page.goto('/delisting')
    await page.getByText('No delistings yet').waitFor()
    await close()
  })
})

type Made = { data: { id: string } }
