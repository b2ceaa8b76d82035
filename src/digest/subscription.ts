import { findRecipient, type Recipient } from '../accounts/accounts-digest.sql.ts'
import { Fault } from '../errors.ts'
import { retryText } from '../http/limits/retry-text.ts'
import { sendMail } from '../net/smtp.ts'
import { notifyChange } from '../store/changes.ts'
import { claimMail } from '../store/limits/outgoing-mail.ts'
import type { DigestEmail, DigestDeps } from './delivery/digest-email.ts'
import { composeDigestEmail, digestHeaders, unsubscribeUrlOf } from './delivery/digest-email.ts'
import { timingOf } from './delivery/deliver-digest.ts'
import { TEST_DEADLINE_MS, TEST_MAIL_LIMITS } from './limits.ts'
import { NO_RELAY, UNVERIFIED } from './messages.ts'
import { periodUntil, requireTimeZone } from './digest-schedule.ts'
import type { Digest, DigestSettings } from './shapes.ts'
import {
  findSubscription,
  saveSubscription,
  type Member,
  type Settings,
  type SubscriptionRow,
} from './digest-subscriptions.sql.ts'

/** Monday at 8: what a weekly digest begins with. */
const DEFAULTS: Settings = { frequency: 'off', weekday: 1, hour: 8, timeZone: 'UTC' }

/** The settings and the state of a member’s digest. @throws Fault `not_found` */
export async function readDigest(deps: DigestDeps, member: Member) {
  const recipient = await requireRecipient(deps, member)
  return present(deps, recipient, await findSubscription(deps.db, member))
}

/**
 * Changes the settings of a member’s digest; those that are not given keep their values.
 * @throws Fault `invalid_request` for an unknown time zone, `not_found`
 */
export async function changeDigest(
  deps: DigestDeps,
  member: Member,
  changes: DigestSettings,
  now: Date,
) {
  if (changes.timeZone !== undefined) requireTimeZone(changes.timeZone)
  const recipient = await requireRecipient(deps, member)
  const settings = { ...settingsOf(await findSubscription(deps.db, member)), ...changes }
  const saved = await saveSubscription(deps.db, member, settings, timingOf(member, settings, now))
  await notifyChange(deps.db, member.workspaceId, 'alerts')
  return present(deps, recipient, saved)
}

/** Composes the digest of a day or a week up to now. @throws Fault `not_found` */
export async function previewDigest(
  deps: DigestDeps,
  member: Member,
  wanted: { frequency: 'daily' | 'weekly'; timeZone?: string | undefined },
  now: Date,
): Promise<DigestEmail> {
  if (wanted.timeZone !== undefined) requireTimeZone(wanted.timeZone)
  const recipient = await requireRecipient(deps, member)
  const settings = { ...settingsOf(await findSubscription(deps.db, member)), ...wanted }
  return composeDigestEmail(
    deps,
    requestOf(member, recipient, settings, now),
    recipient.email,
    null,
  )
}

/**
 * Sends a digest of the last day or week to the member at once. It does not change the schedule.
 * @throws Fault `unavailable` without a relay, `conflict` for an unverified address,
 *   `rate_limited`, and the relay’s error
 */
export async function sendTestDigest(deps: DigestDeps, member: Member, now: Date): Promise<void> {
  const { db, secretKey, relay, baseUrl } = deps
  if (!relay) throw new Fault('unavailable', NO_RELAY)
  const recipient = await requireRecipient(deps, member)
  const { email, isVerified } = recipient
  if (!isVerified) throw new Fault('conflict', UNVERIFIED)
  const mail = { kind: 'digest-test', to: email, senderId: member.accountId }
  const exceeded = await claimMail(db, secretKey, mail, TEST_MAIL_LIMITS)
  if (exceeded) throw tooManyTests(exceeded.seconds)
  const settings = settingsOf(await findSubscription(db, member))
  const unsubscribeUrl = unsubscribeUrlOf(deps, member)
  const request = requestOf(member, recipient, settings, now)
  const message = await composeDigestEmail(deps, request, email, unsubscribeUrl)
  const headers = digestHeaders(unsubscribeUrl, { workspaceId: member.workspaceId, baseUrl })
  await sendMail(relay, { to: email, headers, ...message }, AbortSignal.timeout(TEST_DEADLINE_MS))
}

function tooManyTests(seconds: number): Fault {
  const { count } = TEST_MAIL_LIMITS.recipient
  const sentence = `The limit of ${count} test digests an hour is reached. Try again ${retryText(seconds)}.`
  return new Fault('rate_limited', sentence, { retryAfter: seconds })
}

function requestOf(member: Member, { workspace }: Recipient, settings: Settings, now: Date) {
  const frequency = settings.frequency === 'daily' ? 'daily' : 'weekly'
  return {
    ...member,
    workspace,
    settings: { ...settings, frequency } as Settings,
    period: periodUntil({ frequency }, now),
    nextAt: timingOf(member, settings, now).dueAt,
  }
}

function settingsOf(row: SubscriptionRow | undefined): Settings {
  const { frequency, weekday, hour, timeZone } = row ?? DEFAULTS
  return { frequency, weekday, hour, timeZone }
}

/** The caller’s membership was checked when the request arrived, and may have ended since. */
async function requireRecipient({ db }: DigestDeps, member: Member): Promise<Recipient> {
  const recipient = await findRecipient(db, member.workspaceId, member.accountId)
  if (!recipient) throw new Fault('not_found', 'Workspace not found.')
  return recipient
}

function present(
  { relay }: DigestDeps,
  { email, isVerified }: Recipient,
  row: SubscriptionRow | undefined,
) {
  return {
    ...settingsOf(row),
    email,
    problem: relay === null ? NO_RELAY : isVerified ? null : UNVERIFIED,
    nextAt: row?.dueAt ?? null,
    lastOutcome: row?.outcome ?? null,
    lastOutcomeAt: row?.outcomeAt ?? null,
    lastError: row?.error ?? null,
  } satisfies Record<keyof Digest, unknown>
}
