import { statfs } from 'node:fs/promises'
import type { Kysely } from 'kysely'
import { bytesText } from '../../accounts/own-data/account-quotas.ts'
import { listAdministratorWorkspaces } from '../../accounts/workspaces/workspaces.sql.ts'
import type { NewAlert } from '../../alerts/raise.ts'
import type { Config } from '../../config.ts'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import { DISK_CHECK_INTERVAL_MS, MIN_REQUESTS_PER_ENDPOINT } from '../limits.ts'
import { deleteDownTo, type QuotaDeps } from './capture-quota.ts'
import {
  vacuumRequests,
  listUsage,
  readSizes,
  withDiskLock,
  type CaptureUsage,
  type Deleted,
} from './capture-retention.sql.ts'
import { isoDay } from '../../time.ts'

/** Free bytes, negative beyond a limit, and the bytes that should be free. */
export type FreeSpace = { freeBytes: number; wantedBytes: number }

const GB_BYTES = 1_000_000_000
const WANTED_SHARE = 0.1
const MAX_WANTED_BYTES = 2 * GB_BYTES

/** The overhead of PostgreSQL: headers of rows and pages, and the index of large bodies. */
const STORAGE_OVERHEAD = 1.1

export type DiskOptions = Pick<
  Config,
  'DATABASE_URL' | 'DATA_DIR' | 'MIN_FREE_DISK_BYTES' | 'MAX_DATABASE_BYTES'
>

export type DiskDeps = {
  db: Kysely<DB>
  log: Logger
  options: DiskOptions
  raise: QuotaDeps['raise']
  onRemoved?: ((reason: 'disk', requests: number) => void) | undefined
  onSpace?: ((freeBytes: number) => void) | undefined
}

/**
 * Monitors the space for the database: the disk of the embedded one, and MAX_DATABASE_BYTES where
 * it is set. While there is too little, the oldest captures of the accounts that store most are
 * removed.
 * @returns a function that stops it
 */
export function watchDisk(deps: DiskDeps): () => Promise<void> {
  let running: Promise<void> | undefined
  const stopping = new AbortController()
  const check = () => {
    running ??= relieveDisk(deps, stopping.signal)
      .catch((err: unknown) =>
        deps.log.warn({ err }, 'the free space could not be checked; the next check will'),
      )
      .finally(() => (running = undefined))
  }
  const timer = setInterval(check, DISK_CHECK_INTERVAL_MS).unref()
  check()
  return async () => {
    clearInterval(timer)
    stopping.abort()
    await running
  }
}

/** Checks the free space once, and removes captures if there is too little. */
export async function relieveDisk(deps: DiskDeps, signal?: AbortSignal): Promise<void> {
  const { db, options } = deps
  const space = await readSpace(db, options)
  if (!space) return
  deps.onSpace?.(Math.max(0, space.freeBytes))
  if (space.freeBytes >= space.wantedBytes) return
  await withDiskLock(db, async () => {
    const { captureBytes } = await readSizes(db)
    const usages = await listUsage(db)
    const stored = usages.reduce((sum, { bytes }) => sum + bytes, 0)
    // Space of captures removed earlier is still inside the files, and the next captures reuse it.
    const reusable = captureBytes - stored * STORAGE_OVERHEAD
    const missing = space.wantedBytes - space.freeBytes - reusable
    const removed = await removeCaptures(deps, usages, missing / STORAGE_OVERHEAD, signal)
    await notifyAboutSpace(deps, space, removed)
  })
}

async function removeCaptures(
  deps: DiskDeps,
  usages: CaptureUsage[],
  bytes: number,
  signal?: AbortSignal,
): Promise<Deleted[]> {
  const { db } = deps
  const all: Deleted[] = []
  const accounts = Array.from(
    Map.groupBy(usages, ({ responsibleId }) => responsibleId).values(),
    (some) => ({
      workspaceIds: some.map(({ workspaceId }) => workspaceId),
      bytes: some.reduce((sum, usage) => sum + usage.bytes, 0),
    }),
  )
  for (const { workspaceIds, limitBytes } of shareReduction(accounts, bytes)) {
    const kept = MIN_REQUESTS_PER_ENDPOINT
    all.push(
      ...(await deleteDownTo(db, workspaceIds, { limitBytes, kept, upTo: new Map(), signal })),
    )
  }
  const requests = countDeleted(all)
  if (requests === 0) return []
  deps.onRemoved?.('disk', requests)
  await vacuumRequests(db, { requests, bytes: all.reduce((sum, one) => sum + one.bytes, 0) }, 0)
  return all
}

const countDeleted = (all: Deleted[]) => all.reduce((sum, { deleted }) => sum + deleted, 0)

/**
 * Distributes the reduction: the accounts that store most come down to one level, and the others lose
 * nothing.
 * @returns the bytes that each of these accounts may keep, the largest first
 */
export function shareReduction<Usage extends { bytes: number }>(
  usages: Usage[],
  bytes: number,
): (Usage & { limitBytes: number })[] {
  if (bytes <= 0) return []
  const heaviest = usages.toSorted((one, other) => other.bytes - one.bytes)
  let above = 0
  for (const [index, usage] of heaviest.entries()) {
    above += usage.bytes
    const level = (above - bytes) / (index + 1)
    if (level >= (heaviest[index + 1]?.bytes ?? 0) || index === heaviest.length - 1) {
      const limitBytes = Math.max(0, Math.floor(level))
      return heaviest.slice(0, index + 1).map((one) => ({ ...one, limitBytes }))
    }
  }
  return []
}

/** Returns the scarcest monitored space; null where none is monitored. */
export async function readSpace(db: Kysely<DB>, options: DiskOptions): Promise<FreeSpace | null> {
  const spaces = [await readDisk(options), await readDatabaseSpace(db, options)].filter(
    (space) => space !== null,
  )
  const [least] = spaces.toSorted(
    (one, other) => one.freeBytes - one.wantedBytes - (other.freeBytes - other.wantedBytes),
  )
  return least ?? null
}

/** The disk is monitored only for the embedded database. */
async function readDisk({
  DATABASE_URL,
  DATA_DIR,
  MIN_FREE_DISK_BYTES,
}: DiskOptions): Promise<FreeSpace | null> {
  if (DATABASE_URL !== undefined) return null
  const { bavail, blocks, bsize } = await statfs(DATA_DIR)
  const wantedBytes =
    MIN_FREE_DISK_BYTES ?? Math.min(blocks * bsize * WANTED_SHARE, MAX_WANTED_BYTES)
  return { freeBytes: bavail * bsize, wantedBytes }
}

async function readDatabaseSpace(
  db: Kysely<DB>,
  { MAX_DATABASE_BYTES: most }: DiskOptions,
): Promise<FreeSpace | null> {
  if (most === undefined) return null
  const { databaseBytes } = await readSizes(db)
  return {
    freeBytes: most - databaseBytes,
    wantedBytes: Math.min(most * WANTED_SHARE, MAX_WANTED_BYTES),
  }
}

/** Alerts administrators and the owners of removed captures, once a day. */
async function notifyAboutSpace(
  { db, log, raise }: DiskDeps,
  space: FreeSpace,
  removed: Deleted[],
): Promise<void> {
  const { freeBytes, wantedBytes } = space
  const workspaces = new Set(removed.map(({ workspaceId }) => workspaceId))
  log.warn(
    { freeBytes, wantedBytes, requests: countDeleted(removed), workspaces: workspaces.size },
    'too little free space for the database',
  )
  for (const workspaceId of await listAdministratorWorkspaces(db))
    await raise(spaceAlert(workspaceId, space))
  for (const workspaceId of workspaces)
    if (workspaceId !== null) await raise(removalAlert(workspaceId))
}

function spaceAlert(workspaceId: string, { freeBytes, wantedBytes }: FreeSpace): NewAlert {
  const at = new Date()
  return {
    workspaceId,
    kind: 'storage.disk',
    key: `storage.disk ${isoDay(at)}`,
    incident: null,
    phase: 'once',
    severity: 'critical',
    title: 'The database is running out of space',
    text: `${bytesText(Math.max(0, freeBytes))} are free, and ${bytesText(wantedBytes)} should be. The oldest captured requests of the accounts that store most are being removed.`,
    nextStep:
      'Free space on the disk or enlarge it. See which accounts store most under Settings, Accounts.',
    path: '/administration/accounts',
    at,
  }
}

function removalAlert(workspaceId: string): NewAlert {
  const at = new Date()
  return {
    workspaceId,
    kind: 'storage.captures',
    key: `storage.captures disk ${isoDay(at)}`,
    incident: null,
    phase: 'once',
    severity: 'error',
    title: 'Old captured webhooks were removed',
    text: 'This service is running out of space, so the oldest of your captured requests were removed. New requests are still captured.',
    nextStep: 'Export the requests you need. Your administrator has been notified.',
    path: '/hooks',
    at,
  }
}
