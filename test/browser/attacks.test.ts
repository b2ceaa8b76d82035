import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { openDatabase } from '../../src/store/database.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { report, SENSORS, untilSensorsCount } from './attackers.ts'
import { faultsAtAllWidths, signedIn, tabTo, type Visit } from './browsing.ts'

const run = promisify(execFile)

const ATTACKER = '8.8.4.4'
const MISTAKE = '90.3.1.1'

let browser: Browser
let portreeve: TestService
let alice: Visit
let bob: Visit
beforeAll(async () => {
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.1' })
  browser = await sharedChromium()
  alice = await signedIn(browser, portreeve, 'Alice', 1440, { admin: true })
  bob = await signedIn(browser, portreeve, 'Bob')
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
})

const item = (page: Page, hasText: string) => page.getByRole('listitem').filter({ hasText })
const h1 = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()

/** A sequence: each step continues the one before. */
describe('an administrator', () => {
  it('adds sensors and an allowlist', async () => {
    const { page } = alice
    await page.goto('/attacks')
    await page.getByText('No reports yet.').waitFor()
    await page.goto('/attacks/administration')
    const sensors = page.getByRole('region', { name: 'Sensors' })
    for (const address of [...SENSORS, MISTAKE]) {
      await sensors.getByLabel('Address or range').fill(address)
      await sensors.getByLabel('Description').fill('Our honeypot')
      await sensors.getByRole('button', { name: 'Add sensor' }).click()
      await item(page, `${address}/32`).waitFor()
    }
    const allowlist = page.getByRole('region', { name: 'Allowlist' })
    await allowlist.getByLabel('Address or range').fill('1.1.1.0/2x')
    await allowlist.getByRole('button', { name: 'Add range' }).click()
    await allowlist.getByText('1.1.1.0/2x').waitFor()
    await allowlist.getByLabel('Address or range').fill('1.1.1.0/24')
    await allowlist.getByRole('button', { name: 'Add range' }).click()
    await item(page, '1.1.1.0/24').waitFor()
  })

  it('removes a range, after a confirmation', async () => {
    const { page } = alice
    await page.getByRole('button', { name: `Remove ${MISTAKE}/32` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await item(page, `${MISTAKE}/32`).waitFor({ state: 'detached' })
    await untilSensorsCount(portreeve)
  })

  it('opts an address out of abuse emails, and takes it back', async () => {
    const { page } = alice
    const optOuts = page.getByRole('region', { name: 'Networks that want no abuse emails' })
    await optOuts.getByText('No address has opted out.').waitFor()
    await optOuts.getByLabel('Email address').fill('abuse@net.example')
    await optOuts.getByRole('button', { name: 'Add the address' }).click()
    await item(page, 'Added by an administrator').waitFor()
    await optOuts.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await optOuts.getByText('No address has opted out.').waitFor()
  })
})

describe('a blocklist update on hold', () => {
  it('is published by an administrator, after a confirmation', async () => {
    const database = openDatabase(portreeve.databaseUrl)
    const hold = { countBefore: 12, countAfter: 4_000, heldAt: new Date() }
    await database.db.insertInto('abuseSnapshotHold').values(hold).execute()
    const { page } = alice
    await page.goto('/attacks/administration')
    await page.getByText('The blocklist would grow from 12 addresses to 4,000 at once.').waitFor()
    await page.getByRole('button', { name: 'Publish' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click()
    await page.getByText('The blocklist would grow from').waitFor({ state: 'detached' })
    const kept = await database.db.selectFrom('abuseSnapshotHold').select('approved').execute()
    expect(kept.every(({ approved }) => approved)).toBe(true)
    await database.close()
  })
})

describe('an address without established reporters', () => {
  it('waits for an administrator, who sees the reason and decides', async () => {
    const database = openDatabase(portreeve.databaseUrl)
    await database.db.insertInto('abuseAddress').values(awaiting('9.1.1.1')).execute()
    const { page } = alice
    await page.goto('/attacks/administration')
    await page
      .getByText('We can’t tell whether the reporting networks belong to different providers.')
      .waitFor()
    await page.getByText('6 reports from 6 networks of 0 known providers').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('checkbox', { name: 'Select 9.1.1.1' }).check()
    await page.getByRole('button', { name: 'Discard reports for 1 selected row' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Discard reports' }).click()
    await page.getByText('No addresses are waiting.').waitFor()
    const kept = await database.db
      .selectFrom('abuseAddress')
      .select('state')
      .where('address', '=', '9.1.1.1')
      .execute()
    expect(kept).toEqual([{ state: 'delisted' }])
    await database.close()
  })
})

/** A candidate reported by six networks, as the service stores it. */
function awaiting(address: string) {
  const at = new Date()
  return {
    address,
    state: 'watchlist',
    score: 59,
    confidence: 'medium',
    evidence: '[]',
    services: ['ssh'],
    networks: 6,
    totalReports: 6,
    firstReportedAt: at,
    lastReportedAt: at,
    confirmation: 'awaiting',
    revision: 1,
  }
}

describe('a server administrator', () => {
  it('creates an install command with a report token', async () => {
    const { page } = bob
    await page.goto('/attacks/servers')
    await page.getByText('No servers yet').waitFor()
    await page.getByLabel('Server name').fill('web-1')
    await page.getByLabel('Also block listed addresses').check()
    await page.getByRole('button', { name: 'Create install command' }).click()
    await page.getByText('Run this on web-1').waitFor()
    await page.getByRole('button', { name: 'Copy the install command' }).click()
    const line = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(line).toMatch(
      /^curl -fsS ".*token=ar_\w{32}&block=1" \| sudo PORTREEVE_KEY=bk_\w{32} sh -s -- --yes$/,
    )
    const [fetches = ''] = line.split(' | ')
    const { stdout } = await run('sh', ['-c', `${fetches} | sh -n && ${fetches}`])
    expect(stdout).toContain('BLOCK=1')

    const token = /ar_\w{32}/.exec(line)?.[0] ?? ''
    for (const ip of [ATTACKER, '8.8.4.5']) {
      const attack = { ip, service: 'sshd', port: 22, count: 50 }
      const answer = await report(portreeve, SENSORS[0], attack, { 'x-report-token': token })
      expect(answer).toMatchObject({ success: true, deduped: false })
    }
    await page.reload()
    await page.getByRole('row', { name: /web-1 .* 2 2 0/ }).waitFor()
  })

  it('sees that an address is on the watchlist, and why it is not listed', async () => {
    const { page } = bob
    await page.getByRole('link', { name: 'Dashboard' }).click()
    await page.getByLabel('IPv4 or IPv6 address').fill(ATTACKER)
    await page.keyboard.press('Enter')
    await page
      .getByText(`${ATTACKER} is on the watchlist, not listed: 1 network reported it`)
      .waitFor()
  })

  it('sees that an address is listed, by how many networks, with the evidence', async () => {
    const { page } = bob
    await report(portreeve, SENSORS[1], { ip: ATTACKER, service: 'imap', count: 50 })
    await page.goto(`/attacks?ip=${ATTACKER}`)
    await page.getByText(`${ATTACKER} is listed: 2 networks reported it`).waitFor()
    await page.getByText('Evidence: 2 lines').click()
    await page.getByRole('row', { name: /SSH .* port 22 50 events/ }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.goto('/attacks')
    await page.getByText(/^\d+ reports in 30 days, the most on \d+ \w+: \d+\.$/).waitFor()
    await page.getByRole('row', { name: /^SSH .* 2 \d+%/ }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('looks up an IPv6 network, an invalid address and one on the allowlist', async () => {
    const { page } = bob
    await report(portreeve, SENSORS[0], { ip: '2a00:1450:4001:81b::200e', service: 'ssh' })
    const lookUp = async (address: string) => {
      await page.goto('/attacks')
      await page.getByLabel('IPv4 or IPv6 address').fill(address)
      await page.getByRole('button', { name: 'Look up' }).click()
    }
    await lookUp('2a00:1450:4001:81b::1')
    await page.getByText('all of 2a00:1450:4001:81b::/64').waitFor()
    await lookUp('10.0.0.1')
    await page.getByText('“10.0.0.1” is a private address').first().waitFor()
    await lookUp('1.1.1.1')
    await page.getByText('1.1.1.1 is never listed').waitFor()
    await lookUp('9.9.9.9')
    await page.getByText('9.9.9.9 is not listed: no reports.').waitFor()
  })

  it('downloads the blocklist in every format with the command shown', async () => {
    const { page } = bob
    await page.getByRole('link', { name: 'Attacks', exact: true }).click()
    await page.getByRole('link', { name: 'Shared list & feeds' }).click()
    await h1(page, 'Shared blocklist')
    for (const format of await page.getByRole('tab').allTextContents()) {
      await page.getByRole('tab', { name: format }).click()
      const command = await page
        .getByRole('figure', { name: 'the command' })
        .locator('pre')
        .textContent()
      // Without the target command, which is not installed.
      const fetches = (command ?? '').replace(/^sudo | \| sudo .*| -o .*/gs, '')
      const { stdout } = await run('sh', ['-c', fetches])
      expect([format, stdout]).toEqual([format, expect.stringContaining(ATTACKER)])
    }
    await page.getByLabel('Attackers of').selectOption('imap')
    await page.getByText('service=imap').waitFor()
  })

  it('keeps the format and service in the URL', async () => {
    const { page } = bob
    await page.goto('/attacks/list?format=nftables&service=imap')
    await page.getByText('/api/v1/abuse/export?format=nftables&service=imap').waitFor()
    expect(await page.getByRole('tab', { name: 'nftables' }).getAttribute('aria-selected')).toBe(
      'true',
    )
  })

  it('cannot see the administration page', async () => {
    const { page } = bob
    await page.goto('/attacks/administration')
    await page.getByText('Only administrators can see this page.').waitFor()
    expect(await page.getByRole('link', { name: 'Shared list', exact: true }).count()).toBe(0)
  })

  it('bans an address on all servers, unbans it, and allows a network', async () => {
    const { page } = bob
    await page.goto('/attacks/servers')
    await page.getByRole('link', { name: 'Bans', exact: true }).click()
    await h1(page, 'Bans')
    // What this server reported belongs to a large resolver.
    await page.getByText('No banned addresses').waitFor()
    await page.getByLabel('IPv4 or IPv6 address').fill('9.3.1.1')
    await page.getByLabel('Reason').fill('Scraper')
    await page.getByRole('button', { name: 'Ban address' }).click()
    await page.getByRole('row', { name: /9\.3\.1\.1 Banned by a member: Scraper/ }).waitFor()
    await page.getByRole('button', { name: 'Unban 9.3.1.1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unban' }).click()
    await page.getByRole('button', { name: 'Unban 9.3.1.1' }).waitFor({ state: 'detached' })
    await page.getByLabel('Address or network').fill('9.3.0.0/16')
    await page.getByRole('button', { name: 'Add network' }).click()
    await item(page, '9.3.0.0/16').waitFor()
    await page.getByText('All services. First report: 4 hours').click()
    // The second form adds a rule.
    await page.getByLabel('Events that ban').first().fill('7')
    await page.getByRole('button', { name: 'Save rule' }).first().click()
    await page.getByText('All services. 7 reports in 10 minutes').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('revokes the token of a server', async () => {
    const { page } = bob
    await page.goto('/attacks/servers')
    await page.getByRole('button', { name: 'Revoke web-1' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('No servers yet').waitFor()
  })
})

describe('an appeal', () => {
  it('from another address waits for an administrator', async () => {
    const data = { ip: ATTACKER, reason: 'The address was assigned to us yesterday.' }
    const headers = { 'x-forwarded-for': '90.9.9.9' }
    expect((await bob.page.request.post('/api/v1/abuse/appeals', { data, headers })).status()).toBe(
      201,
    )
    const { page } = alice
    await page.goto('/attacks/administration')
    await page.getByText('“The address was assigned to us yesterday.”').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('button', { name: `Delist ${ATTACKER}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delist' }).click()
    await page.getByText('Delisted', { exact: true }).waitFor()
    await page.getByRole('link', { name: ATTACKER }).click()
    await page.getByText(`${ATTACKER} is no longer listed.`).waitFor()
  })
})

describe('with the keyboard alone', () => {
  it('an address is looked up and a server added', async () => {
    const { page, close } = await signedIn(browser, portreeve, 'Klara')
    await page.goto('/attacks')
    await h1(page, 'Attack reporting')
    await tabTo(page, 'IPv4 or IPv6 address')
    await page.keyboard.type('8.8.4.5')
    await page.keyboard.press('Enter')
    await page.getByText('8.8.4.5 is on the watchlist').waitFor()
    await page.goto('/attacks')
    await h1(page, 'Attack reporting')
    await tabTo(page, 'Your servers')
    await page.keyboard.press('Enter')
    await h1(page, 'Your servers')
    await tabTo(page, 'Server name')
    await page.keyboard.type('mail-1')
    await page.keyboard.press('Enter')
    await page.getByText('Run this on mail-1').waitFor()
    await tabTo(page, 'Bans')
    await page.keyboard.press('Enter')
    await h1(page, 'Bans')
    await tabTo(page, 'IPv4 or IPv6 address')
    await page.keyboard.type('9.3.1.2')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Unban 9.3.1.2' }).waitFor()
    await tabTo(page, 'Shared list & feeds')
    await page.keyboard.press('Enter')
    await h1(page, 'Shared blocklist')
    await tabTo(page, 'Plain')
    await page.keyboard.press('ArrowRight')
    await page.getByText('format=nftables').waitFor()
    await close()
  })
})

it('the browser logs no errors except for rejected requests', () => {
  const refusals = /status of (400|403)/
  expect(
    [...alice.complaints, ...bob.complaints].filter((complaint) => !refusals.test(complaint)),
  ).toEqual([])
})
