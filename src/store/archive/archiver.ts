import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { Fault, messageOf } from '../../errors.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../time.ts'
import { SHIPPED_MAJOR } from '../embedded/binaries.ts'
import type { ArchiverOptions } from './archiver-options.ts'
import { createBaseSchedule } from './base-schedule.ts'
import { chainHeadKey, newChainId, type ChainHead } from './chain.ts'
import type { ObjectStore } from './object-store.ts'
import { readWalEnd, shipSegments, switchSegment, type WalEnd } from './ship-wal.ts'
import { createSlot, dropSlots, findSlot, limitKeptWal, type Slot } from './slot.ts'
import { readStatus, saveStatus, type ArchiveStatus } from './archive-status.ts'

export type Archiver = {
  status(): ArchiveStatus
  /** Archives what was committed until now, for a few seconds at most, and ends. */
  stop(): Promise<void>
}

const TICK_MS = SECOND_MS
const MAX_BACK_OFF_MS = MINUTE_MS
/** The time for the last WAL when the service stops. */
const LAST_WAL_MS = 5 * SECOND_MS
/** A failing archive is logged again after this time. */
const REPEAT_LOG_MS = HOUR_MS
const STATEMENT_MS = 30 * SECOND_MS
/** An hour of an archive that is unavailable. */
const MAX_MARKS = 3_600
/** The state is saved for commands and metrics at least this often. */
const STATUS_MS = 5 * SECOND_MS

/**
 * Archives the WAL of the embedded database and makes base backups, until it is stopped. It reads
 * complete segments from the data folder; a replication slot makes PostgreSQL keep them until then.
 * PostgreSQL itself never waits for the archive.
 */
export function startArchiver(options: ArchiverOptions): Archiver {
  const archiver = createArchiver(options)
  const stopping = new AbortController()
  const running = run(archiver, stopping.signal)
  return {
    status: () => archiver.status(),
    async stop() {
      stopping.abort()
      const late = sleep(LAST_WAL_MS, undefined, { ref: false })
      await Promise.race([running.then(() => archiver.finish()), late])
      await archiver.close()
    },
  }
}

async function run(archiver: ReturnType<typeof createArchiver>, stop: AbortSignal): Promise<void> {
  let wait = TICK_MS
  while (!stop.aborted) {
    try {
      await archiver.tick(stop)
      archiver.worked()
      wait = TICK_MS
    } catch (error) {
      archiver.failed(error)
      wait = Math.min(wait * 2, MAX_BACK_OFF_MS)
    }
    await sleep(wait, undefined, { signal: stop }).catch(() => {})
  }
}

function createArchiver(options: ArchiverOptions) {
  const { server, store, config, log } = options
  const bases = createBaseSchedule(options)
  let client: Client | null = null
  let chain: string | null = null
  let position = 0n
  const saved = readStatus(config.DATA_DIR)
  let archivedUntil: Date | null = null
  /** Moments whose commits end at a position that is not archived yet, the earliest first. */
  let marks: { at: Date; end: bigint }[] = []
  let pendingBytes = 0
  let problem: { since: Date; text: string; loggedAt: number } | null = null
  let savedAt = -Infinity
  let shippedAt = performance.now()

  function status(): ArchiveStatus {
    const base = bases.newest()
    const failure = problem ?? bases.problem()
    return {
      archive: store.name,
      chain,
      archivedUntil: base && archivedUntil ? archivedUntil.toISOString() : null,
      pendingBytes,
      baseAt: base?.at.toISOString() ?? null,
      baseBytes: base?.bytes ?? 0,
      failingSince: failure?.since.toISOString() ?? null,
      problem: failure?.text ?? null,
      at: new Date().toISOString(),
    }
  }

  function save(): void {
    savedAt = performance.now()
    try {
      saveStatus(config.DATA_DIR, status())
    } catch (err) {
      log.warn({ err }, 'the state of the backups could not be saved')
    }
  }

  async function connection(): Promise<Client> {
    if (client) return client
    const opened = new Client({
      connectionString: server.adminUrl,
      application_name: 'portreeve archiver',
      connectionTimeoutMillis: STATEMENT_MS,
      query_timeout: STATEMENT_MS,
    })
    opened.on('error', () => {})
    opened.once('end', () => (client = null))
    await opened.connect()
    return (client = opened)
  }

  /** Continues the chain of the slot, or begins a new one where WAL is missing. */
  async function openChain(connected: Client, slot: Slot | null): Promise<string> {
    await limitKeptWal(connected, config.BACKUP_MAX_WAL_BYTES)
    const reason = slot && (await brokenBecause(store, slot))
    if (slot?.position && reason === null) {
      position = slot.position
      if (saved?.chain === slot.chain && saved.archivedUntil)
        archivedUntil = new Date(saved.archivedUntil)
      await bases.follow(slot.chain)
      return slot.chain
    }
    if (reason)
      log.error({ archive: store.name, reason }, 'the archive continues with a new base backup')
    const now = new Date()
    const begun = newChainId(now)
    const head: ChainHead = { format: 1, startedAt: now.toISOString(), postgres: SHIPPED_MAJOR }
    await store.create(chainHeadKey(begun), Buffer.from(`${JSON.stringify(head, null, 2)}\n`))
    await dropSlots(connected)
    position = await createSlot(connected, begun)
    archivedUntil = null
    marks = []
    await bases.follow(null)
    log.info({ archive: store.name, chain: begun }, 'archiving the database')
    return begun
  }

  async function tick(signal: AbortSignal): Promise<void> {
    const connected = await connection()
    const slot = await findSlot(connected)
    if (slot?.chain !== chain || slot?.position === null) chain = null
    chain ??= await openChain(connected, slot)
    await ship(connected, signal)
    if (!signal.aborted) bases.startIfDue(chain, save)
    if (performance.now() - savedAt > STATUS_MS) save()
  }

  async function ship(connected: Client, signal?: AbortSignal): Promise<void> {
    const at = new Date()
    const end = await readWalEnd(connected)
    if (marks.length < MAX_MARKS) marks.push({ at, end: end.flushed })
    pendingBytes = Number(end.flushed - position)
    // While complete segments wait, another short one would only fill the disk faster.
    await shipUpTo(connected, end, signal)
    const isDue = !signal || performance.now() - shippedAt >= config.BACKUP_RPO_SECONDS * SECOND_MS
    if (isDue && !signal?.aborted && end.flushed > position) {
      await switchSegment(connected)
      shippedAt = performance.now()
      await shipUpTo(connected, await readWalEnd(connected), signal)
    }
    archivedUntil = marks.findLast((mark) => mark.end <= position)?.at ?? archivedUntil
    marks = marks.filter((mark) => mark.end > position)
  }

  async function shipUpTo(connected: Client, end: WalEnd, signal?: AbortSignal): Promise<void> {
    if (chain === null) return
    const onShipped = (next: bigint) => {
      position = next
      pendingBytes = Math.max(0, Number(end.flushed - next))
      shippedAt = performance.now()
    }
    const shipment = { client: connected, store, folder: server.folder, chain, position }
    try {
      await shipSegments(end, { ...shipment, signal, onShipped })
    } catch (error) {
      // A copy of this database has continued the chain: this one begins its own.
      if (error instanceof Fault && error.code === 'conflict') await dropSlots(connected)
      throw error
    }
  }

  return {
    status,
    tick,
    worked(): void {
      if (!problem) return
      const minutes = Math.round((Date.now() - problem.since.getTime()) / MINUTE_MS)
      log.info({ archive: store.name, minutes }, 'the backup archive works again')
      problem = null
      save()
    },
    failed(error: unknown): void {
      // Without a connection the database is the problem, which is reported elsewhere.
      if (!client) return
      const isNews = !problem || performance.now() - problem.loggedAt > REPEAT_LOG_MS
      if (isNews) {
        const sentence = 'the backup archive cannot be written; WAL is kept and archived later'
        log.error({ err: error, archive: store.name, pendingBytes }, sentence)
      }
      problem = {
        since: problem?.since ?? new Date(),
        text: messageOf(error),
        loggedAt: isNews ? performance.now() : (problem?.loggedAt ?? 0),
      }
      save()
    },
    /** Archives what was committed until now. */
    async finish(): Promise<void> {
      await bases.stop()
      if (!client || chain === null || problem) return
      await ship(client).catch((err: unknown) =>
        log.warn({ err }, 'the last WAL was not archived; the next start archives it'),
      )
    },
    async close(): Promise<void> {
      save()
      await client?.end().catch(() => {})
    },
  }
}

async function brokenBecause(store: ObjectStore, slot: Slot): Promise<string | null> {
  if (slot.position === null)
    return 'PostgreSQL removed WAL that was not archived (BACKUP_MAX_WAL_BYTES)'
  const heads = await store.list(chainHeadKey(slot.chain))
  return heads.length > 0 ? null : `${store.name} does not contain the backups made before`
}
