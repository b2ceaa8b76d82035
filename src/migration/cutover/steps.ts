/** The steps of a cut-over, in their order. */
export const STEPS = ['ttl', 'switch', 'quiet', 'final_pass', 'proof'] as const
export type StepName = (typeof STEPS)[number]

export const OUTCOMES = ['seen', 'confirmed', 'skipped'] as const

export type StepRow = {
  step: StepName
  openedAt: Date | null
  closedAt: Date | null
  outcome: (typeof OUTCOMES)[number] | null
  note: string | null
  person: string | null
}

/** The step that is open; null when all are closed. */
export function openStepOf(steps: readonly StepRow[]): StepRow | null {
  return steps.find(({ closedAt }) => closedAt === null) ?? null
}

export function isClosed(steps: readonly StepRow[], name: StepName): boolean {
  return steps.some(({ step, closedAt }) => step === name && closedAt !== null)
}
