import { createHash } from 'node:crypto'
import { findRecipient, type Recipient } from '../../accounts/accounts-digest.sql.ts'
import { Fault } from '../../errors.ts'
import { failureOf } from '../../jobs/outbox.ts'
import type { Logger } from '../../log.ts'
import { sendMail, type Relay } from '../../net/smtp.ts'
import { notifyChange } from '../../store/changes.ts'
import { claimMail } from '../../store/limits/outgoing-mail.ts'
import { findResponsible } from '../../store/responsible.ts'
import {
  DIGEST_MAIL_LIMITS,
  LEASE_SECONDS,
  MAIL_DEADLINE_MS,
  RETRY_DELAYS_MS,
  SPREAD_MS,
  SWEEP_BATCH,
} from '../limits.ts'
import {
  ACCOUNT_DISABLED,
  LIMIT_REACHED,
  NOT_CONFIRMED,
  UNVERIFIED,
  WORKSPACE_GONE,
} from '../messages.ts'
import { nextOccurrence, periodOf, type Schedule } from '../digest-schedule.ts'
import {
  claimDigest,
  handOverDigest,
  listDueDigests,
  listUncertain,
  markEnded,
  putBackDigest,
  releaseAbandoned,
  type ClaimedDigest,
  type DigestEnd,
  type Member,
  type Settings,
  type Timing,
} from '../digest-subscriptions.sql.ts'
import {
  composeDigestEmail,
  digestHeaders,
  unsubscribeUrlOf,
  type DigestDeps,
} from './digest-email.ts'

export type DeliveryDeps = DigestDeps & { log: Logger }

/**
 * When the next digest of a member is due, and when it is attempted: digests for the same hour are
 * spread over some minutes.
 */
export function timingOf(member: Member, settings: Settings, now: Date): Timing {
  const schedule = scheduleOf(settings)
  if (!schedule) return { dueAt: null, attemptAt: null }
  const dueAt = nextOccurrence(schedule, now)
  return { dueAt, attemptAt: new Date(dueAt.getTime() + spreadOf(member)) }
}

/** Null for a digest that is off. */
function scheduleOf({ frequency, ...rest }: Settings): Schedule | null {
  return frequency === 'off' ? null : { frequency, ...rest }
}

/** The same for every digest of a member, 0 to `SPREAD_MS`. */
function spreadOf({ workspaceId, accountId }: Member): number {
  const hash = createHash('sha256').update(`${workspaceId} ${accountId}`).digest()
  return Math.floor((hash.readUInt32BE() / 2 ** 32) * SPREAD_MS)
}

/**
 * Recovers the digests of instances that died: they are sent again unless the relay may have them,
 * in which case they end as uncertain.
 * @returns due digests, to be sent by a job each; none without a relay
 */
export async function findDueDigests(deps: DeliveryDeps, now: Date): Promise<Member[]> {
  const { db, relay } = deps
  await releaseAbandoned(db, now)
  for (const digest of await listUncertain(db, now))
    await end(deps, digest, { outcome: 'uncertain', error: NOT_CONFIRMED }, now)
  return relay ? listDueDigests(db, now, SWEEP_BATCH) : []
}

/** Sends the digest of one member, if it is still due. */
export async function deliverDigest(
  deps: DeliveryDeps,
  member: Member,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<void> {
  const { db, relay } = deps
  if (!relay) return
  const digest = await claimDigest(db, member, now, LEASE_SECONDS)
  if (!digest) return
  try {
    const recipient = await findRecipient(db, digest.workspaceId, digest.accountId)
    const reason = reasonToSkip(recipient)
    if (!recipient || reason)
      return await end(deps, digest, { outcome: 'skipped', error: reason }, now)
    await send({ ...deps, relay }, digest, recipient, { now, signal })
    await end(deps, digest, { outcome: 'sent', error: null }, now)
  } catch (error) {
    await recordFailure(deps, digest, error, { now, signal })
  }
}

function reasonToSkip(recipient: Recipient | undefined): string | null {
  if (!recipient || recipient.isDeleted) return WORKSPACE_GONE
  if (recipient.isDisabled) return ACCOUNT_DISABLED
  return recipient.isVerified ? null : UNVERIFIED
}

async function send(
  deps: DeliveryDeps & { relay: Relay },
  digest: ClaimedDigest,
  { email, workspace }: Recipient,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<void> {
  const { db, relay, baseUrl } = deps
  const { workspaceId, dueAt } = digest
  const schedule = scheduleOf(digest)
  if (!schedule) throw new TypeError('a claimed digest has a schedule')
  await claimDigestMail(deps, digest, email)
  const unsubscribeUrl = unsubscribeUrlOf(deps, digest)
  const period = periodOf(schedule, digest.coveredUntil, now)
  const request = {
    ...digest,
    settings: digest,
    workspace,
    period,
    nextAt: nextOccurrence(schedule, now),
  }
  const message = await composeDigestEmail(deps, request, email, unsubscribeUrl)
  const beforeMessage = () => handOverDigest(db, [digest])
  const mail = {
    to: email,
    messageId: messageIdOf(digest, dueAt, relay),
    headers: digestHeaders(unsubscribeUrl, { workspaceId, baseUrl }),
    ...message,
  }
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(MAIL_DEADLINE_MS)])
  await sendMail({ ...relay, beforeMessage }, mail, deadline)
}

async function claimDigestMail(
  { db, secretKey }: DigestDeps,
  { workspaceId }: ClaimedDigest,
  to: string,
): Promise<void> {
  const mail = { kind: 'digest', to, senderId: await findResponsible(db, workspaceId) }
  const exceeded = await claimMail(db, secretKey, mail, DIGEST_MAIL_LIMITS)
  if (exceeded) throw new Fault('rate_limited', LIMIT_REACHED)
}

/** The same at every attempt, so that a receiver can recognise a duplicate. */
function messageIdOf({ workspaceId, accountId }: Member, dueAt: Date, { from }: Relay): string {
  const id = createHash('sha256')
    .update(`${workspaceId} ${accountId} ${dueAt.toISOString()}`)
    .digest('hex')
    .slice(0, 32)
  return `<digest-${id}@${/@([^\s>]+)>?\s*$/.exec(from)?.[1] ?? 'localhost'}>`
}

async function recordFailure(
  deps: DeliveryDeps,
  digest: ClaimedDigest,
  error: unknown,
  { now, signal }: { now: Date; signal: AbortSignal },
): Promise<void> {
  const { db, log } = deps
  const { attempts } = digest
  const failure = failureOf(error, {
    attempts,
    retryDelaysMs: RETRY_DELAYS_MS,
    now: now.getTime(),
    signal,
  })
  if (failure === null) return
  if (failure.state !== 'uncertain' && !signal.aborted)
    log.warn({ workspaceId: digest.workspaceId, err: error }, 'a digest could not be sent')
  const { state, reason } = failure
  if (state === 'waiting') await putBackDigest(db, [digest], failure.dueAt, { error: reason })
  else await end(deps, digest, { outcome: state, error: reason }, now)
}

/** Outcomes after which the next digest covers the same period again. */
const UNCOVERED = ['failed', 'skipped']

/** Ends a digest, schedules the next one, and tells the dashboard of the member. */
async function end(
  { db }: DeliveryDeps,
  digest: ClaimedDigest,
  { outcome, error }: Pick<DigestEnd, 'outcome' | 'error'>,
  now: Date,
): Promise<void> {
  const schedule = scheduleOf(digest)
  if (!schedule) return
  const covered = UNCOVERED.includes(outcome) ? null : periodOf(schedule, null, now).to
  const ended = { outcome, outcomeAt: now, error, coveredUntil: covered }
  await markEnded(db, digest, ended, timingOf(digest, digest, now))
  await notifyChange(db, digest.workspaceId, 'alerts')
}
