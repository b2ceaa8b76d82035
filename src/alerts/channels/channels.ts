import { createHash, randomInt, randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { retryText } from '../../http/retry-text.ts'
import { parseHost } from '../../net/address.ts'
import { refuseAddress } from '../../net/guard.ts'
import { notifyChange } from '../../store/changes.ts'
import { claimMail, type Exceeded, type MailLimits } from '../../store/outgoing-mail.ts'
import { encrypt } from '../../store/encryption.ts'
import type { DB } from '../../store/tables.ts'
import { CHANNELS_PER_ACCOUNT, CODE_MAIL_LIMITS, CODE_TRIES, TEST_MAIL_LIMITS, WEBHOOK_DEADLINE } from '../limits.ts'
import { requireTimeZone } from '../quiet.ts'
import type { NewChannelBody } from '../shapes.ts'
import { mailAlerts, mailCode, NO_RELAY, type MailDeps } from './email.ts'
import {
  confirmChannel,
  countChannels,
  deleteChannel,
  findChannel,
  insertChannel,
  isOwnAddress,
  newId,
  noteCode,
  renewCode,
  secondsUntilNextCode,
  updateChannel,
  type ChannelRow,
  type ChannelSettings,
} from './store.ts'
import { newSecret, postAlert, secretContext, secretOf, type WebhookDeps } from './webhook.ts'

export type ChannelDeps = MailDeps & WebhookDeps & { db: Kysely<DB>; secretKey: string }

/** Milliseconds somebody waits for a mail to be sent while looking on. */
const LOOKING_ON = 30_000

/**
 * Makes a channel. A mail address other than the account's own gets a code first; where that could not be mailed the
 * channel says so, and the code is asked for again. A webhook's secret is shown this once.
 * @throws Fault `invalid_request`, `conflict`, `target_not_allowed`; `rate_limited` when the code may not be mailed now
 */
export async function createChannel(
  deps: ChannelDeps,
  account: { id: string },
  body: NewChannelBody,
): Promise<{ channel: ChannelRow; secret: string | null }> {
  const { db, secretKey } = deps
  if (body.quietHours) requireTimeZone(body.quietHours)
  if ((await countChannels(db, account.id)) >= CHANNELS_PER_ACCOUNT) {
    throw new Fault('conflict', `An account has at most ${CHANNELS_PER_ACCOUNT} channels.`)
  }
  const id = await newId(db)
  const target = body.type === 'email' ? addressOf(body.address) : urlOf(body.url, deps)
  const secret = body.type === 'webhook' ? newSecret() : null
  const isOwn = body.type === 'webhook' || (await isOwnAddress(db, account.id, target))
  const code = isOwn ? null : newCode()
  const { label = '', kinds = null, quietHours = null } = body
  const channel = await insertChannel(db, {
    id,
    accountId: account.id,
    type: body.type,
    target,
    label,
    kinds,
    quietHours,
    secret: secret && encrypt(secret, secretKey, secretContext(id)),
    confirmedAt: isOwn ? new Date() : null,
    codeHash: code === null ? null : hashOf(code),
  })
  if (!channel) throw new Fault('conflict', `There is a channel to ${target} already.`)
  const problem = code && deps.relay ? await mailFirstCode(deps, channel, code) : null
  await notifyChange(db, account.id, 'alerts', id)
  return { channel: { ...channel, lastError: problem && problem.message }, secret }
}

/**
 * Mails the code of a new channel, which goes again where that would be one mail too many.
 * @returns why it could not be mailed; null when it was
 */
async function mailFirstCode(deps: ChannelDeps, channel: ChannelRow, code: string): Promise<Fault | null> {
  const { id, accountId, target } = channel
  try {
    await requireMail(deps, 'code', accountId, target)
  } catch (error) {
    await deleteChannel(deps.db, accountId, id)
    throw error
  }
  return tryCode(withRelay(deps), channel, code)
}

const KINDS: Record<'code' | 'test', { kind: string; name: string; limits: MailLimits }> = {
  code: { kind: 'alert-code', name: 'confirmation codes', limits: CODE_MAIL_LIMITS },
  test: { kind: 'alert-test', name: 'test mails', limits: TEST_MAIL_LIMITS },
}

/** @throws Fault `rate_limited` with the seconds until one may be sent */
async function requireMail(
  { db, secretKey }: ChannelDeps,
  which: keyof typeof KINDS,
  accountId: string,
  to: string,
): Promise<void> {
  const { kind, name, limits } = KINDS[which]
  const exceeded = await claimMail(db, secretKey, { kind, to, accountId }, limits)
  if (exceeded) throw tooMany(exceeded, name, to, limits)
}

function tooMany({ limit, seconds }: Exceeded, name: string, to: string, limits: MailLimits): Fault {
  const { count, seconds: window } = limits[limit]
  const who = { recipient: `to ${to}`, account: 'for your account', installation: 'for this service' }[limit]
  const per = window === 3600 ? 'an hour' : 'a day'
  const sentence = `The limit of ${count} ${name} ${per} ${who} is reached. Try again ${retryText(seconds)}.`
  return new Fault('rate_limited', sentence, { retryAfter: seconds })
}

/**
 * Mails a code, and writes down on the channel what came of it.
 * @returns why it could not be mailed; null when it was
 */
async function tryCode(
  { db, ...mail }: ReturnType<typeof withRelay>,
  { id, target }: ChannelRow,
  code: string,
): Promise<Fault | null> {
  const problem = await mailCode(mail, { to: target, code }, AbortSignal.timeout(LOOKING_ON)).then(() => null, faultOf)
  await noteCode(db, id, problem && problem.message)
  return problem
}

function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error
  throw error
}

export async function changeChannel(
  { db }: ChannelDeps,
  accountId: string,
  id: string,
  settings: ChannelSettings,
): Promise<ChannelRow> {
  if (settings.quietHours) requireTimeZone(settings.quietHours)
  const channel = (await updateChannel(db, accountId, id, settings)) ?? noChannel()
  await notifyChange(db, accountId, 'alerts', id)
  return channel
}

/** @throws Fault `not_found` */
export async function requireChannel({ db }: { db: Kysely<DB> }, accountId: string, id: string): Promise<ChannelRow> {
  return (await findChannel(db, accountId, id)) ?? noChannel()
}

function noChannel(): never {
  throw new Fault('not_found', 'There is no such alert channel.')
}

/**
 * Sends a test at once, whatever the hour.
 * @throws Fault `conflict` when the channel is not confirmed, `rate_limited`, and why it could not be sent
 */
export async function testChannel(deps: ChannelDeps, channel: ChannelRow): Promise<void> {
  if (!channel.confirmedAt) throw new Fault('conflict', 'Confirm this address first: a code was mailed to it.')
  const id = randomUUID()
  const alert = { ...TEST, id, at: new Date() }
  if (channel.type === 'webhook') {
    const request = { url: channel.target, secret: secretOf(channel, deps.secretKey), id, alert }
    return postAlert(request, deps, AbortSignal.timeout(WEBHOOK_DEADLINE))
  }
  const mail = { to: channel.target, id, alerts: [alert], beforeMessage: async () => {} }
  const relay = withRelay(deps)
  await requireMail(deps, 'test', channel.accountId, channel.target)
  await mailAlerts(relay, mail, AbortSignal.timeout(LOOKING_ON))
}

const TEST = {
  kind: 'channel.test',
  title: 'A test: alerts reach you here',
  text: 'Somebody asked for this test on the page of alert channels. Nothing has happened.',
  nextStep: '',
  path: '/alerts/channels',
}

/**
 * @throws Fault `conflict` when the channel is confirmed; `rate_limited` when the last code is younger than a minute, or too many
 *   were mailed; `unavailable` and `upstream_*` where the code could not be mailed
 */
export async function sendCode(deps: ChannelDeps, channel: ChannelRow): Promise<void> {
  const mail = withRelay(deps)
  if (channel.confirmedAt) throw new Fault('conflict', 'This address is confirmed already.')
  const wait = await secondsUntilNextCode(deps.db, channel.id)
  if (wait > 0) {
    const sentence = `The last code for this address is less than a minute old. Try again ${retryText(wait)}.`
    throw new Fault('rate_limited', sentence, { retryAfter: wait })
  }
  await requireMail(deps, 'code', channel.accountId, channel.target)
  const code = newCode()
  if (!(await renewCode(deps.db, channel.id, hashOf(code)))) {
    throw new Fault('conflict', 'This address was confirmed, or got another code, at this moment.')
  }
  const problem = await tryCode(mail, channel, code)
  await notifyChange(deps.db, channel.accountId, 'alerts', channel.id)
  if (problem) throw problem
}

/** @throws Fault `invalid_request` when the code is wrong, or too many were */
export async function confirm(deps: ChannelDeps, channel: ChannelRow, code: string): Promise<ChannelRow> {
  if (channel.confirmedAt) return channel
  if (!(await confirmChannel(deps.db, channel.id, hashOf(code.trim()), CODE_TRIES))) {
    const message = `is not the code; after ${CODE_TRIES} wrong ones a new code is needed`
    throw new Fault('invalid_request', `This ${message}.`, { details: [{ path: 'code', message }] })
  }
  await notifyChange(deps.db, channel.accountId, 'alerts', channel.id)
  return requireChannel(deps, channel.accountId, channel.id)
}

function withRelay({ db, relay, baseUrl }: ChannelDeps) {
  if (!relay) throw new Fault('unavailable', NO_RELAY)
  return { db, relay, baseUrl }
}

function newCode(): string {
  return String(randomInt(0, 100_000_000)).padStart(8, '0')
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}

/** One address without a name: `person@example.com`. */
function addressOf(text: string): string {
  const [, local = '', domain = ''] = /^([^\s@"<>(),:;\\[\]\p{Cc}]{1,64})@([^\s@]+)$/u.exec(text.trim()) ?? []
  const host = local && parseHost(domain, 'address')
  if (!host || host.kind !== 'name' || !host.name.includes('.')) throw invalid('address', 'is not a mail address')
  return `${local}@${host.name}`
}

function urlOf(text: string, { allowPrivate }: WebhookDeps): string {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !['https:', 'http:'].includes(url.protocol))
    throw invalid('url', 'is not an address that begins with https://')
  if (url.username || url.password) throw invalid('url', 'must not hold a user name or a password')
  refuseAddress(parseHost(url.hostname, 'url'), allowPrivate)
  url.hash = ''
  return url.href
}

function invalid(path: string, message: string): Fault {
  return new Fault('invalid_request', `The ${path} ${message}.`, { details: [{ path, message }] })
}
