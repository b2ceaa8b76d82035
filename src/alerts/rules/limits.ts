import { DAY_MS, SECOND_MS } from '../../time.ts'

export const MAX_RULES_PER_WORKSPACE = 50

/** Kinds, objects and labels of one rule. */
export const MAX_RULE_KINDS = 20
export const MAX_RULE_OBJECTS = 50
export const MAX_RULE_LABELS = 20

export const MAX_ESCALATION_STEPS = 5
export const MAX_ESCALATION_REPEATS = 10
/** Minutes between two steps. */
export const MAX_STEP_MINUTES = 24 * 60

/** Incidents of a workspace that wait for a step; further ones are not escalated. */
export const MAX_ESCALATING_PER_WORKSPACE = 1_000

/** Incidents that one query for due steps returns. */
export const ESCALATION_BATCH = 50

/** Milliseconds between two queries for due steps. */
export const ESCALATION_POLL_MS = 5 * SECOND_MS

/** Milliseconds from now to the end of quiet hours of a rule: a week and a change of the clock. */
export const MAX_QUIET_MS = 8 * DAY_MS
