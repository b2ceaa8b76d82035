import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { IP } from '../servers/blacklists.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { changed, faultsAtAllWidths, heading, signedIn, tabTo, type Visit } from './browsing.ts'
import { startMailPlace, type MailPlace } from './mail-place.ts'

const OTHER = 'oncall@example.test'

let place: MailPlace
let receiver: Receiver
beforeAll(async () => {
  receiver = await startReceiver(status(204))
  place = await startMailPlace()
  await place.lists.setZones({ 'bl.nordspam.com': { listed: { [IP]: '127.0.0.2' } } })
})
afterAll(async () => {
  await place.stop()
  await receiver.close()
})

const channel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
const mailsTo = (address: string) =>
  place.sink.mails.filter(({ to }) => to?.some((each) => each.address === address))

/** A sequence: each step continues the one before. */
describe('a user with alert channels', () => {
  let alice: Visit
  let page: Page
  let hook: string
  beforeAll(async () => {
    hook = `${receiver.origin}/hooks/portreeve`
    alice = await signedIn(place.browser, place.portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('has their own address as the first channel, and sends a test there', async () => {
    await page.goto('/alerts')
    await page.getByText('No problems yet').waitFor()
    await page.getByRole('link', { name: 'Settings', exact: true }).click()
    await page.getByRole('link', { name: 'Alert channels', exact: true }).click()
    await heading(page, 'Alert channels').waitFor()
    await page.getByRole('button', { name: 'Send test to alice@people.test' }).click()
    await page.getByText('Test sent.').waitFor()
    expect(mailsTo('alice@people.test')).toMatchObject([{ subject: 'Test alert' }])
  })

  it('adds another address, which gets no alert before its code is entered', async () => {
    await page.getByRole('link', { name: 'Add a channel' }).click()
    await page.getByRole('link', { name: 'Email', exact: true }).click()
    await page.getByRole('button', { name: 'Add channel' }).click()
    await page.getByText('Enter a value for “Email address”.').waitFor()
    await page.getByLabel('Email address').fill(OTHER)
    await page.getByLabel('Name', { exact: true }).fill('on call')
    await page.getByRole('button', { name: 'Add channel' }).click()
    await channel(page, OTHER).getByText('Unconfirmed').waitFor()
    expect(await channel(page, OTHER).getByRole('button', { name: 'Send test' }).isDisabled()).toBe(
      true,
    )
    await channel(page, OTHER).getByLabel('Code').fill('00000000')
    await channel(page, OTHER).getByRole('button', { name: 'Confirm address' }).click()
    await channel(page, OTHER).getByText('is not the code').first().waitFor()
    const [code = ''] = /\b\d{8}\b/.exec(mailsTo(OTHER)[0]?.text ?? '') ?? []
    await channel(page, OTHER).getByLabel('Code').fill(code)
    await channel(page, OTHER).getByRole('button', { name: 'Confirm address' }).click()
    await channel(page, OTHER).getByText('Unconfirmed').waitFor({ state: 'detached' })
  })

  it('adds a webhook, sees its secret once, and sees the receiver’s error of a test', async () => {
    await page.goto('/alerts/channels/new')
    await page.getByRole('link', { name: 'Webhook', exact: true }).click()
    await page.getByLabel('Webhook URL').fill(hook)
    await page.getByRole('button', { name: 'Add channel' }).click()
    await page.getByText('it won’t be shown again').waitFor()
    await page.getByRole('button', { name: 'Copy the secret' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toMatch(/^whsec_/)
    await channel(page, hook).getByRole('button', { name: 'Send test' }).click()
    await channel(page, hook).getByText('Test sent.').waitFor()
    expect(receiver.received).toMatchObject([
      { path: '/hooks/portreeve', body: expect.stringContaining('channel.test') },
    ])
    receiver.answerWith(status(503))
    await channel(page, hook).getByRole('button', { name: 'Send test' }).click()
    await channel(page, hook).getByRole('alert').getByText('503').waitFor()
    receiver.answerWith(status(204))
  })

  it('sets quiet hours and events of an address', async () => {
    await page.getByRole('link', { name: 'All channels' }).click()
    const other = channel(page, OTHER)
    await other.getByRole('button', { name: 'Edit' }).click()
    await other.getByLabel('DNS records').uncheck()
    await other.getByLabel('Quiet hours').check()
    await other.getByLabel('From').fill('21:30')
    await other.getByLabel('Time zone').selectOption('Europe/Berlin')
    await other.getByRole('button', { name: 'Save changes' }).click()
    await other.getByText('21:30 to 07:00, Europe/Berlin').waitFor()
    await other
      .getByText(
        /^Blocklists, Certificates, Domains, Delisting, Deliverability, DMARC, Migrations, .*Webhooks, .*Alert channels$/,
      )
      .waitFor()
  })

  it('turns a channel off and on', async () => {
    const other = channel(page, OTHER)
    await Promise.all([changed(page), other.getByRole('switch', { name: 'On' }).click()])
    await page.reload()
    await other.getByText('Paused', { exact: true }).waitFor()
    expect(await other.getByRole('switch', { name: 'On' }).isChecked()).toBe(false)
    await other.getByRole('switch', { name: 'On' }).click()
    await other.getByText('Paused', { exact: true }).waitFor({ state: 'detached' })
  })

  it('has no accessibility problem at any width, in either theme', async () => {
    await channel(page, OTHER).getByRole('button', { name: 'Edit' }).click()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('sees alerts with next step and deliveries', async () => {
    const headers = { origin: place.portreeve.url }
    const data = { ip: IP }
    expect((await page.request.post('/api/v1/delisting', { data, headers })).status()).toBe(201)
    await page.goto('/alerts/history')
    const alert = page
      .getByRole('list', { name: 'Alerts' })
      .getByRole('listitem')
      .filter({ hasText: IP })
      .first()
    await alert.waitFor()
    await alert.getByRole('link', { name: 'Delisting', exact: true }).waitFor()
    await alert
      .getByRole('listitem')
      .filter({ hasText: `${new URL(hook).origin}/…` })
      .getByText('Sent')
      .waitFor()
    await alert
      .getByRole('listitem')
      .filter({ hasText: 'alice@people.test' })
      .getByText(/Waiting|Sent/)
      .waitFor()
    await page.getByLabel('Topic').selectOption('Certificates')
    await page.getByText('0 alerts').waitFor()
    expect(page.url()).toMatch(/\?kind=certificate$/)
  })

  it('goes from an alert to its page, also with the keyboard', async () => {
    const title = `Delisting ${IP}: action needed`
    await page.goto('/alerts')
    await page.getByRole('link', { name: title }).first().waitFor()
    await tabTo(page, title)
    await page.keyboard.press('Enter')
    await heading(page, `Delisting of ${IP}`).waitFor()
    const { pathname } = new URL(page.url())
    const posted = receiver.received.find(({ body }) => body.includes(title))
    const { data } = JSON.parse(posted?.body ?? '{}') as { data: { url: string } }
    expect(new URL(data.url).pathname).toBe(TEST_PATH + pathname)
    await page.goto('/home')
    await page
      .getByRole('region', { name: 'Recent activity' })
      .getByRole('link', { name: title })
      .click()
    await heading(page, `Delisting of ${IP}`).waitFor()
  })

  it('deletes a channel', async () => {
    await page.goto('/alerts/channels')
    await channel(page, hook).getByRole('button', { name: 'Delete' }).click()
    await channel(page, hook).waitFor({ state: 'detached' })
  })

  it('causes no browser error but for the wrong code and the failing webhook', () => {
    expect(
      alice.complaints.filter((complaint) => !/status of (400|422|50\d)/.test(complaint)),
    ).toEqual([])
  })
})

describe('with the keyboard alone', () => {
  it('a webhook is added, tested and turned off', async () => {
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Klara')
    await page.goto('/alerts/channels')
    await page.getByText('klara@people.test').first().waitFor()
    await tabTo(page, 'Add a channel')
    await page.keyboard.press('Enter')
    await heading(page, 'Add an alert channel').waitFor()
    await tabTo(page, 'Webhook')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Webhook URL')
    await page.keyboard.type(`${receiver.origin}/klara`)
    await page.keyboard.press('Enter')
    await page.getByText('it won’t be shown again').waitFor()
    await tabTo(page, `Send test to ${receiver.origin}/klara`)
    await page.keyboard.press('Enter')
    await page.getByText('Test sent.').waitFor()
    await tabTo(page, `On ${receiver.origin}/klara`)
    await page.keyboard.press('Space')
    await channel(page, `${receiver.origin}/klara`).getByText('Paused', { exact: true }).waitFor()
    await close()
  })
})

describe('channels of another account', () => {
  it('are not visible', async () => {
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Charlie')
    await page.goto('/alerts/channels')
    await page.getByText('charlie@people.test').first().waitFor()
    expect(await page.getByText(OTHER).count()).toBe(0)
    await page.goto('/alerts')
    await page.getByText('No problems yet').waitFor()
    await page.getByRole('link', { name: 'History', exact: true }).click()
    await page.getByText('No alerts yet').waitFor()
    await close()
  })
})
