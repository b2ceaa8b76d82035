import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:tls'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { IP } from '../servers/blacklists.ts'
import { makeCertificate } from '../servers/certificates.ts'
import { changed, faultsAtAllWidths, heading, signedIn, tabTo, type Visit } from './browsing.ts'
import { startMailPlace, type MailPlace } from './mail-place.ts'

const SHOP = 'shop.example.test'

let place: MailPlace
let shop: Server
beforeAll(async () => {
  const certificate = makeCertificate({
    subject: `/CN=${SHOP}`,
    altNames: [`DNS:${SHOP}`],
    from: -90,
    to: 90,
  })
  shop = createServer(certificate).on('tlsClientError', () => {})
  shop.listen(0, '127.0.0.1')
  await once(shop, 'listening')
  place = await startMailPlace()
  place.dns.records[`${SHOP} A`] = ['127.0.0.1']
  place.dns.records[`${SHOP} MX`] = ['10 mx.example.test']
  await place.lists.setZones({
    'bl.spamcop.net': { listed: { [IP]: '127.0.0.2 Blocked for the tests' } },
    'b.barracudacentral.org': { listed: { [IP]: '127.0.0.2' } },
  })
})
afterAll(async () => {
  await place.stop()
  shop.close()
})

/** A sequence: each step continues the one before. */
describe('a user with monitored hosts', () => {
  let alice: Visit
  let page: Page
  beforeAll(async () => {
    alice = await signedIn(place.browser, place.portreeve, 'Alice')
    page = alice.page
  })
  afterAll(() => alice.close())

  it('sees the command that adds a host, and errors for invalid hosts', async () => {
    await page.goto('/monitoring')
    await page.getByText('No monitored hosts yet').waitFor()
    await page.getByText('-d \'{"host":"people.test"}\'').waitFor()
    await page.getByRole('button', { name: 'Start monitoring' }).click()
    await page.getByText('Enter a host name or an IP address.').waitFor()
    await page.getByLabel('Host name or IP address').fill('192.168.1.1')
    await page.getByRole('button', { name: 'Start monitoring' }).click()
    await page.getByText('blocklists contain only public addresses').first().waitFor()
  })

  it('adds an address, and sees within seconds that it is listed', async () => {
    await page.getByLabel('Host name or IP address').fill(IP)
    await page.getByLabel('Label').fill('outgoing mail')
    await page.getByRole('button', { name: 'Start monitoring' }).click()
    await page.getByText('Your host is listed.').waitFor()
    await page
      .getByRole('row', {
        name: new RegExp(`${IP} outgoing mail Listed on 2 of \\d+ lists`),
      })
      .waitFor()
  })

  it('sees listings with time and reason, and the change log', async () => {
    await page.getByRole('link', { name: IP }).click()
    await heading(page, IP).waitFor()
    await page.getByText(`${IP} is listed on 2 blocklists.`).waitFor()
    await page.getByRole('img', { name: '1 day: listed on 1' }).waitFor()
    const spamcop = page
      .getByRole('table', { name: 'Listings' })
      .getByRole('row', { name: 'SpamCop' })
    await spamcop.getByText('Blocked for the tests').waitFor()
    await page
      .getByRole('table', { name: 'Change log' })
      .getByRole('row', { name: 'SpamCop' })
      .waitFor()
    await page.getByLabel('Kind of change').selectOption('Certificates')
    await page.getByText('No changes of this kind.').waitFor()
    expect(page.url()).toMatch(/\?kind=certificate$/)
  })

  it('has no accessibility problem at any width, in either theme', async () => {
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('ignores a blocklist for this host, at once and permanently', async () => {
    await page.getByRole('button', { name: 'Ignore Barracuda' }).click()
    await page.getByRole('button', { name: 'Ignore Barracuda' }).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText(`${IP} is listed on 1 blocklist.`).waitFor()
    await page.locator('main').getByRole('link', { name: 'Settings' }).click()
    await page.getByLabel('Filter by name').fill('barracuda')
    expect(await page.getByLabel('Listings on Barracuda BRBL', { exact: true }).inputValue()).toBe(
      'mute',
    )
  })

  it('sees an unconfirmed change as such', async () => {
    await place.lists.setZones({ 'bl.nordspam.com': { listed: { [IP]: '127.0.0.2' } } })
    await page.goBack()
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByText('1 blocklist more: confirming in a few minutes').waitFor()
    await page.getByRole('row', { name: /NordSpam.*Unconfirmed/ }).waitFor()
  })

  it('goes from a listing to its delisting, with the address filled in', async () => {
    await page
      .getByRole('link', { name: `Start delisting ${IP}` })
      .first()
      .click()
    await heading(page, 'New delisting').waitFor()
    expect(await page.getByLabel('Address').inputValue()).toBe(IP)
  })

  it('monitors certificates and records on chosen ports', async () => {
    const headers = { origin: place.portreeve.url }
    const data = { host: SHOP, tlsPorts: [] }
    const made = await page.request.post('/api/v1/monitoring/hosts', { data, headers })
    const { id } = ((await made.json()) as { data: { id: string } }).data
    await page.goto(`/monitoring/${id}/settings`)
    await page.getByLabel('Ports with monitored certificates').fill('443 70000')
    await page.getByRole('button', { name: 'Save settings' }).click()
    await page.getByText('Enter numbers from 1 to 65535').waitFor()
    const { port } = shop.address() as AddressInfo
    await page.getByLabel('Ports with monitored certificates').fill(String(port))
    await page.getByRole('button', { name: 'Save settings' }).click()
    await heading(page, SHOP).waitFor()
    await page.getByRole('button', { name: 'Check now' }).click()
    await page.getByRole('row', { name: new RegExp(`^Port ${port} Not trusted`) }).waitFor()
    await page.getByRole('row', { name: `MX ${SHOP} 10 mx.example.test` }).waitFor()
  })

  it('sets the mode of a blocklist for all hosts', async () => {
    await page.goto('/monitoring')
    await page.getByRole('link', { name: 'Blocklists' }).click()
    await page.getByLabel('Filter by name').fill('spamcop')
    const spamcop = page.getByLabel('Listings on SpamCop SCBL')
    await Promise.all([changed(page), spamcop.selectOption('Log only')])
    await page.reload()
    await spamcop.waitFor()
    expect(await spamcop.inputValue()).toBe('watch')
  })

  it('stops monitoring', async () => {
    await page.goto('/monitoring')
    await page.getByRole('link', { name: SHOP }).click()
    await page.getByRole('button', { name: `Stop monitoring ${SHOP}` }).click()
    await heading(page, 'Servers & IPs').waitFor()
    await page.getByRole('link', { name: SHOP }).waitFor({ state: 'detached' })
  })

  it('causes no browser error but for the invalid host', () => {
    expect(alice.complaints.filter((complaint) => !complaint.includes('status of 400'))).toEqual([])
  })
})

describe('with the keyboard alone', () => {
  it('a host is added, opened and checked', async () => {
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Klara')
    await page.goto('/monitoring')
    await page.getByText('No monitored hosts yet').waitFor()
    await tabTo(page, 'Host name or IP address')
    await page.keyboard.type(IP)
    await page.keyboard.press('Enter')
    await page.getByText('Your host is listed.').waitFor()
    await tabTo(page, IP)
    await page.keyboard.press('Enter')
    await heading(page, IP).waitFor()
    await tabTo(page, 'Check now')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Ignore SpamCop')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Ignore SpamCop' }).waitFor({ state: 'detached' })
    await close()
  })
})

describe('a host of another account', () => {
  it('is not found', async () => {
    const alice = await place.portreeve.addPerson('Dora')
    const init = { method: 'POST', token: alice.token, body: JSON.stringify({ host: IP }) }
    const headers = { 'content-type': 'application/json' }
    const made = await place.portreeve.request('/api/v1/monitoring/hosts', { ...init, headers })
    const { id } = ((await made.json()) as { data: { id: string } }).data
    const { page, close } = await signedIn(place.browser, place.portreeve, 'Charlie')
    await page.goto(`/monitoring/${id}`)
    await page.getByText('Monitored host not found.').waitFor()
    await page.getByText('It was deleted, or it belongs to another workspace.').waitFor()
    await page.goto('/monitoring')
    await page.getByText('No monitored hosts yet').waitFor()
    await close()
  })
})
