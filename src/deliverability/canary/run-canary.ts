import { randomBytes, randomInt } from 'node:crypto'
import { messageOf } from '../../errors.ts'
import { submitMail, type SubmissionServer } from '../../net/smtp-submission.ts'
import { notifyChange } from '../../store/changes.ts'
import { newUuid } from '../../store/uuid.ts'
import { HOUR_SECONDS, MINUTE_SECONDS } from '../../time.ts'
import { CANARY_CHECK_MINUTES, CANARY_JITTER_MINUTES, CANARY_TIMEOUT_MS } from '../limits.ts'
import {
  finishRun,
  insertResult,
  listSeeds,
  markSubmitted,
  type CanaryRow,
  type SeedRow,
} from './canary.sql.ts'
import { composeMail, TOKEN_FIELD } from './canary-mail.ts'
import { finish } from './finish-result.ts'
import { openSubmission, passwordOfCanary, type CanaryDeps } from './sign-ins.ts'

/** Sends one mail to each seed of a canary, and plans the next run. */
export async function runCanary(
  deps: CanaryDeps,
  canary: CanaryRow,
  signal: AbortSignal,
): Promise<void> {
  const { db } = deps
  const seeds = await listSeeds(db, [canary.id])
  const opened = await openServer(deps, canary, signal)
  let problem = 'server' in opened ? null : opened.problem
  for (const seed of seeds) {
    if (signal.aborted) return
    problem = (await sendTo(deps, { canary, seed, opened }, signal)) ?? problem
  }
  await finishRun(db, canary.id, { problem, afterSeconds: secondsUntilNext(canary) })
  await notifyChange(db, canary.workspaceId, 'checks', canary.id)
}

function secondsUntilNext({ everyHours }: CanaryRow): number {
  const jitter = CANARY_JITTER_MINUTES * MINUTE_SECONDS
  return everyHours * HOUR_SECONDS + randomInt(-jitter, jitter + 1)
}

type Opened = { server: SubmissionServer } | { problem: string }

async function openServer(
  deps: CanaryDeps,
  canary: CanaryRow,
  signal: AbortSignal,
): Promise<Opened> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CANARY_TIMEOUT_MS)])
  try {
    return { server: await openSubmission(deps, canary, passwordOfCanary(deps, canary), limit) }
  } catch (error) {
    signal.throwIfAborted()
    return { problem: messageOf(error) }
  }
}

/** The Message-ID of a mail. */
export function messageIdOf({ token }: { token: string }, { domain }: { domain: string }): string {
  return `<${token}@${domain}>`
}

/** @returns why no mail could be submitted, which says nothing about the receiver */
async function sendTo(
  deps: CanaryDeps,
  { canary, seed, opened }: { canary: CanaryRow; seed: SeedRow; opened: Opened },
  signal: AbortSignal,
): Promise<string | null> {
  const { db } = deps
  const { id: canaryId, workspaceId, sender } = canary
  const token = randomBytes(12).toString('hex')
  const result = await insertResult(db, {
    id: newUuid(),
    canaryId,
    seedId: seed.id,
    workspaceId,
    token,
  })
  if ('problem' in opened) {
    await finish(deps, result, { outcome: 'unknown', detail: opened.problem })
    return opened.problem
  }
  const limit = AbortSignal.any([signal, AbortSignal.timeout(CANARY_TIMEOUT_MS)])
  const mail = {
    from: sender,
    to: seed.email,
    ...composeMail(),
    messageId: messageIdOf(result, canary),
    headers: { [TOKEN_FIELD]: token },
  }
  const submission = await submitMail(opened.server, mail, limit)
  if (submission.state === 'accepted') {
    await markSubmitted(db, result.id, CANARY_CHECK_MINUTES[0] * MINUTE_SECONDS)
    return null
  }
  const { state, reason } = submission
  await finish(deps, result, {
    outcome: state === 'refused' ? 'refused' : 'unknown',
    detail: reason,
  })
  return state === 'refused' ? null : reason
}
