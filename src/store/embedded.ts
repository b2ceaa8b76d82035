import { once } from 'node:events'
import { mkdirSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, messageOf } from '../errors.ts'
import type { Logger } from '../log.ts'
import { findBinaries, type Binaries } from './embedded/binaries.ts'
import { tryClaim, type Claim } from './embedded/claim.ts'
import { doorOf, type Door } from './embedded/door.ts'
import { prepareFolder, serverUser } from './embedded/folder.ts'
import { endLeftovers } from './embedded/leftovers.ts'
import { spawnServer, type Server } from './embedded/server.ts'
import { refusalOf, troubleOf } from './embedded/trouble.ts'
import type { User } from './embedded/user.ts'
import { replaceFile } from './file.ts'

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

type Site = { folder: string; binaries: Binaries; user: User | null; door: Door; log: Logger }
type Run = { server: Server; claim: Claim }

const ROLE = 'portreeve'
const DATABASE = 'portreeve'

/** Milliseconds before the first and at most before any later start of a server that ended by itself. */
const BACK_OFF = { first: 200, most: 10_000 }

/** Milliseconds after which a server is well again, and its next end is no repetition. */
const WELL = 60_000

/**
 * Starts the PostgreSQL that came with us, makes its database at the first start, and starts it again whenever it ends.
 * @throws Fault `conflict` when the folder is not ours to use, `unavailable` when no server can run: the sentence says what to do
 */
export async function startEmbedded({ dataDir, log }: Options): Promise<Embedded> {
  try {
    const site = await prepareSite(dataDir, log)
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
  const claim = await tryClaim(site.door.url('postgres', 'postgres'))
  if (claim === 'taken') return { ...placeOf(site), pid: undefined, stop: async () => {} }
  if (typeof claim === 'object') await claim.release()
  return startEmbedded({ dataDir, log })
}

function placeOf({ folder, door }: Site): Pick<Embedded, 'url' | 'adminUrl' | 'folder'> {
  return { url: door.url(ROLE, DATABASE), adminUrl: door.url('postgres', 'postgres'), folder }
}

async function prepareSite(dataDir: string, log: Logger): Promise<Site> {
  mkdirSync(dataDir, { recursive: true })
  const folder = join(realpathSync(dataDir), 'postgres')
  const binaries = findBinaries(`${folder}.lib`)
  const user = serverUser(folder)
  if (user) log.info({ user: user.name }, `PostgreSQL does not run as root: it runs as ${user.name}`)
  const door = doorOf(folder, user)
  await prepareFolder(folder, binaries, user, door.passwordFile)
  return { folder, binaries, user, door, log }
}

/** Starts the server and waits until it answers and is ours. */
async function launch(site: Site): Promise<Run> {
  const { folder, binaries, user, door, log } = site
  await endLeftovers(folder, door.url('postgres', 'postgres'), user, log)
  replaceFile(join(folder, 'pg_hba.conf'), door.hba, 0o600, user)
  replaceFile(join(folder, 'pg_ident.conf'), door.ident, 0o600, user)
  const server = spawnServer(folder, binaries, user, door, log)
  try {
    const claim = await claimWhenReady(site, server)
    await makeDatabase(claim, door)
    return { server, claim }
  } catch (error) {
    await server.stop()
    throw error
  }
}

/** Waits as long as the server lives: recovery after a crash takes the time it takes. */
async function claimWhenReady({ folder, door, log }: Site, server: Server): Promise<Claim> {
  const begun = Date.now()
  for (let turn = 1; ; turn++) {
    const claim = await tryClaim(door.url('postgres', 'postgres'))
    if (typeof claim === 'object') return claim
    if (!server.isRunning()) throw troubleOf('postgres', folder, await server.ended)
    if (claim === 'taken' && Date.now() - begun > 5_000)
      throw new Fault('conflict', `Another Portreeve took over ${folder}.`)
    if (turn % 1_000 === 0) log.info('PostgreSQL is still recovering from a crash')
    await sleep(10)
  }
}

/** The statements cannot be prepared: these names are ours, and the password is hexadecimal. */
async function makeDatabase({ client }: Claim, door: Door): Promise<void> {
  const { password } = new URL(door.url(ROLE, DATABASE))
  const { rows } = await client.query<{ role: boolean; database: boolean }>(
    `select exists (select from pg_roles where rolname = $1) as role,
            exists (select from pg_database where datname = $2) as database`,
    [ROLE, DATABASE],
  )
  if (!rows[0]?.role) await client.query(`create role ${ROLE} login ${password ? `password '${password}'` : ''}`)
  if (!rows[0]?.database) await client.query(`create database ${DATABASE} owner ${ROLE}`)
}

/** Until we stop: a claim that was lost is taken again, a server that ended is started again. */
async function supervise(site: Site, first: Run, stop: AbortSignal, became: (run: Run) => void): Promise<void> {
  const stopped = once(stop, 'abort')
  let wait = BACK_OFF.first
  for (let run = first; ;) {
    const begun = Date.now()
    await Promise.race([stopped, run.server.ended, run.claim.lost])
    if (Date.now() - begun > WELL) wait = BACK_OFF.first
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

async function end({ server, claim }: Run): Promise<void> {
  await claim.release().catch(() => {})
  await server.stop()
}
