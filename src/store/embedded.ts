import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { findBinaries } from './embedded/binaries.ts'
import { tryClaim } from './embedded/claim.ts'
import { serverAddressOf } from './embedded/connection.ts'
import { prepareFolder, serverUser } from './embedded/folder.ts'
import {
  claimWhenReady,
  DATABASE,
  end,
  launch,
  ROLE,
  type ClaimedServer,
} from './embedded/launch.ts'
import type { Site } from './embedded/server.ts'
import { explainSystemError } from './embedded/problem.ts'
import { makeFolder } from './file.ts'
import { finishUpgrade, upgradeIfOlder } from './embedded/upgrade.ts'
import { MINUTE_MS } from '../time.ts'

export type Embedded = {
  /** URL of the service’s database. Its role owns the database and is no superuser. */
  url: string
  /** URL of the superuser, for server-wide statements. */
  adminUrl: string
  /** Its data folder. */
  folder: string
  /** The server’s process number while it runs. */
  readonly pid: number | undefined
  /** Stops the server after its clients’ commits are on disk. */
  stop(): Promise<void>
}

type Options = {
  /** The data is in its subfolder `postgres`, which is created if necessary. */
  dataDir: string
  log: Logger
  /** Connections that the server accepts; by default those of one process. */
  maxConnections?: number | undefined
}

/**
 * Milliseconds before the first restart of a server that ended by itself, and before any later one.
 */
const BACK_OFF = { first: 200, most: 10_000 }

/** Milliseconds after which a server counts as stable, so that the next end is a first one. */
const STABLE_AFTER_MS = MINUTE_MS

/**
 * Starts the shipped PostgreSQL, creates its database at the first start, and restarts it whenever
 * it ends.
 * @throws Fault `conflict` when the folder is used otherwise, `unavailable` with the fix when no
 *   server can run
 */
export async function startEmbedded({ dataDir, log, maxConnections }: Options): Promise<Embedded> {
  try {
    const site = { ...(await prepareSite(dataDir, log)), maxConnections }
    await upgradeIfOlder(site)
    return keepRunning(site, await launch(site))
  } catch (error) {
    throw explainSystemError(error, join(dataDir, 'postgres'))
  }
}

function keepRunning(site: Site, first: ClaimedServer): Embedded {
  let run = first
  const stopping = new AbortController()
  const supervision = supervise(site, run, stopping.signal, (next) => (run = next))
  return {
    ...placeOf(site),
    get pid() {
      return run.server.isRunning() ? run.server.pid : undefined
    },
    async stop() {
      stopping.abort()
      await supervision
      await end(run)
    },
  }
}

/** Returns the running server, or starts one, for a command. */
export async function reachEmbedded({ dataDir, log }: Options): Promise<Embedded> {
  const site = await prepareSite(dataDir, log)
  const claim = await tryClaim(site.address.url('postgres', 'postgres'))
  if (claim === 'taken') return { ...placeOf(site), pid: undefined, stop: async () => {} }
  if (typeof claim === 'object') await claim.release()
  return startEmbedded({ dataDir, log })
}

function placeOf({ folder, address }: Site): Pick<Embedded, 'url' | 'adminUrl' | 'folder'> {
  return { url: address.url(ROLE, DATABASE), adminUrl: address.url('postgres', 'postgres'), folder }
}

async function prepareSite(dataDir: string, log: Logger): Promise<Site> {
  makeFolder(dataDir)
  const folder = join(realpathSync(dataDir), 'postgres')
  const binaries = findBinaries(`${folder}.lib`)
  const user = serverUser(folder)
  if (user)
    log.info({ user: user.name }, `PostgreSQL does not run as root: it runs as ${user.name}`)
  const address = serverAddressOf(folder, user)
  const site = { folder, binaries, user, address, log }
  await finishUpgrade(site)
  await prepareFolder(folder, binaries, user, address.passwordFile)
  return site
}

/**
 * Until it is stopped, reclaims a server whose claim was lost, and restarts a server that ended.
 */
async function supervise(
  site: Site,
  first: ClaimedServer,
  stop: AbortSignal,
  became: (run: ClaimedServer) => void,
): Promise<void> {
  const stopped = once(stop, 'abort')
  let wait = BACK_OFF.first
  for (let run = first; ;) {
    const begun = performance.now()
    await Promise.race([stopped, run.server.ended, run.claim.lost])
    if (performance.now() - begun > STABLE_AFTER_MS) wait = BACK_OFF.first
    await sleep(wait, undefined, { signal: stop }).catch(() => {})
    if (stop.aborted) return
    wait = Math.min(wait * 2, BACK_OFF.most)
    run = await revive(site, run)
    became(run)
  }
}

async function revive(site: Site, run: ClaimedServer): Promise<ClaimedServer> {
  const { server } = run
  try {
    if (server.isRunning()) return { server, claim: await claimWhenReady(site, server) }
    site.log.error({ output: await server.ended }, 'PostgreSQL ended by itself: starting it again')
    return await launch(site)
  } catch (error) {
    site.log.error({ err: error }, `PostgreSQL did not start: ${messageOf(error)}`)
    return run
  }
}
