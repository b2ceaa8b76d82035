import { createHash, randomInt } from 'node:crypto'
import { Fault, invalidField } from '../../../errors.ts'
import { clientNetwork } from '../../../http/client-address.ts'
import { retryText } from '../../../http/limits/retry-text.ts'
import { notifyChange } from '../../../store/changes.ts'
import { claimMail, type Exceeded, type MailLimits } from '../../../store/limits/outgoing-mail.ts'
import { CODE_MAIL_LIMITS, MAX_CODE_ATTEMPTS, TEST_MAIL_LIMITS } from '../../limits.ts'
import { findResponsible } from '../../../store/responsible.ts'
import type { SendDeps } from '../channel-type.ts'
import { requireRelay, sendCodeEmail } from '../email.ts'
import {
  confirmChannel,
  renewCode,
  saveCodeError,
  secondsUntilNextCode,
} from './channel-confirmation.sql.ts'
import { deleteChannel } from '../alert-channels.sql.ts'
import type { ChannelRow } from '../channel.ts'
import { HOUR_SECONDS } from '../../../time.ts'

/** A code of eight digits and the hash that is stored. */
export function createCode(): { code: string; codeHash: Buffer } {
  const code = String(randomInt(0, 100_000_000)).padStart(8, '0')
  return { code, codeHash: hashOf(code) }
}

/**
 * Emails the code of a new channel. The channel is deleted again where a limit forbids the email.
 * @returns why the email could not be sent; null when it was
 * @throws Fault `rate_limited`
 */
export async function sendFirstCode(
  deps: SendDeps,
  channel: ChannelRow,
  { code, ip }: { code: string; ip: string },
): Promise<Fault | null> {
  const { workspaceId, target } = channel
  try {
    await claimMailOf(deps, 'code', workspaceId, target, ip)
  } catch (error) {
    await deleteChannel(deps.db, channel, target)
    throw error
  }
  return trySendCode(deps, channel, code)
}

/**
 * Emails a new code.
 * @throws Fault `conflict` when the channel is confirmed; `rate_limited` when the last code is
 *   younger than a minute, or
 *   a limit is reached; `unavailable` and `upstream_*` when the code could not be sent
 */
export async function sendNewCode(deps: SendDeps, channel: ChannelRow, ip: string): Promise<void> {
  requireRelay(deps)
  if (channel.confirmedAt) throw new Fault('conflict', 'This address is already confirmed.')
  const wait = await secondsUntilNextCode(deps.db, channel.id)
  if (wait > 0) {
    const sentence = `The last code for this address is less than a minute old. Try again ${retryText(wait)}.`
    throw new Fault('rate_limited', sentence, { retryAfter: wait })
  }
  await claimMailOf(deps, 'code', channel.workspaceId, channel.target, ip)
  const { code, codeHash } = createCode()
  if (!(await renewCode(deps.db, channel.id, codeHash))) {
    throw new Fault(
      'conflict',
      'This address was confirmed or got another code at the same moment. Reload the page.',
    )
  }
  const problem = await trySendCode(deps, channel, code)
  await notifyChange(deps.db, channel.workspaceId, 'alerts', channel.id)
  if (problem) throw problem
}

/** @throws Fault `invalid_request` when the code is wrong, or after too many attempts */
export async function confirmWithCode(
  { db }: SendDeps,
  channel: ChannelRow,
  code: string,
): Promise<void> {
  if (channel.confirmedAt) return
  if (!(await confirmChannel(db, channel.id, hashOf(code.trim()), MAX_CODE_ATTEMPTS))) {
    const message = `is not the code; after ${MAX_CODE_ATTEMPTS} wrong codes a new one is needed`
    throw invalidField('code', message, 'This')
  }
  await notifyChange(db, channel.workspaceId, 'alerts', channel.id)
}

const MAIL_KINDS: Record<'code' | 'test', { kind: string; name: string; limits: MailLimits }> = {
  code: { kind: 'alert-code', name: 'confirmation codes', limits: CODE_MAIL_LIMITS },
  test: { kind: 'alert-test', name: 'test emails', limits: TEST_MAIL_LIMITS },
}

/**
 * Counts one email against the limits of its kind.
 * @param ip the address of the client, for codes, which go to strangers
 * @throws Fault `rate_limited` with the seconds until one may be sent
 */
export async function claimMailOf(
  { db, secretKey }: SendDeps,
  which: keyof typeof MAIL_KINDS,
  workspaceId: string,
  to: string,
  ip?: string,
): Promise<void> {
  const { kind, name, limits } = MAIL_KINDS[which]
  const senderId = await findResponsible(db, workspaceId)
  const network = ip && clientNetwork(ip)
  const exceeded = await claimMail(db, secretKey, { kind, to, senderId, network }, limits)
  if (exceeded) throw tooMany(exceeded, name, to, limits)
}

function tooMany(
  { limit, seconds }: Exceeded,
  name: string,
  to: string,
  limits: MailLimits,
): Fault {
  const { count = 0, seconds: window } = limits[limit] ?? {}
  const scope = {
    recipient: `to ${to}`,
    sender: 'for the account that answers for this workspace',
    network: 'for your network',
    installation: 'for this service',
  }[limit]
  const per = window === HOUR_SECONDS ? 'an hour' : 'a day'
  const sentence = `The limit of ${count} ${name} ${per} ${scope} is reached. Try again ${retryText(seconds)}.`
  return new Fault('rate_limited', sentence, { retryAfter: seconds })
}

/**
 * Emails a code and saves the error on the channel.
 * @returns why it could not be sent; null when it was
 */
async function trySendCode(
  deps: SendDeps,
  { id, target }: ChannelRow,
  code: string,
): Promise<Fault | null> {
  const problem = await sendCodeEmail(deps, { to: target, code }).then(() => null, requireFault)
  await saveCodeError(deps.db, id, problem && problem.message)
  return problem
}

function requireFault(error: unknown): Fault {
  if (error instanceof Fault) return error
  throw error
}

function hashOf(code: string): Buffer {
  return createHash('sha256').update(code).digest()
}
