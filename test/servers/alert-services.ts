import type { IncomingHttpHeaders } from 'node:http'

// The contracts of the services that alerts are sent to: their limits, escapes and errors.

/* eslint-disable @typescript-eslint/no-explicit-any */
export type ServiceRequest = {
  path: string
  headers: IncomingHttpHeaders
  json: any
  /** Every text of the request. */
  texts: string[]
}

export type Reply = { status: number; body: unknown; headers?: Record<string, string> }

type Demand = (holds: boolean, what: string) => void

export type Service = {
  /** Of a hosted service; absent where the settings contain the server. */
  origin?: string
  settings: (origin: string) => Record<string, string>
  /** What no error may contain. */
  secret: string
  /** Checks a request as the service does, and responds to a right one. */
  accept(request: ServiceRequest, demand: Demand): Reply
  /** Absent where the service never says so. */
  dead?: Reply
  rejected: Reply
  /** Where it is not 429 with `Retry-After: 7`. */
  busy?: Reply
}

const within = (text: unknown, min: number, max: number) =>
  typeof text === 'string' && text.length >= min && text.length <= max
const bytesWithin = (text: unknown, max: number) =>
  typeof text === 'string' && Buffer.byteLength(text) <= max

/** Whether a text for a service with three escapes has no markup. */
const isEscaped = (text: string) => !/[<>]|&(?!(?:amp|lt|gt);)/.test(text)

/** The fake of each channel type that is made by `defineChannel`. */
export const SERVICES: Record<string, Service> = {
  ntfy: {
    settings: (origin) => ({ server: origin, topic: 'alerts-x7', token: 'tk_0123456789abcdef' }),
    secret: 'tk_0123456789abcdef',
    accept({ path, headers, json }, demand) {
      demand(path === '/', 'POST to the root')
      demand(headers.authorization === 'Bearer tk_0123456789abcdef', 'token')
      demand(/^[-_A-Za-z0-9]{1,64}$/.test(json.topic), 'topic')
      demand(bytesWithin(json.title, 1_024) && json.title !== '', 'title up to 1 KB')
      demand(bytesWithin(json.message, 4_096), 'message up to 4,096 bytes')
      demand(
        Number.isInteger(json.priority) && json.priority >= 1 && json.priority <= 5,
        'priority',
      )
      demand(bytesWithin(json.tags.join(','), 512), 'tags up to 512 bytes')
      return { status: 200, body: { id: 'sPs71M8A2T', event: 'message' } }
    },
    dead: { status: 403, body: { code: 40_301, http: 403, error: 'forbidden' } },
    rejected: { status: 400, body: { code: 40_009, http: 400, error: 'topic invalid' } },
  },
  slack: {
    origin: 'https://hooks.slack.com',
    settings: () => ({ url: 'https://hooks.slack.com/services/T0001/B0002/x7k2m9p4q8' }),
    secret: '/services/T0001/B0002/x7k2m9p4q8',
    accept({ path, json }, demand) {
      demand(path === '/services/T0001/B0002/x7k2m9p4q8', 'path of the hook')
      demand(isEscaped(json.text) && within(json.text, 1, 40_000), 'escaped text')
      demand(json.blocks.length <= 50, 'up to 50 blocks')
      for (const { type, text } of json.blocks) {
        if (type === 'header') demand(within(text.text, 1, 150), 'header up to 150')
        if (type === 'section')
          demand(within(text.text, 1, 3_000) && isEscaped(text.text), 'escaped section up to 3,000')
      }
      return { status: 200, body: 'ok' }
    },
    dead: { status: 404, body: 'no_service' },
    rejected: { status: 400, body: 'invalid_blocks' },
  },
  discord: {
    origin: 'https://discord.com',
    settings: () => ({ url: 'https://discord.com/api/webhooks/123456/aBcDeF0123456789' }),
    secret: '/api/webhooks/123456/aBcDeF0123456789',
    accept({ path, json }, demand) {
      const hook = '/api/webhooks/123456/aBcDeF0123456789'
      demand([`${hook}?wait=true`, `${hook}/messages/900100`].includes(path), 'path of the hook')
      demand(JSON.stringify(json.allowed_mentions) === '{"parse":[]}', 'no mentions')
      const [{ title, description }] = json.embeds
      demand(within(title, 1, 256), 'title up to 256')
      demand(within(description, 0, 4_096), 'text up to 4,096')
      demand(title.length + description.length <= 6_000, '6,000 in all')
      demand(!/(?<!\\)[@<]/.test(title), 'escaped title')
      return { status: 200, body: { id: '900100' } }
    },
    dead: { status: 404, body: { code: 10_015, message: 'Unknown Webhook' } },
    rejected: { status: 400, body: { code: 50_035, message: 'Invalid Form Body' } },
    busy: { status: 429, body: { retry_after: 7, global: false } },
  },
  telegram: {
    origin: 'https://api.telegram.org',
    settings: () => ({
      token: '123456:ABC-DEF1234ghIkl-zyx57W2v',
      chat: '-1001234567890',
      topic: '7',
    }),
    secret: '123456:ABC-DEF1234ghIkl-zyx57W2v',
    accept({ path, json }, demand) {
      demand(path === '/bot123456:ABC-DEF1234ghIkl-zyx57W2v/sendMessage', 'path with the token')
      demand(json.chat_id === '-1001234567890' && json.message_thread_id === 7, 'chat and topic')
      demand(json.parse_mode === 'HTML', 'HTML')
      const shown = json.text
        .replaceAll(/<\/?b>|<a href="[^"<>]*">|<\/a>/g, '')
        .replaceAll(/&(amp|lt|gt|quot);/g, '.')
      demand(!/[<>&]/.test(shown), 'escaped text')
      demand(within(shown, 1, 4_096), '4,096 after parsing')
      return { status: 200, body: { ok: true, result: { message_id: 42 } } }
    },
    dead: {
      status: 403,
      body: { ok: false, description: 'Forbidden: bot was blocked by the user' },
    },
    rejected: {
      status: 400,
      body: { ok: false, description: "Bad Request: can't parse entities" },
    },
    busy: { status: 429, body: { ok: false, parameters: { retry_after: 7 } } },
  },
  teams: {
    origin: 'https://prod-01.westeurope.logic.azure.com',
    settings: () => ({
      url: 'https://prod-01.westeurope.logic.azure.com:443/workflows/ab12/triggers/manual/paths/invoke?sig=x7k2m9',
    }),
    secret: 'sig=x7k2m9',
    accept({ path, json, texts }, demand) {
      demand(path === '/workflows/ab12/triggers/manual/paths/invoke?sig=x7k2m9', 'URL of the flow')
      demand(Buffer.byteLength(JSON.stringify(json)) <= 28_000, 'up to 28 KB')
      const [{ contentType, content }] = json.attachments
      demand(contentType === 'application/vnd.microsoft.card.adaptive', 'content type of the card')
      demand(content.type === 'AdaptiveCard' && content.version === '1.4', 'card of version 1.4')
      demand(!texts.includes('TextBlock'), 'no blocks that read Markdown')
      return { status: 202, body: '' }
    },
    dead: { status: 404, body: { error: { code: 'WorkflowNotFound' } } },
    rejected: { status: 400, body: { error: { code: 'TriggerInputSchemaMismatch' } } },
  },
  gotify: {
    settings: (origin) => ({ server: `${origin}/push/`, token: 'AbCdEf0123456789' }),
    secret: 'AbCdEf0123456789',
    accept({ path, headers, json }, demand) {
      demand(path === '/push/message', 'path below that of the server, without a token')
      demand(headers['x-gotify-key'] === 'AbCdEf0123456789', 'token')
      demand(within(json.message, 1, 100_000), 'a message')
      demand(Number.isInteger(json.priority) && json.priority <= 10, 'priority')
      demand(json.extras['client::display'].contentType === 'text/plain', 'no Markdown')
      return { status: 200, body: { id: 25 } }
    },
    dead: { status: 401, body: { error: 'Unauthorized' } },
    rejected: { status: 400, body: { error: 'Bad Request' } },
  },
  pagerduty: {
    origin: 'https://events.eu.pagerduty.com',
    settings: () => ({ key: '0123456789abcdef0123456789abcdef', region: 'EU' }),
    secret: '0123456789abcdef0123456789abcdef',
    accept({ path, json }, demand) {
      demand(path === '/v2/enqueue', 'path')
      demand(json.routing_key === '0123456789abcdef0123456789abcdef', 'key')
      demand(['trigger', 'resolve'].includes(json.event_action), 'action')
      demand(within(json.dedup_key, 1, 255), 'dedup_key up to 255')
      demand(within(json.payload.summary, 1, 1_024), 'summary up to 1,024')
      demand(['critical', 'error', 'warning', 'info'].includes(json.payload.severity), 'severity')
      return { status: 202, body: { status: 'success', dedup_key: json.dedup_key } }
    },
    rejected: { status: 400, body: { status: 'invalid event' } },
  },
}
