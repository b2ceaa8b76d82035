import type { Transaction } from 'kysely'
import { raiseAlert, raiseResolved, type NewAlert } from '../../alerts/raise.ts'
import type { DB } from '../../store/tables.ts'
import { HOUR_SECONDS, SECOND_MS } from '../../time.ts'
import { countBatchProofs } from '../proof/proofs.sql.ts'
import { quietSince } from './advance.ts'
import { ALERTING_QUIET_SECONDS, STUCK_SECONDS } from './limits.ts'
import { STEP_ADVICE, STEP_TITLES } from './messages.ts'
import { isClosed, openStepOf, type StepRow } from './steps.ts'
import type { CutoverRow } from './cutovers.sql.ts'

type Subject = { before: CutoverRow; now: CutoverRow; steps: readonly StepRow[]; batch: string }

/** Raises the alerts about what a check of a cut-over has found, each of them once. */
export async function raiseCutoverAlerts(trx: Transaction<DB>, subject: Subject): Promise<void> {
  await alertToOpenStep(trx, subject)
  await alertToArrival(trx, subject)
  await alertToReversal(trx, subject)
}

/** A step that needs a person, or is open for long. */
async function alertToOpenStep(
  trx: Transaction<DB>,
  { now, steps, batch }: Subject,
): Promise<void> {
  const open = openStepOf(steps)
  for (const { step, closedAt } of steps) {
    if (closedAt === null) continue
    await raiseResolved(trx, {
      ...aboutCutover(now, batch, `cutover.closed ${now.id} ${step}`),
      kind: 'cutover.continued',
      incident: incidentOf(now, step),
      title: `Resolved: the cut-over of ${now.domain} continues`,
      text: `${STEP_TITLES[step]}: done.`,
      nextStep: '',
    })
  }
  if (!open) {
    await raiseAlert(trx, {
      ...aboutCutover(now, batch, `cutover.done ${now.id}`),
      kind: 'cutover.done',
      incident: null,
      phase: 'once',
      severity: 'info',
      title: `The cut-over of ${now.domain} is done`,
      text: 'The synchronization has ended, and the proof is made.',
      nextStep: 'Download the proof, then finish the batch to delete its passwords.',
    })
    return
  }
  const { step, openedAt } = open
  if (openedAt === null) return
  const seconds = (Date.now() - openedAt.getTime()) / SECOND_MS
  const own = step === 'quiet' ? now.quietHours * HOUR_SECONDS : 0
  const about = {
    ...aboutCutover(now, batch, `cutover.stuck ${now.id} ${step}`),
    incident: incidentOf(now, step),
    phase: 'open' as const,
    severity: 'warning' as const,
    nextStep: STEP_ADVICE[step],
  }
  if (step === 'final_pass' && now.finalStartedAt === null)
    await raiseAlert(trx, {
      ...about,
      key: `cutover.ready ${now.id}`,
      kind: 'cutover.ready',
      title: `The cut-over of ${now.domain} is ready for the final pass`,
      text: 'The old inboxes are quiet.',
    })
  else if (step === 'proof' && (await hasIncompleteProofs(trx, now)))
    await raiseAlert(trx, {
      ...about,
      kind: 'cutover.stuck',
      title: `The proof of the cut-over of ${now.domain} is incomplete`,
      text: 'Messages are missing at the destination, or mailboxes could not be read.',
      nextStep: 'See the proof, fix the causes, and request it again. Or confirm the step.',
    })
  else if (seconds > STUCK_SECONDS[step] + own)
    await raiseAlert(trx, {
      ...about,
      kind: 'cutover.stuck',
      title: `The cut-over of ${now.domain} waits at: ${STEP_TITLES[step]}`,
      text: `This step is open for ${Math.floor(seconds / HOUR_SECONDS)} hours.`,
    })
}

async function hasIncompleteProofs(
  trx: Transaction<DB>,
  { batchId }: CutoverRow,
): Promise<boolean> {
  const { waiting, mailboxes, done, incomplete } = await countBatchProofs(trx, batchId)
  return waiting === 0 && (incomplete > 0 || done < mailboxes)
}

/** A message at the old server after a day of silence, or after the step was closed. */
async function alertToArrival(
  trx: Transaction<DB>,
  { before, now, steps, batch }: Subject,
): Promise<void> {
  const [since, { lastArrivalAt }] = [quietSince(before), now]
  if (since === null || lastArrivalAt === null || lastArrivalAt <= since) return
  const quiet = (lastArrivalAt.getTime() - since.getTime()) / SECOND_MS
  if (quiet < ALERTING_QUIET_SECONDS && !isClosed(steps, 'quiet')) return
  await raiseAlert(trx, {
    ...aboutCutover(now, batch, `cutover.arrival ${now.id} ${lastArrivalAt.getTime()}`),
    kind: 'cutover.arrival',
    incident: null,
    phase: 'once',
    severity: 'warning',
    title: `A message arrived at the old server of ${now.domain}`,
    text: 'A sender still uses the old MX records, or a person still uses the old mailbox.',
    nextStep: 'See which mailbox received it. The next pass copies it.',
  })
}

/** MX records that were switched back. */
async function alertToReversal(
  trx: Transaction<DB>,
  { before, now, batch }: Subject,
): Promise<void> {
  const about = {
    ...aboutCutover(
      now,
      batch,
      `cutover.mx ${now.id} ${(now.revertedAt ?? before.revertedAt)?.getTime()}`,
    ),
    incident: incidentOf(now, 'reverted'),
  }
  if (now.revertedAt !== null)
    await raiseAlert(trx, {
      ...about,
      kind: 'cutover.reverted',
      phase: 'open',
      severity: 'error',
      title: `The MX records of ${now.domain} are no longer those of the cut-over`,
      text: `Expected: ${now.expectedMx.join(', ')}.`,
      nextStep: 'Check the records at your DNS provider.',
    })
  else if (before.revertedAt !== null)
    await raiseResolved(trx, {
      ...about,
      key: `${about.key} resolved`,
      kind: 'cutover.restored',
      title: `Resolved: the MX records of ${now.domain} are those of the cut-over again`,
      text: `${now.expectedMx.join(', ')}.`,
      nextStep: '',
    })
}

function incidentOf({ id }: CutoverRow, what: string): string {
  return `migration-cutover/${id}/${what}`
}

function aboutCutover(
  { workspaceId, batchId, domain }: CutoverRow,
  batch: string,
  key: string,
): Pick<NewAlert, 'workspaceId' | 'path' | 'objects' | 'at' | 'key'> {
  return {
    workspaceId,
    path: `/migrations/batches/${batchId}`,
    objects: [batch, domain],
    at: new Date(),
    key,
  }
}
