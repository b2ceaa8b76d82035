import type { Assessment, Circumstances } from './score.ts'
import type { AddressRow } from '../attack-list.sql.ts'

/** The facts about an address besides its evidence. */
export function circumstancesOf(
  { shared, probationUntil, confirmation }: AddressRow,
  { bootstrap, wellKnown }: Pick<Circumstances, 'bootstrap' | 'wellKnown'>,
  now: number,
): Circumstances {
  const probation = (probationUntil?.getTime() ?? 0) > now
  return { shared, probation, bootstrap, wellKnown, confirmed: confirmation === 'confirmed' }
}

/**
 * The changes of an assessment to the row of an address. A confirmation ends with the listing it
 * was given for.
 */
export function toRowChanges(
  { confirmation }: AddressRow,
  { state, score, confidence, awaiting, dueAt }: Assessment,
) {
  const isConfirmed = confirmation === 'confirmed' && state === 'listed'
  return {
    state: state === 'none' ? ('observed' as const) : state,
    score,
    confidence,
    confirmation: awaiting
      ? ('awaiting' as const)
      : isConfirmed
        ? ('confirmed' as const)
        : ('none' as const),
    dueAt: dueAt === null ? null : new Date(dueAt),
  }
}
