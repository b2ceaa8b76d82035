import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import { notifyChange } from '../../store/changes.ts'
import { DAY_MS, HOUR_MS } from '../../time.ts'
import {
  finishResult,
  findCanary,
  findSeed,
  listLastResults,
  listSeeds,
  saveSeedState,
  sumBaseline,
  type Finished,
  type ResultRow,
} from './canary.sql.ts'
import { evaluatePlacement, type PlacementState } from './evaluate-placement.ts'
import { blindAlert, placementAlert, recoveredAlert, seenAlert, type Subject } from './messages.ts'
import type { CanaryDeps } from './sign-ins.ts'

/** Results of a seed that a decision reads: some of them may be void or unknown. */
const READ_RESULTS = 12
const QUARTER_HOURS = (91 * DAY_MS) / HOUR_MS

/** Stores the outcome of a mail, decides on its seed, and raises or resolves alerts. */
export async function finish(
  { db }: Pick<CanaryDeps, 'db'>,
  {
    id,
    canaryId,
    seedId,
    workspaceId,
  }: Pick<ResultRow, 'id' | 'canaryId' | 'seedId' | 'workspaceId'>,
  finished: Finished,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const [canary, seed] = [
      await findCanary(trx, workspaceId, canaryId),
      await findSeed(trx, seedId),
    ]
    if (!canary || !seed) return
    const isKnown = finished.outcome !== 'unknown' && !finished.voidReason
    const isBaseline = isKnown && !seed.isBad
    if (!(await finishResult(trx, id, { ...finished, isBaseline }))) return
    const seeds = await listSeeds(trx, [canaryId])
    const state = evaluatePlacement(
      seed,
      await listLastResults(trx, seedId, READ_RESULTS),
      await sumBaseline(trx, canaryId),
      (QUARTER_HOURS / canary.everyHours) * seeds.length,
    )
    await notifyChange(trx, workspaceId, 'checks', canaryId)
    if (state.isBad === seed.isBad && state.isBlind === seed.isBlind) return
    const since = await saveSeedState(trx, seedId, state)
    const subject: Subject = { workspaceId, domain: canary.domain, seed, since, finished }
    await alertAbout(trx, seed, state, subject)
  })
}

async function alertAbout(
  trx: Parameters<typeof raiseAlert>[0],
  before: PlacementState,
  after: PlacementState,
  subject: Subject,
): Promise<void> {
  if (after.isBad && !before.isBad) await raiseAlert(trx, placementAlert(subject))
  if (!after.isBad && before.isBad) await raiseResolved(trx, recoveredAlert(subject))
  if (after.isBlind && !before.isBlind) await raiseAlert(trx, blindAlert(subject))
  if (!after.isBlind && before.isBlind) await raiseResolved(trx, seenAlert(subject))
}
