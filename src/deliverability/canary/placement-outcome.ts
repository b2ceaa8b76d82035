/** Where a mail to a seed mailbox ended up, with what that means. */
export const OUTCOME_TEXTS = {
  inbox: 'It arrived in the inbox.',
  category: 'A rule filed it, or Gmail shows it in another tab. That is not spam.',
  junk: 'It arrived in the junk folder.',
  late: 'It arrived in another folder than junk, after more than 10 minutes.',
  missing: 'It did not arrive within an hour.',
  refused: 'The server of the sender refused it for good.',
  unknown: 'It could not be sent, or the mailbox could not be read.',
} as const

export type Outcome = keyof typeof OUTCOME_TEXTS
export const OUTCOMES = Object.keys(OUTCOME_TEXTS) as Outcome[]

/** Outcomes that say that receivers distrust the sender. */
const BAD: ReadonlySet<Outcome> = new Set(['junk', 'late', 'missing', 'refused'])

export const isBadOutcome = (outcome: Outcome): boolean => BAD.has(outcome)
