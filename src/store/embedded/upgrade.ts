import { existsSync, renameSync, rmSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { Fault, messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { syncFolder } from '../file.ts'
import { findOlderBinaries, SHIPPED_MAJOR } from './binaries.ts'
import { carryOver } from './carry-over.ts'
import { serverAddressOf } from './connection.ts'
import { majorOf, prepareFolder } from './folder.ts'
import { DATABASE, end, launch, ROLE } from './launch.ts'
import type { Site } from './embedded-server.ts'
import { endLeftovers } from './leftovers.ts'

/** The folder of the new database while it is incomplete. */
const growing = (folder: string) => `${folder}.upgrading`
const whole = (folder: string) => `${folder}.upgraded`

/** The folder in which the old database is kept. */
export const keptFolder = (folder: string, major: number) => `${folder}.${major}`

/**
 * The folder of a data folder’s database, also when an upgrade was interrupted before the last
 * rename; null without one.
 */
export function databaseIn(dataDir: string): string | null {
  const folder = join(dataDir, 'postgres')
  return [folder, whole(folder)].find((path) => existsSync(path)) ?? null
}

/** Bytes per second of an upgrade on two cores. */
const UPGRADE_BYTES_PER_SECOND = 10_000_000

/** Size of an empty database, and the maximum size of the write-ahead log before it is recycled. */
const EMPTY_DATABASE_BYTES = 100_000_000
const MAX_WAL_BYTES = 600_000_000

/**
 * Upgrades the database of an older PostgreSQL to the shipped one. The new database is compared
 * with the old one before it replaces it; the old one is kept beside it. After an interruption the
 * next start repeats or finishes it.
 * @throws Fault `unavailable` without the older programs or enough space, `conflict` for objects
 *   that cannot be copied; then nothing has changed
 */
export async function upgradeIfOlder(site: Site): Promise<void> {
  const { folder, log } = site
  const major = majorOf(folder)
  if (major === null || major === SHIPPED_MAJOR) return
  const old = { ...site, binaries: findOlderBinaries(major, `${folder}.lib-${major}`) }
  requireFree(keptFolder(folder, major))
  const began = performance.now()
  const from = await launch(old)
  try {
    const bytes = await databaseBytes(old)
    requireFreeSpace(folder, bytes)
    const seconds = Math.ceil(5 + bytes / UPGRADE_BYTES_PER_SECOND)
    log.warn(
      { from: major, to: SHIPPED_MAJOR, bytes, seconds },
      'carrying the database over to the shipped PostgreSQL',
    )
    await makeAnew(site, (to) => copyOld(old, to))
  } finally {
    await end(from)
  }
  await finishUpgrade(site)
  const facts = {
    seconds: Math.round((performance.now() - began) / 1000),
    kept: keptFolder(folder, major),
  }
  log.warn(
    facts,
    'the database was carried over; remove the old one when you are content with the new one',
  )
}

/**
 * Replaces the old database by a complete new one, where an upgrade was interrupted just before.
 */
export async function finishUpgrade(site: Site): Promise<void> {
  const { folder, address, user, log } = site
  if (!existsSync(whole(folder))) return
  const major = majorOf(folder)
  if (major !== null) {
    await endLeftovers(folder, address.url('postgres', 'postgres'), user, log)
    renameSync(folder, keptFolder(folder, major))
  }
  renameSync(whole(folder), folder)
  syncFolder(dirname(folder))
}

/**
 * Creates the database of a folder under another name, fills it, and renames it when it is complete.
 * `finishUpgrade` then puts it in its place.
 * @param fill fills the database at a URL, as its owner
 */
export async function makeAnew(site: Site, fill: (url: string) => Promise<void>): Promise<void> {
  const { user, log } = site
  const folder = growing(site.folder)
  const anew: Site = { ...site, folder, address: serverAddressOf(folder, user, site.folder) }
  await endLeftovers(folder, anew.address.url('postgres', 'postgres'), user, log)
  rmSync(folder, { recursive: true, force: true })
  await prepareFolder(folder, site.binaries, user, site.address.passwordFile)
  try {
    const run = await launch(anew)
    try {
      await fill(anew.address.url(ROLE, DATABASE))
    } finally {
      await end(run)
    }
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true })
    if (cause instanceof Fault) throw cause
    const sentence = `The database could not be carried over: ${messageOf(cause)}. The old one is as it was.`
    throw new Fault('unavailable', sentence, { cause })
  }
  renameSync(folder, whole(site.folder))
  syncFolder(dirname(folder))
}

async function copyOld(old: Site, url: string): Promise<void> {
  await withClient(old.address.url('postgres', DATABASE), (from) =>
    withClient(url, async (to) => {
      await from.query('begin isolation level repeatable read read only')
      await carryOver(from, to, { onBytes: tellerOf(old.log) })
    }),
  )
}

async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url, application_name: 'portreeve upgrade' })
  client.on('error', () => {})
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

function tellerOf(log: Logger): (bytes: number) => void {
  let sum = 0
  let last = performance.now()
  return (bytes) => {
    sum += bytes
    if (performance.now() - last < 10_000) return
    last = performance.now()
    log.info({ bytes: sum }, 'carrying over')
  }
}

function requireFree(folder: string): void {
  if (!existsSync(folder)) return
  const sentence = `${folder} is where the old database is kept after an upgrade, and exists. Move it away and start again.`
  throw new Fault('conflict', sentence)
}

/** The size of a running server’s database. */
async function databaseBytes({ address }: Site): Promise<number> {
  return withClient(address.url('postgres', DATABASE), async (client) => {
    const { rows } = await client.query<{ bytes: string }>(
      'select pg_database_size(current_database()) as bytes',
    )
    return Number(rows[0]?.bytes)
  })
}

/**
 * Requires space for a copy of a database on the disk of a folder.
 * @param bytes size of the database
 * @throws Fault `unavailable`
 */
export function requireFreeSpace(folder: string, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(folder))
  const needed = bytes + Math.min(bytes, MAX_WAL_BYTES) + EMPTY_DATABASE_BYTES
  if (bavail * bsize >= needed) return
  const sentence =
    `A copy of the database needs ${megabytes(needed)} on the disk of ${folder}, ` +
    `which has ${megabytes(bavail * bsize)}. Free some space and try again: nothing was changed.`
  throw new Fault('unavailable', sentence)
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1_000_000)} MB`
}
