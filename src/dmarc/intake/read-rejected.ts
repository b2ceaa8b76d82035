import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { ingest, type GivenFile } from './ingest.ts'
import { addReports, type IntakeOrigin, type IntakeOutcome } from './store-batch.ts'
import { deleteRejectedOf, findContent, listRejectedFor } from './report-intake.sql.ts'

/** Files that are read in one step, and how long steps begin; the rest stays rejected. */
const STEP_FILES = 500
const PATIENCE_MS = 10_000

/** New reports by domain. */
export type ReadAgain = Pick<IntakeOutcome, 'stored' | 'domains'>

/**
 * Reads the rejected reports on domains that a workspace has added by now, as far as their files are
 * stored. What is still rejected is listed as before.
 */
export async function readRejected(
  db: Kysely<DB>,
  workspaceId: string,
  domains: string[],
): Promise<ReadAgain> {
  const result: ReadAgain = { stored: 0, domains: new Map() }
  const end = performance.now() + PATIENCE_MS
  // What is rejected again is newer.
  const before = new Date()
  for (let last = STEP_FILES; last === STEP_FILES && performance.now() < end;) {
    const files = await listRejectedFor(db, { workspaceId, domains, before }, STEP_FILES)
    last = files.length
    for (const [via, deliveries] of Map.groupBy(files, (file) => file.via)) {
      const origin: IntakeOrigin = { via, workspaceId }
      const outcome = await ingest(db, origin, contents(db, deliveries))
      result.stored += outcome.stored
      for (const [id, read] of outcome.domains) addReports(result.domains, id, read)
      await deleteRejectedOf(
        db,
        workspaceId,
        deliveries.map(({ id }) => id),
      )
    }
  }
  return result
}

/** One file after the other: together they may be large. */
async function* contents(
  db: Kysely<DB>,
  deliveries: { id: string; name: string }[],
): AsyncGenerator<GivenFile> {
  for (const { id, name } of deliveries) {
    const bytes = await findContent(db, id)
    if (bytes) yield { name, bytes }
  }
}
