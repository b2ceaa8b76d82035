import type { QuietHours } from '../../quiet-hours.ts'
import { quietHoursEnd } from '../../quiet-hours.ts'
import type { Severity } from '../../severity.ts'
import { MINUTE_MS } from '../../../time.ts'
import { findRule, isAtLeastAsUrgent, matchesKind } from '../match.ts'
import { channelReasons } from '../messages.ts'
import { ruleQuietEnd } from '../quiet.ts'
import type { EscalationStep, RuleSettings, RuleSubject } from '../rule.ts'

/** What decides whether a channel gets an alert. */
export type PreviewChannel = {
  id: string
  name: string
  status: 'active' | 'unconfirmed' | 'off' | 'disabled' | 'undeliverable'
  /** Whether it is confirmed, and was not disabled by the service. */
  isUsable: boolean
  kinds: string[] | null
  minSeverity: Severity | null
  quietHours: QuietHours | null
  criticalAnytime: boolean
}

type PreviewedChannel = {
  id: string
  name: string
  /** Whether it gets the alert. */
  receives: boolean
  /** Why it does not; null where it does. */
  reason: string | null
  /** When quiet hours end; null when it gets the alert at once, or not at all. */
  heldUntil: Date | null
}

export type Preview<T> = {
  /** The rule that decides; null where the settings of the channels do. */
  rule: T | null
  channels: PreviewedChannel[]
  escalation: {
    /** When it is due, unless the incident is acknowledged or ends before. */
    at: Date
    channels: PreviewedChannel[]
  }[]
  /** How often the escalation repeats. */
  repeats: number
}

/**
 * Which channels an alert would reach at a time, and why not the others.
 * @param rules of the workspace, in their order
 * @param channels all channels of the workspace
 */
export function previewAlert<T extends RuleSettings>(
  rules: readonly T[],
  channels: readonly PreviewChannel[],
  subject: RuleSubject,
  now: Date,
): Preview<T> {
  const rule = findRule(rules, subject, usableChannels(channels))
  if (!rule) {
    const all = channels.map((channel) =>
      previewChannel(
        channel,
        reasonOf(channel) ?? filterReason(channel, subject),
        null,
        subject,
        now,
      ),
    )
    return { rule: null, channels: all, escalation: [], repeats: 0 }
  }
  const passes = rule.criticalAnytime && subject.severity === 'critical'
  const quietEnd = (at: Date) =>
    rule.quietHours && !passes ? ruleQuietEnd(rule.quietHours, at) : null
  const byId = new Map(channels.map((channel) => [channel.id, channel]))
  const previewOf = (ids: string[], at: Date, heldUntil: Date | null) =>
    ids.map((id) => {
      const channel = byId.get(id)
      return channel
        ? previewChannel(channel, reasonOf(channel), heldUntil, subject, at)
        : deletedChannel(id)
    })
  const heldUntil = quietEnd(now)
  const sentAt = heldUntil ?? now
  return {
    rule,
    channels: previewOf(rule.channels, sentAt, heldUntil),
    escalation: stepTimes(rule, sentAt, quietEnd).map(({ at, step }) => ({
      at,
      channels: previewOf(step.channels, at, null),
    })),
    repeats: rule.escalation?.repeats ?? 0,
  }
}

/** When each step is due: one that is due in quiet hours waits for them, and for its time again. */
function stepTimes(
  { escalation }: RuleSettings,
  sentAt: Date,
  quietEnd: (at: Date) => Date | null,
): { step: EscalationStep; at: Date }[] {
  let at = sentAt
  return (escalation?.steps ?? []).map((step) => {
    const due = minutesAfter(at, step.afterMinutes)
    const quiet = quietEnd(due)
    at = quiet ? minutesAfter(quiet, step.afterMinutes) : due
    return { step, at }
  })
}

function minutesAfter(at: Date, minutes: number): Date {
  return new Date(at.getTime() + minutes * MINUTE_MS)
}

/** IDs of channels that can receive alerts, or that a member turned off on purpose. */
export function usableChannels(
  channels: readonly Pick<PreviewChannel, 'id' | 'isUsable'>[],
): Set<string> {
  return new Set(channels.filter(({ isUsable }) => isUsable).map(({ id }) => id))
}

function previewChannel(
  { id, name, quietHours, criticalAnytime }: PreviewChannel,
  reason: string | null,
  heldUntil: Date | null,
  { severity }: RuleSubject,
  at: Date,
): PreviewedChannel {
  if (reason !== null) return { id, name, receives: false, reason, heldUntil: null }
  const passes = criticalAnytime && severity === 'critical'
  const ownUntil = quietHours && !passes ? quietHoursEnd(quietHours, at) : null
  return { id, name, receives: true, reason: null, heldUntil: ownUntil ?? heldUntil }
}

function reasonOf({ status }: PreviewChannel): string | null {
  return status === 'active' ? null : channelReasons[status]
}

/** Why the settings of a channel leave an alert out. */
function filterReason({ kinds, minSeverity }: PreviewChannel, subject: RuleSubject): string | null {
  if (kinds !== null && !kinds.some((kind) => matchesKind(kind, subject.kind)))
    return channelReasons.kinds
  if (minSeverity !== null && !isAtLeastAsUrgent(subject.severity, minSeverity))
    return channelReasons.severity
  return null
}

function deletedChannel(id: string): PreviewedChannel {
  return { id, name: '', receives: false, reason: channelReasons.deleted, heldUntil: null }
}
