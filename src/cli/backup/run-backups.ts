import { tmpdir } from 'node:os'
import { readConfig, requireSettings, type Config } from '../../config.ts'
import { Fault } from '../../errors.ts'
import { makeBaseNow } from '../../store/archive/base-now.ts'
import { listAllBases, listSegments } from '../../store/archive/chain.ts'
import type { ObjectStore } from '../../store/archive/object-store.ts'
import { openObjectStore } from '../../store/archive/open-store.ts'
import { restoreMoment } from '../../store/archive/restore-moment.ts'
import { readStatus } from '../../store/archive/archive-status.ts'
import { runDrill, type Drill } from '../../store/archive/verify-backup.ts'
import { backUp, restore } from '../../store/backup.ts'
import { checkKeyAt, type KeyCheck } from '../../store/secret-key.ts'
import { UsageError } from '../command.ts'
import { requireDatabase } from '../database-access.ts'
import { createCommandLog } from '../terminal-log.ts'
import { paint } from '../terminal-text.ts'

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

/** @throws Fault `conflict` for a database that is not embedded */
function openConfig(): Config {
  requireSettings()
  const config = readConfig()
  if (config.DATABASE_URL) {
    throw new Fault(
      'conflict',
      'This command supports only the embedded database. For the database at DATABASE_URL, use pg_dump.',
    )
  }
  return config
}

/** @throws Fault `conflict` without an archive */
async function requireArchive({ BACKUP_ARCHIVE }: Config): Promise<ObjectStore> {
  if (BACKUP_ARCHIVE) return openObjectStore(BACKUP_ARCHIVE)
  const suggestion =
    'set BACKUP_ARCHIVE in the settings of the service (/docs/guide/backups.html#back-up-continuously)'
  throw new Fault('conflict', 'BACKUP_ARCHIVE is not set.', { suggestion })
}

export async function createFileBackup(file: string, json: boolean): Promise<number> {
  const config = openConfig()
  requireDatabase(config)
  const bytes = await backUp({ dataDir: config.DATA_DIR, log: createCommandLog(config), file })
  const text = `${file}: ${megabytes(bytes)}`
  console.log(json ? JSON.stringify({ success: true, file, bytes }) : text)
  return 0
}

export async function createArchiveBackup(json: boolean): Promise<number> {
  const config = openConfig()
  const store = await requireArchive(config)
  requireDatabase(config)
  const base = await makeBaseNow(store, {
    dataDir: config.DATA_DIR,
    log: createCommandLog(config),
  })
  const text = `${store.name}: base backup of ${base.finishedAt}, ${megabytes(base.bytes)}`
  console.log(json ? JSON.stringify({ success: true, data: base }) : text)
  return 0
}

export async function listBackups(json: boolean): Promise<number> {
  const config = openConfig()
  const store = await requireArchive(config)
  const bases = await listAllBases(store)
  const newest = bases.at(-1)
  const segments = newest ? (await listSegments(store, newest.chain)).length : 0
  const archivedUntil = readStatus(config.DATA_DIR)?.archivedUntil ?? null
  if (json) {
    console.log(
      JSON.stringify({ success: true, data: { bases, segments, archivedUntil } }, null, 2),
    )
    return 0
  }
  const [first] = bases
  if (!first) console.log(`${store.name} contains no base backup.`)
  else {
    for (const base of bases) console.log(`${base.finishedAt}  ${megabytes(base.bytes)}`)
    const until = archivedUntil === null ? '' : ` until ${archivedUntil}`
    console.log(`Every moment since ${first.finishedAt}${until} can be restored.`)
  }
  return 0
}

type VerifyOptions = {
  folder: string | undefined
  maxAgeSeconds: number | undefined
  json: boolean
}

export async function verifyBackups({
  folder,
  maxAgeSeconds,
  json,
}: VerifyOptions): Promise<number> {
  const config = openConfig()
  const store = await requireArchive(config)
  const log = createCommandLog(config)
  const drill = await runDrill(store, { above: folder ?? tmpdir(), log })
  if (maxAgeSeconds !== undefined && drill.rpoSeconds > maxAgeSeconds) {
    const age = `${Math.round(drill.rpoSeconds)} seconds old, more than ${maxAgeSeconds}`
    drill.problems.unshift(`The newest moment is ${age}.`)
  }
  const isGood = drill.problems.length === 0
  console.log(json ? JSON.stringify({ success: isGood, data: drill }, null, 2) : textOf(drill))
  return isGood ? 0 : 1
}

function textOf(drill: Drill): string {
  const { seconds, base } = drill
  const restoreSeconds = (seconds.unpack + seconds.replay).toFixed(1)
  const facts = [
    `base backup of ${base.takenAt}, ${megabytes(base.bytes)}, and ${drill.segments} WAL segments`,
    `restored in ${restoreSeconds} s (RTO): ${megabytes(drill.databaseBytes)}`,
    `reaches ${drill.reached}, ${Math.round(drill.rpoSeconds)} s ago (RPO)`,
    `checked ${drill.tables} tables and ${drill.indexes} indexes in ${seconds.check.toFixed(1)} s`,
  ]
  const good = facts.map((fact) => `  ${paint('green', '✓')} ${fact}`)
  const bad = drill.problems.map((problem) => `  ${paint('red', '✗')} ${problem}`)
  return [`${drill.archive}:`, ...good, ...bad].join('\n')
}

/** Ends the sentence about a restore. */
function describeKey({ problem, isTested }: KeyCheck): string {
  if (problem !== null) return problem
  return isTested
    ? 'Its secrets can be decrypted. Start the service.'
    : 'Start the service: the start checks whether the key decrypts its secrets.'
}

type RestoreOptions = { file: string | undefined; at: string | undefined; json: boolean }

export async function restoreBackup({ file, at, json }: RestoreOptions): Promise<number> {
  if ((file === undefined) === (at === undefined))
    throw new UsageError('Give either the FILE of a backup or --at TIME.')
  const config = openConfig()
  let key: KeyCheck = { problem: null, isTested: false }
  const inspect = async (url: string) => void (key = await checkKeyAt(url, config))
  const options = { dataDir: config.DATA_DIR, log: createCommandLog(config), inspect }
  if (file !== undefined) {
    const takenAt = await restore({ ...options, file })
    const sentence = `Restored the database of ${takenAt.toISOString()}. ${describeKey(key)}`
    console.log(
      json ? JSON.stringify({ success: true, takenAt, keyProblem: key.problem }) : sentence,
    )
    return 0
  }
  const moment = momentOf(at ?? '')
  const restored = await restoreMoment({
    ...options,
    store: await requireArchive(config),
    at: moment,
  })
  const { reached, isShort, gap, base } = restored
  const until = (reached ?? new Date(base.finishedAt)).toISOString()
  const warning =
    (isShort ? 'The archive ends before the requested moment. ' : '') +
    (gap === null ? '' : `WAL from ${gap} on is missing. `)
  const sentence = `${warning}Restored the database; its last transaction is of ${until}. ${describeKey(key)}`
  console.log(
    json
      ? JSON.stringify({ success: true, data: { ...restored, until, keyProblem: key.problem } })
      : sentence,
  )
  return 0
}

/** @returns null for the newest moment */
function momentOf(text: string): Date | null {
  if (text === 'latest') return null
  const moment = new Date(text)
  const hasZone = /T.*(Z|[+-]\d\d:?\d\d)$/i.test(text)
  if (!hasZone || Number.isNaN(moment.getTime()))
    throw new UsageError(
      `--at ${text} is not a moment with a time zone, such as 2026-11-26T09:00:00Z.`,
    )
  if (moment.getTime() > Date.now())
    throw new UsageError(`--at ${text} is in the future. Use --at latest for the newest moment.`)
  return moment
}
