import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { raiseAlert } from '../../src/alerts/raise.ts'
import { linkToken } from '../../src/alerts/silence/links/silence-token.ts'
import { openDatabase } from '../../src/store/database.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { SERVICE_KEY, sharedService, type Person, type TestService } from '../service.ts'
import {
  accessibilityFaults,
  chooseDuration,
  faultsAtAllWidths,
  overflow,
  signIn,
  visit,
  type Visit,
} from './browsing.ts'

let portreeve: TestService
let database: ReturnType<typeof openDatabase>
let browser: Browser
let alice: Person
let rosa: Person
beforeAll(async () => {
  portreeve = await sharedService()
  database = openDatabase(portreeve.databaseUrl)
  browser = await sharedChromium()
  alice = await portreeve.addPerson('Alice')
  rosa = await portreeve.addMember(alice.id, 'Rosa', 'read-only')
  for (const [index, name] of ['192.0.2.1', '192.0.2.2', '192.0.2.3'].entries())
    await raise(name, index === 0 ? 'critical' : 'error')
})
afterAll(async () => {
  await closeContexts(browser)
  await database.close()
  await portreeve.stop()
})

function raise(name: string, severity: 'critical' | 'error' = 'error') {
  return raiseAlert(database.db, {
    workspaceId: alice.id,
    kind: 'blacklist.listed',
    key: `${name} ${Date.now()}`,
    incident: `blacklist/${name}/bl.test`,
    phase: 'open',
    severity,
    title: `${name} is listed on SpamCop SCBL`,
    text: 'The list says: spam.',
    nextStep: 'Start delisting.',
    path: '/monitoring',
    at: new Date(),
  })
}

/** A tab of an account, at a path. */
async function openAs(person: Person, path: string, width?: number): Promise<Visit> {
  const visitor = await visit(browser, portreeve.url, width)
  await signIn(visitor, portreeve, person)
  await visitor.page.goto(path)
  return visitor
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })
const action = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const select = (page: Page, name: string) => row(page, name).getByRole('checkbox').check()

describe('the problems of a workspace', () => {
  it('are acknowledged, snoozed and muted, several at once, with Undo', async () => {
    const { page, close, complaints } = await openAs(alice, '/alerts')
    await page.getByText('3 open alerts').waitFor()
    await select(page, '192.0.2.1')
    await select(page, '192.0.2.2')
    await action(page, 'Acknowledge').click()
    await row(page, '192.0.2.1').getByText(`By ${alice.email}`).waitFor()
    await row(page, '192.0.2.2').getByText('Acknowledged').waitFor()
    await page.getByText('1 not acknowledged yet.').waitFor()
    await action(page, 'Undo').click()
    await page.getByText('3 not acknowledged yet.').waitFor()

    await select(page, '192.0.2.2')
    await action(page, 'Snooze').click()
    await chooseDuration(page, 'Snooze', 'Until a date and time', '2020-01-01T10:00')
    await page.getByText('Choose a time between 15 minutes and 30 days from now.').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await chooseDuration(page, 'Snooze', '4 hours')
    await row(page, '192.0.2.2').getByText('Snoozed').waitFor()
    await select(page, '192.0.2.3')
    await action(page, 'Mute').click()
    await page.getByLabel('Reason').fill('Delisting requested')
    await chooseDuration(page, 'Mute', 'Until unmuted')
    await row(page, '192.0.2.3').getByText('until unmuted: Delisting requested').waitFor()
    const muted = page.getByRole('region', { name: 'Muted' })
    await muted.getByRole('button', { name: 'Unmute 192.0.2.3 is listed' }).waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    expect(await overflow(page)).toBe(0)
    await page.setViewportSize({ width: 1440, height: 900 })

    await muted.getByRole('button', { name: /^Unmute/ }).click()
    await row(page, '192.0.2.3').getByText('Open', { exact: true }).waitFor()
    await select(page, '192.0.2.2')
    await action(page, 'Resume alerts').click()
    await page.getByText('3 not acknowledged yet.').waitFor()
    expect(complaints).toEqual([])
    await close()
  })

  it('stay muted with their object until it is unmuted from any of them, with Undo', async () => {
    const { page, close, complaints } = await openAs(alice, '/monitoring')
    const headers = { origin: portreeve.url }
    const data = { object: 'blacklist', label: 'All blocklists' }
    await page.request.post('/api/v1/alerts/mutes', { data, headers })
    await page.goto('/alerts')
    const muted = page.getByRole('region', { name: 'Muted' })
    const unmute = muted.getByRole('button', { name: 'Unmute All blocklists' })
    await unmute.waitFor()
    await select(page, '192.0.2.1')
    await select(page, '192.0.2.2')
    await action(page, 'Resume alerts').click()
    await page.getByText('3 not acknowledged yet.').waitFor()
    await action(page, 'Undo').click()
    // The same mute, not one of the problems alone.
    await unmute.waitFor()
    await page.getByText('All are acknowledged, snoozed or muted.').waitFor()
    await unmute.click()
    await page.getByText('3 not acknowledged yet.').waitFor()
    expect(complaints.filter((complaint) => !/status of 404/.test(complaint))).toEqual([])
    await close()
  })

  it.each(['dmarc', 'hooks'])('are muted by object, such as one of /%s', async (path) => {
    const { page, close } = await openAs(alice, '/alerts')
    const headers = { origin: portreeve.url }
    const sent = {
      dmarc: ['/api/v1/dmarc/domains', { domain: 'muted.test' }],
      hooks: ['/api/webhook/endpoints', { label: 'shop' }],
    }[path] as [string, object]
    const answer = await page.request.post(sent[0], { data: sent[1], headers })
    const [, id] = /"id":"([^"]+)"/.exec(await answer.text()) ?? []
    await page.goto(`/${path}/${id}`)
    await action(page, 'Mute alerts').click()
    await chooseDuration(page, 'Mute', '1 week')
    await action(page, 'Unmute alerts').click()
    await action(page, 'Mute alerts').waitFor()
    await close()
  })

  it('are muted by topic, now and later', async () => {
    const { page, close } = await openAs(alice, '/alerts')
    await select(page, '192.0.2.1')
    await action(page, 'Mute').click()
    await page.getByLabel('What to mute').selectOption('All alerts of the topic “Blocklists”')
    await chooseDuration(page, 'Mute', '1 day')
    await page.getByText('All are acknowledged, snoozed or muted.').waitFor()
    const muted = page.getByRole('region', { name: 'Muted' })
    await muted.getByRole('button', { name: 'Unmute Topic Blocklists' }).click()
    await page.getByText('3 not acknowledged yet.').waitFor()
    await action(page, 'Mute a topic').click()
    await page.getByRole('dialog').getByLabel('Topic').selectOption('Certificates')
    await chooseDuration(page, 'Mute', 'Until unmuted')
    await muted.getByRole('button', { name: 'Unmute Topic Certificates' }).click()
    await page.getByText('No alerts are muted.').waitFor()
    await close()
  })

  it('change on other screens at once', async () => {
    const { page, close } = await openAs(rosa, `/alerts?workspace=${alice.id}`)
    await page.getByText('3 not acknowledged yet.').waitFor()
    const { page: hers, close: closeHers } = await openAs(alice, '/alerts')
    await select(hers, '192.0.2.1')
    await action(hers, 'Acknowledge').click()
    await row(page, '192.0.2.1').getByText('Acknowledged').waitFor()
    await select(hers, '192.0.2.1')
    await action(hers, 'Resume alerts').click()
    await page.getByText('3 not acknowledged yet.').waitFor()
    await closeHers()
    await close()
  })

  it('cannot be changed by a read-only member, who sees why', async () => {
    const { page, close } = await openAs(rosa, `/alerts?workspace=${alice.id}`)
    await select(page, '192.0.2.1')
    const button = page.getByRole('button', { name: 'Acknowledge', exact: true })
    await button.waitFor()
    expect(await button.getAttribute('aria-disabled')).toBe('true')
    await close()
  })
})

describe('the page of a link in a message', () => {
  async function linkTo(name: string): Promise<string> {
    const { id: alertId } = await database.db
      .selectFrom('alert')
      .select('id')
      .where('workspaceId', '=', alice.id)
      .where('title', 'like', `${name} %`)
      .executeTakeFirstOrThrow()
    const { id: channelId } = await database.db
      .selectFrom('alertChannel')
      .select('id')
      .where('workspaceId', '=', alice.id)
      .executeTakeFirstOrThrow()
    return `/alerts/act/${linkToken.create(SERVICE_KEY, { alertId, channelId })}`
  }

  it.each([390, 1440])('acts once, without signing in, %i pixels wide', async (width) => {
    const name = width === 390 ? '192.0.2.2' : '192.0.2.3'
    const path = await linkTo(name)
    const { page, close, complaints } = await visit(browser, portreeve.url, width)
    await page.goto(`${path}?do=snooze`)
    await page.getByRole('heading', { level: 1, name: `${name} is listed` }).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    expect(await page.getByRole('heading', { level: 2 }).first().textContent()).toBe('Snooze')
    await page.getByLabel('Snooze for').selectOption('4 hours')
    await page.getByRole('button', { name: 'Snooze' }).click()
    await page.getByText(`Snoozed for 4 hours: ${name}`).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(complaints).toEqual([])
    await page.goto(path)
    await page.getByText('This link was already used').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await close()
  })

  it('is in the audit log with the channel', async () => {
    const answer = await portreeve.request(`/api/v1/workspaces/${alice.id}/audit`, {
      token: alice.token,
    })
    expect(await answer.text()).toContain(`Link in ${alice.email}`)
  })
})
