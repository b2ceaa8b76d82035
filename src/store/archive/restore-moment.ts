import { renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Logger } from '../../log.ts'
import { requireNoDatabase, startOnce, type Inspect } from '../backup.ts'
import { lockDataDir, STOPPING_MS } from '../embedded.ts'
import { SHIPPED_MAJOR } from '../embedded/binaries.ts'
import { end } from '../embedded/launch.ts'
import { keptFolder } from '../embedded/upgrade.ts'
import { syncFolder } from '../file.ts'
import { chooseBase, type ChainBase } from './chain.ts'
import type { ObjectStore } from './object-store.ts'
import { recover, type Recovery } from './recover.ts'

export type RestoredMoment = Pick<Recovery, 'reached' | 'isShort' | 'gap' | 'segments'> & {
  base: ChainBase
}

/**
 * Restores a moment from the archive to a data folder without a database. The next start of the
 * service begins a new chain.
 * @param at null restores the newest moment
 * @throws Fault `conflict` when there is a database, `not_found` when the archive does not contain
 *   the moment
 */
export async function restoreMoment({
  dataDir,
  store,
  at,
  log,
  inspect,
}: {
  dataDir: string
  store: ObjectStore
  at: Date | null
  log: Logger
  inspect?: Inspect
}): Promise<RestoredMoment> {
  const lock = await lockDataDir({ dataDir, log }, STOPPING_MS)
  const folder = join(resolve(dataDir), 'postgres')
  // The next start removes incomplete folders of this name.
  const half = `${folder}.new-${process.pid}`
  const made: string[] = []
  try {
    requireNoDatabase(dataDir)
    const base = await chooseBase(store, at)
    made.push(half, folder)
    const {
      run,
      site,
      seconds: _,
      ...restored
    } = await recover({ store, base, at, folder: half, log })
    await end(run)
    rmSync(`${site.folder}.lib`, { recursive: true, force: true })
    renameSync(half, folder)
    syncFolder(dirname(folder))
    await startOnce({ dataDir, log, lock }, inspect)
    if (base.postgres !== SHIPPED_MAJOR)
      rmSync(keptFolder(folder, base.postgres), { recursive: true, force: true })
    return { ...restored, base }
  } catch (error) {
    for (const path of made) rmSync(path, { recursive: true, force: true })
    throw error
  } finally {
    lock.release()
  }
}
