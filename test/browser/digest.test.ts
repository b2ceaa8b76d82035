import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { unsubscribeToken } from '../../src/digest/unsubscribe/unsubscribe-token.ts'
import { openDatabase } from '../../src/store/database.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { SERVICE_KEY, startTestService, type TestService } from '../service.ts'
import { changed, faultsAtAllWidths, heading, signedIn, visit, type Visit } from './browsing.ts'

let sink: Sink
let portreeve: TestService
let browser: Browser
let alice: Visit
let aliceId: string
beforeAll(async () => {
  sink = await startSink()
  portreeve = await startTestService({ SMTP_URL: sink.url, MAIL_FROM: 'alerts@portreeve.test' })
  browser = await sharedChromium()
  alice = await signedIn(browser, portreeve, 'Alice')
  const { pool, close } = openDatabase(portreeve.databaseUrl)
  const { rows } = await pool.query<{ id: string }>(
    'update account set email_verified = true returning id',
  )
  await close()
  aliceId = rows[0]?.id ?? ''
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
  await sink.stop()
})

const frequencyNow = async () => {
  const answer = await alice.page.request.get('/api/v1/digest')
  return ((await answer.json()) as { data: { frequency: string; weekday: number } }).data
}

describe('the settings of the digest', () => {
  it('have a day only where the digest is weekly, and keep it otherwise', async () => {
    const { page } = alice
    await page.goto('/alerts/digest')
    await heading(page, 'Digest').waitFor()
    const [frequency, day] = [page.getByLabel('Frequency'), page.getByLabel('Day')]
    await frequency.waitFor()
    expect(await day.count()).toBe(0)
    await frequency.selectOption('Every week')
    await day.selectOption('Thursday')
    await Promise.all([changed(page), page.getByRole('button', { name: 'Save settings' }).click()])
    await frequency.selectOption('Every day')
    expect(await day.count()).toBe(0)
    await Promise.all([changed(page), page.getByRole('button', { name: 'Save settings' }).click()])
    expect(await frequencyNow()).toMatchObject({ frequency: 'daily', weekday: 4 })
    await frequency.selectOption('Every week')
    expect(await day.inputValue()).toBe('4')
    await Promise.all([changed(page), page.getByRole('button', { name: 'Save settings' }).click()])
  })

  it('meet WCAG 2.2 AA on a phone and a desktop, in both themes, and send a digest', async () => {
    const { page, complaints } = alice
    // What is asked of a frame before its page is there is never answered.
    const previewed = page.waitForEvent('framenavigated', {
      predicate: (frame) => frame.url().includes('/digest/preview'),
    })
    await page.goto('/alerts/digest')
    await page.getByLabel('Day').waitFor()
    const preview = await previewed
    const title = () => preview.evaluate<string>("document.querySelector('h1')?.textContent")
    await expect.poll(title).toBe('Weekly digest')
    expect(await faultsAtAllWidths(page)).toEqual([])
    // axe speaks to the sandboxed frame of the preview, which does not answer.
    complaints.length = 0
    await page.getByRole('button', { name: 'Send now' }).click()
    await page.getByText('Digest sent.').waitFor()
    expect(sink.mails.map(({ to }) => to?.[0]?.address)).toEqual(['alice@people.test'])
    expect(complaints).toEqual([])
  })
})

describe('the page that unsubscribes', () => {
  it('meets WCAG 2.2 AA in each of its states, needs no login, and turns the digest off', async () => {
    const visitor = await visit(browser, portreeve.url)
    const { page, complaints } = visitor
    const token = unsubscribeToken.create(SERVICE_KEY, {
      workspaceId: aliceId,
      accountId: aliceId,
    })
    await page.goto(`/digest/unsubscribe/${token}`)
    await heading(page, 'Unsubscribe from the digest').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    expect((await frequencyNow()).frequency).toBe('weekly')
    await page.getByRole('button', { name: 'Unsubscribe' }).click()
    await heading(page, 'You’re unsubscribed').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    expect((await frequencyNow()).frequency).toBe('off')
    expect(complaints).toEqual([])
    await page.goto(`/digest/unsubscribe/${token.slice(0, -3)}abc`)
    await heading(page, 'This link doesn’t work').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await visitor.close()
  })
})
