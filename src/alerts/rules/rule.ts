import type { Severity } from '../severity.ts'

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/**
 * Quiet hours that begin on these days, in a time zone of the IANA database. `to` at or before
 * `from` is on the next day; the same time twice is a whole day.
 */
export type RuleQuietHours = { days: Weekday[]; from: string; to: string; timeZone: string }

/** A step is due so many minutes after the one before it, or after the alert. */
export type EscalationStep = { afterMinutes: number; channels: string[] }

/** After the last step the first one follows again, up to `repeats` times. */
export type Escalation = { steps: EscalationStep[]; repeats: number }

/** What an alert must be so that a rule applies; null for all. All conditions must hold. */
export type RuleConditions = {
  /** Kinds (`blacklist.listed`) or their first words (`blacklist`). */
  kinds: string[] | null
  /** Names of objects; `*` stands for any characters. */
  objects: string[] | null
  /** The object has at least one of them. */
  labels: string[] | null
  minSeverity: Severity | null
}

/** What a rule does with an alert. */
type RuleActions = {
  /** IDs of channels. */
  channels: string[]
  quietHours: RuleQuietHours | null
  /** Whether critical alerts are sent during quiet hours. */
  criticalAnytime: boolean
  escalation: Escalation | null
}

export type RuleSettings = RuleConditions & RuleActions & { name: string; enabled: boolean }

export type RuleRow = RuleSettings & { id: string; createdAt: Date }

/** What a rule is compared with. */
export type RuleSubject = {
  kind: string
  severity: Severity
  /** Names of the object, such as a host and its address. */
  names: readonly string[]
  labels: readonly string[]
}
