import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type {
  ChannelType,
  OutgoingMessage,
  SendDeps,
} from '../../src/alerts/channels/channel-type.ts'
import { secretsOf } from '../../src/alerts/channels/fields.ts'
import { Dead, Later, Rejected } from '../../src/alerts/channels/outcomes.ts'
import { CHANNEL_TYPES } from '../../src/alerts/channels/channel-types.ts'
import type { ChannelRow } from '../../src/alerts/channels/channel.ts'
import type { AlertRow } from '../../src/alerts/alerts.sql.ts'
import { createResolver } from '../../src/net/dns.ts'
import { CONTRACTS, startAlertService, type AlertService } from '../servers/alert-service.ts'

const BASE_URL = 'https://portreeve.test'
const CHANNEL_ID = '0199a1c2-7c3b-7f7e-8a51-3c1d9f0b6a11'

/** Types that `defineChannel` made; the others have tests of their own. */
const TYPES = CHANNEL_TYPES.filter(({ manual }) => manual !== null)

const FAMILY = '👨‍👩‍👧‍👦'
const INVISIBLE = /\u200B/g

const ALERT: AlertRow = {
  id: '0199a1c2-6d1e-7b0a-9c55-2f4e8d7a1b03',
  kind: 'blacklist.listed',
  title: '8.8.4.4 is listed on SpamCop SCBL',
  text: 'Reason: spam (see https://example.com/?a=1&b=2).',
  nextStep: 'Start delisting.',
  path: '/monitoring/0199a1c2-6d1e-7b0a-9c55-2f4e8d7a1b03',
  at: new Date('2026-11-24T12:00:00Z'),
  phase: 'open',
  severity: 'critical',
  incidentId: '0199a1c2-1111-7b0a-9c55-2f4e8d7a1b03',
  incident: 'blacklist/8.8.4.4/bl.spamcop.net',
}

let service: AlertService
afterEach(() => service.close())

const depsOf = ({ origins }: AlertService): SendDeps => ({
  db: null as never,
  secretKey: 'the secret key of the tests of services',
  relay: null,
  baseUrl: BASE_URL,
  resolver: createResolver(),
  allowPrivate: true,
  alertPrivate: true,
  origins,
})

/** Sends as the delivery does, with settings that were encrypted as for a stored channel. */
function send(
  type: ChannelType,
  alerts: AlertRow[],
  more: Partial<OutgoingMessage> = {},
  actionLinks = false,
) {
  const deps = depsOf(service)
  const prepared = type.prepare(CHANNEL_ID, { settings: service.settings }, deps)
  const channel = { id: CHANNEL_ID, type: type.id, actionLinks, ...prepared } as ChannelRow
  const message = { id: randomUUID(), channel, alerts, ref: null, beforeHandover: async () => {} }
  return type.send({ ...message, ...more }, deps, AbortSignal.timeout(10_000))
}

/** Values of the secret settings. */
const secrets = (type: ChannelType) =>
  secretsOf(type.fields).flatMap((name) => service.settings[name] ?? [])

const shown = () => service.shown.join('\n').replaceAll(INVISIBLE, '')

it('has a contract for each channel type, and no other', () => {
  service = { close: async () => {} } as AlertService
  expect(TYPES.length).toBeGreaterThan(2)
  expect(TYPES.map(({ id }) => id).toSorted()).toEqual(Object.keys(CONTRACTS).toSorted())
})

describe.each(TYPES.map((type) => [type.name, type] as const))('%s', (_name, type) => {
  const contract = CONTRACTS[type.id]
  beforeEach(async () => {
    service = await startAlertService(type.id)
  })

  it('sends the beginning, a change and the end of a problem', async () => {
    const { ref } = await send(type, [ALERT])
    expect(shown()).toContain(ALERT.title)
    expect(shown()).toContain('Start delisting.')
    expect(service.calls[0]?.body.replaceAll('%2F', '/')).toContain(ALERT.path)
    const update = await send(type, [{ ...ALERT, phase: 'update', title: 'Changed' }], {
      ref: ref ?? null,
    })
    expect(shown()).toContain('Changed')
    const end = { ...ALERT, phase: 'resolved', severity: 'info', title: 'Delisted' } as const
    const resolved = await send(type, [end], { ref: update.ref ?? ref ?? null })
    expect(service.violations).toEqual([])
    expect(resolved.ref).toBeUndefined()
    expect(shown()).toContain(type.grouping === 'never' ? 'resolve ' : 'Delisted')
    if (ref !== undefined && type.id !== 'ntfy') expect(shown()).toContain('edited: ')
  })

  it('offers links only where it is a chat, the channel wants them and the problem is open', async () => {
    const link = /https:\/\/portreeve\.test\/alerts\/act\/[0-9a-f]{112}/
    await send(type, [ALERT])
    await send(type, [{ ...ALERT, phase: 'resolved' }], {}, true)
    if (type.grouping !== 'never') await send(type, [ALERT, ALERT], {}, true)
    expect(service.calls.map(({ body }) => body).join('\n')).not.toMatch(link)
    const text = `${FAMILY}<@everyone> \\*_~`.repeat(1_000)
    await send(type, [{ ...ALERT, title: `<!channel> ${text}`, text }], {}, true)
    const body = service.calls.at(-1)?.body ?? ''
    expect(link.test(body)).toBe(type.hasActionLinks)
    if (type.hasActionLinks) expect(body).toMatch(/Acknowledge[^]*Snooze[^]*Mute|do=mute/)
    expect(service.violations).toEqual([])
  })

  it('shows who handles an incident where it can', async () => {
    const line = 'Acknowledged by alice@people.test'
    const { ref } = await send(type, [ALERT])
    const before = service.calls.length
    const handling = { state: 'acknowledged', line } as const
    if (!type.showsHandling) return
    const sent = await send(type, [{ ...ALERT, id: randomUUID() }], { ref: ref ?? null, handling })
    expect(sent.ref).toBeUndefined()
    expect(service.calls.length).toBe(before + 1)
    expect(service.violations).toEqual([])
    expect(shown()).toMatch(
      type.group === 'paging' ? /acknowledge \w+/ : /edited: [^]*Acknowledged by alice@people.test/,
    )
    if (type.group === 'paging') {
      await send(type, [ALERT], { ref: ref ?? null, handling: { state: 'open', line: null } })
      expect(service.calls.length).toBe(before + 1)
    }
  })

  it('sends several alerts, and an event without an end', async () => {
    const once = { ...ALERT, phase: 'once', incident: null, incidentId: null } as const
    await send(type, [{ ...once, severity: 'warning', text: '', nextStep: '', path: '' }])
    if (type.grouping !== 'never') {
      const many = Array.from({ length: 1_000 }, (_, index) => ({
        ...ALERT,
        title: `host ${index} is listed on ${'x'.repeat(80)}`,
      }))
      await send(type, many)
      expect(shown()).toContain('host 0 is listed')
      expect(service.calls.length).toBe(2)
    }
    expect(service.violations).toEqual([])
  })

  it('waits as long as the service wants, and after an error of the server', async () => {
    service.respond(contract?.busy ?? { status: 429, headers: { 'retry-after': '60' } })
    const limited = await send(type, [ALERT]).catch((error: unknown) => error)
    expect(limited).toBeInstanceOf(Later)
    expect(limited).toMatchObject({ seconds: 60 })
    // Some servers repeat the request in an error.
    service.respond({ status: 503, body: `unavailable: ${secrets(type).join(' ')}` })
    const failed = await send(type, [ALERT]).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(Later)
    for (const secret of secrets(type)) expect(String(failed)).not.toContain(secret)
  })

  it('tells settings that no longer work from a message that is rejected', async () => {
    service.respond(contract?.dead ?? { status: 500 })
    await expect(send(type, [ALERT])).rejects.toBeInstanceOf(Dead)
    service.respond(contract?.rejected ?? { status: 500 })
    await expect(send(type, [ALERT])).rejects.toBeInstanceOf(Rejected)
  })

  it.each([
    '@everyone @here @channel @all @room a@example.com',
    '<!channel> <@U123> <users/all> <at>Alice</at>',
    '</b><script>alert(1)</script> &lt; & " \' </a>',
    '**bold** _it_ ~st~ `code` [link](https://evil.example) # head > quote || spoiler',
    '{{title}} %s ${x} {"a": "b"}, \\" \\',
  ])('shows %s as text', async (hostile) => {
    await send(type, [{ ...ALERT, title: `T ${hostile}`, text: hostile }])
    expect(service.violations).toEqual([])
    expect(shown()).toContain(`T ${hostile}`)
    expect(shown().split(hostile).length).toBe(3)
  })

  it('removes characters that reverse a text', async () => {
    await send(type, [{ ...ALERT, title: 'abc\u202Efed\u2066\u0007', text: '\u200Fx\u061C' }])
    expect(service.violations).toEqual([])
    expect(shown()).toContain('abcfed')
    for (const trick of '\u202E\u2066\u200F\u061C\u0007') expect(shown()).not.toContain(trick)
  })

  it('cuts texts of 10 KB to what the service accepts, and tears no emoji', async () => {
    for (let start = 0; start <= FAMILY.length; start++) {
      const long = 'a'.repeat(start) + FAMILY.repeat(1_000)
      await send(type, [{ ...ALERT, title: long, text: long, nextStep: '' }])
      expect(service.violations).toEqual([])
      expect(shown().replaceAll(FAMILY, '')).not.toMatch(/[\u{1F466}-\u{1F469}\u200D]/u)
      service.shown.length = 0
    }
    for (const long of ['&<>"*_@#'.repeat(1_300), 'x\n'.repeat(5_000), '@a '.repeat(3_500)]) {
      await send(type, [{ ...ALERT, title: long, text: long }])
      expect(service.violations).toEqual([])
    }
  })

  it('keeps its settings secret', () => {
    const { settingsShown, target } = type.prepare(
      CHANNEL_ID,
      { settings: service.settings },
      depsOf(service),
    )
    for (const secret of secrets(type))
      expect(JSON.stringify({ settingsShown, target })).not.toContain(secret)
  })
})
