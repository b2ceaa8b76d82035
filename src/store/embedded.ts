import { once } from 'node:events'
import { mkdirSync, realpathSync } from 'node:fs'
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
  type Run,
  type Site,
} from './embedded/launch.ts'
import { refusalOf } from './embedded/problem.ts'
import { finishUpgrade, upgradeIfOlder } from './embedded/upgrade.ts'
import { MINUTE_MS } from '../time.ts'

export type Embedded = {
  /** Of our own database. Its role owns this database and is no superuser. */
  url: string
  /** Of the superuser, for what concerns the server as a whole. */
  adminUrl: string
  /** Where its data lies. */
  folder: string
  /** The server's process, while it runs. */
  readonly pid: number | undefined
  /** Ends the server after what its clients have committed is on disk. */
  stop(): Promise<void>
}

type Options = {
  /** The data lies in `postgres` below it. It is made if need be. */
  dataDir: string
  log: Logger
}

/**
 * Milliseconds before the first and at most before any later start of a server that ended by
 * itself.
 */
const BACK_OFF = { first: 200, most: 10_000 }

/** Milliseconds after which a server is well again, and its next end is no repetition. */
const STABLE_AFTER_MS = MINUTE_MS

/**
 * Starts the PostgreSQL that came with us, makes its database at the first start, and starts it
 * again whenever it ends.
 * @throws Fault `conflict` when the folder is not ours to use, `unavailable` when no server can
 *   run: the sentence says what to do
 */
export async function startEmbedded({ dataDir, log }: Options): Promise<Embedded> {
  try {
    const site = await prepareSite(dataDir, log)
    await upgradeIfOlder(site)
    return keepRunning(site, await launch(site))
  } catch (error) {
    throw refusalOf(error, join(dataDir, 'postgres'))
  }
}

function keepRunning(site: Site, first: Run): Embedded {
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

/** For a command that works beside the service: the server that is running, or one of its own. */
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
  mkdirSync(dataDir, { recursive: true })
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

/** Until we stop: a claim that was lost is taken again, a server that ended is started again. */
async function supervise(
  site: Site,
  first: Run,
  stop: AbortSignal,
  became: (run: Run) => void,
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

async function revive(site: Site, run: Run): Promise<Run> {
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
