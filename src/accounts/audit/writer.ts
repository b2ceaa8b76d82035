import { DatabaseError } from 'pg'
import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import { HOUR_MS, MINUTE_MS } from '../../time.ts'
import { createRecentEntries } from '../../recent-entries.ts'
import { insertAuditEntries, type AuditEntry } from './audit-log.sql.ts'

/** Entries of one statement. */
const MAX_BATCH_ENTRIES = 200

/**
 * Entries that one account adds in an hour, in each instance. Beyond them, equal actions of one
 * person or token are counted and added once a minute, so that a program cannot fill the disk.
 */
const ENTRIES_PER_HOUR = 3_000

/** Accounts whose recent entries are counted, and actions whose repetitions are. */
const MAX_TRACKED = 10_000

export type AuditWriter = {
  /**
   * Adds an entry. Resolves when it is stored; a failure is logged.
   * @param responsibleId the account that answers for the workspace, where the entry has one
   */
  write(entry: AuditEntry, responsibleId?: string): Promise<void>
  /** Stores what is pending. */
  close(): Promise<void>
}

type Pending = { entry: AuditEntry; resolve: () => void }

/**
 * Creates the writer of the audit log. It uses one database connection: entries that arrive while a
 * statement runs share the next one, so that many changes of one workspace do not delay others.
 */
export function createAuditWriter({
  db,
  log,
  entriesPerHour = ENTRIES_PER_HOUR,
  intervalMs = MINUTE_MS,
}: {
  db: Db
  log: Logger
  entriesPerHour?: number
  intervalMs?: number
}): AuditWriter {
  let pending: Pending[] = []
  let running: Promise<void> | undefined
  const isWithinRate = createRate(entriesPerHour)
  let repeated = new Map<string, { entry: AuditEntry; count: number }>()
  let timer: NodeJS.Timeout | undefined

  async function run(): Promise<void> {
    while (pending.length > 0) {
      const batch = pending.slice(0, MAX_BATCH_ENTRIES)
      pending = pending.slice(batch.length)
      const entries = batch.map(({ entry }) => entry)
      await insert(entries)
      for (const { resolve } of batch) resolve()
    }
    running = undefined
  }

  /** The actions are done: a failure to record them must not look like a failure of the actions. */
  async function insert(entries: AuditEntry[]): Promise<void> {
    try {
      await insertAuditEntries(db, entries)
    } catch (err) {
      // An entry that the database rejects must not prevent those of others.
      if (entries.length > 1 && isRejection(err)) for (const entry of entries) await insert([entry])
      else log.error({ err, entries }, 'changes could not be recorded in the audit log')
    }
  }

  function add(entry: AuditEntry): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    pending.push({ entry, resolve })
    running ??= run()
    return promise
  }

  function countRepetition(entry: AuditEntry): void {
    const { workspaceId, actorId, token, route } = entry
    const key = `${workspaceId} ${actorId} ${token?.id} ${route}`
    const known = repeated.get(key)
    if (known) known.count++
    else if (repeated.size < MAX_TRACKED) repeated.set(key, { entry, count: 1 })
    timer ??= setTimeout(() => void addRepetitions(), intervalMs).unref()
  }

  async function addRepetitions(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const counted = [...repeated.values()]
    repeated = new Map()
    await Promise.all(
      counted.map(({ entry, count }) => add({ ...entry, details: { repeated: count } })),
    )
  }

  return {
    async write(entry, responsibleId) {
      if (entry.workspaceId === null || isWithinRate(responsibleId ?? entry.workspaceId))
        return add(entry)
      countRepetition(entry)
    },
    async close() {
      await addRepetitions()
      await running
    },
  }
}

/** Invalid data or a violated constraint (SQLSTATE classes 22 and 23). */
function isRejection(error: unknown): boolean {
  return error instanceof DatabaseError && /^2[23]/.test(error.code ?? '')
}

/** Counts entries by account: a burst of up to an hour’s entries, which refills steadily. */
function createRate(entriesPerHour: number): (accountId: string) => boolean {
  const costMs = HOUR_MS / entriesPerHour
  const fullAt = createRecentEntries<number>(MAX_TRACKED)
  return (accountId) => {
    const now = performance.now()
    const next = Math.max(fullAt.get(accountId) ?? 0, now) + costMs
    if (next > now + HOUR_MS) return false
    fullAt.set(accountId, next)
    return true
  }
}
