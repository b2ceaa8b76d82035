import { Status, type Tone } from '../ui/feedback/status.tsx'
import { counted } from '../ui/text/format.ts'
import type { Row } from './inbox.ts'
import classes from './badges.module.css'

export function Method({ name }: { name: string }) {
  return (
    <span className={classes.method} data-method={name}>
      {name}
    </span>
  )
}

type Badge = { tone: Tone; word: string; why: string }

const SIGNATURES: Record<NonNullable<Row['signature']>['status'], [Tone, string]> = {
  valid: ['good', 'Signed'],
  invalid: ['bad', 'Bad signature'],
  unsigned: ['warn', 'Unsigned'],
  unknown: ['unknown', 'Signature unknown'],
}

/** What is out of the ordinary about a request, gravest first, and whether its signature holds. */
export function badgesOf({ rejected, aborted, truncated, surplus, preflight, signature }: Row): Badge[] {
  const badges: (Badge | false | null)[] = [
    rejected !== null && { tone: 'bad', word: 'Rejected', why: rejected },
    aborted && { tone: 'warn', word: 'Broken off', why: 'The sender went away before the end of the body.' },
    truncated && { tone: 'warn', word: 'Cut', why: 'The body was larger than what is kept: this is its beginning.' },
    surplus && {
      tone: 'warn',
      word: 'Surplus',
      why: `${surplusText(surplus)} Check the Content-Length that the sender sets.`,
    },
    preflight && { tone: 'unknown', word: 'Preflight', why: 'A browser asked whether its page may send here.' },
    signature && {
      tone: SIGNATURES[signature.status][0],
      word: SIGNATURES[signature.status][1],
      why: signature.reason,
    },
  ]
  return badges.filter((badge) => badge !== false && badge !== null)
}

/** How many bytes followed a request, and how they were answered. */
function surplusText({ size, responseStatus }: NonNullable<Row['surplus']>): string {
  const followed = `${counted(size, 'byte')} followed the end of this request`
  return responseStatus === null ? `${followed} and were ignored.` : `${followed} and were answered ${responseStatus}.`
}

/** The gravest alone: a row has no room for more. */
export function RowBadges({ row }: { row: Row }) {
  const [badge] = badgesOf(row)
  if (!badge) return null
  return (
    <span title={badge.why}>
      <Status tone={badge.tone}>{badge.word}</Status>
    </span>
  )
}
