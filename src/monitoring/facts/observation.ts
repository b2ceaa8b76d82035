/** The confirmed state of one monitored thing, and the latest observation if it differs. */
export type Fact<Detail extends object = object> = {
  state: string
  detail: Detail
  since: Date
  /** A state that was observed but is not confirmed yet, and when it was first observed. */
  suspect: string | null
  suspectAt: Date | null
}

/** Result of one check of a thing; null when the check failed, which changes nothing. */
export type Observation<Detail extends object = object> = { state: string; detail: Detail } | null

export type AppliedObservation<Detail extends object = object> = {
  fact: Fact<Detail>
  /** A change that this observation confirmed. */
  change: { from: string; to: string } | null
}

/**
 * Applies an observation to a fact. A different state counts once it was observed twice, far enough
 * apart that a single wrong answer does not cause an alert.
 * @param confirmMs milliseconds between the two observations; 0 where one is enough
 */
export function applyObservation<Detail extends object>(
  before: Fact<Detail>,
  observed: Observation<Detail>,
  now: Date,
  confirmMs: number,
): AppliedObservation<Detail> {
  if (observed === null) return { fact: before, change: null }
  const { state, detail } = observed
  if (state === before.state)
    return { fact: { ...before, detail, suspect: null, suspectAt: null }, change: null }
  const suspectAt = before.suspect === state && before.suspectAt ? before.suspectAt : now
  if (now.getTime() - suspectAt.getTime() < confirmMs) {
    return { fact: { ...before, suspect: state, suspectAt }, change: null }
  }
  const fact = { state, detail, since: suspectAt, suspect: null, suspectAt: null }
  return { fact, change: { from: before.state, to: state } }
}

/** The fact after the first observation of a thing. */
export function initialFact<Detail extends object>(
  { state, detail }: NonNullable<Observation<Detail>>,
  now: Date,
): Fact<Detail> {
  return { state, detail, since: now, suspect: null, suspectAt: null }
}

export function isSameFact(a: Fact, b: Fact): boolean {
  return (
    a.state === b.state &&
    a.suspect === b.suspect &&
    a.since.getTime() === b.since.getTime() &&
    JSON.stringify(a.detail) === JSON.stringify(b.detail)
  )
}
