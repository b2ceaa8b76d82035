import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TEST_PATH } from '../base-path.ts'
import { CHANNEL_TYPES } from '../../src/alerts/channels/channel-types.ts'
import { secretsOf } from '../../src/alerts/channels/fields.ts'
import { presentChannelTypes } from '../../src/alerts/alert-view.ts'
import { openDatabase } from '../../src/store/database.ts'
import { CONTRACTS, startAlertService, type AlertService } from '../servers/alert-service.ts'
import { closeContexts, sharedChromium } from '../servers/chromium.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { faultsAtAllWidths, heading, signedIn, tabTo, visit, type Visit } from './browsing.ts'

type ServiceType = ReturnType<typeof presentChannelTypes>[number]

/** Every service with settings: a new one is tested without a line here. */
const SERVICES = presentChannelTypes().filter(({ hasSettings }) => hasSettings)

let portreeve: TestService
let browser: Browser
let fakes: Map<string, AlertService>
beforeAll(async () => {
  const started = SERVICES.map(async ({ id }) => [id, await startAlertService(id)] as const)
  fakes = new Map(await Promise.all(started))
  const alertOrigins = new Map([...fakes.values()].flatMap(({ origins }) => [...origins]))
  portreeve = await startTestService({}, undefined, { alertOrigins })
  browser = await sharedChromium()
})
afterAll(async () => {
  await closeContexts(browser)
  await portreeve.stop()
  await Promise.all([...fakes.values()].map((fake) => fake.close()))
})

const fakeOf = (id: string) => fakes.get(id) as AlertService
const typeOf = (id: string) => SERVICES.find((type) => type.id === id) as ServiceType

/** The secret values that a channel to this fake has. */
function secretValues({ id }: ServiceType): string[] {
  const fields = CHANNEL_TYPES.find((type) => type.id === id)?.fields
  const names = fields ? secretsOf(fields) : []
  return names.flatMap((name) => fakeOf(id).settings[name] ?? [])
}

async function openForm(page: Page, { id, name }: ServiceType): Promise<void> {
  await page.goto(`/alerts/channels/new/${id}`)
  await heading(page, `Add a channel: ${name}`).waitFor()
  await page.getByText('More options').click()
}

async function fill(page: Page, { id, fields }: ServiceType, more = {}): Promise<void> {
  const settings: Record<string, string> = { ...fakeOf(id).settings, ...more }
  for (const { name, label, choices } of fields) {
    const value = settings[name]
    if (value === undefined) continue
    const field = page.locator(`[name="settings.${name}"]`)
    expect(await page.getByLabel(label, { exact: true }).count(), label).toBeGreaterThan(0)
    await (choices ? field.selectOption(value) : field.fill(value))
  }
}

/** Text and values of the page, as a person or a script of it could read them. */
async function everythingIn(page: Page): Promise<string> {
  const values = await page.evaluate<string>(
    `[...document.querySelectorAll('input, textarea')].map((field) => field.value).join('\\n')`,
  )
  return `${await page.content()}\n${values}`
}

describe('every service', () => {
  let alice: Visit
  beforeAll(async () => {
    alice = await signedIn(browser, portreeve, 'Alice')
  })
  afterAll(() => alice.close())

  it('has its own channel type, and a contract', () => {
    expect(SERVICES.map(({ id }) => id).toSorted()).toEqual(Object.keys(CONTRACTS).toSorted())
  })

  it.each(SERVICES)(
    'is rejected, tested, added and tested again by the form: $name',
    async (type) => {
      const { page } = alice
      const fake = fakeOf(type.id)
      await openForm(page, type)
      await fill(page, type)
      const guide = page.getByRole('link', { name: `About ${type.name}` })
      expect(await guide.getAttribute('href')).toBe(`${TEST_PATH}/alerts/channels/guide/${type.id}`)
      await rejectOnce(page, type)
      await page.getByRole('button', { name: 'Send a test' }).click()
      await page.getByText(`${type.name} accepted the test`).waitFor()
      const shown = fake.shown.length
      expect(shown).toBeGreaterThan(1)
      await page.getByRole('button', { name: 'Add channel' }).click()
      await page.getByText(`${type.name} is added`).waitFor()
      await page.getByRole('button', { name: /^Send test to / }).click()
      await page.getByText(`${type.name} accepted the test`).waitFor()
      expect(fake.shown.length).toBe(shown * 2)
      expect(fake.violations).toEqual([])
      await page.getByRole('definition').getByText(type.name, { exact: true }).first().waitFor()
      await page.getByRole('button', { name: /^Edit / }).click()
      await page.getByLabel('Send alerts that are').waitFor()
      const content = await everythingIn(page)
      for (const secret of secretValues(type)) expect(content).not.toContain(secret)
      const { id } = await newestChannel(page)
      const headers = { origin: portreeve.url }
      await page.request.delete(`/api/v1/alerts/channels/${id}`, { headers })
    },
  )

  it.each(SERVICES)('has a page about it: $name', async ({ id, name, fields }) => {
    const { page } = alice
    await page.goto(`/alerts/channels/guide/${id}`)
    await heading(page, `Alerts in ${name}`).waitFor()
    for (const { label } of fields)
      await page.getByRole('term').getByText(label, { exact: true }).waitFor()
  })

  it('causes no browser error but for the rejected tests', () => {
    expect(alice.complaints.filter((complaint) => !/status of 422/.test(complaint))).toEqual([])
  })
})

/** The service rejects the settings: the form says why, and what to do. */
async function rejectOnce(page: Page, { id, docs, manual }: ServiceType): Promise<void> {
  fakeOf(id).respond(CONTRACTS[id]?.dead ?? null)
  await page.getByRole('button', { name: 'Send a test' }).click()
  const alert = page.getByRole('alert').filter({ hasText: manual?.disabling ?? '?' })
  await alert.getByText(docs).waitFor()
  fakeOf(id).respond(null)
}

async function newestChannel(page: Page): Promise<{ id: string; settings: object }> {
  const answer = await page.request.get('/api/v1/alerts/channels')
  const { data } = (await answer.json()) as { data: { id: string; settings: object }[] }
  return data.at(-1) ?? { id: '', settings: {} }
}

describe('the picker', () => {
  let klara: Visit
  beforeAll(async () => {
    klara = await signedIn(browser, portreeve, 'Klara')
  })
  afterAll(() => klara.close())

  it('suggests services to a workspace with one channel', async () => {
    const { page } = klara
    await page.goto('/alerts/channels')
    await page.getByRole('region', { name: 'Connect another channel' }).waitFor()
    await page.getByRole('link', { name: 'PagerDuty' }).click()
    await heading(page, 'Add a channel: PagerDuty').waitFor()
  })

  it.each([
    ['teams', 'Microsoft Teams'],
    ['MICROSOFT', 'Microsoft Teams'],
    ['push', 'ntfy'],
    ['phone', 'Pushover'],
    ['on call', 'PagerDuty'],
    ['opsgenie', 'Jira Service Management'],
    ['sms', 'Custom webhook'],
    ['mail', 'Email'],
  ])('finds by “%s”: %s', async (text, name) => {
    const { page } = klara
    await page.goto('/alerts/channels/new')
    await page.getByLabel('Search services').fill(text)
    await page.getByRole('link', { name: 'Slack', exact: true }).waitFor({ state: 'detached' })
    await page.getByRole('link', { name, exact: true }).waitFor()
  })

  it('says where nothing matches', async () => {
    const { page } = klara
    await page.getByLabel('Search services').fill('carrier pigeon')
    await page.getByText('No service matches “carrier pigeon”.').waitFor()
  })

  it('works with the keyboard alone', async () => {
    const { page } = klara
    const type = typeOf('pagerduty')
    await page.goto('/alerts/channels/new')
    await page.getByRole('link', { name: 'Slack', exact: true }).waitFor()
    await tabTo(page, 'Search services')
    await page.keyboard.type('pagerd')
    await page.keyboard.press('Enter')
    await heading(page, `Add a channel: ${type.name}`).waitFor()
    expect(await page.evaluate('document.activeElement.tagName')).toBe('H1')
    await tabTo(page, 'Integration key')
    await page.keyboard.type('k'.repeat(32))
    await page.keyboard.press('Enter')
    await page.getByText('PagerDuty is added').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toContain('is added')
  })

  it('and a form with a problem have no accessibility problem at any width', async () => {
    const { page } = klara
    await openForm(page, typeOf('template'))
    await page.getByRole('button', { name: 'Add channel' }).click()
    await page.getByText('Enter a value for “URL”.').waitFor()
    expect(await faultsAtAllWidths(page)).toEqual([])
  })
})

describe('errors', () => {
  let bob: Visit
  beforeAll(async () => {
    bob = await signedIn(browser, portreeve, 'Bob')
  })
  afterAll(() => bob.close())
  const focused = () => bob.page.evaluate('document.activeElement.name')

  it('of values are at their fields', async () => {
    const { page } = bob
    await openForm(page, typeOf('slack'))
    await page.getByRole('button', { name: 'Add channel' }).click()
    await page.getByText('Enter a value for “Webhook URL”.').waitFor()
    expect(await focused()).toBe('settings.url')
    await page.locator('[name="settings.url"]').fill('https://example.com/hook')
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('Check this value. Example: https://hooks.slack.com').waitFor()
    expect(await focused()).toBe('settings.url')
  })

  it('that only the service knows are at their fields, too', async () => {
    const { page } = bob
    await openForm(page, typeOf('teams'))
    const retired = 'https://example.webhook.office.com/webhookb2/abc'
    await page.locator('[name="settings.url"]').fill(retired)
    await page.getByRole('button', { name: 'Add channel' }).click()
    await page
      .getByText(/retired the connectors/)
      .first()
      .waitFor()
    expect(await focused()).toBe('settings.url')
  })

  it('of private servers name the setting', async () => {
    const { page } = bob
    await openForm(page, typeOf('gotify'))
    await page
      .getByText('needs an entry in ALERT_PRIVATE_TARGETS or ALLOW_PRIVATE_TARGETS')
      .waitFor()
    await fill(page, typeOf('gotify'), { server: 'http://10.1.2.3' })
    await page.getByRole('button', { name: 'Add channel' }).click()
    await page
      .getByText(/not allowed \(ALERT_PRIVATE_TARGETS\)/)
      .first()
      .waitFor()
    expect(await focused()).toBe('settings.server')
  })

  it('of the service are shown in its words', async () => {
    const { page } = bob
    const fake = fakeOf('slack')
    await openForm(page, typeOf('slack'))
    await fill(page, typeOf('slack'))
    fake.respond({ status: 503, body: 'down for maintenance' })
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('Slack responded 503: down for maintenance').waitFor()
    expect(await page.getByText('To fix it:').count()).toBe(0)
    fake.respond(null)
    await page.getByRole('button', { name: 'Add channel' }).click()
    await page.getByText('Slack is added').waitFor()
  })

  it('turn a channel off, and a test that arrives turns it on again', async () => {
    const { page } = bob
    const database = openDatabase(portreeve.databaseUrl)
    await database.db
      .updateTable('alertChannel')
      .set({ disabledReason: 'The service no longer accepts these settings.' })
      .where('type', '=', 'slack')
      .execute()
    await database.close()
    await page.goto('/alerts/channels')
    const card = page.getByRole('region', { name: /^Slack/ })
    await card.getByText('Turned off after failures').waitFor()
    fakeOf('slack').respond({ status: 404, body: 'no_service' })
    await card.getByRole('button', { name: 'Try again' }).click()
    await card.getByText('Slack responded 404: no_service').waitFor()
    fakeOf('slack').respond(null)
    await card.getByRole('button', { name: 'Try again' }).click()
    await card.getByText('Slack accepted the test').waitFor()
    await card.getByText('Turned off after failures').waitFor({ state: 'detached' })
  })
})

describe('a saved secret', () => {
  const page = () => dora.page
  let dora: Visit
  beforeAll(async () => {
    dora = await signedIn(browser, portreeve, 'Dora')
    await openForm(page(), typeOf('ntfy'))
    await fill(page(), typeOf('ntfy'))
    await page().getByRole('button', { name: 'Add channel' }).click()
    await page().getByText('ntfy is added').waitFor()
    await page().goto('/alerts/channels')
  })
  afterAll(() => dora.close())
  const card = () => page().getByRole('region', { name: /portreeve-x7k2$/ })
  const edit = () => card().getByRole('button', { name: /^Edit/ }).click()
  const save = async () => {
    await card().getByRole('button', { name: 'Save changes' }).click()
    await card().getByRole('button', { name: 'Save changes' }).waitFor({ state: 'detached' })
  }

  it('is kept where no new one is entered', async () => {
    await edit()
    const field = card().locator('[name="settings.token"]')
    expect(await field.inputValue()).toBe('')
    await card().getByText('Saved: …mnop. Enter a new one to replace it.').waitFor()
    await card().getByLabel('Name').fill('night shift')
    await card().getByLabel('Send alerts that are').selectOption('error or critical')
    await save()
    await card().getByText('night shift').waitFor()
    await card().getByText('error or critical').waitFor()
    await card()
      .getByRole('button', { name: /^Send test/ })
      .click()
    await card().getByText('ntfy accepted the test').waitFor()
  })

  it('is replaced by a new one', async () => {
    await edit()
    await card().locator('[name="settings.token"]').fill('tk_replacement9876')
    await save()
    await card().getByText('…9876').waitFor()
    expect(await everythingIn(page())).not.toContain('tk_replacement9876')
    await card()
      .getByRole('button', { name: /^Send test/ })
      .click()
    await card().getByText('ntfy responded 401').waitFor()
    expect(fakeOf('ntfy').calls.at(-1)?.headers.authorization).toBe('Bearer tk_replacement9876')
  })

  it('is entered again where the server changes', async () => {
    await edit()
    await card().locator('[name="settings.server"]').fill('https://ntfy.example.com')
    await card().getByRole('button', { name: 'Save changes' }).click()
    await card().getByText('is required where the server changes').waitFor()
    await card()
      .getByRole('button', { name: /^Cancel/ })
      .click()
  })

  it('is removed where the service can do without', async () => {
    await edit()
    await card().getByLabel('Remove: Access token').check()
    await save()
    await card().getByText('…9876').waitFor({ state: 'detached' })
    expect(await newestChannel(page())).not.toHaveProperty('settings.token')
  })
})

describe('the link of an alert', () => {
  let receiver: Receiver
  let emma: Person
  let second: { id: string; token: string }
  beforeAll(async () => {
    receiver = await startReceiver(status(204))
  })
  afterAll(() => receiver.close())

  async function linkFromSecond(): Promise<string> {
    const send = async (path: string, body?: object) => {
      const headers: Record<string, string> = body ? { 'content-type': 'application/json' } : {}
      const answer = await portreeve.request(`/api/v1/alerts/channels${path}`, {
        method: 'POST',
        token: second.token,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      })
      return (await answer.json()) as { data: { id: string } }
    }
    const { data } = await send('', { type: 'webhook', url: `${receiver.origin}/second` })
    await send(`/${data.id}/test`)
    const { data: alert } = JSON.parse(receiver.received.at(-1)?.body ?? '{}') as {
      data: { url: string }
    }
    const { pathname, search } = new URL(alert.url)
    return pathname + search
  }

  it('opens its workspace in a tab that shows another', async () => {
    const there = await signedIn(browser, portreeve, 'Emma')
    const { page } = there
    const answer = await page.request.get('/api/v1/account')
    const account = (await answer.json()) as { data: { id: string } }
    emma = { id: account.data.id, email: '', password: '', token: '' }
    second = await portreeve.addWorkspace(emma)
    await page.goto('/alerts/channels')
    await page.getByText('emma@people.test').first().waitFor()
    expect(await page.getByText(`${receiver.origin}/second`).count()).toBe(0)
    await page.goto(await linkFromSecond())
    await page.getByRole('region', { name: `${receiver.origin}/second` }).waitFor()
    await page.goto('/alerts/channels')
    await page.getByRole('region', { name: `${receiver.origin}/second` }).waitFor()
    await there.close()
  })

  it('opens its workspace after the sign-in', async () => {
    const { page, close } = await visit(browser, portreeve.url)
    await page.goto(`/alerts/channels?workspace=${second.id}`)
    await page.getByLabel('Email').fill('emma@people.test')
    await page.getByLabel('Password', { exact: true }).fill('the password of Emma')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('region', { name: `${receiver.origin}/second` }).waitFor()
    await close()
  })
})
