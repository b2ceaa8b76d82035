/** Where a mail to a seed mailbox ended up. */
export const OUTCOMES = [
  'inbox',
  'category',
  'junk',
  'late',
  'missing',
  'refused',
  'unknown',
] as const
export type Outcome = (typeof OUTCOMES)[number]

/** Outcomes that say that receivers distrust the sender. */
const BAD: ReadonlySet<Outcome> = new Set(['junk', 'late', 'missing', 'refused'])

export const isBadOutcome = (outcome: Outcome): boolean => BAD.has(outcome)
