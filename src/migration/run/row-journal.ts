import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import type { CopyFailure, Journal, SavedFolder } from '../engine/journal/journal.ts'
import { addErrors } from '../migrations.sql.ts'
import {
  addDeletions,
  closeDeletions,
  holdDeletions,
  listDeletions,
  readCopies,
} from './copied-messages.sql.ts'
import {
  findFolder,
  listFolders,
  loadFolders,
  saveFolders,
  type Run,
} from './migration-runs.sql.ts'

/**
 * Thrown when the migration has ended or another worker has claimed it: nothing more may be sent.
 */
export class LostClaim extends Error {
  constructor() {
    super('another worker has taken over the migration')
  }
}

/** Creates a journal in the database, for the worker that has claimed the migration. */
export function createRowJournal(db: Kysely<DB>, run: Run): Journal {
  const saves = createSaveGroups(async (group) => {
    const failures = group.flatMap((save) => save.failures)
    if (failures.length === 0) return requireClaim(await saveFolders(db, run, group))
    await db.transaction().execute(async (trx) => {
      requireClaim(await saveFolders(trx, run, group))
      await addErrors(trx, run.id, failures)
    })
  })
  let saved: Promise<Set<string>> | undefined
  return {
    async load(folder) {
      // The first run finds none, and can have thousands of folders.
      saved ??= run.run === 1 ? Promise.resolve(new Set()) : listFolders(db, run.id)
      return (await saved).has(folder) ? findFolder(db, run.id, folder) : null
    },
    loadAll: () => loadFolders(db, run.id),
    save: (folder, state, failures, copies) => saves({ folder, state, failures, copies }),
    copies: (folder, state) => readCopies(db, run, folder, state),
    async saveDeletions(folder, state, deletions) {
      await db.transaction().execute(async (trx) => {
        requireClaim(await saveFolders(trx, run, [{ folder, state }]))
        await addDeletions(trx, run.id, deletions)
      })
    },
    deletions: () => listDeletions(db, run.id),
    holdDeletions: (ids) => holdDeletions(db, run.id, ids),
    closeDeletions: (ids, outcome) => closeDeletions(db, run.id, ids, outcome),
    async report(failure) {
      await addErrors(db, run.id, [failure])
    },
  }
}

type Save = {
  folder: string
  state: SavedFolder
  failures: readonly CopyFailure[]
  copies: Buffer | undefined
}

/**
 * Milliseconds that the last state of a folder waits for others, because folders end shortly after
 * one another. Messages wait for the other states before they are sent, so those are written at once.
 */
const LAST_STATE_DELAY_MS = 20

/**
 * Writes states of several folders at once: those saved during a write are written together by the
 * next. The state of a folder that has ended waits a moment for others; it is durable when its save
 * resolves, like any other. A folder is saved once at a time, so a group has each folder once.
 */
function createSaveGroups(write: (group: Save[]) => Promise<void>): (save: Save) => Promise<void> {
  let waiting: Save[] = []
  let last: Promise<void> = Promise.resolve()
  let next: { begin: () => void; written: Promise<void> } | null = null

  function startGroup(): NonNullable<typeof next> {
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const timer = setTimeout(begin, LAST_STATE_DELAY_MS)
    const written = writeNext(last, begun).finally(() => clearTimeout(timer))
    last = written
    return { begin, written }
  }

  async function writeNext(before: Promise<void>, begun: Promise<void>): Promise<void> {
    await Promise.allSettled([before, begun])
    const group = waiting
    waiting = []
    next = null
    await write(group)
  }

  return (save) => {
    waiting.push(save)
    next ??= startGroup()
    if (!save.state.isDone) next.begin()
    return next.written
  }
}

function requireClaim(isOurs: boolean): void {
  if (!isOurs) throw new LostClaim()
}
