import { messageOf } from '../../errors.ts'
import { onAbort } from '../../net/abort.ts'
import { ImapLost } from '../../net/imap/connection/refusals.ts'
import { MINUTE_MS } from '../../time.ts'
import {
  CANARY_CHECK_MINUTES,
  CANARY_TIMEOUT_MS,
  LATE_SECONDS,
  SEARCH_EVERYWHERE_MINUTES,
} from '../limits.ts'
import {
  findCanary,
  findSeed,
  postponeResult,
  saveSeedProblem,
  type CanaryRow,
  type Finished,
  type ResultRow,
  type SeedRow,
} from './canary.sql.ts'
import { findMail, type Sighting } from './find-mail.ts'
import { finish } from './finish-result.ts'
import { delayOf, findAllowListing } from './read-sighting.ts'
import { messageIdOf } from './run-canary.ts'
import { openSeed, passwordOfSeed, type CanaryDeps } from './sign-ins.ts'

/** Looks for a mail in the mailbox of its seed, and finishes its result or plans the next look. */
export async function checkResult(
  deps: CanaryDeps,
  result: ResultRow,
  signal: AbortSignal,
): Promise<void> {
  const { db } = deps
  const now = new Date()
  const canary = await findCanary(db, result.workspaceId, result.canaryId)
  const seed = await findSeed(db, result.seedId)
  if (!canary || !seed) return
  if (!result.isSubmitted) {
    const detail = 'The service stopped before the mail was sent.'
    return finish(deps, result, { outcome: 'unknown', detail })
  }
  const minutes = (now.getTime() - result.sentAt.getTime()) / MINUTE_MS
  const look = await lookFor(deps, { result, canary, seed, minutes }, signal)
  signal.throwIfAborted()
  await saveSeedProblem(db, seed.id, 'problem' in look ? look.problem : null)
  const finished = outcomeOf(look, result, minutes, now)
  if (finished) await finish(deps, result, finished)
  else await postponeResult(db, result.id, nextLook(result, minutes))
}

/** What a look into a mailbox found: the mail, nothing, or why it could not be read. */
export type Look = { sighting: Sighting | null } | { problem: string }

/** The outcome of a mail, by what a look found; null while it may still arrive. */
export function outcomeOf(
  look: Look,
  { sentAt }: Pick<ResultRow, 'sentAt'>,
  minutes: number,
  now: Date,
): Finished | null {
  const isOver = minutes >= (CANARY_CHECK_MINUTES.at(-1) as number)
  if ('problem' in look) return isOver ? { outcome: 'unknown', detail: look.problem } : null
  const { sighting } = look
  if (!sighting) return isOver ? { outcome: 'missing' } : null
  const { place, folder, header } = sighting
  const delaySeconds =
    delayOf(header, sentAt) ?? Math.max(0, Math.round((now.getTime() - sentAt.getTime()) / 1000))
  const isLate = place !== 'junk' && delaySeconds > LATE_SECONDS
  return {
    outcome: isLate ? 'late' : place,
    folder,
    delaySeconds,
    voidReason: findAllowListing(header),
  }
}

function nextLook({ sentAt }: ResultRow, minutes: number): Date {
  const next = CANARY_CHECK_MINUTES.find((at) => at > minutes) ?? CANARY_CHECK_MINUTES.at(-1)
  return new Date(sentAt.getTime() + (next as number) * MINUTE_MS)
}

type Wanted = { result: ResultRow; canary: CanaryRow; seed: SeedRow; minutes: number }

async function lookFor(
  deps: CanaryDeps,
  { result, canary, seed, minutes }: Wanted,
  outer: AbortSignal,
): Promise<Look> {
  const signal = AbortSignal.any([outer, AbortSignal.timeout(CANARY_TIMEOUT_MS)])
  try {
    const password = passwordOfSeed(deps, seed)
    const session = await openSeed(deps, seed, { password, isWork: true }, signal)
    const { wire } = session
    const stopWatching = onAbort([signal], () =>
      wire.destroy(new ImapLost('timeout', 'The mailbox did not answer in time.')),
    )
    try {
      const mail = { messageId: messageIdOf(result, canary), token: result.token }
      const everywhere = minutes >= SEARCH_EVERYWHERE_MINUTES
      return { sighting: await findMail(session, mail, everywhere) }
    } finally {
      stopWatching()
      await wire.logout()
    }
  } catch (error) {
    return { problem: messageOf(error) }
  }
}
