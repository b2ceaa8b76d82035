/** What we hold to be true of one thing that is watched, and what was seen last if that differs. */
export type Fact<Detail extends object = object> = {
  state: string
  detail: Detail
  since: Date
  suspect: string | null
  suspectAt: Date | null
}

/** What a look saw of it; null when it could not tell, which changes nothing. */
export type Seen<Detail extends object = object> = { state: string; detail: Detail } | null

export type Judgement<Detail extends object = object> = {
  fact: Fact<Detail>
  /** A change that is believed now. */
  change: { from: string; to: string } | null
}

/**
 * What to hold to be true after a look. Another state is believed when it was seen twice, so far apart that one
 * answer's accident is over.
 * @param confirm milliseconds between the two; 0 where one look is enough
 */
export function judge<Detail extends object>(
  before: Fact<Detail>,
  seen: Seen<Detail>,
  now: Date,
  confirm: number,
): Judgement<Detail> {
  if (seen === null) return { fact: before, change: null }
  const { state, detail } = seen
  if (state === before.state) return { fact: { ...before, detail, suspect: null, suspectAt: null }, change: null }
  const suspectAt = before.suspect === state && before.suspectAt ? before.suspectAt : now
  if (now.getTime() - suspectAt.getTime() < confirm) {
    return { fact: { ...before, suspect: state, suspectAt }, change: null }
  }
  const fact = { state, detail, since: suspectAt, suspect: null, suspectAt: null }
  return { fact, change: { from: before.state, to: state } }
}

/** What is held to be true of a thing that was never seen before. */
export function firstFact<Detail extends object>(
  { state, detail }: NonNullable<Seen<Detail>>,
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
