import type { Browser, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { accountOn, fill, read } from '../migration/mailbox.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startDovecot } from '../servers/dovecot.ts'
import type { MailServer } from '../servers/mail-server.ts'
import { sharedService, type TestService } from '../service.ts'
import { faultsAtAllWidths, heading, signedIn, type Visit } from './browsing.ts'

let server: MailServer
let portreeve: TestService
let browser: Browser
let alice: Visit
let page: Page
let devtools: CDPSession
beforeAll(async () => {
  server = await startDovecot()
  for (const user of ['one', 'two', 'three', 'new-one', 'new-two', 'new-three'])
    await server.addUser(user, 'secret')
  for (const user of ['one', 'two', 'three'])
    await fill(accountOn(server.port, user), { INBOX: [{}, {}] })
  portreeve = await sharedService()
  browser = await sharedChromium()
  alice = await signedIn(browser, portreeve, 'Alice', undefined, { plan: 'enterprise' })
  page = alice.page
  devtools = await page.context().newCDPSession(page)
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' })
})
afterAll(async () => {
  await alice.close()
  await closeContexts(browser)
  await portreeve.stop()
  await server.stop()
})

const button = (name: string | RegExp) => page.getByRole('button', { name })

async function fillServers(): Promise<void> {
  for (const side of ['Source', 'Destination']) {
    await page.getByLabel(`${side} host`, { exact: true }).fill('127.0.0.1')
    await page.getByLabel(`${side} security`).selectOption('STARTTLS')
    await page.getByLabel(`${side} port`).fill(String(server.port))
  }
}

/** Milliseconds for which the service with this test, and the scripts of the page, have run. */
async function processorTime(): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics')
  const seconds = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0
  const { user, system } = process.cpuUsage()
  return seconds * 1_000 + (user + system) / 1_000
}

/** A sequence: each step continues the one before. */
describe('a user who moves a company', () => {
  it('sees the problem of each line before anything is stored', async () => {
    await page.goto('/migrations')
    await page.getByRole('link', { name: 'Batches' }).click()
    await page.getByText('No batches yet').waitFor()
    await page.getByRole('link', { name: 'New batch' }).click()
    await heading(page, 'New batch').waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Example Ltd')
    const file = 'one;new-one;secret\ntwo;new-two;wrong\nthree;new-three;\n'
    await page.locator('input[type=file]').setInputFiles({
      name: 'company.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from(`\uFEFF${file}`, 'utf16le'),
    })
    await page.getByText('The columns were not recognized').waitFor()
    await page.getByLabel('Column 1').selectOption('Source user')
    await page.getByLabel('Column 2').selectOption('Destination user')
    await page.getByLabel('Column 3').selectOption('Password (both sides)')
    await page.getByText('Enter the two servers. Then we check each line.').waitFor()
    await page.getByRole('row', { name: '1 one on ? new-one on ? No server yet' }).waitFor()
    await fillServers()
    await page.getByText('2 mailboxes, 1 invalid line.').waitFor()
    await page.getByRole('row', { name: /^3 three .*The source password is missing/ }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await button('Create batch with 2 mailboxes').click()
    await heading(page, 'Example Ltd').waitFor()
    await page.getByText('0 of 3 mailboxes in sync. 2 ready to start.').waitFor()
  })

  it('corrects what is wrong, retries it, and sees everything copied', async () => {
    await button('Start 2 mailboxes').click()
    await page.getByText('1 mailbox: wrong user or password (127.0.0.1)').first().waitFor()
    await page.getByText('1 of 3 mailboxes in sync. 1 needs attention.').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    for (const [user, save] of [
      ['two', 'Save and try again'],
      ['three', 'Save'],
    ] as const) {
      await button(`Edit ${user}`).click()
      const dialog = page.getByRole('dialog')
      expect(await dialog.getByLabel('Source port').inputValue()).toBe(String(server.port))
      expect(await dialog.getByLabel('Verify the certificates').isChecked()).toBe(true)
      await page.getByLabel('Source password').fill('secret')
      await page.getByLabel('Destination password').fill('secret')
      await page.getByRole('button', { name: save, exact: true }).click()
      await page.getByRole('dialog').waitFor({ state: 'hidden' })
    }
    await page.getByText('2 of 3 mailboxes in sync. 1 ready to start.').waitFor()
    await button('Start 1 mailbox').click()
    await page.getByText('3 of 3 mailboxes in sync.').waitFor()
    expect((await read(accountOn(server.port, 'new-three')))['INBOX']).toHaveLength(2)
  })

  it('conducts the cut-over by hand, and proves that every message was kept', async () => {
    await page.getByText('Start a cut-over').click()
    await button('Start').click()
    await page.getByText('Required').first().waitFor()
    await page.getByLabel('Domain', { exact: true }).fill('company.test')
    await page.getByLabel('New MX hosts').fill('mx1.new.test\nmx2.new.test')
    expect(await faultsAtAllWidths(page)).toEqual([])
    await button('Start').click()
    await page.getByText('Cut-over of company.test: 0 of 5 steps done').waitFor()
    for (const done of [1, 2, 3]) {
      await page.getByText('Confirm by hand').first().click()
      await page.getByLabel('Note').fill(`Step ${done} was checked`)
      await button('Confirm by hand').click()
      await page.getByText(`Cut-over of company.test: ${done} of 5 steps done`).waitFor()
    }
    await page.getByText('Confirmed by Alice').first().waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await button('Start the final pass').click()
    await page.getByText('The cut-over of company.test is done.').waitFor()
    await page.getByRole('link', { name: 'Proof', exact: true }).first().click()
    await heading(page, 'Proof: Example Ltd').waitFor()
    await page.getByText('The destination has every message of the source').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.getByRole('link', { name: 'two on 127.0.0.1' }).click()
    await heading(page, 'Proof: two').waitFor()
    const file = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download signed file' }).click()
    expect((await file).suggestedFilename()).toMatch(/^proof-.*\.jsonl$/)
    await page.getByText('Compare again').click()
    await page.getByLabel('Compare').selectOption('Every message, byte by byte')
    await button('Compare now').click()
    await page.getByText('Every message on both servers, byte by byte').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.goBack()
    await page.goBack()
  })

  it('finishes the batch', async () => {
    await button('Finish').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Finish' }).click()
    await page.getByText('3 of 3 mailboxes were copied.').waitFor()
    await page.getByRole('link', { name: 'Batches' }).first().click()
    await page.getByText('3 of 3 mailboxes in sync').waitFor()
  })

  it('works with two thousand mailboxes, also while all of them change', async () => {
    const rows = Array.from({ length: 2_000 }, (_, at) => `user${at}@example.com,secret`)
    const side = { host: 'imap.example.com' }
    const answer = await page.request.post('/api/v1/imap/batches', {
      data: {
        name: 'Large',
        text: ['user,password', ...rows].join('\n'),
        source: side,
        destination: { host: 'imap.example.net' },
      },
    })
    const { batch } = ((await answer.json()) as { data: { batch: { id: string } } }).data
    const began = await processorTime()
    await page.goto(`/migrations/batches/${batch.id}`)
    await page.getByRole('link', { name: 'Report (CSV)' }).waitFor()
    await page.getByText('user99@example.com on imap.example.com').waitFor()
    const opened = (await processorTime()) - began
    const { pool, close } = openDatabase(portreeve.databaseUrl)
    await pool.query(
      `update batch_mailbox set state = 'in_sync', messages_done = 10, messages_total = 10 where batch_id = $1`,
      [batch.id],
    )
    const {
      rows: [owner],
    } = await pool.query<{ workspace_id: string }>(
      'select workspace_id from migration_batch where id = $1',
      [batch.id],
    )
    const changed = await processorTime()
    await pool.query(`select pg_notify('portreeve', $1)`, [
      JSON.stringify(['changed', [[owner?.workspace_id, 'migrations', batch.id]]]),
    ])
    await page.getByText('2,000 of 2,000 mailboxes in sync.').waitFor()
    const refreshed = (await processorTime()) - changed
    await page.getByLabel('Filter by mailbox').fill('user1999@')
    await page.getByText('1 mailbox', { exact: true }).waitFor()
    await page.getByLabel('Filter by mailbox').fill('')
    await page.getByRole('button', { name: 'Next' }).click()
    await page.getByText('user100@example.com on imap.example.com').waitFor()
    if (process.env['SHOW_TIMES']) console.log({ opened, refreshed })
    expect(opened).toBeLessThan(10_000)
    expect(refreshed).toBeLessThan(5_000)
    await close()
  })
})
