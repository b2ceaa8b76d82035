import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IP } from '../servers/blacklists.ts'
import { faultsAtAllWidths, heading, signedIn, tabTo, type Visit } from './browsing.ts'
import { startMailPlace, type MailPlace } from './mail-place.ts'

/** A second address that is listed, without reverse DNS. */
const OTHER = '8.8.8.8'
/** A third, with reverse DNS: a list is not asked about one address twice in a row. */
const THIRD = '8.8.4.5'
const CAUSE = 'A mailbox with a guessed password sent spam.'
const FIX = 'Its password was changed on 20 November.'

/** Milliseconds: axe over a long page, six times. */
const PATIENCE = 60_000

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

/** A story: each step stands on the one before. */
describe('somebody whose address is listed', () => {
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    alice = await signedIn(place.browser, place.portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('begins with the address, and is told when no list has it', async () => {
    await page.goto('/delisting')
    await page.getByText('No address was led off a blacklist yet').waitFor()
    await page.getByRole('link', { name: 'New delisting' }).click()
    await page.getByRole('button', { name: 'Ask the lists' }).click()
    await page.getByText('Type a public IP address.').waitFor()
    await page.getByLabel('Address').fill('9.9.9.9')
    await page.getByRole('button', { name: 'Ask the lists' }).click()
    await page.getByRole('status').getByText('There is nothing to delist').waitFor()
    expect(await page.getByRole('alert').filter({ hasText: /./ }).count()).toBe(0)
    await page.getByLabel('Address').fill(IP)
    await page.getByRole('button', { name: 'Ask the lists' }).click()
    await heading(page, `Delisting of ${IP}`).waitFor()
  })

  it('sees what to do now, what goes on by itself, and what each list said', async () => {
    await page.getByText('0 of 4 blacklists have let 8.8.4.4 go. 2 steps wait for you.').waitFor()
    await page.getByRole('region', { name: 'What to do now' }).getByText('NordSpam BL').first().waitFor()
    const waits = page.getByRole('region', { name: 'Goes on by itself' })
    await waits.getByRole('region', { name: 'SpamCop SCBL' }).waitFor()
    await step(page, 'SpamCop SCBL').getByText('Many receivers reject mail because of it.').waitFor()
    const provider = page.getByRole('region', { name: 'For your provider' })
    await provider.getByText('forward the text to your provider').waitFor()
    await step(page, 'SpamCop SCBL').getByText('What the list says').click()
    await step(page, 'SpamCop SCBL').getByText('reported spam source').waitFor()
  })

  it('meets no fault of the page at any width, in either theme', { timeout: PATIENCE }, async () => {
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('reads the mail before it is sent, and says cause and fix', async () => {
    const nordspam = step(page, 'NordSpam BL')
    await nordspam.getByText('The mail that is sent').click()
    await nordspam.getByText('please remove 8.8.4.4 from NordSpam BL').waitFor()
    await nordspam.getByRole('button', { name: 'Confirm, and send the mail' }).click()
    await nordspam.getByText('Say what caused it: lists ask for it.').waitFor()
    expect(place.sink.mails).toEqual([])
    await nordspam.getByLabel('What caused the listing').fill(CAUSE)
    await nordspam.getByLabel('What was done about it').fill(FIX)
    await nordspam.getByRole('button', { name: 'Confirm, and send the mail' }).click()
    await nordspam.getByText('Mail sent').waitFor()
    await nordspam.getByRole('button', { name: 'Ask the list now' }).waitFor()
    expect(place.sink.mails).toMatchObject([{ subject: `Delist IP: ${IP}`, text: expect.stringContaining(CAUSE) }])
    await nordspam.getByText('What was asked').click()
    await nordspam.getByText('taken as 42').waitFor()
  })

  it('takes the text of a form along, goes to its page, and marks it as submitted', async () => {
    const barracuda = step(page, 'Barracuda BRBL')
    await barracuda.getByText(CAUSE).waitFor()
    await barracuda.getByRole('button', { name: 'Copy the text' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(FIX)
    const link = barracuda.getByRole('link', { name: 'Open the page of Barracuda BRBL' })
    expect(await link.getAttribute('href')).toBe('https://www.barracudacentral.org/rbl/removal-request')
    await barracuda.getByRole('button', { name: 'I have submitted it' }).click()
    await barracuda.getByText('Waiting', { exact: true }).waitFor()
    await page.getByText('Forward the text to your provider; nothing else waits for you.').waitFor()
    await page.getByRole('row', { name: 'Barracuda BRBL Marked as submitted.' }).waitFor()
  })

  it('asks a list again, and sees that it was asked', async () => {
    const spamcop = step(page, 'SpamCop SCBL')
    const asked = spamcop.getByText('Listed when last asked').locator('time')
    const before = await asked.getAttribute('datetime')
    await spamcop.getByRole('button', { name: 'Ask the list now' }).click()
    await expect.poll(() => asked.getAttribute('datetime')).not.toBe(before)
  })

  it('asks a list again when it has let the address go', async () => {
    await place.lists.setZones({ 'bl.spamcop.net': {} })
    await step(page, 'SpamCop SCBL').getByRole('button', { name: 'Ask the list now' }).click()
    await page.getByRole('region', { name: 'Off the list' }).getByRole('region', { name: 'SpamCop SCBL' }).waitFor()
    await page.getByText('1 of 4 blacklists has let 8.8.4.4 go.').waitFor()
  })

  it('gives a step up after being asked, and begins it anew', async () => {
    await step(page, 'UCEPROTECT Level 2').getByRole('button', { name: 'Give up' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Give up' }).click()
    const ended = page.getByRole('region', { name: 'Ended without success' })
    await ended.getByText('You gave it up.').waitFor()
    await ended.getByRole('button', { name: 'Begin anew' }).click()
    await ended.waitFor({ state: 'detached' })
  })

  it('finds it in the list by address and state, which the address of the screen keeps', async () => {
    await page.goto('/delisting')
    await page.getByRole('row', { name: IP }).getByText('1 of 4 lists let it go').waitFor()
    await page.getByLabel('State').selectOption('Completed')
    await page.getByText('There is none like that.').waitFor()
    await page.getByLabel('State').selectOption('In progress')
    await page.getByLabel('Filter by address').fill('8.8.4')
    await page.getByText('Type a whole address.').waitFor()
    await page.getByLabel('Filter by address').fill(IP)
    await page.waitForURL(/\?status=in-progress&ip=8\.8\.4\.4$|\?ip=8\.8\.4\.4&status=in-progress$/)
    await page.reload()
    await page.getByRole('link', { name: IP, exact: true }).click()
    await heading(page, `Delisting of ${IP}`).waitFor()
  })

  it('is led to the delisting of an address that is under way already', async () => {
    await page.goto(`/delisting/new?ip=${IP}`)
    await page.getByRole('button', { name: 'Ask the lists' }).click()
    await page.getByText(`The delisting of ${IP} is under way already.`, { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Go to the delisting that is under way' }).click()
    await heading(page, `Delisting of ${IP}`).waitFor()
  })

  it('meets no complaint of the browser but about what could not be begun', () => {
    expect(alice.complaints.filter((complaint) => !complaint.includes('status of 409'))).toEqual([])
  })
})

describe('an address without reverse DNS', () => {
  it('waits with the words “mend this first”, and says what', async () => {
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Bob')
    await page.goto(`/delisting/new?ip=${OTHER}`)
    await page.getByLabel('What caused the listing').fill(CAUSE)
    await page.getByLabel('What was done about it').fill(FIX)
    await page.getByRole('button', { name: 'Ask the lists' }).click()
    await step(page, 'NordSpam BL').getByText('Mend this first').waitFor()
    await step(page, 'NordSpam BL')
      .getByText(/reverse DNS/i)
      .first()
      .waitFor()
    await close()
  })
})

describe('with the keyboard alone', () => {
  it('a delisting is begun, its mail is sent and its form is marked as submitted', async () => {
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Klara')
    await page.goto('/delisting')
    await heading(page, 'Delisting').waitFor()
    await tabTo(page, 'New delisting')
    await page.keyboard.press('Enter')
    await heading(page, 'New delisting').waitFor()
    await tabTo(page, 'Address')
    await page.keyboard.type(THIRD)
    await page.keyboard.press('Enter')
    await heading(page, `Delisting of ${THIRD}`).waitFor()
    await page.getByRole('button', { name: 'Confirm, and send the mail' }).waitFor()
    await page.getByRole('button', { name: 'I have submitted it' }).waitFor()
    await tabTo(page, 'I have submitted it')
    await page.keyboard.press('Enter')
    await page.getByText('Marked as submitted.').waitFor()
    await tabTo(page, 'What caused the listing')
    await page.keyboard.type(CAUSE)
    await tabTo(page, 'What was done about it')
    await page.keyboard.type(FIX)
    await tabTo(page, 'Confirm, and send the mail')
    await page.keyboard.press('Enter')
    await page.getByText('The owner has said cause and fix.').waitFor()
    await close()
  })
})

describe('a delisting of somebody else', () => {
  it('is not there', async () => {
    const { token } = await place.portreeve.addPerson('Dora')
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', token, headers, body: JSON.stringify({ ip: IP }) }
    const { id } = ((await (await place.portreeve.request('/api/v1/delisting', init)).json()) as Made).data
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Charlie')
    await page.goto(`/delisting/${id}`)
    await page.getByText('There is no such delisting.').waitFor()
    await page.goto('/delisting')
    await page.getByText('No address was led off a blacklist yet').waitFor()
    await close()
  })
})

type Made = { data: { id: string } }
