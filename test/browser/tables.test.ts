import { readFileSync } from 'node:fs'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { openDatabase } from '../../src/store/database.ts'
import { storeMigration } from '../migration/stored.ts'
import { sharedService, type TestService } from '../service.ts'
import { faultsAtAllWidths, overflow, signedIn, tabTo, type Visit } from './browsing.ts'

let browser: Browser
let portreeve: TestService
let alice: Visit
let page: Page
beforeAll(async () => {
  ;[browser, portreeve] = await Promise.all([sharedChromium(), sharedService()])
  alice = await signedIn(browser, portreeve, 'Alice')
  page = alice.page
})
afterAll(async () => {
  await alice.close()
  await closeContexts(browser)
  await portreeve.stop()
})

const links = () => page.locator('tbody th a').allTextContents()
const stored = async () => {
  const answer = await page.request.get('/api/v1/monitoring/hosts')
  return ((await answer.json()) as { data: { host: string }[] }).data.map(({ host }) => host)
}
const box = (name: string) => page.getByRole('checkbox', { name: `Select ${name}`, exact: true })
const button = (name: string) => page.getByRole('button', { name, exact: true })

/** A sequence: each step continues the one before. */
describe('a user with many hosts', () => {
  it('adds them at once, and sees the verdict on each line before and after', async () => {
    await page.goto('/monitoring')
    await button('Add several').click()
    const names = Array.from({ length: 9 }, (_, at) => `mx${at + 2}.example.test`)
    await page
      .getByLabel('One host or address per line')
      .fill(['# ours', ...names, 'not a host', 'https://mx2.example.test/', '10.0.0.1'].join('\n'))
    await page.getByText('10 ready to add, 2 lines with a problem.').waitFor()
    await page.getByRole('row', { name: '11 not a host Not a host name' }).waitFor()
    await page.getByRole('row', { name: '12 mx2.example.test Same as line 2' }).waitFor()
    await button('Add 10 hosts').click()
    await page.getByText('9 added, 1 not added.').waitFor()
    await page.getByRole('row', { name: /13 10\.0\.0\.1 .*private address/ }).waitFor()
    await button('Close').click()
    await box('mx9.example.test').waitFor()
  })

  it('reads them from a file, too', async () => {
    await button('Add several').click()
    await page.locator('input[type=file]').setInputFiles({
      name: 'hosts.csv',
      mimeType: 'text/csv',
      buffer: Buffer.from('\uFEFFHost,Label\r\nmx1.example.test,"=the, first"\r\n'),
    })
    await button('Add 1 host').click()
    await page.getByText('1 added.').waitFor()
    await button('Close').click()
    await box('mx1.example.test').waitFor()
  })

  it('sorts and filters them, and the URL keeps both', async () => {
    await button('Host').click()
    await expect.poll(async () => (await links()).at(0)).toBe('mx1.example.test')
    expect((await links()).at(-1)).toBe('mx10.example.test')
    const heading = page.getByRole('columnheader', { name: 'Host' })
    expect(await heading.getAttribute('aria-sort')).toBe('ascending')
    await button('Host').press('Enter')
    await expect.poll(async () => (await links()).at(0)).toBe('mx10.example.test')
    expect(await heading.getAttribute('aria-sort')).toBe('descending')
    await page.getByLabel('Filter by name or label').fill('mx1')
    await expect.poll(links).toEqual(['mx10.example.test', 'mx1.example.test'])
    await page.reload()
    await page.getByText('2 hosts').waitFor()
    expect(await links()).toEqual(['mx10.example.test', 'mx1.example.test'])
    const { searchParams } = new URL(page.url())
    expect([searchParams.get('sort'), searchParams.get('q')]).toEqual(['-host', 'mx1'])
  })

  it('exports the rows that match, safe for spreadsheets', async () => {
    const download = page.waitForEvent('download')
    await button('Export CSV').click()
    const file = await download
    expect(file.suggestedFilename()).toBe('monitored-hosts.csv')
    const lines = readFileSync(await file.path(), 'utf8').split('\r\n')
    expect(lines[0]).toMatch(/^\uFEFFHost,Label,Labels,Status,Listings,/)
    expect(lines[1]).toMatch(/^mx10\.example\.test,,/)
    expect(lines[2]).toMatch(/^mx1\.example\.test,"'=the, first",/)
    expect(lines).toHaveLength(4)
  })

  it('selects a range with Shift, deletes it and undoes that', async () => {
    await page.goto('/monitoring?sort=host')
    await box('mx2.example.test').check()
    await box('mx4.example.test').click({ modifiers: ['Shift'] })
    await page.getByText('3 selected').first().waitFor()
    await button('Stop monitoring').click()
    await page.getByText('Deleting 3 hosts').waitFor()
    expect(await links()).not.toContain('mx3.example.test')
    expect(await stored()).toContain('mx3.example.test')
    await button('Undo').click()
    await box('mx3.example.test').waitFor()
  })

  it('does the same with the keyboard alone', async () => {
    await tabTo(page, 'mx1.example.test')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('2 selected').first().waitFor()
    await page.keyboard.press('Escape')
    await expect.poll(() => button('Check now').count()).toBe(0)
    await page.keyboard.press('x')
    await page.keyboard.press('a')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('Deleting mx3.example.test').waitFor()
    await expect.poll(stored, { timeout: 20_000 }).not.toContain('mx3.example.test')
  })

  it('learns for which rows an action failed, and these stay selected', async () => {
    await page.route('**/check', async (route) => {
      if (!route.request().url().includes(failing)) return route.fallback()
      await route.fulfill({ status: 503, json: { error: 'Busy.', code: 'unavailable' } })
    })
    const answer = await page.request.get('/api/v1/monitoring/hosts')
    const { data } = (await answer.json()) as { data: { id: string; host: string }[] }
    const failing = data.find(({ host }) => host === 'mx5.example.test')?.id ?? ''
    await box('mx4.example.test').check()
    await box('mx5.example.test').check()
    await button('Check now').click()
    await page.getByText('1 of 2 hosts couldn’t be checked:').waitFor()
    await page.getByText('mx5.example.test: Busy.').waitFor()
    await page.getByText('1 selected').first().waitFor()
    expect(await box('mx5.example.test').isChecked()).toBe(true)
    await page.unroute('**/check')
  })

  it('has no accessibility problem with a selection, at any width', async () => {
    expect(await faultsAtAllWidths(page)).toEqual([])
  })

  it('sorts and selects on a phone, where rows are paragraphs', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto('/monitoring')
    await page.getByLabel('Sort by').selectOption('Host, descending')
    await expect.poll(async () => (await links()).at(0)).toBe('mx10.example.test')
    await page.getByText('Select all shown').click()
    await page.getByText('9 selected').first().waitFor()
    expect(await overflow(page)).toBe(0)
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  it('causes no browser errors but the failure above', () => {
    expect(alice.complaints.filter((text) => !text.includes('status of 503'))).toEqual([])
  })
})

describe('a read-only member', () => {
  it('learns why the actions are not available', async () => {
    const answer = await page.request.get('/api/v1/account')
    expect(answer.ok()).toBe(true)
    await page.route('**/api/v1/account', async (route) => {
      const response = await route.fetch()
      const json = (await response.json()) as { data: object }
      await route.fulfill({ json: { ...json, data: { ...json.data, role: 'read-only' } } })
    })
    await page.goto('/monitoring')
    await box('mx5.example.test').check()
    const action = button('Check now')
    expect(await action.getAttribute('aria-disabled')).toBe('true')
    await action.focus()
    await page.getByRole('tooltip').filter({ hasText: 'read-only' }).first().waitFor()
  })
})

describe('a user with several pages of migrations', () => {
  const first = () => page.locator('tbody th a').first().textContent()

  it('sorts and filters across the pages', async () => {
    const { data: me } = await (await page.request.get('/api/v1/account')).json()
    const { db, pool, close } = openDatabase(portreeve.databaseUrl)
    for (let at = 100; at < 230; at++)
      await storeMigration(db, me.workspace.id, `user${at}`, {
        status: at === 101 ? 'failed' : 'completed',
      })
    await pool.query(
      `update migration set created_at = now() - 1000 * interval '1 second'
        + substring(source->>'user' from '\\d+')::int * interval '1 second'
      where workspace_id = $1`,
      [me.workspace.id],
    )
    await close()
    await page.goto('/migrations')
    await page.getByText('130 migrations').waitFor()
    await expect.poll(first).toBe('user229@old.test on imap.old.test')
    await page.getByRole('button', { name: 'Next' }).click()
    await expect.poll(first).toBe('user129@old.test on imap.old.test')
    await page.getByRole('columnheader').getByRole('button', { name: 'Mailboxes' }).click()
    await expect.poll(first).toBe('user100@old.test on imap.old.test')
    expect(page.url()).not.toContain('page=')
    await page.getByLabel('Filter by mailbox').fill('failed')
    await page.getByText('1 migration', { exact: true }).waitFor()
    expect(await first()).toBe('user101@old.test on imap.old.test')
    await page.getByLabel('Filter by mailbox').fill('nobody')
    await page.getByText('No matches').waitFor()
    await page.getByLabel('Filter by mailbox').fill('')
    await page.getByText('130 migrations').waitFor()
  })

  it('exports all pages, in this order', async () => {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export CSV' }).click(),
    ])
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\r\n')
    expect(lines).toHaveLength(131)
    expect([lines[1], lines[130]].map((line) => line?.split('@')[0])).toEqual([
      'user100',
      'user229',
    ])
    expect(await overflow(page)).toBe(0)
  })
})
