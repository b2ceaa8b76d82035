import { Status, type Tone } from '../../ui/feedback/status.tsx'
import type { ListedRequest } from './inbox.ts'
import { badges } from '../messages.ts'
import classes from './badges.module.css'

export function MethodBadge({ name }: { name: string }) {
  return (
    <span className={classes.method} data-method={name}>
      {name}
    </span>
  )
}

type Badge = { tone: Tone; word: string; why: string }

const SIGNATURES: Record<NonNullable<ListedRequest['signature']>['status'], [Tone, string]> = {
  valid: ['good', badges.signed],
  invalid: ['bad', badges.badSignature],
  unsigned: ['warn', badges.unsigned],
  unknown: ['unknown', badges.unknownSignature],
}

/** Everything unusual about a request, most severe first, then its signature. */
export function listBadges({
  rejected,
  aborted,
  truncated,
  surplus,
  preflight,
  repeatOf,
  signature,
}: Omit<ListedRequest, 'summary'>): Badge[] {
  const all: (Badge | false | null)[] = [
    rejected !== null && { tone: 'bad', word: badges.rejected, why: rejected },
    aborted && { tone: 'warn', word: badges.aborted, why: badges.abortedText },
    truncated && { tone: 'warn', word: badges.truncated, why: badges.truncatedText },
    surplus && {
      tone: 'warn',
      word: badges.surplus,
      why: badges.surplusText(surplus.size, surplus.responseStatus),
    },
    preflight && { tone: 'unknown', word: badges.preflight, why: badges.preflightText },
    repeatOf !== null && { tone: 'unknown', word: badges.repeat, why: badges.repeatText },
    signature && {
      tone: SIGNATURES[signature.status][0],
      word: SIGNATURES[signature.status][1],
      why: signature.reason,
    },
  ]
  return all.filter((badge) => badge !== false && badge !== null)
}

/** The most severe badge only: a row has no space for more. */
export function RowBadges({ row }: { row: ListedRequest }) {
  const [badge] = listBadges(row)
  if (!badge) return null
  return (
    <span title={badge.why}>
      <Status tone={badge.tone}>{badge.word}</Status>
    </span>
  )
}
