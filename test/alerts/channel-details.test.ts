import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { channelTypeOf } from '../../src/alerts/channels/channel-types.ts'
import { Dead } from '../../src/alerts/channels/outcomes.ts'
import type { ChannelRow } from '../../src/alerts/channels/channel.ts'
import type { SendDeps } from '../../src/alerts/channels/channel-type.ts'
import type { AlertRow } from '../../src/alerts/alerts.sql.ts'
import { createResolver } from '../../src/net/dns.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'

const deps = (origins: Map<string, string>): SendDeps => ({
  db: null as never,
  secretKey: 'the secret key of the tests of services',
  relay: null,
  baseUrl: 'https://portreeve.test',
  resolver: createResolver(),
  allowPrivate: true,
  alertPrivate: true,
  origins,
})

const ALERT: AlertRow = {
  id: '0199a1c2-6d1e-7b0a-9c55-2f4e8d7a1b03',
  kind: 'blacklist.listed',
  title: 'Listed',
  text: 'On a list.',
  nextStep: '',
  path: '/alerts',
  at: new Date('2026-11-24T12:00:00Z'),
  phase: 'open',
  severity: 'error',
  incidentId: null,
  incident: 'blacklist/8.8.4.4/x',
}

function prepare(type: string, settings: Record<string, string>) {
  return channelTypeOf({ type }).prepare('channel', { settings }, deps(new Map()))
}

function send(
  type: string,
  settings: Record<string, string>,
  alert: Partial<AlertRow> = {},
  origins = new Map<string, string>(),
) {
  const channel = {
    id: 'channel',
    workspaceId: 'w',
    type,
    ...prepare(type, settings),
  } as ChannelRow
  const alerts = [{ ...ALERT, ...alert }]
  const message = { id: randomUUID(), channel, alerts, ref: null, beforeHandover: async () => {} }
  return channelTypeOf({ type }).send(message, deps(origins), AbortSignal.timeout(10_000))
}

let receiver: Receiver | null = null
afterEach(() => receiver?.close())

describe('Telegram', () => {
  it('sends to the supergroup that a group has become', async () => {
    receiver = await startReceiver((response, { body }) => {
      const { chat_id: chat } = JSON.parse(body) as { chat_id: string }
      const moved = { ok: false, error_code: 400, parameters: { migrate_to_chat_id: -1009 } }
      if (chat === '-1009') response.end('{"ok":true,"result":{"message_id":5}}')
      else response.writeHead(400).end(JSON.stringify(moved))
    })
    const settings = { token: '123456789:AAabcdefghijklmnopqrstuvwxyz', chat: '-7' }
    const origins = new Map([['https://api.telegram.org', receiver.origin]])
    expect(await send('telegram', settings, {}, origins)).toMatchObject({ ref: '5' })
    receiver.answerWith(status(400, '{"ok":false,"description":"Bad Request: chat not found"}'))
    await expect(send('telegram', settings, {}, origins)).rejects.toBeInstanceOf(Dead)
  })
})

describe('Microsoft Teams', () => {
  it.each([
    'https://example.webhook.office.com/webhookb2/abc@def/IncomingWebhook/1/2',
    'https://outlook.office.com/webhook/abc/IncomingWebhook/1/2',
  ])('explains that %s was retired', (url) => {
    expect(() => prepare('teams', { url })).toThrow(/retired.*Create a workflow/)
  })

  it.each([
    'https://evil.test/a.webhook.office.com/x',
    'http://prod-1.westeurope.logic.azure.com/workflows/1',
    'https://evil.test/.logic.azure.com/',
    'https://logic.azure.com.evil.test/x',
    'https://a@prod.logic.azure.com/x',
  ])('rejects %s', (url) => {
    expect(() => prepare('teams', { url })).toThrow()
  })

  it.each([
    'https://prod-1.westeurope.logic.azure.com:443/workflows/1?sig=a',
    'https://default1.2f.environment.api.powerplatform.com:443/powerautomate/automations/direct/workflows/1?sig=a',
  ])('accepts %s', (url) => {
    expect(prepare('teams', { url }).settingsShown?.['url']).toContain(' · …')
  })
})

describe('PagerDuty', () => {
  it('names an incident alike at its beginning and its end', async () => {
    receiver = await startReceiver(status(202, '{}'))
    const origins = new Map([['https://events.pagerduty.com', receiver.origin]])
    const settings = { key: 'k'.repeat(32) }
    await send('pagerduty', settings, {}, origins)
    await send('pagerduty', settings, { phase: 'resolved' }, origins)
    await send('pagerduty', settings, { incident: 'blacklist/8.8.8.8/x' }, origins)
    const keys = receiver.received.map(
      ({ body }) => (JSON.parse(body) as { dedup_key: string }).dedup_key,
    )
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys[1]).toBe(keys[0])
    expect(keys[2]).not.toBe(keys[0])
  })
})

describe('Custom webhook', () => {
  const url = 'https://sms.example.com/send'

  it('encodes values for a form', async () => {
    receiver = await startReceiver(status(200))
    const body = 'to=%2B49123&text={{title}}: {{ phase }}&link={{link}}'
    const settings = { url: `${receiver.origin}/sms`, format: 'form', body }
    await send('template', settings, { title: 'a&to=+1 {{link}} ä' })
    const [received] = receiver.received
    expect(received?.headers['content-type']).toBe('application/x-www-form-urlencoded')
    expect([...new URLSearchParams(received?.body)]).toEqual([
      ['to', '+49123'],
      ['text', 'a&to=+1 {{link}} ä: open'],
      ['link', 'https://portreeve.test/alerts?workspace=w'],
    ])
  })

  it('fills strings of JSON only, and never their names', async () => {
    receiver = await startReceiver(status(200))
    const body =
      '{"{{title}}": 1, "__proto__": {"a": "{{severity}}"}, "list": ["{{title}}", 2, null]}'
    await send('template', { url: `${receiver.origin}/x`, body }, { title: '","b":"' })
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual(
      JSON.parse(
        '{"{{title}}": 1, "__proto__": {"a": "error"}, "list": ["\\",\\"b\\":\\"", 2, null]}',
      ),
    )
  })

  it.each([
    [{ body: '{"a": {{title}}}' }, /not JSON/],
    [{ body: '{"a": "{{secret}}"}' }, /unknown placeholder/],
    [{ body: `["${'{{text}}'.repeat(21)}"]` }, /up to 20 placeholders/],
    [{ body: '{}', headers: 'no colon' }, /Header 1 is not/],
    [{ body: '{}', headers: 'X-A: 1\nHost: evil.test' }, /header host is set/],
    [{ body: '{}', headers: 'X-A: 1|'.repeat(11) }, /Up to 10 headers/],
    [{ body: '{}', method: 'GET' }, /settings\.method/],
    [{ body: `"${'x'.repeat(2_001)}"` }, /settings\.body/],
  ])('rejects %j', (settings, message) => {
    expect(() => prepare('template', { url, ...settings })).toThrow(message)
  })
})
