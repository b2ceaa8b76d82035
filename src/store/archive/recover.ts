import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { unpack } from '../backup.ts'
import { replaceFile } from '../file.ts'
import { findBinaries, findOlderBinaries, SHIPPED_MAJOR } from '../embedded/binaries.ts'
import { serverAddressOf } from '../embedded/connection.ts'
import { prepareFolder, serverUser } from '../embedded/folder.ts'
import { end, launch, type ClaimedServer } from '../embedded/launch.ts'
import type { Site } from '../embedded/embedded-server.ts'
import { baseKey, type ChainBase } from './chain.ts'
import type { ObjectStore } from './object-store.ts'
import { createWalFeed, findWal } from './wal-feed.ts'
import { parseLsn, segmentNumber, segmentOf } from './wal.ts'

export type Recovery = {
  /** The time of the last transaction; null when none followed the base backup. */
  reached: Date | null
  /** Whether the archive ends before the requested moment. */
  isShort: boolean
  /** The first missing segment, if the archive has later ones. */
  gap: string | null
  segments: number
  seconds: { unpack: number; replay: number }
  /** The server, which runs with the restored database. */
  run: ClaimedServer
  site: Site
}

type RecoverOptions = {
  store: ObjectStore
  base: ChainBase
  /** Null restores the newest moment. */
  at: Date | null
  /** The new data folder. */
  folder: string
  log: Logger
}

/**
 * A standby needs as many as the server that wrote the WAL had, or it waits for ever: those of 32
 * processes.
 */
const MAX_CONNECTIONS = 850

/** PostgreSQL looks for the next segment this often. */
const RETRY_MS = 10

/**
 * Restores a moment: unpacks a base backup to a new folder and replays the WAL after it, up to and
 * including the last transaction at that moment.
 * @throws Fault `unavailable` when the archive cannot be restored
 */
export async function recover(options: RecoverOptions): Promise<Recovery> {
  const { store, base, at, folder, log } = options
  const begun = performance.now()
  const { postgres } = await unpack(await store.read(baseKey(base.chain, base.id)), folder)
  const site = await siteOf(folder, postgres, log)
  const unpacked = performance.now()
  const { names, gap } = await findWal(store, base)
  const feed = createWalFeed(store, base, names, site)
  await feed.begin()
  const settings = readFileSync(settingsFile(folder), 'utf8')
  let run = await feed.duringStart(launchStandby(site, settings, at))
  try {
    await feed.finish(run.claim.client)
    const isShort = at !== null && !(await promote(run))
    if (isShort) run = await launchStandby(site, settings, null)
    if (at === null || isShort) {
      if (!(await promote(run))) throw new Error(await run.server.ended)
      await requireReplayed(run, names.at(-1))
    }
    replaceFile(settingsFile(folder), settings, 0o600, site.user)
    const seconds = {
      unpack: (unpacked - begun) / 1000,
      replay: (performance.now() - unpacked) / 1000,
    }
    const reached = await reachedBy(run)
    return { reached, isShort, gap, segments: names.length, seconds, run, site }
  } catch (cause) {
    await end(run)
    const sentence = `The WAL of ${store.name} cannot be replayed: ${messageOf(cause)}`
    throw cause instanceof Fault ? cause : new Fault('unavailable', sentence, { cause })
  }
}

async function siteOf(folder: string, postgres: number, log: Logger): Promise<Site> {
  const spare = `${folder}.lib`
  const binaries =
    postgres === SHIPPED_MAJOR ? findBinaries(spare) : findOlderBinaries(postgres, spare)
  const user = serverUser(folder)
  const address = serverAddressOf(folder, user)
  await prepareFolder(folder, binaries, user, address.passwordFile)
  return { folder, binaries, user, address, log, maxConnections: MAX_CONNECTIONS }
}

const settingsFile = (folder: string) => join(folder, 'postgresql.auto.conf')

/**
 * Starts PostgreSQL as a standby without a primary, which waits for segments in its `pg_wal`. So no
 * program must fetch them, and no secret leaves this process.
 */
function launchStandby(site: Site, settings: string, at: Date | null): Promise<ClaimedServer> {
  const recovery = {
    recovery_target_timeline: 'current',
    wal_retrieve_retry_interval: `${RETRY_MS}ms`,
    // A segment renamed for later use would be in the place of one that is still to come.
    wal_recycle: 'off',
    // Names of time zones, such as Z, are not known yet when PostgreSQL reads its settings.
    ...(at && {
      recovery_target_time: at.toISOString().replace('Z', '+00'),
      recovery_target_action: 'promote',
    }),
  }
  const lines = Object.entries(recovery).map(([name, value]) => `${name} = '${value}'\n`)
  replaceFile(settingsFile(site.folder), `${settings}\n${lines.join('')}`, 0o600, site.user)
  writeFileSync(join(site.folder, 'standby.signal'), '')
  return launch(site)
}

/**
 * Ends the recovery after all WAL in the folder, or at the target.
 * @returns false when PostgreSQL ended because it did not reach the target
 */
async function promote({ claim: { client }, server }: ClaimedServer): Promise<boolean> {
  try {
    await client.query('select pg_promote(false) where pg_is_in_recovery()').catch(ifPromoted)
    for (;;) {
      const { rows } = await client.query<{ isStandby: boolean }>(
        'select pg_is_in_recovery() as "isStandby"',
      )
      if (!rows[0]?.isStandby) return true
      await sleep(RETRY_MS)
    }
  } catch {
    await server.ended
    return false
  }
}

/** It can reach its target between the condition and the call. */
function ifPromoted(error: { code?: string }): void {
  if (error.code !== '55000') throw error
}

/** WAL that cannot be read ends the recovery like its end does. */
async function requireReplayed(
  { claim: { client } }: ClaimedServer,
  last: string | undefined,
): Promise<void> {
  const { rows } = await client.query<{ replayed: string }>(
    'select pg_last_wal_replay_lsn()::text as replayed',
  )
  const replayed = segmentOf(parseLsn(rows[0]?.replayed ?? '0/0'))
  if (last !== undefined && replayed < segmentNumber(last))
    throw new Error(`it is damaged after ${rows[0]?.replayed}.`)
}

async function reachedBy({ claim: { client } }: ClaimedServer): Promise<Date | null> {
  const { rows } = await client.query<{ at: Date | null }>(
    'select pg_last_xact_replay_timestamp() as at',
  )
  return rows[0]?.at ?? null
}
