import { once } from 'node:events'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { findBinaries } from './embedded/binaries.ts'
import { findOwner, type OwnerKind } from './embedded/claim.ts'
import { serverAddressOf } from './embedded/connection.ts'
import { prepareFolder, serverUser } from './embedded/folder.ts'
import { inUse, tryLockFolder, type FolderLock } from './embedded/folder-lock.ts'
import {
  claimWhenReady,
  DATABASE,
  end,
  launch,
  ROLE,
  type ClaimedServer,
} from './embedded/launch.ts'
import type { Site } from './embedded/embedded-server.ts'
import { explainSystemError } from './embedded/problem.ts'
import { makeFolder } from './file.ts'
import { finishUpgrade, makeAnew, requireFreeSpace, upgradeIfOlder } from './embedded/upgrade.ts'
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
  /** The lock of the folder, where the caller has it and keeps it. */
  lock?: FolderLock | undefined
}

/**
 * Milliseconds before the first restart of a server that ended by itself, and before any later one.
 */
const BACK_OFF = { first: 200, most: 10_000 }

/** Milliseconds after which a server counts as stable, so that the next end is a first one. */
const STABLE_AFTER_MS = MINUTE_MS

/**
 * Milliseconds to wait for a database that others start, stop or restore, or that a command uses.
 */
const PATIENCE_MS = 2 * MINUTE_MS

/** Milliseconds for a service that stops to release the folder. */
export const STOPPING_MS = 3_000

/** Milliseconds between two attempts: half of it or more. */
const POLL_MS = 200

/**
 * Starts the shipped PostgreSQL, creates its database at the first start, and restarts it whenever
 * it ends.
 * @throws Fault `conflict` when the folder is used otherwise, `unavailable` with the fix when no
 *   server can run
 */
export async function startEmbedded(options: Options): Promise<Embedded> {
  return startLocked(options, options.lock ?? (await lockDataDir(options)), 'service')
}

/**
 * Takes the lock of the embedded database, which the service holds while it runs. Waits for
 * commands that use the database.
 * @param patienceMs the longest wait
 * @throws Fault `conflict` when another service uses it
 */
export function lockDataDir(
  { dataDir, log }: Options,
  patienceMs: number = PATIENCE_MS,
): Promise<FolderLock> {
  return explained(dataDir, async (folder) => {
    const started = performance.now()
    for (let turn = 1; ; turn++) {
      const lock = tryLockFolder(folder)
      if (lock) return lock
      const milliseconds = performance.now() - started
      const isService = milliseconds > STOPPING_MS && (await ownerOf(folder)) === 'service'
      if (isService || milliseconds > patienceMs) throw inUse(folder)
      if (turn === 20) log.info({ folder }, 'waiting: another Portreeve or a command is using it')
      await pause()
    }
  })
}

/**
 * Returns the running server of the service, or starts one, for a command. Waits while the service
 * starts or stops, and while another command has the database.
 * @throws Fault `conflict` when that takes minutes, and as `startEmbedded` does
 */
export function reachEmbedded(options: Options): Promise<Embedded> {
  return explained(options.dataDir, async (folder) => {
    const started = performance.now()
    for (;;) {
      if ((await ownerOf(folder)) === 'service')
        return { ...placeOf(folder), pid: undefined, stop: async () => {} }
      const lock = tryLockFolder(folder)
      if (lock) return startLocked(options, lock, 'command')
      if (performance.now() - started > PATIENCE_MS) throw inUse(folder)
      await pause()
    }
  })
}

const pause = () => sleep(POLL_MS * (0.5 + Math.random() / 2))

async function explained<T>(dataDir: string, work: (folder: string) => Promise<T>): Promise<T> {
  try {
    makeFolder(dataDir)
    return await work(join(realpathSync(dataDir), 'postgres'))
  } catch (error) {
    throw explainSystemError(error, join(dataDir, 'postgres'))
  }
}

function ownerOf(folder: string): Promise<OwnerKind | null> {
  return findOwner(
    serverAddressOf(folder, serverUser(folder)).url('postgres', 'postgres'),
    DATABASE,
  )
}

/** The lock is released when the server has stopped, or did not start, unless the caller has it. */
async function startLocked(
  options: Options,
  lock: FolderLock,
  owner: OwnerKind,
): Promise<Embedded> {
  const ignoreSignals = owner === 'command' ? endAtSignals() : () => {}
  const release = () => {
    ignoreSignals()
    if (!options.lock) lock.release()
  }
  try {
    const site = { ...(await prepareSite(options)), owner }
    await upgradeIfOlder(site)
    return keepRunning(site, await launch(site), release)
  } catch (error) {
    release()
    throw explainSystemError(error, join(options.dataDir, 'postgres'))
  }
}

/**
 * Lets a signal end the process of a command with its handlers for the exit, which stop the server;
 * the default action of the signal would not. @returns stops listening
 */
function endAtSignals(): () => void {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  const onSignal = (name: NodeJS.Signals, number: number) => {
    if (process.listenerCount(name) === 1) process.exit(128 + number)
  }
  for (const name of names) process.on(name, onSignal)
  return () => names.forEach((name) => process.off(name, onSignal))
}

function keepRunning(site: Site, first: ClaimedServer, onEnd: () => void): Embedded {
  let run = first
  const stopping = new AbortController()
  const supervision = supervise(site, run, stopping.signal, (next) => (run = next))
  return {
    ...placeOf(site.folder),
    get pid() {
      return run.server.isRunning() ? run.server.pid : undefined
    },
    async stop() {
      stopping.abort()
      await supervision
      await end(run)
      onEnd()
    },
  }
}

function placeOf(folder: string): Pick<Embedded, 'url' | 'adminUrl' | 'folder'> {
  const address = serverAddressOf(folder, serverUser(folder))
  return { url: address.url(ROLE, DATABASE), adminUrl: address.url('postgres', 'postgres'), folder }
}

async function prepareSite(options: Options): Promise<Site> {
  const site = siteOf(options)
  const { folder, binaries, user, address, log } = site
  if (user)
    log.info({ user: user.name }, `PostgreSQL does not run as root: it runs as ${user.name}`)
  await finishUpgrade(site)
  await prepareFolder(folder, binaries, user, address.passwordFile)
  return site
}

function siteOf({ dataDir, log, maxConnections }: Options): Site {
  const folder = join(realpathSync(dataDir), 'postgres')
  const binaries = findBinaries(`${folder}.lib`)
  const user = serverUser(folder)
  return { folder, binaries, user, address: serverAddressOf(folder, user), log, maxConnections }
}

/**
 * Creates an embedded database with what `fill` puts into it. It appears completely or not at all.
 * @param options with the lock of the folder, which has no database
 * @param bytes the expected size
 * @param fill fills the empty database at a URL, as its owner
 * @throws Fault `unavailable` without enough space
 */
export async function createEmbedded(
  options: Options & { lock: FolderLock },
  bytes: number,
  fill: (url: string) => Promise<void>,
): Promise<void> {
  const site = siteOf(options)
  requireFreeSpace(site.folder, bytes)
  await makeAnew(site, fill)
  await finishUpgrade(site)
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
