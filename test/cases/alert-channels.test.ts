import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import type { AlertRow } from '../../src/alerts/alerts.sql.ts'
import type { ChannelRow } from '../../src/alerts/channels/channel.ts'
import type { ChannelType, SendDeps, SendResult } from '../../src/alerts/channels/channel-type.ts'
import { CHANNEL_TYPES } from '../../src/alerts/channels/channel-types.ts'
import { Dead, Later } from '../../src/alerts/channels/outcomes.ts'
import { createResolver } from '../../src/net/dns.ts'
import type { Reply } from '../servers/alert-services/contract.ts'
import { TELEGRAM_OLD_GROUP } from '../servers/alert-services/hosted-chat.ts'
import { startAlertService } from '../servers/alert-service.ts'
import { startReceiver } from '../servers/receiver.ts'
import { runCases } from './run-cases.ts'

type Input = {
  /** A channel type, or `telegram-moved`. */
  channel: string
  /** The answer of the service; its own where there is none. */
  reply?: Reply
  alert?: { title?: string; text?: string }
  /** The answer of a mail relay to a command. */
  relay?: Record<string, string>
}

const ID = '0199a1c2-7c3b-7f7e-8a51-3c1d9f0b6a11'

const ALERT: AlertRow = {
  id: ID,
  kind: 'blacklist.listed',
  title: '8.8.4.4 is listed',
  text: 'On one list.',
  nextStep: '',
  path: '/monitoring',
  at: new Date('2026-11-24T12:00:00Z'),
  phase: 'open',
  severity: 'critical',
  incidentId: ID,
  incident: 'blacklist/8.8.4.4/bl.spamcop.net',
}

const DEPS: SendDeps = {
  db: null as never,
  secretKey: 'the secret key of these cases',
  relay: null,
  baseUrl: 'https://portreeve.test',
  resolver: createResolver(),
  allowPrivate: true,
  alertPrivate: true,
  origins: new Map(),
}

runCases('alert-channels.json', async ({ channel, reply, alert = {}, relay }: Input, expected) => {
  if (relay) return throughRelay(relay)
  if (channel === 'webhook') return toWebhook(reply ?? { status: 500 })
  const [id = ''] = channel.split('-moved')
  const service = await startAlertService(id)
  if (channel !== id) service.settings['chat'] = TELEGRAM_OLD_GROUP
  service.respond(reply ?? null)
  const { settings, origins } = service
  const facts = await send(typeOf(id), { ...DEPS, origins }, { settings }, alert)
  await service.close()
  const text = (expected as { shown?: string }).shown
  const shown = service.shown.join('\n').replaceAll('\u200B', '')
  return {
    ...facts,
    violations: service.violations,
    shown: text !== undefined && shown.includes(text) ? text : shown,
  }
})

function typeOf(id: string): ChannelType {
  const type = CHANNEL_TYPES.find((one) => one.id === id)
  if (!type) throw new Error(`There is no channel type ${id}.`)
  return type
}

/** Sends an alert, and says what becomes of its message. */
async function send(
  type: ChannelType,
  deps: SendDeps,
  body: Parameters<ChannelType['prepare']>[1],
  alert: Partial<AlertRow> = {},
): Promise<object> {
  const prepared = type.prepare(ID, body, deps)
  const channel = { id: ID, type: type.id, actionLinks: false, ...prepared } as ChannelRow
  const alerts = [{ ...ALERT, ...alert }]
  const message = { id: randomUUID(), channel, alerts, ref: null, beforeHandover: async () => {} }
  try {
    const { changed }: SendResult = await type.send(message, deps, AbortSignal.timeout(10_000))
    return { outcome: 'sent', changed }
  } catch (error) {
    if (error instanceof Dead || type.isGone(error)) return { outcome: 'dead' }
    if (type.isFinal(error)) return { outcome: 'rejected' }
    return { outcome: 'later', seconds: error instanceof Later ? error.seconds : undefined }
  }
}

async function toWebhook({ status, headers }: Reply): Promise<object> {
  const receiver = await startReceiver((response) => void response.writeHead(status, headers).end())
  const facts = await send(typeOf('webhook'), DEPS, { url: `${receiver.origin}/hook` })
  await receiver.close()
  return facts
}

async function throughRelay(replies: Record<string, string>): Promise<object> {
  const server = createServer((socket) => talk(socket, replies)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const relay = { smtpUrl: `smtp://user:password@127.0.0.1:${port}`, from: 'alerts@portreeve.test' }
  const facts = await send(typeOf('email'), { ...DEPS, relay }, { address: 'ops@example.com' })
  server.close()
  return facts
}

/** A relay that accepts everything, except where a case gives its response. */
function talk(socket: Socket, replies: Record<string, string>): void {
  const say = (command: string, usual: string) => {
    const reply = replies[command] ?? usual
    socket.write(`${reply}\r\n`)
    return reply === usual
  }
  socket.on('error', () => {})
  say('GREETING', '220 relay.test')
  let isMessage = false
  createInterface({ input: socket }).on('line', (line) => {
    if (isMessage && line !== '.') return
    const command = line === '.' ? 'END' : (line.split(' ', 1)[0] ?? '').toUpperCase()
    const usual: Record<string, string> = {
      EHLO: '250-relay.test\r\n250 AUTH PLAIN',
      AUTH: '235 2.7.0 Accepted',
      DATA: '354 go on',
    }
    isMessage = say(command, usual[command] ?? '250 fine') && command === 'DATA'
  })
}
