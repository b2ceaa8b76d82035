import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SendDeps } from '../../src/alerts/channels/channel-type.ts'
import { Dead, Later, Rejected } from '../../src/alerts/channels/outcomes.ts'
import { CHANNEL_TYPES } from '../../src/alerts/channels/registry.ts'
import type { ChannelRow } from '../../src/alerts/channels/store.ts'
import type { AlertRow } from '../../src/alerts/store.ts'
import { createResolver } from '../../src/net/dns.ts'
import { readConfig } from '../../src/config.ts'
import { startAlertService, type AlertService } from '../servers/alert-service.ts'
import { BASE_URL, SECRET_KEY } from './module.ts'

const ID = '0199a1c2-7c3b-7f7e-8a51-3c1d9f0b6a11'

const ALERT: AlertRow = {
  id: ID,
  kind: 'blacklist.listed',
  title: '192.0.2.7 is listed',
  text: 'The list says: “spam & <b>more</b>”.',
  nextStep: 'Ask for removal.',
  path: '/monitoring',
  at: new Date('2026-11-21T12:00:00Z'),
  phase: 'open',
  severity: 'error',
  incident: 'blacklist/192.0.2.7/zone',
  incidentId: ID,
}

const FAMILY = '👩‍👩‍👧‍👦'
const HOSTILE = [
  '@everyone @here <!channel> <@U123>',
  '</b></a><script>alert(1)</script> & &amp; &lt;',
  '[click](https://evil.test) **bold** `code` \u202Egnp.exe\u2066',
  'a'.repeat(10_000),
  FAMILY.repeat(1_000),
  `x${FAMILY.repeat(1_000)}`,
  '&'.repeat(10_000),
]

const types = CHANNEL_TYPES.filter(({ targetField }) => targetField === null)
const resolver = createResolver({ servers: [] })
const { ALLOW_PRIVATE_TARGETS: allowPrivate } = readConfig({ ALLOW_PRIVATE_TARGETS: '127.0.0.0/8' })

describe.each(types)('$name', (type) => {
  let fake: AlertService
  let deps: SendDeps
  let channel: ChannelRow
  beforeEach(async () => {
    fake = await startAlertService(type.id)
    const { origins } = fake
    const [db, relay] = [undefined as never, null]
    const network = { resolver, allowPrivate, alertPrivate: false }
    deps = { ...network, db, relay, secretKey: SECRET_KEY, baseUrl: BASE_URL, origins }
    const prepared = type.prepare(ID, { settings: fake.settings }, deps)
    channel = { id: ID, type: type.id, ...prepared } as ChannelRow
  })
  afterEach(() => fake.close())

  function send(alerts: Partial<AlertRow>[], ref: string | null = null) {
    const rows = alerts.map((alert) => ({ ...ALERT, ...alert }))
    const message = { id: ID, channel, alerts: rows, ref, beforeHandover: async () => {} }
    return type.send(message, deps, AbortSignal.timeout(5_000))
  }
  const failure = () =>
    send([{}]).then(
      () => expect.unreachable(),
      (error: unknown) => error as Error,
    )

  it('accepts the beginning, a change and the end of a problem', async () => {
    const { ref = null } = await send([{}])
    const changed = await send([{ phase: 'update', severity: 'critical' }], ref)
    await send([{ phase: 'resolved', severity: 'info' }], changed.ref ?? ref)
    expect(fake.violations).toEqual([])
    expect(fake.requests.length).toBeGreaterThanOrEqual(3)
    expect(fake.requests[0]?.texts.join(' ')).toContain('192')
  })

  it('accepts an event without an end, and many alerts as one message', async () => {
    await send([{ phase: 'once', incident: null, incidentId: null, nextStep: '', text: '' }])
    if (type.grouping === 'bursts')
      await send(Array.from({ length: 1_000 }, (_, n) => ({ title: `host ${n} is listed` })))
    expect(fake.violations).toEqual([])
  })

  it.each(HOSTILE)('accepts a hostile title and text: %.30s', async (text) => {
    await send([{ title: text, text, nextStep: text }])
    await send([{ title: text, text: '' }, { title: text }])
    expect(fake.violations).toEqual([])
  })

  it('waits as long as the service asks', async () => {
    fake.respondAs('busy')
    const error = await failure()
    expect(error).toBeInstanceOf(Later)
    expect((error as Later).seconds).toBe(7)
  })

  it('retries an error of the service, and never repeats a secret', async () => {
    fake.respondAs('down')
    const error = await failure()
    expect(error).toBeInstanceOf(Later)
    expect(error.message).toMatch(/responded 503/)
    expect(error.message).not.toContain(fake.service.secret)
  })

  it('tells settings that no longer work from a message that is refused', async () => {
    if (fake.service.dead) {
      fake.respondAs('dead')
      expect(await failure()).toBeInstanceOf(Dead)
    }
    fake.respondAs('rejected')
    expect(await failure()).toBeInstanceOf(Rejected)
  })

  it('shows no secret of its settings', () => {
    const shown = JSON.stringify([channel.settingsShown, type.nameOf(channel), channel.target])
    expect(shown).not.toContain(fake.service.secret)
    expect(channel.settingsSealed).not.toContain(fake.service.secret)
  })

  it('sends stored secrets to no other server', () => {
    if (!('server' in fake.settings)) return
    const move = () => type.change?.(channel, { server: 'http://127.0.0.2:8080' }, deps)
    expect(move).toThrow(/enter settings.token again/)
    expect(() => type.change?.(channel, { token: 'another-token-0123' }, deps)).not.toThrow()
  })
})
