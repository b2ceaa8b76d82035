import { createHmac, randomBytes } from 'node:crypto'
import { Type } from 'typebox'
import type { PrivateTargets } from '../../setting-values.ts'
import { Fault, invalidField } from '../../errors.ts'
import { parseHost } from '../../net/address.ts'
import { refuseAddress } from '../../net/guard.ts'
import { post } from '../../net/http/post.ts'
import { parseUrl } from '../../parse-url.ts'
import { decrypt, encrypt } from '../../store/encryption.ts'
import { alertLink, type LinkTarget } from '../alert-link.ts'
import { RETRY_DELAYS_MS, WEBHOOK_DEADLINE_MS } from '../limits.ts'
import type { AlertRow } from '../alerts.sql.ts'
import type { ChannelType } from './channel-type.ts'
import { decryptSettings, targetOf, URL_FIELD } from './encrypted-settings.ts'
import { Text } from './fields.ts'
import { secondsIn } from './http.ts'
import { Later } from './outcomes.ts'
import { channelSettings } from './channel-settings.ts'
import { secretContext, type ChannelRow } from './channel.ts'

export const WebhookChannelBody = Type.Object({
  type: Type.Literal('webhook'),
  url: Type.String({ maxLength: 2000 }),
  ...channelSettings,
})

const SECRET_PREFIX = 'whsec_'

/** Posts each alert to a URL, signed as in the Standard Webhooks specification. */
export const webhook: ChannelType = {
  id: 'webhook',
  name: 'Webhook',
  group: 'basic',
  keywords: 'http post url signed standard webhooks program script',
  docs: 'Enter the URL of a program that accepts signed requests (Standard Webhooks).',
  fields: Type.Object({
    url: Text(
      {
        label: 'Webhook URL',
        help: 'Each alert is sent as a POST request, signed as in Standard Webhooks.',
        placeholder: 'https://chat.example.com/hooks/portreeve',
      },
      { maxLength: 2000 },
    ),
  }),
  schema: WebhookChannelBody,
  manual: null,
  targetField: 'url',
  grouping: 'never',
  perMinute: null,
  retryDelaysMs: RETRY_DELAYS_MS,
  giveUpAfterMs: null,
  // The receiver knows a repeated ID.
  isIdempotent: true,
  showsHandling: false,
  hasActionLinks: false,
  isEmail: false,
  deadlineMs: WEBHOOK_DEADLINE_MS,
  testDeadlineMs: WEBHOOK_DEADLINE_MS,
  prepare(id, { url = '' }, { allowPrivate, secretKey }) {
    const secret = SECRET_PREFIX + randomBytes(32).toString('base64')
    return {
      ...encryptUrl(id, readUrl(url, allowPrivate), secretKey),
      secret: encrypt(secret, secretKey, secretContext(id)),
      settingsShown: null,
    }
  },
  secretOf,
  problem: () => null,
  targetOf: urlOf,
  // Who knows the URL of a chat room can write to it.
  maskTarget: (target) => `${new URL(target).origin}/…`,
  nameOf: ({ target }) => new URL(target).host,
  async send({ id, channel, alerts }, deps, signal) {
    const [alert] = alerts
    if (!alert) return {}
    const url = new URL(urlOf(channel, deps.secretKey))
    const body = bodyOf(alert, { ...channel, baseUrl: deps.baseUrl })
    const headers = {
      'content-type': 'application/json',
      ...sign(secretOf(channel, deps.secretKey), id, body),
    }
    const { status, retryAfter } = await post(url, { headers, body }, deps, signal)
    if (status >= 200 && status < 300) return {}
    const seconds = secondsIn(retryAfter)
    if (seconds !== undefined && (status === 429 || status === 503))
      throw new Later(`${url.host} responded ${status}.`, seconds)
    throw new Fault('upstream_rejected', `${url.host} responded ${status}.`, { cause: status })
  },
  // An HTTP server that refuses may only be under maintenance.
  isFinal: isGone,
  isGone,
}

/** Standard Webhooks: a receiver that responds 410 wants no further messages. */
function isGone(error: unknown): boolean {
  return error instanceof Fault && error.cause === 410
}

function bodyOf({ kind, at, path, ...alert }: AlertRow, target: LinkTarget): string {
  const { id, title, text, nextStep, phase, severity, incident } = alert
  const url = alertLink({ path }, target)
  const data = { id, title, text, nextStep, phase, severity, incident, url }
  return JSON.stringify({ type: kind, timestamp: at.toISOString(), data })
}

/**
 * Headers of Standard Webhooks, “Signature scheme”: HMAC-SHA256 over ID, time of this attempt and
 * body.
 */
function sign(secret: string, id: string, body: string): Record<string, string> {
  const seconds = String(Math.floor(Date.now() / 1000))
  const key = Buffer.from(secret.replace(SECRET_PREFIX, ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${seconds}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${signature}` }
}

/**
 * What is stored of a URL. The target names only the server, and tells two URLs apart by a hash. It
 * is a URL, because the version before reads one.
 */
export function encryptUrl(
  id: string,
  url: string,
  secretKey: string,
): Pick<ChannelRow, 'target'> & { settingsEncrypted: string } {
  const text = JSON.stringify({ [URL_FIELD]: url })
  return {
    target: targetOf(text, secretKey),
    settingsEncrypted: encrypt(text, secretKey, secretContext(id)),
  }
}

/** The URL of a channel; of one that was stored before URLs were encrypted, its target. */
function urlOf(channel: ChannelRow, secretKey: string): string {
  if (channel.settingsEncrypted === null) return channel.target
  return decryptSettings(channel, secretKey)[URL_FIELD] ?? ''
}

function secretOf({ id, secret }: ChannelRow, secretKey: string): string {
  return decrypt(secret ?? '', secretKey, secretContext(id))
}

function readUrl(text: string, allowPrivate: PrivateTargets): string {
  const { url, problem } = parseUrl(text, ['https:', 'http:'])
  if (url === null) throw invalidUrl(problem)
  if (url.username || url.password) throw invalidUrl('must not contain a user name or a password')
  refuseAddress(parseHost(url.hostname, 'url'), allowPrivate)
  url.hash = ''
  return url.href
}

function invalidUrl(message: string): Fault {
  return invalidField('url', message, 'The url')
}
