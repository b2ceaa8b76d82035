import { createHmac, randomBytes } from 'node:crypto'
import type { PrivateTargets } from '../../config.ts'
import { Fault } from '../../errors.ts'
import type { Resolver } from '../../net/dns.ts'
import { post } from '../../net/http/post.ts'
import { decrypt } from '../../store/encryption.ts'
import { linkOf } from '../link.ts'
import type { AlertRow } from '../store.ts'
import type { ChannelRow } from './store.ts'

export type WebhookDeps = {
  resolver: Resolver
  allowPrivate: PrivateTargets
  /** For the links in what is posted. */
  baseUrl: string
}

const PREFIX = 'whsec_'

export function newSecret(): string {
  return PREFIX + randomBytes(32).toString('base64')
}

export function secretOf({ id, secret }: ChannelRow, secretKey: string): string {
  return decrypt(secret ?? '', secretKey, secretContext(id))
}

export function secretContext(channelId: string): string {
  return `alert-channel/${channelId}`
}

export type WebhookRequest = {
  url: string
  secret: string
  /** Names the event: the same on every try, so that a receiver can tell what it has already. */
  id: string
  alert: AlertRow
}

/**
 * Posts an alert as Standard Webhooks says: signed, with an id and the time of this try.
 * @throws Fault `upstream_rejected` when the answer is no success, and what `post` throws; `isGone` for a 410
 */
export async function postAlert(request: WebhookRequest, deps: WebhookDeps, signal: AbortSignal): Promise<void> {
  const { alert, id, secret, url } = request
  const { kind, at, path, ...words } = alert
  const data = { ...words, url: linkOf({ path }, deps.baseUrl) }
  const body = JSON.stringify({ type: kind, timestamp: at.toISOString(), data })
  const seconds = String(Math.floor(Date.now() / 1000))
  const headers = {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': sign(secret, `${id}.${seconds}.${body}`),
  }
  const status = await post(new URL(url), { headers, body }, deps, signal)
  if (status >= 200 && status < 300) return
  throw new Fault('upstream_rejected', `${new URL(url).host} answered ${status}.`, { cause: status })
}

/** Whether the receiver said that it wants no more (Standard Webhooks: 410). */
export function isGone(error: unknown): boolean {
  return error instanceof Fault && error.cause === 410
}

/** Standard Webhooks, “Signature scheme”. */
function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(PREFIX, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`
}
